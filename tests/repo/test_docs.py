"""Pages name what exists: texts of errors, and names of the package."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from sources import tracked

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "platforms" / "python" / "docs"


@cache
def sources() -> str:
    """All sources as one text, literals that are written in pieces joined."""
    files = [
        path
        for folder in ("sdk_core", "imgproc", "plugins", "platforms")
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in (".py", ".cc", ".h") and "/build/" not in path.as_posix()
    ]
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    return re.sub(r"[\"']\s*\n\s*f?[\"']", "", text)


def quoted() -> list[str]:
    """The error texts in the first columns of the tables."""
    found = []
    for line in (DOCS / "troubleshooting.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("| `"):
            found += re.findall(r"`([^`]+)`", line.split("|")[1])
    return found


@pytest.mark.parametrize("text", quoted())
def test_every_quoted_error_text_is_in_the_sources(text: str) -> None:
    pieces = [piece.strip() for piece in text.split("…") if len(piece.strip()) > 2]
    assert pieces
    for piece in pieces:
        assert piece in sources(), f"no source says '{piece}'"


def test_every_name_is_there_after_import_foveal() -> None:
    """In a process that imported nothing else of it: parts that load when they are used, too."""
    pages = [(ROOT / page).read_text("utf-8") for page in tracked() if page.suffix == ".md"]
    found = {
        name
        for page in pages
        for name in re.findall(r"\b(?:foveal|fv)\.([A-Za-z_][\w.]*\w)", page)
        if name != "h"  # the C header
    }
    assert {"recipes.read", "vision.Detector", "image.resize"} <= found
    script = "import operator, sys, foveal; [operator.attrgetter(n)(foveal) for n in sys.argv[1:]]"
    for module in {name.partition(".")[0] for name in found}:
        names = sorted(n for n in found if n.partition(".")[0] == module)
        done = subprocess.run([sys.executable, "-c", script, *names], capture_output=True)
        assert done.returncode == 0, f"{names}: {done.stderr.decode()}"
