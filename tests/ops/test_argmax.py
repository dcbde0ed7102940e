"""Index of the largest and the smallest element."""

import numpy as np
from foveal.conformance.kit import case, data, op_cases, rand


def position(f):
    def ref(x, *, axis=0, keepdims=1, select_last=0):
        if select_last:
            i = x.shape[axis] - 1 - f(np.flip(x, axis), axis=axis, keepdims=bool(keepdims))
        else:
            i = f(x, axis=axis, keepdims=bool(keepdims))
        return np.asarray(i).astype(np.int64)

    return ref


TIES = [[1.0, 3.0, 3.0, 1.0], [2.0, 2.0, 2.0, 2.0], [-1.0, -5.0, -1.0, -5.0]]

rows = [
    case(rand(*shape), axis=axis, keepdims=k)
    for shape in [(1, 3, 5, 7), (2, 17, 4, 3)]
    for axis in (0, 1, 2, 3, -1, -3)
    for k in (1, 0)
]
rows += [case(data(TIES), axis=a, select_last=s) for a in (0, 1) for s in (0, 1)]
rows += [
    case(rand(37)),
    case(rand(37), keepdims=0),
    case(rand(5, 33), axis=1),
    case(rand(0, 5, 3, 3), axis=1),
    case(rand(2, 3, 5, dtype="int32", lo=-9, hi=9), axis=2),
    case(rand(1, 21, 9, 9), axis=1, keepdims=0),
]

SUITES = [
    op_cases("argmax", position(np.argmax), rows),
    op_cases("argmin", position(np.argmin), rows),
]
