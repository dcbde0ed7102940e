"""Computes nodes whose inputs are all constant, as long as the result stays small."""

from __future__ import annotations

from foveal.graph import Graph
from foveal.optimize._evaluate import evaluate
from foveal.optimize._fold import fold_types

NAME = "fold_constants"
ORDER = 10


def run(graph: Graph) -> int:
    changes = 0
    for node in list(graph.nodes):
        if not node.inputs or any(v is not None and v.data is None for v in node.inputs):
            continue
        if not any(v.users for v in node.outputs) or not fold_types(node.outputs):
            continue
        arrays = evaluate(node.op, [None if v is None else v.data for v in node.inputs], node.attr)
        if arrays is None:
            continue
        for value, data in zip(node.outputs, arrays, strict=True):
            changes += graph.replace_uses(value, graph.constant(data, f"{value.name}/folded")) > 0
    return changes
