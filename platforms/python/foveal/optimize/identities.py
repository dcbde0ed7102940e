"""Removes operations that change nothing and merges chains that one operation can do."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from foveal.graph import Graph, Node, Value
from foveal.optimize._match import made_by, replace, split_constant

NAME = "identities"
ORDER = 50

_VIEWS = ("reshape", "flatten", "squeeze", "unsqueeze")


def run(graph: Graph) -> int:
    changes = 0
    for node in list(graph.nodes):
        if not node.inputs or len(node.outputs) != 1 or not _is_read(graph, node.output):
            continue
        rule = _RULES.get(node.op)
        value = rule(graph, node) if rule else None
        if value is not None:
            changes += replace(graph, node, value)
    return changes


def _is_read(graph: Graph, value: Value) -> bool:
    return bool(value.users) or graph.is_output(value)


def _same_type(a: Value, b: Value) -> bool:
    return a.dtype == b.dtype and a.is_static and a.dims == b.dims


def _neutral(graph: Graph, node: Node) -> Value | None:
    """x + 0, x - 0, x * 1, x / 1, x ** 1."""
    parts = split_constant(node)
    if parts is None:
        return None
    x, constant, first = parts
    neutral = 0.0 if node.op in ("add", "sub") else 1.0
    if node.op in ("sub", "div", "pow") and not first:
        return None
    data = constant.data
    if data is None or x.dtype != node.output.dtype or not np.all(data == neutral):
        return None
    one = data.size == 1 and constant.rank <= x.rank
    return x if one or _same_type(x, node.output) else None


def _view(graph: Graph, node: Node) -> Value | None:
    """A chain of reshapes is one reshape; one that keeps the shape is none."""
    x, y = node.input(0), node.output
    if _same_type(x, y):
        return x
    before = made_by(x, *_VIEWS)
    if before is None or sum(d < 0 for d in y.dims) > 1:
        return None
    source = before.input(0)
    if math.prod(y.dims) == 0:
        return None
    return graph.add("reshape", [source], {"shape": y.dims}, name=node.name)


def _clip(graph: Graph, node: Node) -> Value | None:
    low, high = node.attr("min"), node.attr("max")
    x = node.input(0)
    if low == -math.inf and high == math.inf:
        return x
    before = made_by(x, "clip", "relu")
    if before is None:
        return None
    b_low, b_high = (
        (0.0, math.inf) if before.op == "relu" else (before.attr("min"), before.attr("max"))
    )
    if b_low > b_high or low > high:
        return None
    # clip(clip(x, a, b), c, d) = clip(x, clip(a, c, d), clip(b, c, d))
    bounds = {"min": min(max(b_low, low), high), "max": min(max(b_high, low), high)}
    attrs = {k: v for k, v in bounds.items() if math.isfinite(v)}
    return graph.add("clip", [before.input(0)], attrs, name=node.name)


def _relu(graph: Graph, node: Node) -> Value | None:
    before = made_by(
        node.input(0), "relu", "clip", "sigmoid", "hardsigmoid", "abs", "square", "exp"
    )
    if before is None:
        return None
    if before.op != "clip":
        return before.output
    low, high = max(before.attr("min"), 0.0), max(before.attr("max"), 0.0)
    attrs = {"min": low} | ({"max": high} if math.isfinite(high) else {})
    return graph.add("clip", [before.input(0)], attrs, name=node.name)


def _if(test: Callable[[Node], bool]) -> Callable[[Graph, Node], Value | None]:
    return lambda graph, node: node.input(0) if test(node) else None


def _involution(graph: Graph, node: Node) -> Value | None:
    """neg(neg(x)), not(not(x))."""
    before = made_by(node.input(0), node.op)
    return before.input(0) if before is not None else None


def _pad(graph: Graph, node: Node) -> Value | None:
    if not any(node.attr("pads")):
        return node.input(0)
    before = made_by(node.input(0), "pad")
    zeros = all(
        n is not None and n.attr("mode") == "constant" and n.attr("value") == node.attr("value")
        for n in (node, before)
    )
    if before is None or not zeros or min(node.attr("pads") + before.attr("pads")) < 0:
        return None
    pads = [a + b for a, b in zip(node.attr("pads"), before.attr("pads"), strict=True)]
    attrs = {"pads": pads, "value": node.attr("value")}
    return graph.add("pad", [before.input(0)], attrs, name=node.name)


_RULES: dict[str, Callable[[Graph, Node], Value | None]] = {
    "add": _neutral,
    "sub": _neutral,
    "mul": _neutral,
    "div": _neutral,
    "pow": _neutral,
    "reshape": _view,
    "flatten": _view,
    "squeeze": _view,
    "unsqueeze": _view,
    "clip": _clip,
    "relu": _relu,
    "neg": _involution,
    "not": _involution,
    "pad": _pad,
    "concat": _if(lambda n: len(n.inputs) == 1),
    "cast": _if(lambda n: n.input(0).dtype == n.output.dtype),
    "tile": _if(lambda n: all(r == 1 for r in n.attr("repeats"))),
    "expand": _if(lambda n: _same_type(n.input(0), n.output)),
    "slice": _if(lambda n: _same_type(n.input(0), n.output) and min(n.attr("step"), default=1) > 0),
    "transpose": _if(lambda n: list(n.attr("perm")) == list(range(n.output.rank))),
}
