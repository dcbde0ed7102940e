"""Operators y = f(x), element by element, with and without attributes."""

import math

import numpy as np
from foveal.conformance.kit import case, data, op_cases, rand

erf = np.vectorize(math.erf, otypes=[np.float64])


def computed(f):
    """f in float64, rounded once to the type of x."""

    def ref(x, **attrs):
        with np.errstate(all="ignore"):
            return np.asarray(f(x.astype(np.float64), **attrs)).astype(x.dtype)

    return ref


def exact(f):
    """f in the type of x."""
    return lambda x: np.asarray(f(x)).astype(x.dtype)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softplus(x):
    return np.logaddexp(x, 0)


def shapes(lo, hi):
    """Odd channel counts around the blocked layouts' 4, 8 and 16; every rank."""
    return [
        case(rand(1, 1, 1, 1, lo=lo, hi=hi)),
        case(rand(1, 3, 5, 7, lo=lo, hi=hi)),
        case(rand(2, 5, 3, 3, lo=lo, hi=hi)),
        case(rand(1, 17, 9, 1, lo=lo, hi=hi)),
        case(rand(37, lo=lo, hi=hi)),
        case(rand(3, 11, lo=lo, hi=hi)),
        case(rand(2, 3, 5, lo=lo, hi=hi)),
        case(rand(1, 3, 2, 3, 5, lo=lo, hi=hi)),
        case(rand(0, 3, 2, 2)),
    ]


def special(*values):
    """The given values, twice the width of any vector register, as vectors and as images."""
    row = np.resize(np.array(values, np.float32), 35)
    return [case(data(row)), case(data(row.reshape(1, 5, 7, 1)))]


INF, NAN = np.inf, np.nan
LARGE = [0.0, 1.0, -1.0, 20.0, -20.0, 88.0, -88.0, 200.0, -200.0, INF, -INF, NAN]

# name, meaning, domain, values worth a look
SMOOTH = [
    ("sigmoid", sigmoid, (-6, 6), LARGE),
    ("tanh", np.tanh, (-4, 4), LARGE),
    ("exp", np.exp, (-6, 6), [0.0, 1.0, -1.0, 80.0, -80.0, 88.0, 89.0, -200.0, INF, -INF, NAN]),
    ("log", np.log, (0.01, 50), [1.0, 1e-30, 1e30, 0.0, -1.0, INF, NAN]),
    ("sqrt", np.sqrt, (0, 50), [0.0, 1.0, 1e-30, 1e30, INF, NAN]),
    ("rsqrt", lambda x: 1 / np.sqrt(x), (0.1, 50), [1.0, 1e-20, 1e20, 0.0, INF]),
    ("erf", erf, (-4, 4), [0.0, 0.5, -0.5, 3.0, -3.0, 10.0, -10.0, INF, -INF, NAN]),
    ("sin", np.sin, (-10, 10), [0.0, 1.0, -1.0, 100.0, -100.0]),
    ("cos", np.cos, (-10, 10), [0.0, 1.0, -1.0, 100.0, -100.0]),
    ("reciprocal", lambda x: 1 / x, (0.1, 9), [1.0, -2.0, 0.0, 1e30, -1e-30, INF, -INF, NAN]),
    ("softplus", softplus, (-6, 6), [0.0, 20.0, -20.0, 100.0, -100.0, 200.0, -200.0]),
    ("softsign", lambda x: x / (1 + np.abs(x)), (-6, 6), [0.0, 1e20, -1e20]),
    ("silu", lambda x: x * sigmoid(x), (-6, 6), [0.0, 20.0, -20.0, 100.0, -100.0]),
    ("gelu", lambda x: x * 0.5 * (1 + erf(x / math.sqrt(2))), (-4, 4), [0.0, 20.0, -20.0, 100.0]),
    (
        "gelu_tanh",
        lambda x: x * 0.5 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
        (-4, 4),
        [0.0, 20.0, -20.0],
    ),
    ("hardswish", lambda x: x * np.clip(x / 6 + 0.5, 0, 1), (-6, 6), [0.0, 3.0, -3.0, 50.0, -50.0]),
    ("mish", lambda x: x * np.tanh(softplus(x)), (-6, 6), [0.0, 20.0, -20.0, 100.0, -100.0]),
    ("square", lambda x: x * x, (-3, 3), [0.0, -0.0, 1e19, INF, -INF, NAN]),
]

