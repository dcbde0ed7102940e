"""Softmax and its logarithm over one axis."""

import numpy as np
from foveal.conformance.kit import case, data, op_cases, rand


def softmax(x, *, axis=-1):
    e = np.exp(x.astype(np.float64) - x.max(axis=axis, keepdims=True))
    return (e / e.sum(axis=axis, keepdims=True)).astype(x.dtype)


def log_softmax(x, *, axis=-1):
    d = x.astype(np.float64) - x.max(axis=axis, keepdims=True)
    return (d - np.log(np.exp(d).sum(axis=axis, keepdims=True))).astype(x.dtype)


rows = [
    case(rand(*shape, lo=-6, hi=6), axis=axis)
    for shape in [(1, 3, 5, 7), (2, 17, 3, 4), (1, 1, 1, 1)]
    for axis in (0, 1, 2, 3, -1, -2)
]
rows += [case(rand(3, n, lo=-6, hi=6)) for n in (1, 2, 7, 8, 9, 16, 17, 33, 1001)]
rows += [
    case(rand(9)),
    case(rand(0, 9)),
    case(rand(0, 5, 2, 2), axis=1),
    case(rand(2, 3, 5), axis=1),
    case(rand(1, 4, 3, 2, 5), axis=2),
    case(data([[1000.0, 1001.0, 999.0], [-1000.0, -1000.0, -1000.0], [0.0, 200.0, -200.0]])),
]

SUITES = [
    op_cases("softmax", softmax, rows, tol=2e-6),
    op_cases("log_softmax", log_softmax, rows, tol=2e-6),
]
