"""Damaged and hostile .fvm files: a typed error or the right answer, never a crash.

Most damage is caught by checksums. To reach what lies behind them, the second half forges the
checksums after changing the header, as somebody with bad intentions would.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import foveal as fv
import numpy as np
import pytest
from foveal import _core
from foveal.conformance.execute import Builder
from foveal.conformance.kit import load_tables

PRELUDE = 64
SUMS = 40  # offset of header_sum, weights_sum, prelude_sum
MASK = (1 << 64) - 1
STEP, SEED = 0x9E3779B97F4A7C15, 0x6A09E667F3BCC909


def checksum(data: bytes) -> int:
    """What graph/checksum.h computes, in the slow way."""
    words = np.frombuffer(data + bytes(-len(data) % 64), "<u8").reshape(-1, 8)
    lanes = np.array([SEED * (2 * i + 1) & MASK for i in range(8)], np.uint64)
    step, left, right = np.uint64(STEP), np.uint64(31), np.uint64(33)
    for row in words:
        lanes = (lanes ^ row) * step
        lanes = (lanes << left) | (lanes >> right)
    total = len(data) * STEP & MASK
    for lane in lanes.tolist():
        total = (total ^ lane) * STEP & MASK
        total ^= total >> 29
    return total


def forge(data: bytes) -> bytes:
    """The file with checksums that fit its content."""
    weights = struct.unpack_from("<Q", data, 24)[0]
    sums = checksum(data[PRELUDE:weights]), checksum(data[weights:])
    head = data[:SUMS] + struct.pack("<QQ", *sums)
    return head + struct.pack("<Q", checksum(head)) + data[PRELUDE:]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Small models with all kinds of operators and attributes."""
    folder = tmp_path_factory.mktemp("models")
    wanted = {
        "nhwc head c5",
        "unet",
        "squeeze-excite c8",
        "split c3",
        "padded residual",
        "classifier c7",
    }
    paths = []
    chains = next(s for s in load_tables() if s.op == "chains")
    for case in chains:
        if case.id in wanted:
            built = Builder(case, case.net.feeds(case.seed), "plain")
            built.graph.set_meta("labels", '["a", "b"]')
            paths.append(folder / f"{len(paths)}.fvm")
            built.graph.save(str(paths[-1]))
    assert len(paths) == len(wanted)
    return paths


def outputs(model: fv.Model) -> dict[str, np.ndarray]:
    feeds = {t.name: np.ones([int(d) for d in t.shape], t.dtype) for t in model.inputs}
    return fv.Session(model, device="cpu", threads=1).run(feeds)


def test_undamaged_models_open(models: list[Path]) -> None:
    for path in models:
        assert outputs(fv.Model.open(str(path)))


def test_forging_reproduces_the_file(models: list[Path]) -> None:
    for path in models:
        assert forge(path.read_bytes()) == path.read_bytes()


def test_every_truncation_is_refused(models: list[Path]) -> None:
    data = models[0].read_bytes()
    for n in [*range(0, 200), *range(200, len(data), 37), len(data) - 1]:
        with pytest.raises(fv.ModelError):
            fv.Model.from_bytes(data[:n])
    with pytest.raises(fv.ModelError, match="too long"):
        fv.Model.from_bytes(data + b"\0")


