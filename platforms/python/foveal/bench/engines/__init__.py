"""Engines that the bench can time. One file each; adding one edits no list."""

from __future__ import annotations

import importlib
import pkgutil

from foveal.bench.engines.engine import Arrays, Engine, Opened, Source
from foveal.errors import NotFoundError

__all__ = ["Arrays", "Engine", "Opened", "Source", "engines", "find"]


def engines() -> dict[str, Engine]:
    """Every engine by name, foveal first."""
    for info in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{info.name}")
    made = [kind() for kind in Engine.__subclasses__()]
    return {e.name: e for e in sorted(made, key=lambda e: (e.name != "foveal", e.name))}


def find(name: str) -> Engine:
    """The engine of that name. NotFoundError lists the known ones."""
    known = engines()
    if name not in known:
        raise NotFoundError(f"bench: there is no engine '{name}'; known: {', '.join(known)}")
    return known[name]
