"""identities: operations that change nothing, and chains that one operation can do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from foveal.graph import Graph, Value
from passes_harness import build, check, f, ops


def chain(*steps: Any) -> Any:
    """Steps of (op, attrs) or (op, constant) applied one after another, then a sine."""

    def body(g: Graph, x: Value) -> Value:
        for op, arg in steps:
            if isinstance(arg, dict):
                x = g.add(op, [x], arg)
            else:
                x = g.add(op, [x, g.constant(np.asarray(arg, np.float32))])
        return g.add("sin", [x])

    return body


@pytest.mark.parametrize(
    "steps",
    [
        [("add", 0.0)],
        [("sub", 0.0)],
        [("mul", 1.0)],
        [("div", [[1.0] * 4] * 3)],
        [("pow", 1.0)],
        [("reshape", {"shape": [4, 3]}), ("reshape", {"shape": [3, 4]})],
        [("unsqueeze", {"axes": [0]}), ("squeeze", {"axes": [0]})],
        [("transpose", {"perm": [0, 1]})],
        [("transpose", {"perm": [1, 0]}), ("transpose", {"perm": [1, 0]})],
        [("neg", {}), ("neg", {})],
        [("clip", {})],
        [("pad", {"pads": [0, 0, 0, 0]})],
        [("concat", {"axis": 0})],
        [("cast", {"dtype": "float32"})],
        [("tile", {"repeats": [1, 1]})],
        [("expand", {"shape": [3, 1]})],
        [("slice", {"axes": [0], "begin": [0], "end": [99], "step": [1]})],
    ],
)
def test_nothing_is_left(steps: Any) -> None:
    assert ops(check(build((3, 4), chain(*steps)))) == {"sin": 1}


@pytest.mark.parametrize(
    ("steps", "left"),
    [
        ([("reshape", {"shape": [12]}), ("reshape", {"shape": [2, 6]})], {"reshape": 1}),
        ([("flatten", {"axis": 0}), ("unsqueeze", {"axes": [0]})], {"reshape": 1}),
        ([("clip", {"min": -1, "max": 2}), ("clip", {"min": 0, "max": 3})], {"clip": 1}),
        ([("relu", {}), ("clip", {"max": 6})], {"clip": 1}),
        ([("clip", {"min": -1, "max": 2}), ("relu", {})], {"clip": 1}),
        ([("relu", {}), ("relu", {})], {"relu": 1}),
        ([("sigmoid", {}), ("relu", {})], {"sigmoid": 1}),
        ([("pad", {"pads": [1, 0, 0, 0]}), ("pad", {"pads": [0, 1, 1, 1]})], {"pad": 1}),
    ],
)
def test_chains_merge(steps: Any, left: dict[str, int]) -> None:
    assert ops(check(build((3, 4), chain(*steps)))) == left | {"sin": 1}


@pytest.mark.parametrize(
    ("low", "high"), [((-1, 1), (2, 3)), ((2, 3), (-1, 1)), ((-1, 1), (-0.5, 0.5))]
)
def test_clip_of_clip(low: Any, high: Any) -> None:
    steps = [("clip", {"min": a, "max": b}) for a, b in (low, high)]
    assert ops(check(build((3, 40), chain(*steps)))) == {"clip": 1, "sin": 1}


@pytest.mark.parametrize(
    "steps",
    [
        [("add", [[0.0], [1.0], [0.0]])],
        [("add", [[[0.0]], [[0.0]]])],  # broadcasts to another shape
        [("slice", {"axes": [0], "begin": [99], "end": [-99], "step": [-1]})],
        [("pad", {"pads": [1, 0, 0, 0], "value": 1}), ("pad", {"pads": [1, 0, 0, 0]})],
        [("expand", {"shape": [2, 1, 1]})],
    ],
)
def test_what_does_change_something_stays(steps: Any) -> None:
    g = build((3, 4), chain(*steps))
    assert ops(check(g)) == ops(g)


def test_constant_minus_and_over_x_stay() -> None:
    for op in ("sub", "div", "pow"):
        g = build(
            (3, 4), lambda g, x, op=op: g.add(op, [g.constant(np.float32(1)), g.add("exp", [x])])
        )
        assert ops(check(g)) == {op: 1, "exp": 1}


def test_an_output_that_is_the_input_keeps_its_name() -> None:
    g = build((3, 4), lambda g, x: g.add("add", [x, g.constant(np.zeros(4, np.float32))], name="y"))
    better = check(g)
    assert better.outputs[0].name == "y"


def test_symbolic_shapes_keep_their_reshapes() -> None:
    def body(g: Graph, x: Value) -> Value:
        y = g.add("reshape", [x], {"shape": [0, -1]})
        y = g.add("reshape", [y], {"shape": [-1, 2, 6]})
        return g.add("mul", [g.add("add", [y, g.constant(np.float32(0))]), g.constant(f(6))])

    better = check(build(("batch", 3, 4), body))
    assert ops(better) == {"reshape": 1, "mul": 1}
