"""Builds Foveal for other machines and runs the operator tests and the C sample there.

    python portability.py [--build FOLDER] [--targets native,aarch64,wasm32,wasm32-face]

native: this machine, one binary with everything linked in.  aarch64: Linux on 64-bit ARM, run by
qemu as a Cortex-A53 (no optional instructions) and as the largest CPU that it knows.  wasm32: WASI
with SIMD128 and without threads, run by Node.  wasm32-face: the sample alone, with no more than its
model needs (`foveal needs face`).

Every case must meet its own tolerance against numpy, and be what the native build gives within
1e-5 of the output's largest value; the sample must find the same boxes within 1e-5 of the picture;
pipelines that promise equal bytes must give them; WebAssembly must be small.
Exit status 1 if anything differs, 2 if a tool is missing.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import image_cases
import numpy as np
from compare import Findings, case_names, compare_operators, compare_pictures, compare_sample
from export_cases import export

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


class Missing(Exception):
    """A tool that is not installed; the text says how to get it."""


def tool(name: str, get: str) -> str:
    """A program of this environment, whether or not it is activated, or of the system."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    found = shutil.which(name, path=path)
    if not found:
        raise Missing(f"{name} is needed: {get}")
    return found


@dataclass
class Target:
    """One build, and the machines that run it: name -> command in front of a program."""

    name: str
    cmake: Callable[[], list[str]]
    runners: Callable[[], dict[str, list[str]]]
    suffix: str = ""
    sample_only: bool = False
    most: tuple[int, int] | None = None  # KB of the sample: as it is, and after gzip


def aarch64() -> list[str]:
    tool("aarch64-linux-gnu-g++", "apt-get install g++-aarch64-linux-gnu")
    return [f"-DCMAKE_TOOLCHAIN_FILE={ROOT}/cmake/toolchains/aarch64-linux-gnu.cmake"]


def qemu() -> dict[str, list[str]]:
    program = tool("qemu-aarch64-static", "apt-get install qemu-user-static")
    return {f"aarch64 {cpu}": [program, "-cpu", cpu] for cpu in ("cortex-a53", "max")}


def wasm() -> list[str]:
    try:
        import ziglang
    except ImportError:
        raise Missing("zig is needed: pip install ziglang") from None
    return [
        f"-DCMAKE_TOOLCHAIN_FILE={ROOT}/cmake/toolchains/wasm32-wasi.cmake",
        f"-DFOVEAL_ZIG={Path(next(iter(ziglang.__path__)), 'zig')}",
    ]


def wasm_face() -> list[str]:
    import foveal.cli

    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        if foveal.cli.main(["needs", "face"]):
            raise SystemExit("cannot tell what the zoo's `face` needs")
    return [*wasm(), *text.getvalue().split()]


def node() -> dict[str, list[str]]:
    program = tool("node", "apt-get install nodejs (18 or newer)")
    return {"wasm32 node": [program, "--no-warnings", str(HERE / "run_wasi.mjs")]}


TARGETS = [
    Target("native", lambda: [], lambda: {"native": []}),
    Target("aarch64", aarch64, qemu),
    Target("wasm32", wasm, node, ".wasm", most=(1200, 400)),
    Target("wasm32-face", wasm_face, node, ".wasm", sample_only=True, most=(850, 300)),
]


def tools() -> tuple[str, str]:
    return tool("cmake", "pip install cmake"), tool("ninja", "pip install ninja")


def call(*command: object, log: Path) -> None:
    with log.open("a") as file:
        file.write(f"\n$ {' '.join(map(str, command))}\n")
        file.flush()
        done = subprocess.run(
            [str(c) for c in command], stdout=file, stderr=subprocess.STDOUT, check=False
        )
    if done.returncode:
        sys.stderr.write("\n".join(log.read_text().splitlines()[-40:]) + "\n")
        raise SystemExit(f"failed: {' '.join(map(str, command))}\nsee {log}")


def build(target: Target, folder: Path, jobs: int) -> Path:
    """The folder of the target's programs, built over an installation of its static libraries."""
    cmake, ninja = tools()
    extra = [*target.cmake(), "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}"]
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "build.log"
    log.write_text("")
    prefix, engine, programs = folder / "prefix", folder / "engine", folder / "programs"
    call(
        cmake, "-S", ROOT, "-B", engine, *extra, "-DFOVEAL_PYTHON=OFF", "-DBUILD_SHARED_LIBS=OFF",
        "-DFOVEAL_STATIC_PLUGINS=cpu", f"-DPython_EXECUTABLE={sys.executable}",
        f"-DPython3_EXECUTABLE={sys.executable}", log=log,
    )  # fmt: skip
    call(cmake, "--build", engine, "-j", jobs, log=log)
    call(cmake, "--install", engine, "--prefix", prefix, log=log)
    call(
        cmake, "-S", HERE, "-B", programs, *extra, f"-DCMAKE_PREFIX_PATH={prefix}",
        "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_EXE_LINKER_FLAGS=-static -s", log=log,
    )  # fmt: skip
    call(cmake, "--build", programs, "-j", jobs, log=log)
    return programs


