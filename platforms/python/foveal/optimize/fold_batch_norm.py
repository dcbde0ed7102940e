"""Folds batch normalisation into the convolution before it, or turns it into mul and add."""

from __future__ import annotations

import numpy as np

from foveal.graph import Graph
from foveal.optimize._linear import fold, foldable
from foveal.optimize._match import array, replace

NAME = "fold_batch_norm"
ORDER = 20


def run(graph: Graph) -> int:
    changes = 0
    for node in list(graph.nodes):
        if node.op != "batch_norm":
            continue
        x = node.input(0)
        params = [array(v) for v in node.inputs[1:5]]
        if any(p is None for p in params) or x.rank < 2:
            continue
        scale, bias, mean, variance = params
        with np.errstate(all="ignore"):
            factor = scale / np.sqrt(variance + node.attr("epsilon"))
            shift = bias - mean * factor
        if not (np.isfinite(factor).all() and np.isfinite(shift).all()):
            continue
        found = foldable(graph, node, x)
        if found is not None and found[0].op != "matmul" and found[1] == factor.size:
            changes += fold(graph, found[0], node, factor, shift)
            continue
        shape = (-1,) + (1,) * (x.rank - 2)
        consts = [
            graph.constant(v.astype(x.dtype).reshape(shape), f"{node.name}/{name}")
            for name, v in (("scale", factor), ("shift", shift))
        ]
        y = graph.add("mul", [x, consts[0]], name=f"{node.name}/mul")
        y = graph.add("add", [y, consts[1]], name=node.name)
        changes += replace(graph, node, y)
    return changes
