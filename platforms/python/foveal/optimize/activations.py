"""Recognises activations that files spell out: hardswish, hardsigmoid, silu, gelu, mish, clip."""

from __future__ import annotations

import math

from foveal.graph import Graph, Node, Value
from foveal.optimize._match import close, made_by, replace, scalar, split_constant

NAME = "activations"
ORDER = 60


def run(graph: Graph) -> int:
    changes = 0
    for node in list(graph.nodes):
        if not node.inputs:
            continue
        found: tuple[str, Value, dict[str, float]] | None = None
        if node.op in ("mul", "div"):
            found = _product(graph, node)
        elif node.op in ("max", "min"):
            found = _bound(node)
        elif node.op == "clip":
            found = _hardsigmoid_from_clip(graph, node)
        elif node.op == "prelu":
            found = _prelu(node)
        if found is not None:
            op, x, attrs = found
            if x.dtype == node.output.dtype and x.dims == node.output.dims:
                made = graph.add(op, [x], attrs, name=node.name)
                changes += replace(graph, node, made)
    return changes


Found = tuple[str, Value, dict[str, float]] | None


def _factors(graph: Graph, node: Node) -> tuple[float, list[Value]]:
    """A product as one number times values; products that nobody else reads are opened."""
    number, values = 1.0, []
    stack: list[tuple[Node, int]] = [(node, i) for i in range(2)]
    while stack:
        parent, i = stack.pop()
        v = parent.input(i)
        c = scalar(v)
        if c is not None and not (parent.op == "div" and (i == 0 or c == 0)):
            number = number / c if parent.op == "div" else number * c
            continue
        inner = made_by(v, "mul", "div")
        if parent.op == "div" and i == 1:
            values.append(v)
            values.append(v)  # no pattern has a variable divisor: two more factors spoil the match
            continue
        opens = inner is not None and graph.only_user(v) is parent and len(values) + len(stack) < 4
        if inner is not None and opens:
            stack += [(inner, 0), (inner, 1)]
        else:
            values.append(v)
    return number, values


def _product(graph: Graph, node: Node) -> Found:
    number, values = _factors(graph, node)
    if len(values) == 1:
        return _scaled_clip(number, values[0])
    if len(values) != 2:
        return None
    for x, gate in (values, values[::-1]):
        found = _gated(number, x, gate)
        if found is not None:
            return found
    return None


def _plus(value: Value, number: float) -> Value | None:
    """x where `value` is x + number."""
    add = made_by(value, "add")
    parts = split_constant(add) if add is not None else None
    if parts is None or not close(scalar(parts[1]), number):
        return None
    return parts[0]


def _clip_bounds(value: Value) -> tuple[Value, float, float] | None:
    node = made_by(value, "clip", "relu")
    if node is None:
        return None
    if node.op == "relu":
        return node.input(0), 0.0, math.inf
    return node.input(0), node.attr("min"), node.attr("max")


def _scaled_clip(number: float, value: Value) -> Found:
    """clip(x + 3, 0, 6) / 6 is hardsigmoid(1/6, 1/2)."""
    bounds = _clip_bounds(value)
    if bounds is None or bounds[1] != 0 or not close(bounds[2] * number, 1.0):
        return None
    add = made_by(bounds[0], "add")
    parts = split_constant(add) if add is not None else None
    beta = scalar(parts[1]) if parts is not None else None
    if parts is None or beta is None:
        return None
    return "hardsigmoid", parts[0], {"alpha": number, "beta": beta * number}


