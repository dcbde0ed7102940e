"""A graph in float64: what a model gives when rounding does not matter."""

from __future__ import annotations

from typing import Any

import numpy as np
import reference_run
from foveal.graph import Graph

Array = np.ndarray


def run(graph: Graph, feeds: dict[str, Array]) -> dict[str, Array]:
    """The outputs by name; float32 inputs and weights are widened before anything is computed.

    Only for graphs whose operators keep float64: those with operators that do not are an error.
    """
    values: dict[Any, Array] = {v: _wide(feeds[v.name]) for v in graph.inputs}

    def get(v: Any) -> Array | None:
        if v is None:
            return None
        return _wide(v.data) if v.data is not None else values[v]

    for node in graph.nodes:
        outs = reference_run.run_node(node, [get(v) for v in node.inputs])
        for v, array in zip(node.outputs, outs, strict=True):
            assert v.dtype != "float32" or array.dtype == np.float64, f"{node!r} rounds"
            values[v] = array
    return {v.name: np.asarray(get(v)) for v in graph.outputs}


def _wide(array: Array) -> Array:
    return array.astype(np.float64) if array.dtype == np.float32 else array
