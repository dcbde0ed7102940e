"""Pipelines that promise equal bytes, on every instruction set that this machine has."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from image_cases import lines, text

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


@pytest.fixture(scope="module")
def hashes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Instruction set -> a line per case."""
    package = Path(pytest.importorskip("foveal").__file__).parent
    folder = tmp_path_factory.mktemp("image_bytes")
    program, cases = folder / "image_bytes", folder / "cases"
    done = subprocess.run(
        [
            "g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fno-exceptions", "-fno-rtti",
            "-I", ROOT / "sdk_core/include", "-I", ROOT / "imgproc/include",
            HERE / "image_bytes.cc", package / "libfoveal_imgproc.so", package / "libfoveal.so",
            f"-Wl,-rpath,{package}", "-o", program,
        ],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    cases.write_text(text())
    found = {}
    for isa in ("baseline", "avx2", "avx512"):
        done = subprocess.run(
            [program, cases], capture_output=True, text=True, check=True,
            env={**os.environ, "FOVEAL_IMGPROC_ISA": isa},
        )  # fmt: skip
        found[isa] = done.stdout.splitlines()
    return found


def test_every_case_is_computed(hashes: dict[str, list[str]]) -> None:
    assert len(hashes["baseline"]) == len(list(lines()))
    refused = [
        f"{case}: {got}"
        for case, got in zip(lines(), hashes["baseline"], strict=True)
        if got.startswith("refused")
    ]
    assert not refused
    # Pictures of noise: both of OpenCV agree on most, else few share a result.
    assert len(set(hashes["baseline"])) > 0.5 * len(hashes["baseline"])


@pytest.mark.parametrize("isa", ["avx2", "avx512"])
def test_bytes_do_not_depend_on_the_instruction_set(hashes: dict[str, list[str]], isa: str) -> None:
    same = zip(lines(), hashes["baseline"], hashes[isa], strict=True)
    assert not [case for case, one, other in same if one != other]