def _gated(number: float, x: Value, gate: Value) -> Found:
    """number * x * gate(x)"""
    node = gate.producer
    if node is None or not node.inputs:
        return None
    if node.op == "sigmoid" and node.input(0) is x and close(number, 1):
        return "silu", x, {}
    if node.op == "hardsigmoid" and node.input(0) is x and close(number, 1):
        sixth = close(node.attr("alpha"), 1 / 6) and close(node.attr("beta"), 0.5)
        return ("hardswish", x, {}) if sixth else None
    bounds = _clip_bounds(gate)
    relu6 = bounds is not None and bounds[1:] == (0.0, 6.0) and close(number, 1 / 6)
    if bounds is not None and relu6 and _plus(bounds[0], 3) is x:
        return "hardswish", x, {}
    if node.op == "tanh" and close(number, 1):
        inner = made_by(node.input(0), "softplus")
        if inner is not None and inner.input(0) is x:
            return "mish", x, {}
    if close(number, 0.5):
        inside = _plus(gate, 1)
        erf, tanh = made_by(inside, "erf"), made_by(inside, "tanh")
        if erf is not None and _scaled(erf.input(0), 1 / math.sqrt(2)) is x:
            return "gelu", x, {}
        if tanh is not None and _gelu_cubic(tanh.input(0)) is x:
            return "gelu_tanh", x, {}
    return None


def _scaled(value: Value, number: float) -> Value | None:
    """x where `value` is number * x."""
    node = made_by(value, "mul", "div")
    parts = split_constant(node) if node is not None else None
    if node is None or parts is None:
        return None
    c = scalar(parts[1])
    if node.op == "div":
        c = 1 / c if parts[2] and c else None
    return parts[0] if close(c, number) else None


def _gelu_cubic(value: Value) -> Value | None:
    """x where `value` is sqrt(2/pi) * (x + 0.044715 * x**3)."""
    total = made_by(_scaled(value, math.sqrt(2 / math.pi)), "add")
    if total is None:
        return None
    a, b = total.input(0), total.input(1)
    for x, term in ((a, b), (b, a)):
        cube = _scaled(term, 0.044715)
        power = made_by(cube, "pow")
        if power is not None and power.input(0) is x and close(scalar(power.input(1)), 3):
            return x
        if cube is not None and _is_cube(cube, x):
            return x
    return None


def _is_cube(value: Value, x: Value) -> bool:
    outer = made_by(value, "mul")
    if outer is None:
        return False
    for single, double in ((0, 1), (1, 0)):
        inner = made_by(outer.input(double), "mul", "square")
        if outer.input(single) is x and inner is not None and all(v is x for v in inner.inputs):
            return True
    return False


def _bound(node: Node) -> Found:
    """max(x, c) and min(x, c) of floats are clips; max(x, a * x), 0 <= a < 1, a leaky relu."""
    if not node.output.dtype.startswith("float"):
        return None
    parts = split_constant(node)
    if parts is not None:
        c = scalar(parts[1])
        if c is None or math.isnan(c):
            return None
        if node.op == "max" and c == 0:
            return "relu", parts[0], {}
        return "clip", parts[0], {"min" if node.op == "max" else "max": c}
    if node.op == "max":
        for x, other in ((0, 1), (1, 0)):
            mul = made_by(node.input(other), "mul")
            inner = split_constant(mul) if mul is not None else None
            if inner is not None and inner[0] is node.input(x):
                a = scalar(inner[1])
                if a is not None and 0 <= a < 1:
                    return "leaky_relu", inner[0], {"alpha": a}
    return None


def _hardsigmoid_from_clip(graph: Graph, node: Node) -> Found:
    """clip(a * x + b, 0, 1)"""
    if node.attr("min") == 0 and node.attr("max") == math.inf:
        return "relu", node.input(0), {}
    if node.attr("min") != 0 or node.attr("max") != 1:
        return None
    add = made_by(node.input(0), "add")
    parts = split_constant(add) if add is not None else None
    beta = scalar(parts[1]) if parts is not None else None
    if parts is None or beta is None:
        return None
    mul = made_by(parts[0], "mul", "div")
    scaled = split_constant(mul) if mul is not None else None
    if mul is None or scaled is None:
        return None
    alpha = scalar(scaled[1])
    if mul.op == "div":
        alpha = 1 / alpha if scaled[2] and alpha else None
    return None if alpha is None else ("hardsigmoid", scaled[0], {"alpha": alpha, "beta": beta})


def _prelu(node: Node) -> Found:
    """A slope that is the same everywhere."""
    data = node.input(1).data
    if data is None or data.size == 0 or not (data == data.flat[0]).all():
        return None
    alpha = float(data.flat[0])
    if alpha == 0:
        return "relu", node.input(0), {}
    return "leaky_relu", node.input(0), {"alpha": alpha}
