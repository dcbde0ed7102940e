"""The layout of the graph: layers go down, boxes do not overlap, edges end at their nodes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from foveal.profile.layered import Drawing, draw


def check(drawing: Drawing, count: int, edges: list[tuple[int, int]]) -> None:
    assert len(drawing.nodes) == count and len(drawing.edges) == len(edges)
    for (a, b), path in zip(edges, drawing.edges, strict=True):
        assert path[0] == drawing.nodes[a] and path[-1] == drawing.nodes[b]
        assert [y for _, y in path] == sorted({y for _, y in path})
    for _, row in itertools.groupby(
        sorted(drawing.nodes, key=lambda p: (p[1], p[0])), lambda p: p[1]
    ):
        for (left, _), (right, _) in itertools.pairwise(row):
            assert right - left >= 1 - 1e-9
    assert all(0 <= x <= drawing.width + 1e-9 for x, _ in drawing.nodes)
    assert {y for _, y in drawing.nodes} == set(range(drawing.layers))


@pytest.mark.parametrize("seed", range(20))
def test_random_graphs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 80))
    pairs = {tuple(sorted(rng.integers(0, count, 2).tolist())) for _ in range(2 * count)}
    edges = sorted((a, b) for a, b in pairs if a != b)
    check(draw(count, edges), count, edges)


def test_a_chain_is_straight() -> None:
    edges = [(i, i + 1) for i in range(30)]
    drawing = draw(31, edges)
    check(drawing, 31, edges)
    assert {x for x, _ in drawing.nodes} == {0.0} and drawing.layers == 31


def test_a_ladder_has_no_crossings() -> None:
    """Two chains side by side, written crosswise: 0-3-4..., 1-2-5...; sorting untangles them."""
    drawing = draw(6, [(0, 3), (1, 2), (3, 4), (2, 5)])
    x = [drawing.nodes[i][0] for i in range(6)]
    assert (x[0] < x[1]) == (x[3] < x[2]) == (x[4] < x[5])


def test_sources_stay_near_their_users() -> None:
    assert draw(4, [(0, 1), (1, 2), (3, 2)]).nodes[3][1] == 1


def test_none_and_large() -> None:
    assert draw(0, []) == Drawing((), (), 0.0, 0)
    edges = [(i, i + 1) for i in range(1999)] + [(0, i) for i in range(2, 2000)]
    check(draw(2000, edges), 2000, edges)  # too many waypoints: drawn straight


@pytest.mark.parametrize("edges", [[(0, 1), (1, 0)], [(0, 0)]])
def test_cycles(edges: list[tuple[int, int]]) -> None:
    with pytest.raises(ValueError, match="cycle"):
        draw(2, edges)


@pytest.mark.parametrize("edge", [(0, 2), (-1, 0), (5, 1)])
def test_edges_to_nowhere(edge: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="between 2 nodes"):
        draw(2, [edge])
