"""The CPU plugin in each of its instruction sets: chosen once per process, so one process each.

The operator tables run on each of them in tests/plugins/test_instruction_sets.py.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ISAS = ["sse4", "avx2", "avx512"]


def run(isa: str, *command: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"FOVEAL_CPU_ISA": isa}
    return subprocess.run(
        [sys.executable, *command], env=env, text=True, capture_output=True, timeout=300
    )


@pytest.mark.parametrize("isa", ISAS)
def test_large_layers(isa: str) -> None:
    done = run(isa, str(HERE / "layer_checks.py"))
    if done.returncode == 77:
        pytest.skip(f"no {isa} here")
    assert done.returncode == 0, done.stdout + done.stderr


FLAGS = {
    "sse4": ["-msse4.2"],
    "avx2": ["-mavx2", "-mfma"],
    "avx512": ["-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512dq", "-mfma"],
}


@pytest.mark.parametrize("isa", ISAS)
def test_vector_functions(isa: str, tmp_path: Path) -> None:
    core = HERE.parent.parent / "sdk_core"
    compiler = shutil.which("g++")
    if not compiler or os.uname().machine != "x86_64":
        pytest.skip("needs g++ on x86-64")
    program = tmp_path / "simd_check"
    flags = ["-std=c++20", "-O2", "-fno-math-errno", "-ffp-contract=fast", *FLAGS[isa]]
    source = str(HERE / "simd_check.cc")
    subprocess.run(
        [compiler, *flags, f"-I{core}", f"-I{core / 'include'}", source, "-o", str(program)],
        check=True,
    )
    done = subprocess.run([str(program)], text=True, capture_output=True, timeout=120)
    if done.returncode == -signal.SIGILL:
        pytest.skip(f"no {isa} here")
    assert done.returncode == 0, done.stdout


def test_unknown_isa_is_refused_in_words() -> None:
    listing = run("mmx", "-m", "foveal", "plugins")
    assert "FOVEAL_CPU_ISA=mmx is not an instruction set of this machine" in listing.stdout
