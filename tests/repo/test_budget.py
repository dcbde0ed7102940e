"""Budgets: file lengths, sizes of the libraries, the template plugin."""

from __future__ import annotations

import shutil
import statistics
import subprocess
from pathlib import Path

import pytest
from sources import ROOT, code, read

LONGEST = 800  # lines; beyond that a file is two files
MEDIAN = 150
TEMPLATE = 300
CORE_BYTES = 600 * 1024
CPU_BYTES = int(1.75 * 1024 * 1024)
IMGPROC_BYTES = 840 * 1024


def lines(path: Path) -> int:
    return len(read(path).splitlines())


def test_no_file_is_too_long() -> None:
    too_long = {str(p): n for p in code() if (n := lines(p)) > LONGEST}
    assert not too_long, f"more than {LONGEST} lines"


def test_median_file_is_short() -> None:
    assert statistics.median(lines(p) for p in code()) <= MEDIAN


def test_template_plugin_is_small() -> None:
    folder = ROOT / "plugins" / "template"
    sources = [p for p in folder.iterdir() if p.suffix in {".cc", ".h", ".py"}]
    assert sum(lines(p) for p in [*sources, folder / "CMakeLists.txt"]) <= TEMPLATE


def stripped(library: Path, folder: Path) -> int:
    copy = folder / library.name
    shutil.copy(library, copy)
    subprocess.run(["strip", str(copy)], check=True)
    return copy.stat().st_size


@pytest.mark.skipif(shutil.which("strip") is None, reason="needs strip")
def test_libraries_are_small(tmp_path: Path) -> None:
    foveal = pytest.importorskip("foveal")
    package = Path(foveal.__file__).parent
    (core,) = package.glob("libfoveal.*")
    (cpu,) = package.glob("**/*foveal_plugin_cpu.*")
    (imgproc,) = package.glob("libfoveal_imgproc.*")
    assert stripped(core, tmp_path) <= CORE_BYTES
    assert stripped(cpu, tmp_path) <= CPU_BYTES
    assert stripped(imgproc, tmp_path) <= IMGPROC_BYTES
