"""Builds with sanitizers and runs what looks for faults: `make asan tsan fuzz hardening-short`.

    python tests/hardening/run.py asan [--mutations 10000]
    python tests/hardening/run.py tsan
    python tests/hardening/run.py fuzz [--seconds 60]
    python tests/hardening/run.py short

Each kind has a build tree of its own in build/. `asan`: AddressSanitizer and UBSan over all C++
tests (with a search for leaks), chosen Python tests and mutations of model files and specs.
`tsan`: ThreadSanitizer over the thread pool and sessions. `fuzz`: libFuzzer, a while per target;
needs clang. `short`: the C++ tests and a little fuzzing in one tree of clang's, and `tsan`, for
continuous integration; without clang it says so, and runs the C++ tests in a tree of gcc's.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
CLANG = "install clang with its runtime, e.g. apt-get install clang-19 libclang-rt-19-dev"

# A finding ends the process with this code, so that it differs from a test that fails.
ASAN = "allocator_may_return_null=1:detect_stack_use_after_return=1:strict_string_checks=1"
UBSAN = "print_stacktrace=1:halt_on_error=1"
# Those that reach the most native code in the least time.
PYTHON_TESTS = [
    "tests/imgproc", "tests/session", "tests/models/test_damaged_models.py",
    "tests/models/test_hostile_graphs.py", "tests/models/test_random_graphs.py",
    "tests/ops/test_conv2d.py", "tests/ops/test_matmul.py", "tests/ops/test_pool2d.py",
    "tests/ops/test_resize.py", "tests/ops/test_reduce.py", "tests/ops/test_raster.py",
    "tests/ops/test_cast.py", "tests/hardening",
    # Its program is linked without the sanitizers, and does not start where they are preloaded.
    "--ignore=tests/imgproc/test_c_api.py",
]  # fmt: skip


# Where time is short one instruction set is enough: the others are the same source.
ONE_ISA = ["-DFOVEAL_CPU_ISAS=avx2"] if platform.machine() in ("x86_64", "AMD64") else []


class Failed(Exception):
    pass


def call(command: list[str], what: str, env: dict[str, str] | None = None) -> None:
    print("+ " + what, flush=True)
    start = time.monotonic()
    code = subprocess.run(command, cwd=ROOT, env={**os.environ, **(env or {})}).returncode
    if code:
        raise Failed(f"{what}: exit code {code}: {' '.join(command)}")
    print(f"  {time.monotonic() - start:.0f} s", flush=True)


def build(tree: Path, sanitize: str, *extra: str, targets: tuple[str, ...] = ()) -> None:
    import pybind11

    prefix = [
        f"-DPython_EXECUTABLE={sys.executable}", f"-DPython3_EXECUTABLE={sys.executable}",
        f"-Dpybind11_DIR={pybind11.get_cmake_dir()}", "-DFOVEAL_TESTS=ON", "-DFOVEAL_TEMPLATE=ON",
    ]  # fmt: skip
    configure = ["cmake", "-G", "Ninja", "-S", str(ROOT), "-B", str(tree)]
    configure += [f"-DFOVEAL_SANITIZE={sanitize}", *prefix, *extra]
    tools = {"PATH": str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"]}
    call([*configure, "--log-level=WARNING"], f"configure {tree.name}", tools)
    chosen = ["--target", *targets] if targets else []
    call(["cmake", "--build", str(tree), *chosen], f"build {tree.name}", tools)


def ctest(tree: Path, env: dict[str, str], pattern: str = ".") -> None:
    tools = {"PATH": str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"]}
    command = ["ctest", "--test-dir", str(tree), "--output-on-failure", "-j2", "-R", pattern]
    call(command, f"C++ tests in {tree.name}", {**env, **tools})


def library(name: str) -> str:
    """Full path of one of the compiler's own libraries."""
    command = ["g++", f"-print-file-name={name}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def package(tree: Path) -> Path:
    """The Python package with the tree's libraries. Returns what belongs into PYTHONPATH."""
    folder = tree / "python" / "foveal"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "platforms" / "python" / "foveal", folder)
    command = ["cmake", "--install", str(tree), "--prefix", str(folder)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder.parent


def cpp_tests(tree: Path) -> None:
    """All C++ tests under AddressSanitizer, with a search for leaks."""
    ctest(tree, {"ASAN_OPTIONS": ASAN + ":detect_leaks=1", "UBSAN_OPTIONS": UBSAN})


def asan(tree: Path, *, make: bool, mutations: int) -> None:
    if make:
        build(tree, "address,undefined")
    cpp_tests(tree)
    env = {
        "LD_PRELOAD": " ".join(library(n) for n in ("libasan.so", "libstdc++.so")),
        "ASAN_OPTIONS": ASAN + ":detect_leaks=0",  # the interpreter keeps what it has
        "UBSAN_OPTIONS": UBSAN,
        "PYTHONMALLOC": "malloc",  # arrays and buffers one by one
        "PYTHONPATH": str(package(tree)),
    }
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-m",
        "not slow and not speed",
        "-p",
        "no:cacheprovider",
    ]
    call([*command, *PYTHON_TESTS], "Python tests under AddressSanitizer", env)
    if mutations:
        command = [sys.executable, "tests/fuzz/mutate.py", "--count", str(mutations)]
        call(command, f"{mutations} mutations per format under AddressSanitizer", env)