def test_every_flipped_bit_is_found(models: list[Path]) -> None:
    rng = np.random.default_rng(0)
    for path in models:
        data = path.read_bytes()
        where = [*range(8 * 64), *rng.integers(0, 8 * len(data), 400).tolist()]
        for bit in where:
            damaged = bytearray(data)
            damaged[bit // 8] ^= 1 << bit % 8
            with pytest.raises(fv.ModelError):
                fv.Model.from_bytes(bytes(damaged))


FUZZ = """
import json, os, resource, signal, sys
import numpy as np
import foveal as fv
from test_damaged_models import forge, hostile, PRELUDE

if "libasan" not in os.environ.get("LD_PRELOAD", ""):  # whose shadow takes terabytes of addresses
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
seed, count, paths = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
originals = [open(p, "rb").read() for p in paths]
tally = {}
for i in range(count):
    rng = np.random.default_rng([seed, i])
    print(i, file=sys.stderr, flush=True)
    signal.alarm(20)
    data = forge(hostile(originals[i % len(originals)], rng))
    try:
        model = fv.Model.from_bytes(data)
        macs = sum(max(n["macs"], 0) for n in model.graph()["nodes"])
        session = fv.Session(model, device="cpu", threads=1)
        shapes = {t.name: [d if isinstance(d, int) else 1 for d in t.shape] for t in session.inputs}
        small = macs < 1e8 and all(np.prod(s, dtype=float) < 1e7 for s in shapes.values())
        if small:
            session.run({t.name: np.ones(shapes[t.name], t.dtype) for t in session.inputs})
        result = "ran" if small else "opened"
    except fv.FovealError as e:
        assert str(e) and "\\n\\n" not in str(e)
        result = type(e).__name__
    except (MemoryError, ValueError, TypeError) as e:  # numpy: an input of that size or type
        result = type(e).__name__
    tally[result] = tally.get(result, 0) + 1
print(json.dumps(tally))
"""


def hostile(data: bytes, rng: np.random.Generator) -> bytes:
    """One or two changes of the header: bits, bytes, words of interesting values, swaps."""
    header, weights = struct.unpack_from("<Q", data, 16)[0], struct.unpack_from("<Q", data, 24)[0]
    out = bytearray(data)
    for _ in range(int(rng.integers(1, 3))):
        at = PRELUDE + int(rng.integers(0, header - 8))
        kind = int(rng.integers(0, 5))
        if kind == 0:
            out[at] ^= 1 << int(rng.integers(0, 8))
        elif kind == 1:
            out[at] = int(rng.integers(0, 256))
        elif kind == 2:
            at &= ~3
            value = rng.choice([0, 1, -1, 2**31 - 1, -(2**31), 65536, 255, 3])
            struct.pack_into("<i", out, at, int(value))
        elif kind == 3:
            at &= ~7
            value = rng.choice([0, -1, 2**62, -(2**63), 2**40, 1, 7])
            struct.pack_into("<q", out, at, int(value))
        else:
            other = PRELUDE + int(rng.integers(0, header - 8))
            out[at : at + 4], out[other : other + 4] = out[other : other + 4], out[at : at + 4]
    assert len(out) == len(data) and weights <= len(data)
    return bytes(out)


def fuzz(models: list[Path], seed: int, count: int) -> dict[str, int]:
    here = str(Path(__file__).parent)
    done = subprocess.run(
        [sys.executable, "-c", FUZZ, str(seed), str(count), *map(str, models)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([here, os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
        check=False,
    )
    last = done.stderr.strip().splitlines()[-3:]
    assert done.returncode == 0, f"seed {seed}: exit {done.returncode}, last case {last}"
    tally: dict[str, int] = json.loads(done.stdout)
    return tally


def test_hostile_headers(models: list[Path]) -> None:
    tally = fuzz(models, seed=1, count=1500)
    assert sum(tally.values()) == 1500
    assert tally.get("ModelError", 0) > 300, tally
    assert tally.get("ran", 0) > 20, f"changes too violent to reach a session: {tally}"


@pytest.mark.slow
def test_hostile_headers_at_length(models: list[Path]) -> None:
    for seed in range(2, 12):
        fuzz(models, seed, 5000)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"FOVEALM1",
        b"FOVEALM9" + bytes(200),
        b"hello\n" * 50,
        bytes(4096),
        b"\x7fELF" + bytes(99),
    ],
    ids=["empty", "magic", "other version", "text", "zeros", "program"],
)
def test_other_files(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.fvm"
    path.write_bytes(content)
    with pytest.raises(fv.ModelError):
        fv.Model.open(str(path))
    with pytest.raises(fv.ModelError):
        fv.load(path)


def test_file_changed_into_a_folder(tmp_path: Path) -> None:
    with pytest.raises(fv.FovealError):
        _core.Model.open(str(tmp_path))
    with pytest.raises(fv.NotFoundError):
        _core.Model.open(str(tmp_path / "absent.fvm"))
