"""transposes: moved through other operators until they meet."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from foveal.graph import Graph, Value
from passes_harness import build, check, f, ops

TO_NCHW, TO_NHWC = [0, 3, 1, 2], [0, 2, 3, 1]
SHAPE = (2, 5, 6, 3)


def nchw(g: Graph, x: Value) -> Value:
    return g.add("transpose", [x], {"perm": TO_NCHW})


def nhwc(g: Graph, x: Value) -> Value:
    return g.add("transpose", [x], {"perm": TO_NHWC})


def conv(g: Graph, x: Value, cout: int = 3) -> Value:
    """A convolution of NHWC values, as the TFLite importer writes it."""
    weight = g.constant(f(cout, x.dims[3], 3, 3))
    return nhwc(g, g.add("conv2d", [nchw(g, x), weight], {"pad": [1] * 4}))


def between(middle: Any) -> Any:
    """`middle` in NHWC between two convolutions."""

    def body(g: Graph, x: Value) -> Value:
        return conv(g, middle(g, conv(g, x)))

    return body


MIDDLE = {
    "nothing": lambda g, y: y,
    "unary": lambda g, y: g.add("relu", [y]),
    "scalar": lambda g, y: g.add("mul", [y, g.constant(np.float32(2))]),
    "channel constant": lambda g, y: g.add("add", [g.constant(f(3)), y]),
    "pixel constant": lambda g, y: g.add("sub", [y, g.constant(f(5, 6, 1))]),
    "prelu": lambda g, y: g.add("prelu", [y, g.constant(f(1, 1, 3))]),
    "residual": lambda g, y: g.add("add", [y, g.add("tanh", [y])]),
    "two branches": lambda g, y: g.add("mul", [conv(g, y), conv(g, y)]),
    "pad": lambda g, y: g.add("pad", [y], {"pads": [0, 1, 2, 0, 0, 0, 1, 1]}),
    "concat": lambda g, y: g.add("concat", [y, g.add("abs", [y])], {"axis": -1}),
    "concat constant": lambda g, y: g.add("concat", [y, g.constant(f(2, 5, 6, 1))], {"axis": 3}),
    "slice": lambda g, y: g.add(
        "slice", [y], {"axes": [1, -1], "begin": [1, 0], "end": [9, 2], "step": [2, 1]}
    ),
    "tile": lambda g, y: g.add("tile", [y], {"repeats": [1, 2, 1, 3]}),
    "softmax": lambda g, y: g.add("softmax", [y], {"axis": -1}),
    "mean": lambda g, y: g.add("reduce_mean", [y], {"axes": [1, 2], "keepdims": 1}),
    "sum over all": lambda g, y: g.add("reduce_sum", [y], {"keepdims": 1}),
    "where": lambda g, y: g.add(
        "where", [g.add("greater", [y, g.constant(np.float32(0))]), y, g.constant(f(1, 1, 1, 3))]
    ),
    "cast": lambda g, y: g.add(
        "cast", [g.add("cast", [y], {"dtype": "float64"})], {"dtype": "float32"}
    ),
}


@pytest.mark.parametrize("name", MIDDLE)
def test_only_the_outermost_remain(name: str) -> None:
    better = check(build(SHAPE, between(MIDDLE[name])))
    perms = [n.attr("perm") for n in better.nodes if n.op == "transpose"]
    # Over one pixel the last one moves nothing: it has become a reshape.
    one_pixel = name in ("mean", "sum over all")
    assert perms == ([TO_NCHW] if one_pixel else [TO_NCHW, TO_NHWC])


def test_split() -> None:
    def body(g: Graph, x: Value) -> Value:
        a, b = g.add("split", [conv(g, x, 4)], {"axis": 3, "sizes": [1, 3]}, outputs=2)
        return conv(g, g.add("add", [g.add("exp", [a]), b]))

    assert ops(check(build(SHAPE, body)))["transpose"] == 2


def test_reductions_that_drop_dimensions() -> None:
    def body(g: Graph, x: Value) -> list[Value]:
        y = conv(g, x)
        mean = g.add("reduce_mean", [y], {"axes": [1, 2], "keepdims": 0})
        rows = g.add("reduce_max", [y], {"axes": [2], "keepdims": 0})
        best = g.add("argmax", [y], {"axis": 3, "keepdims": 0})
        return [mean, rows, best]

    better = check(build(SHAPE, body))
    # Mean and argmax need none; the rows' maximum swaps two axes behind.
    assert ops(better)["transpose"] == 2


def test_a_head_that_reshapes_keeps_its_order() -> None:
    def body(g: Graph, x: Value) -> Value:
        a = g.add("reshape", [conv(g, x, 4)], {"shape": [0, -1, 2]})
        b = g.add("reshape", [conv(g, x, 2)], {"shape": [0, -1, 2]})
        return g.add("concat", [a, b], {"axis": 1})

    better = check(build(SHAPE, body))
    assert ops(better)["transpose"] == 3  # one in front, one per head


def test_pooled_features_need_no_transpose() -> None:
    def body(g: Graph, x: Value) -> Value:
        y = g.add("reduce_mean", [conv(g, x)], {"axes": [1, 2], "keepdims": 1})
        y = g.add("reshape", [y], {"shape": [0, 3]})
        return g.add("matmul", [y, g.constant(f(3, 4))])

    assert ops(check(build(SHAPE, body)))["transpose"] == 1


def test_swaps_become_attributes_of_matmul() -> None:
    def body(g: Graph, x: Value) -> Value:
        y = g.add("transpose", [g.add("relu", [x])], {"perm": [0, 2, 1]})
        return g.add("matmul", [y, g.add("abs", [x])])

    better = check(build((2, 4, 5), body))
    assert ops(better) == {"relu": 1, "abs": 1, "matmul": 1}
    assert better.nodes[-1].attr("transpose_a") == 1


def test_hoisting_over_an_input_in_the_other_order() -> None:
    def body(g: Graph, x: Value) -> Value:
        return conv(g, g.add("add", [conv(g, x), x]))

    assert ops(check(build(SHAPE, body)))["transpose"] == 2


def test_a_residual_stream_that_starts_at_the_input() -> None:
    def body(g: Graph, x: Value) -> Value:
        for _ in range(3):
            x = g.add("add", [x, g.add("relu", [conv(g, x)])])
        return x

    assert ops(check(build(SHAPE, body)))["transpose"] == 2


def test_other_permutations_compose() -> None:
    def body(g: Graph, x: Value) -> Value:
        y = g.add("transpose", [x], {"perm": [1, 2, 0]})
        y = g.add("relu", [y])
        y = g.add("transpose", [y], {"perm": [1, 2, 0]})
        return g.add("transpose", [g.add("exp", [y])], {"perm": [1, 2, 0]})

    assert ops(check(build((2, 3, 4), body))) == {"relu": 1, "exp": 1}


def test_a_graph_that_would_not_gain_is_left_alone() -> None:
    def body(g: Graph, x: Value) -> list[Value]:
        y = nhwc(g, x)
        return [g.add("relu", [y]), g.add("exp", [y])]

    g = build((2, 3, 4, 5), body)
    assert ops(check(g)) == ops(g)


def test_symbolic_sizes() -> None:
    g = build((1, "height", "width", 3), between(MIDDLE["residual"]))
    assert ops(check(g))["transpose"] == 2
