"""fold_constants, fold_batch_norm, fold_scale_bias, fold_pad, merge_same, dead_code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from foveal.graph import Graph, Value
from foveal.optimize import optimize
from passes_harness import build, check, f, ops


def linear(g: Graph, x: Value, kind: str, bias: bool = True) -> Value:
    """A linear node with 6 output channels."""
    b = g.constant(f(6)) if bias else None
    if kind == "conv2d":
        return g.add(kind, [x, g.constant(f(6, 2, 3, 3)), b], {"group": 2, "stride": [2, 1]})
    if kind == "conv_transpose2d":
        return g.add(kind, [x, g.constant(f(4, 3, 2, 2)), b], {"group": 2, "stride": [2, 2]})
    if kind == "matmul":
        return g.add(kind, [x, g.constant(f(5, 6)), b])
    return g.add("matmul", [x, g.constant(f(6, 5)), b], {"transpose_b": 1})


LINEAR = ["conv2d", "conv_transpose2d", "matmul", "matmul_transposed"]


def channel_shape(kind: str) -> tuple[int, ...]:
    return (6,) if kind.startswith("matmul") else (6, 1, 1)


@pytest.mark.parametrize("kind", LINEAR)
@pytest.mark.parametrize("bias", [False, True])
def test_scale_and_bias_fold(kind: str, bias: bool) -> None:
    def body(g: Graph, x: Value) -> Value:
        y = linear(g, x, kind, bias)
        y = g.add("mul", [y, g.constant(f(*channel_shape(kind)))])
        y = g.add("add", [g.constant(f(1)), y])
        y = g.add("div", [y, g.constant(np.abs(f(*channel_shape(kind))) + 0.5)])
        return g.add("sub", [g.constant(f(*channel_shape(kind))), y])

    g = build((2, 4, 5, 5) if kind.startswith("conv") else (2, 3, 5), body)
    better = check(g, ["fold_scale_bias"])
    assert len(better.nodes) == 1


def no_fold(body: Any, shape: Any = (1, 4, 6, 6)) -> None:
    g = build(shape, body)
    assert ops(check(g, ["fold_scale_bias"])) == ops(g)


def test_scales_that_must_not_fold() -> None:
    conv = linear
    no_fold(lambda g, x: g.add("mul", [conv(g, x, "conv2d"), g.constant(f(6, 2, 4))]))
    no_fold(lambda g, x: g.add("mul", [conv(g, x, "conv2d"), g.constant(f(4))]))

    def far_from_zero(g: Graph, x: Value) -> Value:
        bias = g.constant(np.full(6, 40, np.float32))
        return g.add("conv2d", [x, g.constant(f(6, 4, 3, 3)), bias])

    no_fold(lambda g, x: g.add("div", [g.constant(f(1)), far_from_zero(g, x)]))
    no_fold(lambda g, x: g.add("add", [conv(g, x, "conv2d"), g.constant(f(3, 6, 2, 4))]))

    # A result that someone else reads must stay as it is.
    def shared(g: Graph, x: Value) -> list[Value]:
        y = conv(g, x, "conv2d")
        return [g.add("mul", [y, g.constant(f(1))]), g.add("relu", [y])]

    no_fold(shared)

    def read_as_output(g: Graph, x: Value) -> list[Value]:
        y = conv(g, x, "conv2d")
        return [g.add("mul", [y, g.constant(f(1))]), y]

    no_fold(read_as_output)


def test_scales_that_overflow_stay() -> None:
    def body(g: Graph, x: Value) -> Value:
        y = g.add("conv2d", [x, g.constant(np.full((1, 1, 1, 1), 1e-30, np.float32))])
        y = g.add("mul", [y, g.constant(np.float32(1e38))])
        return g.add("mul", [y, g.constant(np.float32(1e38))])

    g = build((1, 1, 2, 2), body)
    optimize(g, ["fold_scale_bias"])
    assert ops(g) == {"conv2d": 1, "mul": 1}


def stats(g: Graph, n: int) -> list[Value]:
    return [g.constant(v) for v in (f(n), f(n), f(n), np.abs(f(n)) + 0.5)]


@pytest.mark.parametrize("kind", ["conv2d", "conv_transpose2d"])
def test_batch_norm_folds(kind: str) -> None:
    def body(g: Graph, x: Value) -> Value:
        return g.add("batch_norm", [linear(g, x, kind), *stats(g, 6)], {"epsilon": 1e-2})

    better = check(build((2, 4, 5, 5), body), ["fold_batch_norm"])
    assert ops(better) == {kind: 1}


def test_batch_norm_alone_becomes_mul_and_add() -> None:
    for shape in ((2, 4, 3, 3), (3, 4), (2, 4, 5)):
        g = build(shape, lambda g, x: g.add("batch_norm", [x, *stats(g, 4)]))
        assert ops(check(g, ["fold_batch_norm"])) == {"mul": 1, "add": 1}


def test_constants_fold() -> None:
    def body(g: Graph, x: Value) -> Value:
        a, b = g.add("split", [g.constant(f(2, 6))], {"axis": 1, "sizes": [3, 3]}, outputs=2)
        c = g.add("transpose", [g.add("exp", [a])], {"perm": [1, 0]})
        return g.add("add", [x, g.add("matmul", [c, b])])

    better = check(build((3, 3), body), ["fold_constants"])
    assert ops(better) == {"add": 1}  # the product is computed by a session


def test_large_constants_are_not_made() -> None:
    def body(g: Graph, x: Value) -> Value:
        return g.add("add", [x, g.add("expand", [g.constant(f(1))], {"shape": [1 << 25]})])

    g = build((1 << 25,), body)
    optimize(g)
    assert ops(g) == {"expand": 1, "add": 1}


def test_many_constants_are_bounded_together() -> None:
    def body(g: Graph, x: Value) -> Value:
        for i in range(40):
            big = g.add("expand", [g.constant(np.float32(i))], {"shape": [1 << 18]})
            x = g.add("add", [x, big])
        return x

    g = build((1,), body)
    g.fold_budget = 10 << 18
    optimize(g, ["fold_constants"])
    assert ops(g)["expand"] == 30
    assert g.fold_budget == 0


@pytest.mark.parametrize("pads", [[0, 0, 1, 2, 0, 0, 3, 0], [0, 0, 0, 0, 0, 0, 1, 1]])
def test_padding_folds_into_convolution(pads: list[int]) -> None:
    def body(g: Graph, x: Value) -> Value:
        y = g.add("pad", [x], {"pads": pads})
        return g.add("conv2d", [y, g.constant(f(3, 4, 3, 3))], {"pad": [1, 0, 0, 1]})

    assert ops(check(build((1, 4, 5, 6), body), ["fold_pad"])) == {"conv2d": 1}


def test_padding_folds_into_average_pool() -> None:
    def body(g: Graph, x: Value) -> Value:
        y = g.add("pad", [x], {"pads": [0, 0, 1, 1, 0, 0, 1, 1]})
        return g.add("pool2d", [y], {"mode": "average", "kernel": [3, 3], "stride": [2, 2]})

    assert ops(check(build((1, 4, 6, 6), body), ["fold_pad"])) == {"pool2d": 1}


@pytest.mark.parametrize(
    ("attrs", "next_op"),
    [
        ({"pads": [0, 1, 1, 1, 0, 1, 1, 1]}, "conv2d"),
        ({"pads": [0, 0, 1, 1, 0, 0, 1, 1], "value": 1.0}, "conv2d"),
        ({"pads": [0, 0, 1, 1, 0, 0, 1, 1], "mode": "reflect"}, "conv2d"),
        ({"pads": [0, 0, -1, 1, 0, 0, 1, 1]}, "conv2d"),
        ({"pads": [0, 0, 1, 1, 0, 0, 1, 1]}, "max"),
    ],
)
def test_padding_that_must_stay(attrs: dict[str, Any], next_op: str) -> None:
    def body(g: Graph, x: Value) -> Value:
        y = g.add("pad", [x], attrs)
        if next_op == "max":
            return g.add("pool2d", [y], {"kernel": [2, 2]})
        return g.add("conv2d", [y, g.constant(f(3, y.dims[1], 3, 3))])

    g = build((1, 4, 5, 6), body)
    assert ops(check(g, ["fold_pad"])) == ops(g)


def test_same_nodes_merge() -> None:
    def body(g: Graph, x: Value) -> list[Value]:
        a = g.add("add", [x, g.constant(np.float32(2))])
        b = g.add("add", [x, g.constant(np.float32(2))])
        c = g.add("add", [x, g.constant(np.float32(3))])
        return [g.add("mul", [g.add("relu", [a]), g.add("relu", [b])]), g.add("mul", [b, c])]

    assert ops(check(build((2, 3), body), ["merge_same"])) == {"add": 2, "relu": 1, "mul": 2}


def test_two_equal_outputs_stay_two() -> None:
    g = build((2, 3), lambda g, x: [g.add("relu", [x], name="a"), g.add("relu", [x], name="b")])
    better = check(g)
    assert [v.name for v in better.outputs] == ["a", "b"]


def test_dead_code() -> None:
    def body(g: Graph, x: Value) -> Value:
        g.add("exp", [g.add("abs", [x])])
        return g.add("relu", [x])

    assert ops(check(build((2, 3), body), ["dead_code"])) == {"relu": 1}
