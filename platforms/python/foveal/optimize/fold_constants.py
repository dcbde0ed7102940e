"""Computes nodes whose inputs are all constant, as long as the result stays small."""

from __future__ import annotations

import math

import numpy as np

from foveal.errors import FovealError
from foveal.graph import Graph, Node, Value
from foveal.optimize._evaluate import evaluate
from foveal.optimize._fold import MACS_PER_ELEMENT, may_fold, spend

NAME = "fold_constants"
ORDER = 10


def run(graph: Graph) -> int:
    changes = 0
    for node in list(graph.nodes):
        if not node.inputs or any(v is not None and v.data is None for v in node.inputs):
            continue
        if not any(v.users for v in node.outputs) or not may_fold(graph, node.outputs):
            continue
        inputs = [None if v is None else v.data for v in node.inputs]
        arrays = evaluate(node.op, inputs, node.attr) or _run(graph, node)
        if arrays is None:
            continue
        for value, data in zip(node.outputs, arrays, strict=True):
            changes += graph.replace_uses(value, graph.constant(data, f"{value.name}/folded")) > 0
    return changes


def _run(graph: Graph, node: Node) -> list[np.ndarray] | None:
    """The node's outputs computed by a session on the CPU; None where it has no kernel."""
    sizes = [math.prod(v.dims) for v in (*node.inputs, node.output) if v is not None]
    # A bound on the multiplications: an output sums over no more than its largest operand.
    if not spend(graph, sizes[-1] * max(sizes[:-1]) // MACS_PER_ELEMENT):
        return None
    from foveal.session import Session  # late: sessions load plugins

    alone = Graph(node.op)
    feeds: dict[str, np.ndarray] = {}
    inputs: list[Value | None] = []
    for i, v in enumerate(node.inputs):
        if v is None or v.data is None:
            inputs.append(None)
        elif not feeds:  # backends want weights constant, and something has to be fed
            inputs.append(alone.input(f"x{i}", v.dtype, v.dims))
            feeds[f"x{i}"] = v.data
        else:
            inputs.append(alone.constant(v.data))
    made = alone.add(node.op, inputs, node.attrs, outputs=len(node.outputs), name="y")
    alone.outputs = made if isinstance(made, list) else [made]
    try:
        results = Session(alone.to_model(), device="cpu", threads=1).run(feeds)
    except FovealError:
        return None
    return [results[v.name] for v in alone.outputs]