def tsan(tree: Path, *, make: bool) -> None:
    if make:
        targets = ("make_models", "threads_test", "thread_pool_test")
        build(tree, "thread", "-DFOVEAL_PYTHON=OFF", *ONE_ISA, targets=targets)
    # Children of thread_pool_test make threads, which TSan refuses unless told.
    options = "halt_on_error=1:second_deadlock_stack=1:die_after_fork=0"
    ctest(tree, {"TSAN_OPTIONS": options}, "^(make_models|threads_test|thread_pool_test)$")


def clang() -> tuple[str, str] | None:
    """C and C++ compilers that can make fuzzers, newest first."""
    for suffix in ["", *(f"-{n}" for n in range(30, 13, -1))]:
        c, cxx = shutil.which("clang" + suffix), shutil.which("clang++" + suffix)
        if not c or not cxx:
            continue
        program = 'extern "C" int LLVMFuzzerTestOneInput(const char*, long) { return 0; }'
        command = [cxx, "-fsanitize=fuzzer,address", "-x", "c++", "-", "-o", os.devnull]
        if subprocess.run(command, input=program.encode(), capture_output=True).returncode == 0:
            return c, cxx
    return None


def build_fuzzers(tree: Path, compilers: tuple[str, str], *targets: str) -> None:
    extra = [f"-DCMAKE_C_COMPILER={compilers[0]}", f"-DCMAKE_CXX_COMPILER={compilers[1]}"]
    extra += ["-DFOVEAL_FUZZ=ON", "-DFOVEAL_PYTHON=OFF", *ONE_ISA]
    build(tree, "fuzzer-no-link,address,undefined", *extra, targets=targets)


def fuzz(tree: Path, *, seconds: int, repeatable: int = 0) -> None:
    """All targets, so long each. repeatable: at most so many inputs, the same ones every time."""
    corpus, out = tree / "corpus", ROOT / "out" / "fuzz"
    out.mkdir(parents=True, exist_ok=True)
    python = [sys.executable, str(ROOT / "tests" / "fuzz" / "importer_fuzz.py")]
    importers = all(find_spec(name) for name in ("atheris", "onnx"))
    call(
        [sys.executable, "tests/fuzz/seeds.py", str(corpus), *["--importers"] * importers], "seeds"
    )
    programs = {
        s.stem: [str(tree / "tests" / "fuzz" / s.stem)]
        for s in sorted((ROOT / "tests" / "fuzz").glob("*_fuzz.cc"))
    }
    if importers:
        programs |= {kind: [*python, kind] for kind in ("onnx", "tflite")}
    else:
        print("the importers are left out: pip install atheris onnx")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [
            pool.submit(fuzz_one, n, p, corpus, out, seconds, repeatable)
            for n, p in programs.items()
        ]
    found = [name for name, job in zip(programs, jobs, strict=True) if not job.result()]
    if found:
        raise Failed(f"fuzz: findings in {', '.join(found)}; inputs and logs are in {out}")


