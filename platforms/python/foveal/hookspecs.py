"""Hooks for packages that extend Foveal, found through the entry point group ``foveal.plugins``.

A package either names a module with ``library() -> Path`` (a backend and nothing else), or a
module or object with functions marked ``@foveal.hookimpl`` and named as below.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pluggy

hookspec = pluggy.HookspecMarker("foveal")
hookimpl = pluggy.HookimplMarker("foveal")


@hookspec
def foveal_backend_library() -> Path | None:
    """Path of a library exporting ``foveal_plugin``. Called once; may raise to decline."""


@hookspec
def foveal_importers() -> list[Any]:
    """Importers for further model formats: objects like the modules in ``foveal.convert``."""
    return []


@hookspec
def foveal_zoo() -> list[Path]:
    """Folders with further zoo entries (``*.json``)."""
    return []
