"""Rewrite passes: small functions over a Graph, each separately switchable.

To add one put a module here with `NAME`, `ORDER` (passes run in ascending order), a docstring
that says what it does, and `run(graph) -> int`, the number of changes made. A pass keeps every
output's name, type and value (up to rounding); tests compare the optimised with the
unoptimised graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from foveal.errors import ArgumentError
from foveal.graph import Graph

__all__ = ["optimize", "passes"]

_ROUNDS = 12


@lru_cache(maxsize=1)
def passes() -> dict[str, ModuleType]:
    """Every pass by name, in running order."""
    modules = [
        import_module(f"{__name__}.{info.name}")
        for info in iter_modules(__path__)
        if not info.name.startswith("_")
    ]
    return {m.NAME: m for m in sorted(modules, key=lambda m: (m.ORDER, m.NAME))}


def optimize(graph: Graph, passes: Sequence[str] | None = None) -> dict[str, int]:
    """Runs the passes in place until none of them changes anything.

    passes: names of those to run, in any order; None runs all. Returns changes by pass name.
    Raises ArgumentError for a name that is not a pass.
    """
    table = globals()["passes"]()
    unknown = [name for name in passes or () if name not in table]
    if unknown:
        raise ArgumentError(
            f"there is no pass called {', '.join(unknown)}", hint=f"passes: {', '.join(table)}"
        )
    chosen = [m for name, m in table.items() if passes is None or name in passes]
    total = {m.NAME: 0 for m in chosen}
    for _ in range(_ROUNDS):
        changed = 0
        for module in chosen:
            count = module.run(graph)
            if count:
                graph.toposort()
                graph.prune()
            total[module.NAME] += count
            changed += count
        if not changed:
            break
    return total
