"""The page of error texts quotes texts that exist."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

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
