"""The code in README files is code: Python blocks run, commands exist, links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from sources import ROOT, read, tracked

PAGES = [p for p in tracked() if p.suffix == ".md"]


def blocks(path: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", read(path), re.S | re.M)


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links(page: Path) -> None:
    prose = re.sub(r"^```.*?^```", "", read(page), flags=re.S | re.M)
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", prose)
    missing = [
        t
        for t in targets
        if not t.startswith(("http", "mailto:")) and not (ROOT / page.parent / t).exists()
    ]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_python_blocks_compile(page: Path) -> None:
    for number, block in enumerate(blocks(page, "python"), 1):
        compile(block, f"{page}#{number}", "exec")


@pytest.mark.network
def test_root_readme_runs(tmp_path: Path) -> None:
    """All its Python blocks, one after the other, as a reader would type them."""
    foveal = pytest.importorskip("foveal")
    code = "\n".join(blocks(Path("README.md"), "python"))
    assert code, "README.md shows no Python"
    photo = foveal.zoo.photo("astronaut").read_bytes()
    for name in ("photo.jpg", "astronaut.png"):
        (tmp_path / name).write_bytes(photo)
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_make_targets_in_readme_exist() -> None:
    makefile = read(Path("Makefile"))
    shell = "".join(blocks(Path("README.md"), "(?:sh|bash|console)?"))
    for target in set(re.findall(r"\bmake ([a-z][a-z-]*)", shell)):
        assert re.search(rf"^{target}:", makefile, re.M), target


def test_folders_in_readme_exist() -> None:
    """The table "where do I add" names folders that are there."""
    text = read(Path("README.md"))
    top = "sdk_core|plugins|imgproc|platforms|tests|samples"
    for folder in set(re.findall(rf"`((?:{top})/[\w/]+/)`", text)):
        assert (ROOT / folder).is_dir(), folder
