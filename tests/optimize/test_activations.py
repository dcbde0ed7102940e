"""activations: the spellings that exporters use."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from foveal.graph import Graph, Value
from passes_harness import build, check, f, ops


class Pen:
    """Short arithmetic on graph values."""

    def __init__(self, g: Graph) -> None:
        self.g = g

    def __call__(self, op: str, *inputs: Any, **attrs: Any) -> Value:
        values = [
            v if isinstance(v, Value) else self.g.constant(np.asarray(v, np.float32))
            for v in inputs
        ]
        return self.g.add(op, values, attrs)


def relu6(p: Pen, x: Value, style: str) -> Value:
    if style == "clip":
        return p("clip", x, min=0, max=6)
    if style == "min":
        return p("min", p("relu", x), 6)
    return p("max", p("min", x, 6), 0)


HARDSWISH = {
    "product over 6": lambda p, x, r: p("div", p("mul", x, r), 6),
    "product times a sixth": lambda p, x, r: p("mul", p("mul", x, r), 1 / 6),
    "gate over 6": lambda p, x, r: p("mul", x, p("div", r, 6)),
    "gate times a sixth": lambda p, x, r: p("mul", p("mul", r, 1 / 6), x),
    "x over 6": lambda p, x, r: p("mul", p("div", x, 6), r),
}


@pytest.mark.parametrize("style", ["clip", "min", "max"])
@pytest.mark.parametrize("form", HARDSWISH)
def test_hardswish(style: str, form: str) -> None:
    def body(g: Graph, x: Value) -> Value:
        p = Pen(g)
        return HARDSWISH[form](p, x, relu6(p, p("add", x, 3), style))

    assert ops(check(build((2, 30), body), tolerance=3e-6)) == {"hardswish": 1}


def test_hardsigmoid() -> None:
    def sixth(g: Graph, x: Value) -> Value:
        p = Pen(g)
        return p("div", relu6(p, p("add", x, 3), "clip"), 6)

    def line(g: Graph, x: Value) -> Value:
        p = Pen(g)
        return p("clip", p("add", p("mul", x, 0.3), 0.4), min=0, max=1)

    assert ops(check(build((2, 30), sixth))) == {"hardsigmoid": 1}
    better = check(build((2, 30), line))
    assert ops(better) == {"hardsigmoid": 1}
    assert better.nodes[0].attr("alpha") == pytest.approx(0.3)


def gelu(p: Pen, x: Value, form: str) -> Value:
    inner = p("div", x, math.sqrt(2)) if form != "times" else p("mul", x, 1 / math.sqrt(2))
    gate = p("add", p("erf", inner), 1)
    if form == "half first":
        return p("mul", p("mul", x, 0.5), gate)
    if form == "half gate":
        return p("mul", x, p("mul", gate, 0.5))
    return p("mul", p("mul", x, gate), 0.5)


@pytest.mark.parametrize("form", ["half first", "half gate", "half last", "times"])
def test_gelu(form: str) -> None:
    g = build((2, 30), lambda g, x: gelu(Pen(g), x, form))
    assert ops(check(g)) == {"gelu": 1}


@pytest.mark.parametrize("cube", ["pow", "mul"])
def test_gelu_tanh(cube: str) -> None:
    def body(g: Graph, x: Value) -> Value:
        p = Pen(g)
        third = p("pow", x, 3) if cube == "pow" else p("mul", x, p("mul", x, x))
        inner = p("mul", p("add", x, p("mul", third, 0.044715)), math.sqrt(2 / math.pi))
        return p("mul", p("mul", x, 0.5), p("add", p("tanh", inner), 1))

    assert ops(check(build((2, 30), body))) == {"gelu_tanh": 1}


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("silu", lambda p, x: p("mul", x, p("sigmoid", x))),
        ("silu", lambda p, x: p("mul", p("sigmoid", x), x)),
        ("mish", lambda p, x: p("mul", x, p("tanh", p("softplus", x)))),
        ("relu", lambda p, x: p("max", x, 0)),
        ("relu", lambda p, x: p("clip", x, min=0)),
        ("relu", lambda p, x: p("prelu", x, [0.0] * 30)),
        ("clip", lambda p, x: p("max", p("min", x, 2), -1)),
        ("leaky_relu", lambda p, x: p("max", x, p("mul", x, 0.1))),
        ("leaky_relu", lambda p, x: p("prelu", x, [[0.25]])),
    ],
)
def test_others(name: str, body: Any) -> None:
    g = build((2, 30), lambda g, x: body(Pen(g), x))
    assert ops(check(g)) == {name: 1}


@pytest.mark.parametrize(
    "body",
    [
        lambda p, x: p("mul", x, p("sigmoid", p("mul", x, 1.702))),  # another gate
        lambda p, x: p("mul", p("relu", x), p("sigmoid", x)),  # gated by another value
        lambda p, x: p("mul", x, p("clip", p("add", x, 2), min=0, max=6)),
        lambda p, x: p("mul", p("mul", x, p("add", p("erf", x), 1)), 0.5),
        lambda p, x: p("div", x, p("sigmoid", x)),
        lambda p, x: p("max", x, p("mul", x, 1.5)),
        lambda p, x: p("prelu", x, np.linspace(0, 1, 30)),
        lambda p, x: p("mul", x, p("sigmoid", p("neg", x))),
    ],
)
def test_near_misses_stay(body: Any) -> None:
    g = build((2, 30), lambda g, x: body(Pen(g), x))
    assert ops(check(g, ["activations", "dead_code"])) == ops(g)


def test_a_shared_gate_still_serves_its_other_reader() -> None:
    def body(g: Graph, x: Value) -> list[Value]:
        p = Pen(g)
        gate = p("sigmoid", x)
        return [p("mul", x, gate), p("mul", gate, f(30))]

    assert ops(check(build((2, 30), body))) == {"silu": 1, "sigmoid": 1, "mul": 1}
