"""How much may be computed ahead of time.

A file of a few bytes can describe constants of any size (tile, expand, fill) and any number of
them. Each result is limited, and all results of one graph together; what goes over stays a node.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from foveal.graph import Graph, Value

FOLD_LIMIT = 1 << 24  # elements of one constant
MACS_PER_ELEMENT = 256  # of a session's work, charged like one element


def spend(graph: Graph, elements: int) -> bool:
    """Takes `elements` from the graph's budget; False, and nothing taken, if that is too many."""
    if not 0 <= elements <= min(FOLD_LIMIT, graph.fold_budget):
        return False
    graph.fold_budget -= elements
    return True


def may_fold(graph: Graph, values: Sequence[Value]) -> bool:
    """Whether these results are concrete and small enough; charges them."""
    return all(v.is_static and spend(graph, math.prod(v.dims)) for v in values)
