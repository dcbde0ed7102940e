"""Optimised = unoptimised: the check every pass's test ends with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import reference_run
from foveal.convert.parity import deviations, random_feeds
from foveal.graph import Graph, Value
from foveal.optimize import optimize
from foveal.session import Session

RNG = np.random.default_rng(5)


def f(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def build(shape: Sequence[Any], body: Callable[[Graph, Value], Any]) -> Graph:
    """A graph of one input "x"; `body` returns its output or outputs."""
    g = Graph()
    made = body(g, g.input("x", "float32", shape))
    g.outputs = made if isinstance(made, list) else [made]
    return g


def check(graph: Graph, passes: Sequence[str] | None = None, tolerance: float = 2e-6) -> Graph:
    """Runs the passes on a copy; both must give the same, interpreted and on the CPU."""
    better = graph.copy()
    optimize(better, passes)
    better.build()
    assert [(v.name, v.dtype, v.dims) for v in better.outputs] == [
        (v.name, v.dtype, v.dims) for v in graph.outputs
    ]
    feeds = random_feeds(graph.inputs, seed=1)
    want = reference_run.run(graph, feeds)
    cpu = Session(better.to_model(), device="cpu", threads=1).run(feeds)
    for got in (reference_run.run(better, feeds), cpu):
        for row in deviations(want, got):
            assert row.relative <= tolerance, f"{row}\n{better}"
    return better


def ops(graph: Graph) -> dict[str, int]:
    return dict(Counter(n.op for n in graph.nodes))
