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
    new_weight = weight
    new_bias = old_bias
    if scale is not None:
        w = array(weight)
        assert w is not None
        if linear.op == "conv2d":
            w = w * scale.reshape(-1, 1, 1, 1)
        elif linear.op == "conv_transpose2d":
            group = linear.attr("group")
            split = w.reshape(group, w.shape[0] // group, *w.shape[1:])
            w = (split * scale.reshape(group, 1, -1, 1, 1)).reshape(w.shape)
        else:
            w = w * (scale[:, None] if linear.attr("transpose_b") else scale)
        new_weight = graph.constant(w.astype(weight.dtype), f"{weight.name}/scaled")
        new_bias = new_bias * scale
    if shift is not None:
        new_bias = new_bias + shift
    inputs = [linear.input(0), new_weight, bias]
    if bias is not None or new_bias.any():
        inputs[2] = graph.constant(new_bias.astype(weight.dtype), f"{linear.name}/bias")
    made = graph.add(linear.op, inputs, linear.attrs, name=linear.name)
    return replace(graph, after, made)


def foldable(graph: Graph, after: Node, value: Value) -> tuple[Node, int] | None:
    """The linear node before `after` and its channel count, when it may take a scale."""
    linear = made_by(value, *LINEAR)
    if linear is None or graph.only_user(linear.output) is not after:
        return None
    count = channels(linear)
    return None if count is None else (linear, count)
