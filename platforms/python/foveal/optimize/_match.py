"""What several passes ask about nodes and values."""

from __future__ import annotations

import math

import numpy as np

from foveal.graph import Graph, Node, Value, op_table


def is_pointwise(op: str) -> bool:
    """Whether y[i] depends on the inputs at i only, after broadcasting."""
    return "pointwise" in op_table()[op]["traits"]


def made_by(value: Value | None, *ops: str) -> Node | None:
    """The node that makes `value`, if it is one of `ops`."""
    node = value.producer if value is not None else None
    return node if node is not None and node.op in ops else None


def array(value: Value | None) -> np.ndarray | None:
    """The constant's values as float64, None when it is not a float constant."""
    if value is None or value.data is None or value.data.dtype.kind != "f":
        return None
    with np.errstate(all="ignore"):  # NaNs of any kind are fine
        return value.data.astype(np.float64)


def scalar(value: Value | None) -> float | None:
    """The number of a one-element constant."""
    if value is None or value.data is None or value.data.size != 1:
        return None
    return float(value.data.reshape(()))


def close(a: float | None, b: float) -> bool:
    """Equal up to what float32 rounding of a constant in a file explains."""
    return a is not None and math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-7)


def split_constant(node: Node) -> tuple[Value, Value, bool] | None:
    """(variable, constant, whether the variable is the first operand) of a binary node."""
    a, b = node.input(0), node.input(1)
    if a.data is None and b.data is not None:
        return a, b, True
    if a.data is not None and b.data is None:
        return b, a, False
    return None


def replace(graph: Graph, node: Node, value: Value) -> int:
    """Reads `value` instead of the node's only output. Returns 1 if anything read it."""
    changed = graph.replace_uses(node.output, value)
    if changed and not node.output.users and not graph.is_output(node.output):
        graph.detach(node)
    return int(changed > 0)
