"""Folds mul, div, add and sub by per-channel constants into the linear node before them."""

from __future__ import annotations

import numpy as np

from foveal.graph import Graph
from foveal.optimize._linear import fold, foldable, per_channel
from foveal.optimize._match import split_constant

NAME = "fold_scale_bias"
ORDER = 30


def run(graph: Graph) -> int:
    changes = 0
    for node in list(graph.nodes):
        if node.op not in ("mul", "div", "add", "sub") or not node.inputs:
            continue
        parts = split_constant(node)
        if parts is None:
            continue
        x, constant, first = parts
        found = foldable(graph, node, x)
        if found is None:
            continue
        linear, count = found
        values = per_channel(linear, constant, count)
        if values is None or not np.isfinite(values).all():
            continue
        scale = shift = None
        if node.op == "mul":
            scale = values
        elif node.op == "div":
            if not first or (values == 0).any():
                continue
            scale = 1 / values
        elif node.op == "add":
            shift = values
        elif first:
            shift = -values
        else:
            scale, shift = np.full(count, -1.0), values
        changes += fold(graph, linear, node, scale, shift)
    return changes
