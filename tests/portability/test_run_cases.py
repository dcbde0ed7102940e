"""The runner of exported cases, on this machine: passes them all, and sees what is wrong."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest
from compare import case_names, distance, results
from export_cases import MAGIC, cases, export, record

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


@pytest.fixture(scope="session")
def package() -> Path:
    return Path(pytest.importorskip("foveal").__file__).parent


@pytest.fixture(scope="session")
def program(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runner") / "run_cases"
    done = subprocess.run(
        [
            "g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fno-exceptions", "-fno-rtti",
            "-I", ROOT / "sdk_core" / "include", HERE / "run_cases.cc", package / "libfoveal.so",
            f"-Wl,-rpath,{package}", "-o", out,
        ],
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return out


def run(program: Path, package: Path, *arguments: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "FOVEAL_PLUGIN_PATH": str(package)},
    )


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """One case, softmax, as `export` writes it."""
    scratch = tmp_path_factory.mktemp("case") / "case.fvm"
    return next(record(c, v, scratch) for c, v in cases() if c.suite == "softmax")


def test_cases_pass(program: Path, package: Path, tmp_path: Path) -> None:
    """A seventh of them: tests/ops runs them all, and `make portability` exports them all."""
    with (tmp_path / "cases").open("wb") as file:
        count = export(file, every=7)
    assert count > 500
    done = run(program, package, tmp_path / "cases", tmp_path / "results")
    assert done.returncode == 0, done.stdout[-2000:]
    passed, refused, wrong = (int(done.stdout.split()[i]) for i in (0, 2, 4))
    assert wrong == 0
    assert passed > 0.9 * count
    assert passed + refused == count == len(case_names(tmp_path / "cases"))
    states = [state for state, _ in results(tmp_path / "results")]
    assert (states.count(0), states.count(1)) == (passed, refused)


def test_a_wrong_value_is_seen(program: Path, package: Path, tmp_path: Path, small: bytes) -> None:
    values = np.frombuffer(small[-4:], np.float32)
    for factor, expected in ((1.0, 0), (1 + 1e-4, 1), (np.nan, 1), (np.inf, 1)):
        changed = small[:-4] + (values * np.float32(factor)).tobytes()
        (tmp_path / "cases").write_bytes(MAGIC + changed)
        done = run(program, package, tmp_path / "cases")
        assert done.returncode == expected, (factor, done.stdout)
        assert ("wrong: softmax" in done.stdout) == bool(expected)


def test_damaged_files_are_refused(
    program: Path, package: Path, tmp_path: Path, small: bytes
) -> None:
    whole = MAGIC + small
    huge = MAGIC + struct.pack("<Q", 2**63) + small[8:]
    for content in (b"", b"FVCASES0" + small, whole[:-1], whole[: len(whole) // 2], huge):
        (tmp_path / "cases").write_bytes(content)
        done = run(program, package, tmp_path / "cases")
        assert done.returncode == 2, done.stdout
        assert done.stderr


def test_distance() -> None:
    def floats(*values: float) -> tuple[int, bytes]:
        return 1, np.array(values, np.float32).tobytes()

    assert distance(floats(1, 2, 4), floats(1, 2, 4)) == 0
    assert distance(floats(1, 2, 4), floats(1, 3, 4)) == 0.25
    assert distance(floats(np.nan, np.inf, 2), floats(np.nan, np.inf, 4)) == 0.5
    assert distance(floats(np.nan, -0.0), floats(np.nan, 0.0)) == 0
    assert distance(floats(1, np.nan), floats(1, 1)) == np.inf
    assert distance(floats(-np.inf), floats(np.inf)) == np.inf
    assert distance(floats(1e-9), floats(0)) == np.inf
    assert distance(floats(1), floats(1, 1)) == np.inf
    assert distance((9, b"\1\0\0\0"), (9, b"\2\0\0\0")) == np.inf
