"""Arithmetic with two operands and numpy's broadcasting."""

import numpy as np
from foveal.conformance.kit import case, data, op_cases, rand

# Shapes of a and b: equal, scalars, per channel, per row, per column, both sides, other ranks.
SHAPES = [
    ((1, 3, 5, 7), (1, 3, 5, 7)),
    ((2, 17, 3, 3), (2, 17, 3, 3)),
    ((1, 1, 1, 1), (1, 1, 1, 1)),
    ((1, 5, 4, 3), ()),
    ((), (1, 5, 4, 3)),
    ((2, 5, 4, 3), (1,)),
    ((2, 5, 4, 3), (5, 1, 1)),
    ((2, 9, 4, 3), (1, 9, 1, 1)),
    ((2, 9, 4, 3), (2, 9, 1, 1)),
    ((2, 1, 4, 3), (1, 9, 1, 1)),
    ((2, 5, 4, 3), (3,)),
    ((2, 5, 4, 3), (4, 1)),
    ((2, 5, 4, 3), (1, 1, 4, 3)),
    ((2, 5, 4, 3), (2, 1, 1, 1)),
    ((2, 5, 1, 3), (1, 5, 4, 1)),
    ((1, 5, 4, 3), (2, 1, 4, 3)),
    ((7,), (7,)),
    ((5, 1), (1, 6)),
    ((2, 3, 4), (3, 1)),
    ((1, 2, 3, 2, 5), (3, 1, 1)),
    ((), ()),
    ((0, 5, 2, 2), (5, 1, 1)),
    ((0, 3), (1, 3)),
]


def table(lo=-2.0, hi=2.0, b_lo=None, b_hi=None):
    b_lo, b_hi = lo if b_lo is None else b_lo, hi if b_hi is None else b_hi
    rows = [
        case(rand(*a, lo=lo, hi=hi), rand(*b, lo=b_lo, hi=b_hi, const=const))
        for a, b in SHAPES
        for const in (False, True)
    ]
    return rows + [
        case(rand(*a, lo=lo, hi=hi, const=True), rand(*b, lo=b_lo, hi=b_hi)) for a, b in SHAPES[:8]
    ]


def integers(dtypes=("int32", "int64"), lo=-9, hi=10, b_lo=1, b_hi=10):
    return [
        case(rand(*a, dtype=t, lo=lo, hi=hi), rand(*b, dtype=t, lo=b_lo, hi=b_hi))
        for t in dtypes
        for a, b in [((2, 5, 3), (2, 5, 3)), ((6,), ()), ((1, 3, 2, 2), (3, 1, 1))]
    ]


def same(*rows):
    """Special values against each other."""
    a, b = zip(*rows, strict=True)
    return [case(data(np.resize(a, 35)), data(np.resize(b, 35)))]


INF, NAN = np.inf, np.nan


def computed(f):
    def ref(a, b):
        with np.errstate(all="ignore"):
            return np.asarray(f(a.astype(np.float64), b.astype(np.float64))).astype(a.dtype)

    return ref


def plain(f):
    def ref(a, b):
        with np.errstate(all="ignore"):
            return np.asarray(f(a, b)).astype(a.dtype)

    return ref


def div(a, b):
    """Integers: towards zero, as C."""
    if a.dtype.kind == "f":
        return computed(np.divide)(a, b)
    return (np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))).astype(a.dtype)


SUITES = [
    op_cases(
        "add", plain(np.add), table() + integers() + same((INF, 1), (INF, -INF), (NAN, 1)), tol=0
    ),
    op_cases("sub", plain(np.subtract), table() + integers() + same((INF, INF), (1, NAN)), tol=0),
    op_cases(
        "mul", plain(np.multiply), table() + integers() + same((INF, 0), (0, -3), (NAN, 0)), tol=0
    ),
    op_cases(
        "div",
        div,
        table(b_lo=0.25) + integers() + same((1, 0), (-1, 0), (0, 0), (INF, 2), (1, INF)),
        tol=2e-7,
        elementwise=True,
    ),
    op_cases(
        "max", plain(np.maximum), table() + integers() + same((INF, 1), (-INF, 1), (0, 0)), tol=0
    ),
    op_cases(
        "min", plain(np.minimum), table() + integers() + same((INF, 1), (-INF, 1), (0, 0)), tol=0
    ),
    op_cases(
        "pow",
        computed(np.power),
        table(lo=0.1, hi=4.0, b_lo=-2.0, b_hi=2.0)
        + [case(rand(2, 5, 3, 3, lo=-3, hi=3), data(p, const=True)) for p in (0.0, 1.0, 2.0, 3.0)]
        + [case(rand(2, 5, 3, 3, lo=0, hi=3), data(p, const=True)) for p in (0.5, -1.0, -0.5)]
        + same((0, 0), (-2, 3), (-2, 2), (-2, -1), (0, 2), (1, 7)),
        tol=5e-6,
        elementwise=True,
    ),
    op_cases(
        "squared_difference",
        plain(lambda a, b: (a - b) * (a - b)),
        table() + integers(("int32",)),
        tol=3e-7,
        elementwise=True,
    ),
]
