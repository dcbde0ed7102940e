"""Computes half-precision graphs in float32, with casts at their inputs and outputs.

The interface keeps its types. Results are at least as exact; weights take twice the space. Leave
the pass out for a device that computes in half precision.
"""

from __future__ import annotations

import numpy as np

from foveal.graph import Graph, Node, Value

NAME = "widen_half"
ORDER = 5

_HALF = "float16"


def _has_half(node: Node) -> bool:
    values = [*node.inputs, *node.outputs]
    return any(v is not None and v.dtype == _HALF for v in values)


def run(graph: Graph) -> int:
    if not any(_has_half(n) and n.op != "cast" for n in graph.nodes):
        return 0
    wide: dict[Value, Value] = {}

    def widened(value: Value | None) -> Value | None:
        if value is None or value.dtype != _HALF:
            return value
        if value not in wide:
            if value.data is not None:
                wide[value] = graph.constant(value.data.astype(np.float32), value.name)
            else:
                wide[value] = graph.add("cast", [value], {"dtype": "float32"})
        return wide[value]

    changes = 0
    for node in list(graph.nodes):
        if not _has_half(node):
            continue
        changes += 1
        inputs = [widened(v) for v in node.inputs]
        attrs = dict(node.attrs)
        if node.op == "cast":
            target = "float32" if attrs.get("dtype") == _HALF else node.output.dtype
            made = inputs[0]
            if made is None or made.dtype != target:
                made = graph.add("cast", inputs, {"dtype": target}, name=node.name)
            results = [made]
        else:
            made = graph.add(node.op, inputs, attrs, outputs=len(node.outputs), name=node.name)
            results = made if isinstance(made, list) else [made]
        for old, new in zip(node.outputs, results, strict=True):
            if old.dtype != _HALF:
                graph.replace_uses(old, new)
                continue
            wide[old] = new
            if graph.is_output(old):
                back = graph.add("cast", [new], {"dtype": _HALF}, name=f"{node.name}/half")
                graph.replace_uses(old, back)
                wide[back] = new
    return changes
