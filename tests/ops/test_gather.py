"""Rows by index; negative indices count from the end."""

import numpy as np
from foveal.conformance.kit import case, data, op_cases, rand


def index(values, dtype="int64", const=True):
    return data(values, dtype, const)


rows = [
    case(rand(2, 5, 3, 4), index([1, 0, -1, 1], const=c), axis=a)
    for a in (0, 1, 2, 3, -1)
    for c in (True, False)
]
rows += [
    case(rand(9, 4), index([[0, 8, 3], [2, 2, 2]])),
    case(rand(9, 4), index([[0, 8, 3], [2, 2, 2]], const=False)),
    case(rand(9, 4), index(3)),
    case(rand(9, 4), index([])),
    case(rand(9, 4), index([], const=False)),
    case(rand(9, 4), index(-2, const=False), axis=1),
    case(rand(9, 4), index([1, 5], "int32")),
    case(rand(9, 4), index([1, 5], "int32", const=False)),
    case(rand(4, dtype="int64", lo=-9, hi=9), index([2])),
    case(rand(4, dtype="int64", lo=-9, hi=9), index(2, const=False)),
    case(rand(4, 3, dtype="int32", lo=-9, hi=9), index([2, 0]), axis=1),
    case(rand(1, 17, 2, 2), index([16, 3, 8, 0]), axis=1),
    case(rand(50, 33), index([[7, 49, 0, -50]], const=False)),
]


def ref(x, indices, *, axis=0):
    return np.take(x, indices, axis)


CASES = op_cases("gather", ref, rows, tol=0)
