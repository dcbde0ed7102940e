"""Comparisons and logic: results are bool."""

import numpy as np
from foveal.conformance.kit import case, data, op_cases, rand

SHAPES = [
    ((1, 3, 5, 7), (1, 3, 5, 7)),
    ((2, 5, 4, 3), ()),
    ((2, 5, 4, 3), (5, 1, 1)),
    ((2, 1, 4, 3), (1, 9, 1, 1)),
    ((5, 1), (1, 6)),
    ((7,), (7,)),
    ((0, 3), (3,)),
]
INF, NAN = np.inf, np.nan


def numbers():
    rows = [
        case(rand(*a, dtype=t, lo=-3, hi=3), rand(*b, dtype=t, lo=-3, hi=3))
        for t in ("float32", "int32", "int64")
        for a, b in SHAPES
    ]
    a = np.resize([0.0, -0.0, 1.0, 2.0, INF, -INF, NAN, NAN], 40)
    b = np.resize([-0.0, 0.0, 1.0, 3.0, INF, 1.0, NAN, 1.0], 40)
    rows.append(case(data(a), data(b)))
    # Values that float32 cannot tell apart.
    big = np.array([2**24, 2**24 + 1, 2**53, -(2**24) - 1])
    rows += [case(data(big[[0, 1]], t), data(big[[1, 1]], t)) for t in ("int32", "int64")]
    return [*rows, case(data(big, "int64"), data(big - 1, "int64"))]


def logic():
    return [case(rand(*a, dtype="bool"), rand(*b, dtype="bool")) for a, b in SHAPES]


SUITES = [
    op_cases("equal", np.equal, numbers() + logic()[:1]),
    op_cases("not_equal", np.not_equal, numbers()),
    op_cases("less", np.less, numbers()),
    op_cases("less_equal", np.less_equal, numbers()),
    op_cases("greater", np.greater, numbers()),
    op_cases("greater_equal", np.greater_equal, numbers()),
    op_cases("and", np.logical_and, logic()),
    op_cases("or", np.logical_or, logic()),
    op_cases("xor", np.logical_xor, logic()),
]
