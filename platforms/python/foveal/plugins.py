"""Finding plugins: the one inside this package, entry points, ``FOVEAL_PLUGIN_PATH``."""

from __future__ import annotations

import json
import os
import threading
import warnings
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

import pluggy

from foveal import _core, hookspecs
from foveal.errors import FovealError, PluginError

GROUP = "foveal.plugins"

manager = pluggy.PluginManager("foveal")
manager.add_hookspecs(hookspecs)

_lock = threading.Lock()
_discovered = False
_failures: list[dict[str, Any]] = []


def _failed(where: str, reason: str) -> None:
    """A broken plugin costs one line, never the program."""
    _failures.append(
        {
            "name": where,
            "version": "",
            "vendor": "",
            "path": where,
            "state": "failed",
            "reason": reason,
            "devices": [],
        }
    )
    warnings.warn(f"foveal plugin {where}: {reason}", RuntimeWarning, stacklevel=4)


def _add(where: str, path: object) -> None:
    if path is None:
        return
    try:
        _core.plugin_add(os.fspath(path))  # type: ignore[call-overload]
    except (TypeError, FovealError) as e:
        _failed(where, str(e))


def _load_entry(entry: EntryPoint) -> None:
    where = f"entry point {entry.name}"
    try:
        target = entry.load()
        library = getattr(target, "library", None)
        if library is not None:
            _add(where, library())
        elif callable(target) and not isinstance(target, type):
            _add(where, target())
        else:
            manager.register(target, name=entry.name)
    except Exception as e:  # whatever foreign code raises
        _failed(where, f"{type(e).__name__}: {e}")


def discover() -> None:
    """Registers all plugins of this environment, once. Libraries are opened when first needed."""
    global _discovered
    with _lock:
        if _discovered:
            return
        _discovered = True
        for path in sorted(Path(__file__).parent.glob("foveal_plugin_*")):
            if path.suffix in (".so", ".dylib", ".dll", ".pyd"):
                _add(path.name, path)
        for entry in sorted(entry_points(group=GROUP), key=lambda e: e.name):
            _load_entry(entry)
        for implementation in manager.hook.foveal_backend_library.get_hookimpls():
            where = str(implementation.plugin_name)
            try:
                _add(where, implementation.function())
            except Exception as e:
                _failed(where, f"{type(e).__name__}: {e}")


def load(path: str | os.PathLike[str]) -> None:
    """Adds a plugin library, or every plugin library in a folder.

    Raises:
        NotFoundError: the path does not exist. PluginError: the file is not a usable plugin.
    """
    discover()
    name = os.fspath(path)
    _core.plugin_add(name)
    for entry in listing():
        if entry["path"] == name and entry["state"] == "failed":
            raise PluginError(entry["reason"])


def unload(name: str) -> None:
    """Forgets a plugin; sessions that use it stay valid.

    Raises:
        NotFoundError: no plugin of that name is loaded.
    """
    _core.plugin_remove(name)


def listing() -> list[dict[str, Any]]:
    """All plugins: name, version, vendor, path, state (ready, shadowed, failed), reason, devices.

    Each device has name, detail, score (0: not usable here) and reason.
    """
    discover()
    found: list[dict[str, Any]] = json.loads(_core.plugins_json())
    return found + _failures
