"""One model or photo of the zoo: what its data file says, checked.

A file reads (only ``description``, ``license`` and ``source`` are required)::

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
      "part_of": "text",                  # optional: the model whose task runs this one
      "input_shapes": {"input": [1, 3, "height", "width"]},   # optional: replaces the file's shapes
      "labels": ["face"]
              | {"bytes": [0, 184], "sha256": "..."}          # lines of the same package file
              | {"metadata": "character", "first": [""], "last": [" "]},  # lines of a property that
                                          # the ONNX file carries, between labels of its own
      "pipeline": {...},                  # how a frame becomes the input
      "decoder": {...},                   # what the outputs mean
      "task": {...}                       # what a task of foveal.vision needs besides
    }
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from foveal.cache import cache_dir
from foveal.errors import SpecError

_ENTRY_KEYS = {
    "description",
    "license",
    "homepage",
    "source",
    "part_of",
    "input_shapes",
    "labels",
    "pipeline",
    "decoder",
    "task",
}
_SOURCE_KEYS = {"registry", "package", "version", "file", "bytes", "sha256", "save_as"}
# What reaches the command line of pip or npm: never an option, a range, a file or an address.
_PACKAGE = {
    "pypi": re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"),
    "npm": re.compile(r"(?:@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*"),
}
_VERSION = {
    "pypi": re.compile(r"[0-9][A-Za-z0-9.+!_-]*"),
    "npm": re.compile(r"[0-9]+\.[0-9]+\.[0-9]+(?:[-+][A-Za-z0-9.+-]+)?"),  # 1.2 would be a range
}


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
class Property:
    """Labels that an ONNX file carries: the lines of its property `key`, between two lists."""

    key: str
    first: tuple[str, ...]
    last: tuple[str, ...]


@dataclass(frozen=True)
class Entry:
    """A model or a photo of the zoo, as its data file describes it."""

    name: str
    kind: str  # "model" or "photo"
    description: str
    license: str
    homepage: str
    asset: Asset
    part_of: str = ""
    labels: tuple[str, ...] | Asset | Property = ()
    pipeline: Mapping[str, Any] | None = None
    decoder: Mapping[str, Any] | None = None
    task: Mapping[str, Any] | None = None
    input_shapes: Mapping[str, tuple[int | str, ...]] = field(default_factory=dict)
    added: bool = False  # by the user

    @property
    def assets(self) -> tuple[Asset, ...]:
        """Everything that must be in the cache to use the entry offline."""
        return (self.asset, self.labels) if isinstance(self.labels, Asset) else (self.asset,)


def read(path: Path, kind: str, *, added: bool = False) -> Entry:
    """The entry in a data file. SpecError for a bad one, OSError for one that cannot be read."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise SpecError(f"zoo entry '{path.stem}': not JSON: {error}") from error
    if not isinstance(data, dict):
        raise SpecError(f"zoo entry '{path.stem}': expected a JSON object")
    return parse(data, path.stem, kind, added=added)


def parse(data: Mapping[str, Any], name: str, kind: str, *, added: bool = False) -> Entry:
    """An entry from the contents of its data file. SpecError names the key that is wrong."""
    try:
        _check_keys(data, _ENTRY_KEYS, "")
        source = data["source"]
        _check_keys(source, _SOURCE_KEYS, "source.")
        asset = Asset(
            package(source["registry"], source["package"], source["version"]),
            member(source["file"]),
            _span(source.get("bytes")),
            _sha256(source["sha256"]),
            _file_name(source.get("save_as", PurePosixPath(source["file"]).name)),
        )
        return Entry(
            name=name,
            kind=kind,
            description=_text(data, "description"),
            license=_text(data, "license"),
            homepage=_text(data, "homepage", ""),
            asset=asset,
            part_of=_text(data, "part_of", ""),
            labels=_labels(data.get("labels", []), asset),
            pipeline=_object(data, "pipeline"),
            decoder=_object(data, "decoder"),
            task=_object(data, "task"),
            input_shapes={k: tuple(v) for k, v in data.get("input_shapes", {}).items()},
            added=added,
        )
    except KeyError as error:
        raise SpecError(f"zoo entry '{name}': the key {error} is missing") from error
    except (TypeError, ValueError, AttributeError) as error:
        raise SpecError(f"zoo entry '{name}': {error}") from error


def package(registry: str, name: str, version: str) -> Package:
    """ValueError for what is no name or no single version of a package of that registry."""
    if registry not in _PACKAGE:
        raise ValueError(f"registry is '{registry}', expected 'pypi' or 'npm'")
    if not _PACKAGE[registry].fullmatch(name):
        raise ValueError(f"'{name}' is no name of a {registry} package")
    if not _VERSION[registry].fullmatch(version):
        raise ValueError(f"'{version}' is no version of a package, expected one like 1.2.3")
    return Package(registry, name, version)


def member(file: str) -> str:
    """ValueError for what cannot be the path of a file inside an archive."""
    parts = file.split("/")
    if "\\" in file or "\0" in file or any(part in ("", ".", "..") for part in parts):
        raise ValueError(f"file is '{file}', expected a path inside the package like data/x.onnx")
    return file


def _labels(given: Any, asset: Asset) -> tuple[str, ...] | Asset | Property:
    if not isinstance(given, Mapping):
        if isinstance(given, str):
            raise ValueError("labels are one text, expected a list")
        return tuple(str(label) for label in given)
    if "metadata" in given:
        _check_keys(given, {"metadata", "first", "last"}, "labels.")
        first, last = (tuple(str(x) for x in given.get(key, [])) for key in ("first", "last"))
        return Property(_text(given, "metadata"), first, last)
    _check_keys(given, {"bytes", "sha256"}, "labels.")
    return Asset(
        asset.package, asset.file, _span(given["bytes"]), _sha256(given["sha256"]), "labels.txt"
    )


def _check_keys(data: Mapping[str, Any], known: set[str], where: str) -> None:
    for key in data:
        if key not in known:
            raise ValueError(f"unknown key '{where}{key}', expected one of {sorted(known)}")


def _text(data: Mapping[str, Any], key: str, default: str | None = None) -> str:
    value = data[key] if default is None else data.get(key, default)
    if not isinstance(value, str):
        raise ValueError(f"{key} is {value!r:.60}, expected a text")
    return value


def _object(data: Mapping[str, Any], key: str) -> Mapping[str, Any] | None:
    value = data.get(key)
    if value is not None and not isinstance(value, Mapping):
        raise ValueError(f"{key} is {value!r:.60}, expected an object")
    return value


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
