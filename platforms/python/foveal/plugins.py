"""Finding plugins: the one inside this package, entry points, ``FOVEAL_PLUGIN_PATH``."""

from __future__ import annotations

import json
import os
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

import pluggy

from foveal import _core, hookspecs
from foveal._machine import foreign
from foveal.errors import ArgumentError, FovealError, PluginError

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
        _core.plugin_add(_native(path, "library()"))
    except FovealError as e:
        _failed(where, str(e))


def _native(path: object, what: str) -> bytes:
    """A path for the core: bytes, because names need not be text."""
    try:
        raw = os.fsencode(path)  # type: ignore[arg-type]
    except (TypeError, UnicodeEncodeError):
        raw = b""
    if not raw or b"\0" in raw:
        raise ArgumentError(f"{what}: expected a path, got {path!a}")
    return raw


def _load_entry(entry: EntryPoint) -> None:
    where = f"entry point {entry.name}"
    try:
        with _own_files_first(entry):
            target = entry.load()
            library = getattr(target, "library", None)
            if library is not None:
                path = library()
            elif callable(target) and not isinstance(target, type):
                path = target()
            else:
                manager.register(target, name=entry.name)
                return
        _add(where, path)
    except KeyboardInterrupt:
        raise
    except BaseException as e:  # whatever foreign code raises, SystemExit too
        _failed(where, _reason(e))


@contextmanager
def _own_files_first(entry: EntryPoint) -> Iterator[None]:
    """What the distribution installed wins over files of the same name in the current folder,
    a plugin's library built there, say."""
    folder = str(entry.dist.locate_file("")) if entry.dist is not None else None
    if folder is None:
        yield
        return
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def _reason(error: BaseException) -> str:
    """One line: the kind of error and its text."""
    text = " ".join(str(error).split())
    kind = type(error).__name__
    return f"{kind}: {text}" if text else kind


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
            except KeyboardInterrupt:
                raise
            except BaseException as e:
                _failed(where, _reason(e))


def load(path: str | os.PathLike[str]) -> None:
    """Adds a plugin library, or every plugin library in a folder.

    Raises:
        NotFoundError: the path does not exist. PluginError: the file is not a usable plugin.
        ArgumentError: not a path.
    """
    native = _native(path, "plugins.load")
    discover()
    _core.plugin_add(native)
    name = os.fsdecode(native)
    for entry in listing():
        if entry["path"] == name and entry["state"] == "failed":
            raise PluginError(entry["reason"])


def unload(name: str) -> None:
    """Forgets a plugin; sessions that use it stay valid.

    Raises:
        NotFoundError: no plugin of that name is loaded. ArgumentError: not a name.
    """
    if not isinstance(name, str) or not name.isprintable():
        raise ArgumentError(f"plugins.unload: expected a plugin's name, got {name!a}")
    _core.plugin_remove(name)


def listing() -> list[dict[str, Any]]:
    """All plugins: name, version, vendor, path, state (ready, shadowed, failed), reason, devices.

    Each device has name, detail, score (0: not usable here) and reason.
    """
    discover()
    try:
        text = _core.plugins_json()
    except UnicodeDecodeError as e:  # a path that is not text: kept as surrogates, like Python's
        text = e.object.decode("utf-8", "surrogateescape")
    found: list[dict[str, Any]] = json.loads(text)
    for plugin in found:
        if plugin["state"] == "failed" and (machines := foreign(plugin["path"])):
            plugin["reason"] = f"plugin '{plugin['path']}': is {machines}"
    return found + _failures