def run(program: list[str], *arguments: Path) -> subprocess.CompletedProcess[str]:
    command = [*program, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def died(done: subprocess.CompletedProcess[str]) -> str:
    return f"exit status {done.returncode}: {done.stderr.strip()[-400:]}"


def run_operators(machine: str, program: list[str], cases: Path, out: Path, to: Findings) -> bool:
    begin = time.monotonic()
    done = run(program, cases, out)
    lines = done.stdout.splitlines()
    if done.returncode not in (0, 1) or not lines:
        to.wrong(f"{machine}: operators: {died(done)}")
        return False
    for line in lines[:-1]:
        to.wrong(f"{machine}: {line}")
    to.say(f"{machine}: operators: {lines[-1]} ({time.monotonic() - begin:.0f} s)")
    return True


def run_limits(machine: str, program: list[str], to: Findings) -> None:
    done = run(program)
    if done.returncode:
        to.wrong(f"{machine}: sizes beyond 32 bits: {done.stdout.strip()} {died(done)}")


def run_pictures(machine: str, program: list[str], cases: Path, to: Findings) -> list[str]:
    """A line per pipeline: the hash of its tensor."""
    done = run(program, cases)
    if done.returncode:
        to.wrong(f"{machine}: pictures: {died(done)}")
    return done.stdout.splitlines()


def prepare_picture(folder: Path) -> tuple[Path, Path, int]:
    """A model file, a PPM picture and its longer side."""
    import foveal as fv
    from foveal import cli
    from PIL import Image

    model, picture = folder / "face.fvm", folder / "astronaut.ppm"
    if cli.main(["convert", "face", str(model)]):
        raise SystemExit("cannot convert the zoo's `face`")
    with Image.open(fv.zoo.photo("astronaut")) as image:
        rgb = image.convert("RGB")
        rgb.save(picture, "PPM")
        return model, picture, max(rgb.size)


def run_sample(
    machine: str, program: list[str], model: Path, picture: Path, to: Findings
) -> np.ndarray | None:
    """Rows of label, score, box."""
    done = run(program, model, picture)
    if done.returncode or not done.stdout:
        to.wrong(f"{machine}: sample: {died(done)}")
        return None
    return np.array([[float(x) for x in line.split()] for line in done.stdout.splitlines()])


SIZES = """
const {readFileSync} = require('fs'), z = require('zlib');
const b = readFileSync(process.argv[1]);
const packed = [z.gzipSync(b, {level: 9}), z.brotliCompressSync(b)];
console.log(JSON.stringify([b, ...packed].map((x) => x.length)));
"""


def check_size(target: Target, program: Path, to: Findings) -> None:
    done = run([tool("node", "apt-get install nodejs"), "-e", SIZES], program)
    plain, gzip, brotli = (n / 1000 for n in json.loads(done.stdout))
    to.say(f"{target.name}: sample: {plain:.0f} KB, gzip {gzip:.0f} KB, brotli {brotli:.0f} KB")
    if target.most and (plain > target.most[0] or gzip > target.most[1]):
        to.wrong(f"{target.name}: sample: expected at most {target.most} KB, plain and after gzip")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "portability")
    parser.add_argument("--targets", default=",".join(t.name for t in TARGETS))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    args = parser.parse_args()
    chosen = [t for t in TARGETS if t.name in args.targets.split(",") or t.name == "native"]
    build_folder: Path = args.build.resolve()
    to = Findings()
    missing = []
    for need in [tools, *(t.cmake for t in chosen), *(t.runners for t in chosen)]:
        try:  # before minutes of work
            need()
        except Missing as error:
            missing.append(str(error))
    if missing:
        print("\n".join(missing), file=sys.stderr)
        return 2

    build_folder.mkdir(parents=True, exist_ok=True)
    cases = build_folder / "cases.bin"
    with cases.open("wb") as file:
        to.say(f"{export(file)} operator cases")
    names = case_names(cases)
    model, picture, side = prepare_picture(build_folder)
    pipelines = build_folder / "pipelines.txt"
    pipelines.write_text(image_cases.text())
    native_boxes = native_hashes = None
    for target in chosen:
        begin = time.monotonic()
        programs = build(target, build_folder / target.name, args.jobs)
        to.say(f"{target.name}: built in {time.monotonic() - begin:.0f} s")
        for machine, front in target.runners().items():
            sample = [*front, str(programs / "sample" / f"face{target.suffix}")]
            boxes = run_sample(machine, sample, model, picture, to)
            if target.name == "native":
                native_boxes = boxes
            elif boxes is not None and native_boxes is not None:
                compare_sample(machine, boxes, native_boxes, side, to)
            if target.sample_only:
                continue
            out = build_folder / f"{machine.replace(' ', '-')}.results"
            operators = [*front, str(programs / f"run_cases{target.suffix}")]
            if run_operators(machine, operators, cases, out, to) and target.name != "native":
                compare_operators(machine, names, out, build_folder / "native.results", to)
            run_limits(machine, [*front, str(programs / f"limits{target.suffix}")], to)
            pictures = [*front, str(programs / f"image_bytes{target.suffix}")]
            hashes = run_pictures(machine, pictures, pipelines, to)
            if native_hashes is None:
                native_hashes = hashes
            compare_pictures(machine, list(image_cases.lines()), hashes, native_hashes, to)
        if target.most:
            check_size(target, programs / "sample" / f"face{target.suffix}", to)
    print(f"{len(to.problems)} problems" if to.problems else "all equal")
    return 1 if to.problems else 0


if __name__ == "__main__":
    sys.exit(main())
