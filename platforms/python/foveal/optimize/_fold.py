"""How much may be computed ahead of time.

A file of a few bytes can describe constants of any size (tile, expand, fill) and any number of
them. Each result is limited, and all results of one graph together; what goes over stays a node.
What a graph starts with is the most for any; importers lower it to what suits the file's size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from foveal.graph import Graph, Value

# Elements that any file may make up, besides some for each of its bytes: masks and grids of
# positions, which small files do describe.
SMALL_LIMIT, SMALL_BUDGET = 1 << 22, 1 << 24
BUDGET_PER_BYTE = 16
MACS_PER_ELEMENT = 256  # of a session's work, charged like one element


def limit_to_file(graph: Graph, size: int) -> None:
    """Lowers what may be made up to what suits a file of `size` bytes (its weights included)."""
    graph.fold_limit = min(graph.fold_limit, SMALL_LIMIT + size)
    graph.fold_budget = min(graph.fold_budget, SMALL_BUDGET + BUDGET_PER_BYTE * size)


def spend(graph: Graph, elements: int) -> bool:
    """Takes `elements` from the graph's budget; False, and nothing taken, if that is too many."""
    if not 0 <= elements <= min(graph.fold_limit, graph.fold_budget):
        return False
    graph.fold_budget -= elements
    return True


def may_fold(graph: Graph, values: Sequence[Value]) -> bool:
    """Whether these results are concrete and small enough; charges them."""
    return all(v.is_static and spend(graph, math.prod(v.dims)) for v in values)
