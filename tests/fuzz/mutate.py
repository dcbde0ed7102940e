"""Random damage to model files and specifications, through the package as it is installed.

    python tests/fuzz/mutate.py [--formats fvm,onnx] [--count 10000] [--first 0]

Each number names one mutation of one format, for ever. A worker process tries them in order: what
loads is also run. A typed error or a result is right; any other exception, a crash or a hang is a
finding, printed with the number that makes it again (--first N --count 1), and the rest goes on.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import random
import re
import struct
import subprocess
import sys
import threading
import time
import traceback
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from seeds import FORMATS, TESTS, words

HANG = 60.0  # seconds without a step
NUMBERS = (0, 1, 2, 3, 4, 5, 7, 8, 16, 64, 127, 128, 255, 256, 65535, 1 << 20, (1 << 31) - 1)
NUMBERS += (*(-n for n in NUMBERS), 1 << 31, (1 << 32) - 1, 1 << 40, (1 << 63) - 1, -(1 << 63))
TEXTS = (
    "0",
    "-1",
    "1",
    "2",
    "3",
    "7.5",
    "32",
    "33",
    "1e308",
    "-1e-320",
    "0.5",
    "16384",
    "16385",
    "2147483648",
    "NaN",
    "1e999",
)


def damage(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """One to three alterations: bits, lengths and other numbers, cuts, splices, moves.

    Mostly such as leave everything in its place: more of the file is then read.
    """
    d = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 3))):
        if len(d) < 8:
            break
        at = rng.randrange(len(d))
        kind = rng.choice((0, 0, 1, 1, 1, 2, 3, 4, 5, 6))
        if kind == 0:
            for _ in range(rng.choice((1, 1, 1, 4))):
                d[rng.randrange(len(d))] ^= 1 << rng.randrange(8)
        elif kind == 1:  # a number where aligned formats keep lengths, offsets and dimensions
            code, size = rng.choice((("<I", 4), ("<Q", 8), ("<H", 2)))
            at = at // size * size
            if at + size <= len(d):
                number = rng.choice(NUMBERS) % (1 << 8 * size)
                if rng.randrange(3) == 0:  # near what is there
                    old = struct.unpack_from(code, d, at)[0]
                    number = (old + rng.choice((-4, -1, 1, 4))) % (1 << 8 * size)
                struct.pack_into(code, d, at, number)
        elif kind == 2:  # a length in the way of protobuf
            d[at : at + 1] = _varint(rng.choice(NUMBERS) % (1 << 64))
        elif kind == 3:
            del d[rng.randrange(len(d)) :]
        elif kind == 4 and other:  # the end of another file
            d[at:] = other[rng.randrange(len(other)) :]
        elif kind == 5:
            length = rng.choice((1, 4, 16, 64))
            start = rng.randrange(len(d))
            d[at:at] = d[start : start + length]
        else:
            del d[at : at + rng.choice((1, 4, 8, 32))]
    return bytes(d)


def renumber(header: bytes, rng: random.Random) -> bytes:
    """Other values where 64-bit dimensions, attributes and sizes lie: no offset is touched."""
    d = bytearray(header)
    words = struct.unpack_from(f"<{len(d) // 8}q", d)
    places = [i for i, w in enumerate(words) if -2 <= w <= 4096]
    for _ in range(rng.choice((1, 1, 2))):
        if places:
            number = rng.choice((*NUMBERS, *range(1, 10)))
            struct.pack_into("<Q", d, 8 * rng.choice(places), number % (1 << 64))
    return bytes(d)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def damage_text(text: str, other: str, rng: random.Random, vocabulary: list[str]) -> str:
    """Numbers and words exchanged, members dropped, and now and then plain damage."""
    for _ in range(rng.choice((1, 1, 1, 2))):
        tokens = re.findall(r'"[^"]*"|-?[0-9][0-9.eE+-]*|true|false|null|[\[\]{}:,]|\s+|.', text)
        if not tokens:
            break
        at = rng.randrange(len(tokens))
        kind = rng.choice((0, 0, 0, 0, 2, 2, 2, 3, 4, 5))
        if kind == 0:
            numbers = [i for i, t in enumerate(tokens) if re.match(r"-?[0-9]", t)]
            if numbers:
                tokens[rng.choice(numbers)] = rng.choice(TEXTS)
        elif kind == 2:
            names = [i for i, t in enumerate(tokens) if t.startswith('"')]
            if names:
                tokens[rng.choice(names)] = json.dumps(rng.choice(vocabulary))
        elif kind == 3:
            del tokens[at : at + rng.randrange(1, 5)]
        elif kind == 4:
            tokens[at:at] = re.findall(r'"[^"]*"|\S', other)[: rng.randrange(1, 9)]
        else:
            raw = damage("".join(tokens).encode("utf-8", "surrogatepass"), other.encode(), rng)
            return raw.decode("utf-8", "replace")
        text = "".join(tokens)
    return text


def make(
    kind: str, number: int, seeds: list[bytes] | list[str], vocabulary: list[str]
) -> bytes | str:
    rng = random.Random(f"{kind}:{number}")
    seed, other = rng.choice(seeds), rng.choice(seeds)
    if isinstance(seed, str):
        return damage_text(seed, str(other), rng, vocabulary)
    assert isinstance(other, bytes)
    if kind != "fvm" or rng.randrange(8) == 0:
        return damage(seed, other, rng)
    from test_damaged_models import forge

    # Behind the checksums: the header is damaged, and the file made to fit it.
    weights = struct.unpack_from("<Q", seed, 24)[0]
    header = seed[64:weights]
    header = damage(header, b"", rng) if rng.randrange(3) == 0 else renumber(header, rng)
    header += bytes(-len(header) % 64)
    prelude = struct.pack("<8sIIQQQ", b"FOVEALM1", 64, 0, len(header), 64 + len(header), 0)
    data = bytearray(prelude + bytes(24) + header + seed[weights:])
    struct.pack_into("<Q", data, 32, len(data))
    return forge(bytes(data))


class Trial:
    """Runs what was made. Returns whether it was valid; raises what nobody promised."""

    def __init__(self) -> None:
        import foveal
        import numpy

        foveal.plugins.listing()  # found and opened now
        self.fv, self.np = foveal, numpy
        picture = numpy.random.default_rng(1).integers(0, 256, (23, 31, 3), numpy.uint8)
        self.frame = foveal.Frame.from_numpy(picture)

    def __call__(self, kind: str, data: bytes | str) -> bool:
        try:
            getattr(self, "_" + kind)(data)
        except self.fv.FovealError as e:
            assert str(e), "an error without text"
            return False
        return True

    def _session(self, model: Any) -> None:
        """One run, of what is small enough to run thousands of times."""
        graph = model.graph()
        work = sum(node.get("macs", 0) for node in graph["nodes"])
        largest = max((self._count(v["dims"]) for v in graph["values"]), default=0)
        if work > 1e7 or largest > 1e6:
            return
        session = self.fv.Session(model, device="cpu", threads=1)
        shape = [[d if isinstance(d, int) and d >= 0 else 1 for d in t.shape] for t in model.inputs]
        inputs = zip(model.inputs, shape, strict=True)
        session.run({t.name: self.np.ones(dims, t.dtype) for t, dims in inputs})

    @staticmethod
    def _count(dims: list[int]) -> float:
        return math.prod(max(1.0, float(d)) for d in dims)

    def _fvm(self, data: bytes) -> None:
        self._session(self.fv.Model.from_bytes(data))

    def _onnx(self, data: bytes) -> None:
        self._session(self.fv.convert.convert(data).to_model())

    _tflite = _onnx

    def _pipeline(self, text: str) -> None:
        pipeline = self.fv.image.Pipeline.from_json(text)
        for roi in (None, (1.0, 2.0, 20.0, 11.0)):
            with contextlib.suppress(self.fv.ArgumentError):  # it wants a region, or none
                size = pipeline.size_for(self.frame, roi)
                if size[0] * size[1] < 1 << 16:
                    pipeline.compile(layout="nhwc", size=size)(self.frame, roi)

    def _decoder(self, text: str) -> None:
        decoder = self.fv.image.Decoder.from_json(text)
        pipeline = self.fv.image.Pipeline(size=(32, 32)).compile(layout="nhwc")
        _, transform = pipeline(self.frame)
        rng = self.np.random.default_rng(zlib.crc32(text.encode()))
        values = self.np.array([0, 1, -3, 80, self.np.nan, self.np.inf, 1e30], self.np.float32)
        outputs = {
            name: rng.choice(values, rng.integers(1, 9, 3).tolist())
            for name in sorted(set(re.findall(r':"([^"]*)"', decoder.json())))
        }
        for _ in range(8):
            try:
                decoder.run(outputs, transform)
                return
            except self.fv.ShapeError as e:
                # The error says what shape it expects; ? may be anything.
                wanted = re.search(r"output '([^']*)': expected shape \[([0-9?, ]*)\]", str(e))
                if not wanted or wanted[1] not in outputs:
                    raise
                shape = [3 if n.strip() == "?" else int(n) for n in wanted[2].split(",")]
                if math.prod(shape) > 1e6 or rng.integers(8) == 0:
                    raise
                outputs[wanted[1]] = rng.choice(values, shape)

    def _roi_rule(self, text: str) -> None:
        rule = self.fv.image.RoiRule.from_json(text)
        rng = self.np.random.default_rng(zlib.crc32(text.encode()))
        points = rng.normal(50, 30, (5, 2)).astype(self.np.float32)
        if rng.integers(4) == 0:
            points[rng.integers(5)] = rng.choice([self.np.nan, self.np.inf, 1e30])
        rule.apply((10.0, 20.0, 60.0, 50.0), points)

    def _task(self, text: str) -> None:
        from foveal.vision.make import check_task

        canonical = check_task(text)
        assert check_task(canonical) == canonical


def work(kind: str, first: int, count: int) -> None:
    """The worker: a line per step, so that the parent knows which one it died of."""
    sys.path[:0] = [str(TESTS / "models")]
    seeds = FORMATS[kind]()
    vocabulary = words()
    trial = Trial()
    valid = 0
    for number in range(first, first + count):
        print(number, flush=True)
        try:
            valid += trial(kind, make(kind, number, seeds, vocabulary))
        except Exception:
            print("error " + json.dumps(traceback.format_exc()), flush=True)
    print(f"valid {valid}", flush=True)


def run(
    kind: str,
    first: int,
    count: int,
    report: Callable[[str], None],
    *,
    program: str = __file__,
    hang: float = HANG,
) -> int:
    """Tries [first, first + count) in workers. Returns the number of findings."""
    findings = valid = 0
    number, end, start = first, first + count, time.monotonic()
    while number < end:
        command = [sys.executable, program, "--work", kind, "--first", str(number)]
        process = subprocess.Popen(
            [*command, "--count", str(end - number)], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, errors="replace",
        )  # fmt: skip
        assert process.stdout and process.stderr
        stderr: list[str] = []
        reader = threading.Thread(target=lambda p=process, s=stderr: s.extend(p.stderr))
        reader.start()
        hung = threading.Event()
        current, done = number - 1, False

        def kill(p: subprocess.Popen[str] = process, h: threading.Event = hung) -> None:
            h.set()
            p.kill()

        timer = threading.Timer(hang, kill)
        timer.start()
        for line in process.stdout:
            timer.cancel()
            timer = threading.Timer(hang, kill)
            timer.start()
            if line.startswith("error "):
                findings += 1
                report(f"{kind} {current}: {json.loads(line[6:])}")
            elif line.startswith("valid "):
                valid += int(line[6:])
                done = True
            else:
                current = int(line)
        timer.cancel()
        code = process.wait()
        reader.join()
        if done and code == 0:
            break
        findings += 1
        how = "hangs" if hung.is_set() else f"ends the process ({code})"
        report(f"{kind} {current}: {how}\n{''.join(stderr[-60:])}")
        if current < number:  # it does not even start
            break
        number = current + 1
    seconds = time.monotonic() - start
    report(f"{kind}: {count} mutations, {valid} valid, {findings} findings, {seconds:.0f} s")
    return findings


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--formats", default=",".join(FORMATS))
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument(
        "--save", type=Path, help="write the mutation --first there and do nothing else"
    )
    options = parser.parse_args()
    sys.path[:0] = [str(TESTS / "models")]
    if options.work:
        work(options.work, options.first, options.count)
        return 0
    if options.save:
        kind = options.formats
        data = make(kind, options.first, FORMATS[kind](), words())
        options.save.write_bytes(data if isinstance(data, bytes) else data.encode())
        return 0
    kinds = options.formats.split(",")
    return min(1, sum(run(k, options.first, options.count, print) for k in kinds))


if __name__ == "__main__":
    sys.exit(main())
