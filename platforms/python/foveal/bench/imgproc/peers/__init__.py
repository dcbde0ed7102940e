"""Libraries that make tensors of frames. One file each; adding one edits no list."""

from __future__ import annotations

import importlib
import pkgutil

from foveal.bench.imgproc.peers.peer import Peer, Prepared
from foveal.errors import NotFoundError

__all__ = ["Peer", "Prepared", "find", "peers"]


def peers() -> dict[str, Peer]:
    """Every library by name, foveal first, then the memory's own time."""
    for info in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{info.name}")
    made = [kind() for kind in Peer.__subclasses__()]
    rank = {"foveal": 0, "floor": 1}
    return {p.name: p for p in sorted(made, key=lambda p: (rank.get(p.name, 2), p.name))}


def find(name: str) -> Peer:
    """The library of that name. NotFoundError lists the known ones."""
    known = peers()
    if name not in known:
        raise NotFoundError(f"bench: there is no library '{name}'; known: {', '.join(known)}")
    return known[name]
