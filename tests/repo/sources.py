"""Which files are ours: what git tracks, or all files where there is no git."""

from __future__ import annotations

import functools
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
CODE = {".h", ".hpp", ".cc", ".c", ".py", ".fbs"}
TEXT = CODE | {".md", ".toml", ".txt", ".json", ".yml", ".yaml", ".cmake", ".pyi"}
LEAVE_OUT = {".git", ".venv", "build", "dist", "out", "node_modules", "__pycache__"}


@functools.cache
def tracked() -> list[Path]:
    """Paths relative to the root."""
    if (ROOT / ".git").exists() and shutil.which("git"):
        listing = subprocess.run(
            [
                "git",
                "-C",
                str(ROOT),
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
            ],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        found = [Path(p) for p in listing.split("\0") if p]
    else:
        found = [
            p.relative_to(ROOT)
            for p in ROOT.rglob("*")
            if p.is_file() and not LEAVE_OUT & set(p.relative_to(ROOT).parts)
        ]
    return sorted(p for p in found if (ROOT / p).is_file())


def code() -> list[Path]:
    return [p for p in tracked() if p.suffix in CODE]


def read(path: Path) -> str:
    return (ROOT / path).read_text(encoding="utf-8")