# Results that float32 holds exactly.
EXACT = [
    ("relu", lambda x: np.maximum(x, 0), [0.0, -0.0, 1.5, -1.5, 3e38, INF, -INF]),
    ("abs", np.abs, [0.0, -0.0, 1.5, -1.5, INF, -INF, NAN]),
    ("neg", np.negative, [0.0, 1.5, -1.5, INF, -INF, NAN]),
    ("floor", np.floor, [0.0, 0.5, -0.5, 1.0, -1.0, 2.5, -2.5, 8388609.0, 1e20, INF, -INF, NAN]),
    ("ceil", np.ceil, [0.0, 0.5, -0.5, 1.0, -1.0, 2.5, -2.5, 8388609.0, 1e20, INF, -INF, NAN]),
    (
        "round",
        np.rint,
        [0.0, 0.5, -0.5, 1.5, 2.5, -1.5, -2.5, 0.49999997, 8388609.0, 1e20, INF, NAN],
    ),
    ("sign", np.sign, [0.0, -0.0, 1e-30, -1e-30, 3.0, -3.0, INF, -INF]),
]
INTEGER = ("relu", "abs", "neg", "sign")


def integers():
    """Every width, with both ends of its range; the lowest has no positive counterpart."""
    kinds = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
    ends = [[np.iinfo(k).min, np.iinfo(k).max, 0, 1, 5] for k in kinds]
    return [
        *(case(data(np.array(row, k))) for k, row in zip(kinds, ends, strict=True)),
        case(rand(2, 5, 3, dtype="int32", lo=-9, hi=9)),
        case(rand(1, 5, 3, 7, dtype="int64", lo=-9, hi=9)),
    ]


SUITES = [
    op_cases(name, computed(f), shapes(*domain) + special(*values), tol=2e-6, elementwise=True)
    for name, f, domain, values in SMOOTH
]
SUITES += [
    op_cases(
        name,
        exact(f),
        shapes(-3, 3) + special(*values) + (integers() if name in INTEGER else []),
        tol=0,
    )
    for name, f, values in EXACT
]
SUITES += [
    op_cases(
        "not",
        np.logical_not,
        [case(rand(7, dtype="bool")), case(rand(1, 5, 3, 3, dtype="bool"))],
    ),
    op_cases(
        "hardsigmoid",
        computed(lambda x, alpha=0.2, beta=0.5: np.clip(alpha * x + beta, 0, 1)),
        shapes(-6, 6)
        + special(0.0, 2.5, -2.5, 50.0, -50.0, INF, -INF)
        + [
            case(rand(1, 6, 5, 3, lo=-6, hi=6), alpha=1 / 6),
            case(rand(1, 6, 5, 3, lo=-6, hi=6), alpha=0.5, beta=0.25),
        ],
        tol=2e-6,
        elementwise=True,
    ),
    op_cases(
        "leaky_relu",
        computed(lambda x, alpha=0.01: np.where(x < 0, alpha * x, x)),
        shapes(-3, 3)
        + special(0.0, 1.0, -1.0, 1e30, -1e30)
        + [case(rand(2, 7, 3, 5), alpha=a) for a in (0.3, 0.0, 1.5, -0.5)],
        tol=1e-6,
        elementwise=True,
    ),
    op_cases(
        "elu",
        computed(lambda x, alpha=1.0: np.where(x < 0, alpha * np.expm1(np.minimum(x, 0)), x)),
        shapes(-6, 6)
        + special(0.0, 1.0, -1.0, -100.0, 100.0)
        + [case(rand(2, 7, 3, 5), alpha=0.7)],
        tol=2e-6,
        elementwise=True,
    ),
    op_cases(
        "clip",
        lambda x, min=-INF, max=INF: np.minimum(
            np.maximum(x, x.dtype.type(min)), x.dtype.type(max)
        ),
        shapes(-9, 9)
        + [
            case(rand(*shape, lo=-9, hi=9), **attrs)
            for shape in [(1, 5, 7, 3), (2, 16, 3, 3), (33,)]
            for attrs in [
                {"min": 0.0, "max": 6.0},
                {"min": 0.0},
                {"max": 1.5},
                {"min": -1.0, "max": -0.5},
            ]
        ],
        tol=0,
    ),
]
