"""Importers: model files of other formats become a :class:`foveal.graph.Graph`.

To add a format put `convert/<format>.py` here, with

* `SUFFIXES`: file name endings, for instance `(".onnx",)`,
* `sniff(head: bytes) -> bool`: whether the first bytes of a file look like this format,
* `load(source, options) -> Graph`: `source` is a path or the file's bytes;
* `describe(data) -> dict`, if it likes: entries for the graph's metadata, such as the pipeline,
  that the file's bytes say; used when the caller gives no pipeline;

or return an object with these three from the plugin hook `foveal_importers`. Importers raise
ModelError for a damaged file and UnsupportedOpError listing everything that is missing, at once.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, Protocol

from foveal.cache import is_device
from foveal.errors import ArgumentError, FovealError, ModelError, NotFoundError, ShapeError
from foveal.graph import Dim, Graph

__all__ = ["ConvertOptions", "Importer", "convert", "importers"]

_HEAD = 512


@dataclass(frozen=True)
class ConvertOptions:
    """What a user may override while importing.

    input_shapes: input name → dimensions, ints or names of symbolic dimensions. They replace
        what the file declares, for instance `{"input.1": (1, 3, "height", "width")}`.
    folder: where external weight files may be read from; None refuses them.
    """

    input_shapes: Mapping[str, Sequence[Dim]] = field(default_factory=dict)
    folder: Path | None = None

    def shape(self, name: str, declared: Sequence[Dim]) -> list[Dim]:
        """The shape to use for input `name`. Raises ModelError when the rank differs."""
        wanted = self.input_shapes.get(name)
        if wanted is None:
            return list(declared)
        if len(wanted) != len(declared):
            raise ModelError(
                f"input '{name}' has rank {len(declared)} {list(declared)}, "
                f"the shape asked for has rank {len(wanted)} {list(wanted)}"
            )
        return [d if isinstance(d, str) else int(d) for d in wanted]

    def check_names(self, names: Sequence[str]) -> None:
        """Raises ModelError when a shape is given for an input that does not exist."""
        unknown = [n for n in self.input_shapes if n not in names]
        if unknown:
            raise ModelError(
                f"shapes are given for {unknown}, but the model's inputs are {list(names)}",
                hint="use the names of the model's own inputs",
            )


class Importer(Protocol):
    """A module in this folder or an object from a plugin."""

    SUFFIXES: Sequence[str]

    def sniff(self, head: bytes) -> bool: ...

    def load(self, source: Path | bytes, options: ConvertOptions) -> Graph: ...


@lru_cache(maxsize=1)
def importers() -> dict[str, Any]:
    """Format name → importer: the modules of this folder, then those of plugins."""
    found: dict[str, Any] = {}
    for info in iter_modules(__path__):
        module = import_module(f"{__name__}.{info.name}")
        if all(hasattr(module, a) for a in ("SUFFIXES", "sniff", "load")):
            found[info.name] = module
    for extra in _plugin_importers():
        name = getattr(extra, "NAME", None) or str(extra.SUFFIXES[0]).lstrip(".")
        found.setdefault(name, extra)
    return found


def _plugin_importers() -> list[Any]:
    from foveal import plugins  # late: plugins may import this module

    plugins.discover()
    return [imp for group in plugins.manager.hook.foveal_importers() for imp in group or []]


def pick(head: bytes, suffix: str) -> tuple[str, Any]:
    """The importer for a file: by content first, then by suffix. Raises ModelError."""
    table = importers()
    for name, imp in table.items():
        if imp.sniff(head):
            return name, imp
    suffixes = sorted({s for imp in table.values() for s in imp.SUFFIXES})
    if not head:
        raise ModelError("the file is empty", hint="fetch it again")
    for name, imp in table.items():
        if suffix.lower() in imp.SUFFIXES:
            return name, imp
    raise ModelError(
        f"this is not a model file of a known format (known: {', '.join(suffixes)}, .fvm)",
        hint="check the path; other formats can be added by a plugin",
    )


def convert(
    path: str | Path | bytes,
    *,
    input_shapes: Mapping[str, Sequence[Dim]] | None = None,
    optimize: bool = True,
    passes: Sequence[str] | None = None,
    meta: Mapping[str, str] | None = None,
) -> Graph:
    """Imports a model file (or its bytes) and optimises the graph.

    input_shapes: overrides of input dimensions, see :class:`ConvertOptions`.
    optimize: run the rewrite passes; `passes` names the ones to run (default: all).
    meta: entries added to the graph's metadata.

    Raises ModelError (damaged or not a model), UnsupportedOpError (lists everything that cannot
    be imported), NotFoundError (no such file).
    """
    source: Path | bytes
    if isinstance(path, bytes):
        source, data, label, folder = path, path, "model", None
    else:
        source = Path(path)
        label, folder = source.name, source.parent
        if is_device(source):
            raise ModelError(
                f"cannot read '{path}': it is a device or a pipe",
                hint="copy the data to a file first",
            )
        try:
            data = source.read_bytes()
        except FileNotFoundError as e:
            raise NotFoundError(f"there is no file '{path}'", hint="check the path") from e
        except OSError as e:
            raise ModelError(f"cannot read '{path}': {e.strerror or e}") from e
    try:
        name, importer = pick(data[:_HEAD], source.suffix if isinstance(source, Path) else "")
        graph = _load(importer, data, ConvertOptions(dict(input_shapes or {}), folder))
    except FovealError as e:
        raise type(e)(f"{label}: {e.message}", op=e.op, hint=e.hint) from e
    origin = {"format": name, "sha256": hashlib.sha256(data).hexdigest(), "file": label}
    graph.meta.setdefault("source", json.dumps(origin))
    if "pipeline" not in (meta or {}) and hasattr(importer, "describe"):
        graph.meta.update(importer.describe(data))
    graph.meta.update(meta or {})
    if optimize:
        from foveal.optimize import optimize as run_passes

        run_passes(graph, passes=passes)
    return graph


def _load(importer: Any, data: bytes, options: ConvertOptions) -> Graph:
    """A damaged file can contradict itself in ways no importer lists: those are ModelErrors."""
    try:
        graph: Graph = importer.load(data, options)
    except (ArgumentError, ShapeError) as e:  # what the file says does not fit together
        raise ModelError(e.message, op=e.op, hint=e.hint) from e
    except FovealError:
        raise
    except MemoryError as e:
        raise ModelError("the file describes tensors that do not fit into memory") from e
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as e:
        raise ModelError(
            f"the file contradicts itself ({type(e).__name__}: {e})",
            hint="fetch it again; if it runs elsewhere, please report it",
        ) from e
    graph.prune()
    return graph
