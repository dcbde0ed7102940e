"""What the zoo knows: a JSON file per model in ``models/`` and per photo in ``photos/``.

The folders are scanned; `foveal.zoo.entry` says what a file holds. Other packages add models
through the hook `foveal_zoo`, users with ``foveal zoo add``. The first of a name wins: ours, then
the packages', then the user's.
"""

from __future__ import annotations

import contextlib
import functools
import logging
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

from foveal.cache import data_dir
from foveal.errors import NotFoundError, SpecError
from foveal.zoo.entry import Entry, read

log = logging.getLogger("foveal.zoo")


def catalog(kind: str) -> Mapping[str, Entry]:
    """All entries of a kind ("model" or "photo") by name, sorted. SpecError for a bad data file.

    Read once per process, see `forget`. A bad file of the user's is left out with a warning.
    """
    users = None
    if kind == "model":
        with contextlib.suppress(RuntimeError):  # a user without a home has added nothing
            users = user_folder()
    return _catalog(kind, users)


def user_folder() -> Path:
    """Where the entries lie that the user added. RuntimeError for a user without a home."""
    return data_dir("zoo", "models")


def forget() -> None:
    """Makes `catalog` read the files again."""
    _catalog.cache_clear()


@functools.cache
def _catalog(kind: str, users: Path | None) -> Mapping[str, Entry]:
    folders = [Path(__file__).parent / f"{kind}s"]
    if kind == "model":
        folders += _plugin_folders()
    found: dict[str, Entry] = {}
    for path in (path for folder in folders for path in folder.glob("*.json")):
        found.setdefault(path.stem, read(path, kind))
    for path in users.glob("*.json") if users is not None else ():
        try:
            found.setdefault(path.stem, read(path, kind, added=True))
        except (SpecError, OSError) as error:
            log.warning(
                "%s: left out (foveal zoo remove %s deletes it): %s", path, path.stem, error
            )
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
