"""Where to draw the nodes of a graph that has no cycles: in layers, from top to bottom.

After Sugiyama, Tagawa and Toda (1981): layers by longest path, long edges through waypoints, fewer
crossings by sorting layers by the mean place of neighbours, and places by least squares with a
fixed distance (isotonic regression by pooling adjacent violators).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

Edge = tuple[int, int]
_SWEEPS = 4
_THIN = 0.15  # width of a waypoint; a node's is 1
_WAYPOINTS = 20_000  # more, and long edges are drawn straight


@dataclass(frozen=True)
class Drawing:
    """Centres of nodes, and for every edge the points it passes, ends included. The unit across is
    the least distance of two nodes in a layer, the unit down that of two layers."""

    nodes: tuple[tuple[float, int], ...]
    edges: tuple[tuple[tuple[float, int], ...], ...]
    width: float
    """Largest x; the smallest is 0."""
    layers: int


def draw(count: int, edges: Sequence[Edge]) -> Drawing:
    """Places `count` nodes; an edge (a, b) goes down from a to b.

    ValueError for a cycle or an edge to a node that does not exist.
    """
    layer = _layers(count, edges)
    paths, levels, neighbours = _waypoints(layer, edges)
    _order(levels, neighbours)
    across = _places(levels, neighbours, count)
    least = min(across, default=0.0)
    across = [x - least for x in across]
    depth = [0] * len(across)
    for row, level in enumerate(levels):
        for item in level:
            depth[item] = row
    points = list(zip(across, depth, strict=True))
    return Drawing(
        tuple(points[:count]),
        tuple(tuple(points[item] for item in path) for path in paths),
        max(across, default=0.0),
        len(levels),
    )


def _layers(count: int, edges: Sequence[Edge]) -> list[int]:
    """Longest path from a source; sources move down to just above their first user."""
    users: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    for a, b in edges:
        if not (0 <= a < count and 0 <= b < count):
            raise ValueError(f"edge ({a}, {b}) between {count} nodes")
        users[a].append(b)
        waiting[b] += 1
    sources = [node for node in range(count) if not waiting[node]]
    layer, ready, done = [0] * count, list(sources), 0
    while ready:
        node = ready.pop()
        done += 1
        for user in users[node]:
            layer[user] = max(layer[user], layer[node] + 1)
            waiting[user] -= 1
            if not waiting[user]:
                ready.append(user)
    if done < count:
        raise ValueError("the graph has a cycle")
    for node in sources:
        if users[node]:
            layer[node] = min(layer[user] for user in users[node]) - 1
    return layer


def _waypoints(
    layer: Sequence[int], edges: Sequence[Edge]
) -> tuple[list[list[int]], list[list[int]], list[tuple[list[int], list[int]]]]:
    """Paths of the edges through waypoints (numbered after the nodes), the items of each layer,
    and each item's neighbours above and below."""
    levels: list[list[int]] = [[] for _ in range(max(layer, default=-1) + 1)]
    for node, row in enumerate(layer):
        levels[row].append(node)
    neighbours: list[tuple[list[int], list[int]]] = [([], []) for _ in layer]
    straight = sum(layer[b] - layer[a] - 1 for a, b in edges) > _WAYPOINTS
    paths = []
    for a, b in edges:
        path = [a]
        for row in range(layer[a] + 1, layer[b]):
            if straight:
                break
            path.append(len(neighbours))
            levels[row].append(len(neighbours))
            neighbours.append(([], []))
        path.append(b)
        for above, below in pairwise(path):
            neighbours[above][1].append(below)
            neighbours[below][0].append(above)
        paths.append(path)
    return paths, levels, neighbours


def _order(levels: list[list[int]], neighbours: Sequence[tuple[list[int], list[int]]]) -> None:
    """Sorts the layers in place by the mean rank of the neighbours, down and up by turns."""
    rank = [0.0] * len(neighbours)

    def number(level: Sequence[int]) -> None:
        for place, item in enumerate(level):
            rank[item] = place - (len(level) - 1) / 2

    for level in levels:
        number(level)
    for sweep in range(_SWEEPS):
        side = sweep % 2
        for level in levels[1:] if side == 0 else levels[-2::-1]:
            wanted = {
                item: _mean([rank[n] for n in neighbours[item][side]], rank[item]) for item in level
            }
            level.sort(key=wanted.__getitem__)
            number(level)


def _places(
    levels: Sequence[Sequence[int]], neighbours: Sequence[tuple[list[int], list[int]]], nodes: int
) -> list[float]:
    """Places across: every item near its neighbours' mean and beside the next, not over it."""
    across = [0.0] * len(neighbours)
    offsets = []  # of every item of a layer from the first, packed
    for level in levels:
        half = [0.5 if item < nodes else _THIN / 2 for item in level]
        packed = [0.0]
        for a, b in pairwise(half):
            packed.append(packed[-1] + a + b)
        offsets.append(packed)
        for item, offset in zip(level, packed, strict=True):
            across[item] = offset - packed[-1] / 2
    for sweep in range(2 * _SWEEPS):
        side = sweep % 2
        for row in range(1, len(levels)) if side == 0 else range(len(levels) - 2, -1, -1):
            wanted = [
                _mean([across[n] for n in neighbours[item][side]], across[item]) - offset
                for item, offset in zip(levels[row], offsets[row], strict=True)
            ]
            for item, x, offset in zip(levels[row], _rising(wanted), offsets[row], strict=True):
                across[item] = x + offset
    return across


def _rising(wanted: Sequence[float]) -> list[float]:
    """The non-decreasing sequence next to `wanted` (least squares)."""
    pools: list[tuple[float, int]] = []  # mean, length
    for value in wanted:
        mean, length = value, 1
        while pools and pools[-1][0] > mean:
            before, many = pools.pop()
            mean = (before * many + mean * length) / (many + length)
            length += many
        pools.append((mean, length))
    return [mean for mean, length in pools for _ in range(length)]


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise
