"""Folding `y * scale + shift` into the weights of the linear node that makes y."""

from __future__ import annotations

import numpy as np

from foveal.graph import Graph, Node, Value
from foveal.optimize._match import array, made_by, replace

LINEAR = ("conv2d", "conv_transpose2d", "matmul")


def channel_axis(node: Node) -> int:
    """The output axis that the weights' output channels run along, counted from the end."""
    return -1 if node.op == "matmul" else -3


def channels(node: Node) -> int | None:
    """Output channels of a linear node with constant weights and bias; None if it has none."""
    weight = array(node.input(1))
    bias = node.inputs[2] if len(node.inputs) > 2 else None
    if weight is None or (bias is not None and array(bias) is None):
        return None
    if node.op == "conv2d":
        return int(weight.shape[0])
    if node.op == "conv_transpose2d":
        return int(weight.shape[1] * node.attr("group"))
    if weight.ndim != 2 or node.output.rank < 1:
        return None
    return int(weight.shape[0] if node.attr("transpose_b") else weight.shape[1])


def per_channel(node: Node, constant: Value, count: int) -> np.ndarray | None:
    """The constant as `count` numbers along the node's channel axis, None if it is not that."""
    values = array(constant)
    rank = node.output.rank
    if values is None or values.ndim > rank:
        return None
    if values.size == 1:
        return np.full(count, float(values.reshape(())))
    axis = channel_axis(node) + rank
    full = (1,) * (rank - values.ndim) + values.shape
    if any(d != 1 for i, d in enumerate(full) if i != axis) or full[axis] != count:
        return None
    return values.reshape(-1)


def fold(
    graph: Graph, linear: Node, after: Node, scale: np.ndarray | None, shift: np.ndarray | None
) -> int:
    """Replaces `after`, the only user of `linear`, by a new linear node with folded weights.

    scale, shift: per output channel, float64, None for 1 and 0.
    """
    weight, bias = linear.input(1), linear.inputs[2] if len(linear.inputs) > 2 else None
    count = channels(linear)
    if count is None:
        return 0
    old_bias = np.zeros(count)
    if bias is not None:
        old = array(bias)
        assert old is not None
        # A matmul's bias may be anything that broadcasts; only a per-channel one folds.
        if old.shape not in ((), (1,), (count,)):
            return 0
        old_bias = np.broadcast_to(old.reshape(-1), (count,))
    new_bias = old_bias * (1.0 if scale is None else scale) + (0.0 if shift is None else shift)
    inputs = [linear.input(0), weight, bias]
    try:
        if scale is not None:
            scaled = _narrowed(_scaled(linear, scale), weight.dtype)
            inputs[1] = graph.constant(scaled, f"{weight.name}/scaled")
        if bias is not None or new_bias.any():
            narrow = _narrowed(new_bias, weight.dtype)
            inputs[2] = graph.constant(narrow, f"{linear.name}/bias")
    except OverflowError:
        return 0
    made = graph.add(linear.op, inputs, linear.attrs, name=linear.name)
    return replace(graph, after, made)


def _scaled(linear: Node, scale: np.ndarray) -> np.ndarray:
    """The weights times `scale` per output channel, in float64."""
    weight = array(linear.input(1))
    assert weight is not None
    shape = weight.shape
    if linear.op == "conv_transpose2d":  # [I, O / group, ...]: group by group
        group = linear.attr("group")
        weight = weight.reshape(group, shape[0] // group, *shape[1:])
        scale = scale.reshape(group, 1, -1, 1, 1)
    elif linear.op == "conv2d":
        scale = scale.reshape(-1, 1, 1, 1)
    elif linear.attr("transpose_b"):
        scale = scale[:, None]
    scaled: np.ndarray = weight * scale
    return scaled.reshape(shape)


def _narrowed(values: np.ndarray, dtype: str) -> np.ndarray:
    """The values in the weights' type. Raises OverflowError when one of them does not fit."""
    with np.errstate(over="ignore"):
        narrow = values.astype(dtype)
    if not np.isfinite(narrow).all():
        raise OverflowError
    return narrow


def foldable(graph: Graph, after: Node, value: Value) -> tuple[Node, int] | None:
    """The linear node before `after` and its channel count, when it may take a scale."""
    linear = made_by(value, *LINEAR)
    if linear is None or graph.only_user(linear.output) is not after:
        return None
    count = channels(linear)
    return None if count is None else (linear, count)
