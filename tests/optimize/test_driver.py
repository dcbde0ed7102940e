"""Finding, choosing and repeating passes."""

from __future__ import annotations

import pytest
from foveal.errors import ArgumentError
from foveal.optimize import optimize, passes
from passes_harness import build, check, f, ops


def test_passes_are_found_documented_and_ordered() -> None:
    table = passes()
    assert {
        "fold_constants", "fold_batch_norm", "fold_scale_bias", "fold_pad", "transposes",
        "activations", "identities", "merge_same", "dead_code",
    } <= set(table)  # fmt: skip
    assert all(m.__doc__ and m.__name__.rsplit(".", 1)[1] == m.NAME for m in table.values())
    orders = [m.ORDER for m in table.values()]
    assert orders == sorted(orders)


def test_unknown_pass() -> None:
    g = build((1, 3), lambda g, x: g.add("relu", [x]))
    with pytest.raises(ArgumentError, match="no pass called vectorize"):
        optimize(g, ["vectorize"])


def test_only_chosen_passes_run() -> None:
    def body(g, x):  # type: ignore[no-untyped-def]
        g.add("exp", [x])  # nobody reads it
        return g.add("mul", [x, g.add("sigmoid", [x])])

    g = build((1, 3), body)
    assert ops(check(g, ["dead_code"])) == {"mul": 1, "sigmoid": 1}
    assert ops(check(g, ["activations", "dead_code"])) == {"silu": 1}
    assert ops(check(g, [])) == {"mul": 1, "sigmoid": 1, "exp": 1}


def test_passes_feed_each_other() -> None:
    """Constants fold, the batch norm they feed folds, and what it leaves is dead."""

    def body(g, x):  # type: ignore[no-untyped-def]
        w = g.add("mul", [g.constant(f(4, 3, 3, 3)), g.constant(f(1))])
        y = g.add("conv2d", [x, w], {"pad": [1] * 4})
        stats = [g.constant(v) for v in (f(4), f(4), f(4), abs(f(4)) + 0.5)]
        return g.add("relu", [g.add("batch_norm", [y, *stats])])

    better = check(build((2, 3, 6, 6), body))
    assert ops(better) == {"conv2d": 1, "relu": 1}


def test_a_second_run_changes_nothing() -> None:
    g = build((1, 3), lambda g, x: g.add("mul", [x, g.add("sigmoid", [x])]))
    assert sum(optimize(g).values()) > 0
    assert sum(optimize(g).values()) == 0
