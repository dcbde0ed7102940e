"""widen_half: half-precision graphs run in float32."""

from __future__ import annotations

import numpy as np
import reference_run
from foveal.graph import Graph
from foveal.optimize import optimize
from foveal.session import Session
from passes_harness import f, ops


def half_graph() -> Graph:
    g = Graph()
    x = g.input("x", "float16", (1, 3, 6, 6))
    w = g.constant(f(4, 3, 3, 3).astype(np.float16))
    y = g.add("relu", [g.add("conv2d", [x, w], {"pad": [1] * 4})])
    a, b = g.add("split", [y], {"axis": 1, "sizes": [1, 3]}, outputs=2)
    narrow = g.add("cast", [g.add("cast", [b], {"dtype": "float32"})], {"dtype": "float16"})
    best = g.add("argmax", [narrow], {"axis": 1})
    g.outputs = [g.add("sigmoid", [a], name="gate"), g.add("exp", [narrow], name="e"), best]
    return g


def test_half_graphs_run_in_float32_behind_the_same_interface() -> None:
    g = half_graph()
    better = g.copy()
    optimize(better)
    assert [(v.name, v.dtype) for v in better.outputs] == [(v.name, v.dtype) for v in g.outputs]
    assert better.inputs[0].dtype == "float16"
    inner = [v for n in better.nodes for v in n.outputs if n.op != "cast"]
    assert all(v.dtype != "float16" for v in inner)
    assert ops(better)["cast"] == 3  # the input and two outputs
    x = f(1, 3, 6, 6).astype(np.float16)
    got = Session(better.to_model(), device="cpu", threads=1).run({"x": x})
    half, single = (reference_run.run(graph, {"x": x}) for graph in (g, better))
    for name, a in half.items():
        assert got[name].dtype == a.dtype
        # The same up to one rounding to half, and half's own result up to its rounding errors.
        np.testing.assert_allclose(got[name], single[name], rtol=1e-3, atol=1e-3)
        if a.dtype == np.float16:
            np.testing.assert_allclose(got[name], a, rtol=4e-3, atol=4e-3)


def test_float32_graphs_are_left_alone() -> None:
    g = Graph()
    x = g.input("x", "float16", (2,))
    g.outputs = [g.add("relu", [g.add("cast", [x], {"dtype": "float32"})])]
    assert optimize(g, ["widen_half"]) == {"widen_half": 0}
