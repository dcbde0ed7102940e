"""Splitting along one axis into parts of given sizes."""

import numpy as np
from foveal.conformance.kit import case, op_cases, rand


def ref(x, *, axis, sizes):
    return np.split(x, np.cumsum(sizes)[:-1], axis)


def split(*shape, axis, sizes, dtype="float32"):
    return case(rand(*shape, dtype=dtype, lo=-9, hi=9), outputs=len(sizes), axis=axis, sizes=sizes)


rows = [
    split(1, sum(sizes), 3, 4, axis=1, sizes=sizes)
    for sizes in [(1, 1), (4, 4), (8, 8), (3, 5), (5, 3, 1), (16, 17), (2, 2, 2, 2), (6,)]
]
rows += [split(2, 6, 4, 6, axis=a, sizes=s) for a, s in [(2, (1, 3)), (3, (2, 2, 2)), (-1, (5, 1))]]
rows += [
    split(4, 3, 2, 2, axis=0, sizes=(1, 3)),
    split(9, axis=0, sizes=(4, 5)),
    split(2, 9, axis=1, sizes=(4, 5)),
    split(2, 9, axis=-1, sizes=(4, 5), dtype="int64"),
    split(2, 9, axis=-1, sizes=(4, 5), dtype="int32"),
]

CASES = op_cases("split", ref, rows, tol=0)