def fuzz_one(
    name: str, program: list[str], corpus: Path, out: Path, seconds: int, repeatable: int
) -> bool:
    """Runs one target and prints what became of it. Returns whether nothing was found."""
    log, grown = out / f"{name}.log", corpus / f"{name}.grown"
    grown.mkdir(exist_ok=True)
    command = [*program, f"-max_total_time={seconds}", "-timeout=60", "-rss_limit_mb=3000"]
    if repeatable:
        command += ["-seed=1", f"-runs={repeatable}"]
    command += ["-print_final_stats=1", "-max_len=16384", f"-artifact_prefix={out / name}-"]
    if name.endswith("_fuzz"):
        command.append(f"-dict={corpus / 'words.dict'}")
    folders = [grown, corpus / name, ROOT / "tests" / "fuzz" / "corpus" / name]
    command += [str(f) for f in folders if f.is_dir()]
    # A model may ask for more memory than there is: it is refused, as on a small machine.
    limits = ASAN + ":max_allocation_size_mb=1000"
    env = {**os.environ, "ASAN_OPTIONS": limits, "UBSAN_OPTIONS": UBSAN}
    with log.open("w") as file:
        code = subprocess.run(command, env=env, stdout=file, stderr=file).returncode
    text = log.read_text("utf-8", "replace")
    units = re.findall(r"number_of_executed_units: (\d+)", text) or ["?"]
    edges, features, kept = (
        re.findall(r"cov: (\d+) ft: (\d+) corp: (\d+)", text) or [("?", "?", "?")]
    )[-1]
    result = f"FINDING, see {log}" if code else "no finding"
    print(
        f"{name}: {units[-1]} runs, {edges} edges, {features} features, corpus {kept}: {result}",
        flush=True,
    )
    return code == 0


def short() -> None:
    compilers = clang()
    if compilers:
        build_fuzzers(BUILD / "fuzz", compilers)
        cpp_tests(BUILD / "fuzz")
        fuzz(BUILD / "fuzz", seconds=60, repeatable=20_000)
    else:
        print("fuzzing is left out: no clang with libFuzzer here; " + CLANG, flush=True)
        build(BUILD / "asan", "address,undefined", "-DFOVEAL_PYTHON=OFF", *ONE_ISA)
        cpp_tests(BUILD / "asan")
    tsan(BUILD / "tsan", make=True)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kind", choices=["asan", "tsan", "fuzz", "short"])
    parser.add_argument("--seconds", type=int, default=60, help="per fuzz target")
    parser.add_argument("--mutations", type=int, default=10000, help="per format")
    parser.add_argument("--tree", type=Path, help="build tree, default build/KIND")
    parser.add_argument("--no-build", action="store_true", help="run what the tree holds")
    options = parser.parse_args()
    tree = options.tree or BUILD / options.kind
    make = not options.no_build
    try:
        if options.kind == "asan":
            asan(tree, make=make, mutations=options.mutations)
        elif options.kind == "tsan":
            tsan(tree, make=make)
        elif options.kind == "fuzz":
            if make:
                compilers = clang()
                if not compilers:
                    raise Failed("fuzz: no clang with libFuzzer found: " + CLANG)
                build_fuzzers(tree, compilers, "fuzz_targets")
            fuzz(tree, seconds=options.seconds)
        else:
            short()
    except Failed as e:
        print(e, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
