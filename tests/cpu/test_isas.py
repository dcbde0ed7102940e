"""The CPU plugin in each of its instruction sets: chosen once per process, so one process each."""

from __future__ import annotations

import os
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


@pytest.mark.parametrize("isa", ISAS[:-1])  # the best one runs them in tests/ops itself
def test_operator_tables(isa: str) -> None:
    if run(isa, str(HERE / "layer_checks.py"), "probe").returncode == 77:
        pytest.skip(f"no {isa} here")
    ops = HERE.parent / "ops"
    skip = f"--ignore={ops / 'test_references.py'}"
    done = run(isa, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(ops), skip)
    assert done.returncode == 0, done.stdout[-3000:]


def test_unknown_isa_is_refused_in_words() -> None:
    listing = run("mmx", "-m", "foveal", "plugins")
    assert "FOVEAL_CPU_ISA=mmx is not an instruction set of this machine" in listing.stdout
