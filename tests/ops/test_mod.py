"""Remainder: takes the sign of the divisor, as numpy and Python."""

import numpy as np
from foveal.conformance.kit import case, data, op_cases, rand

CASES = op_cases(
    "mod",
    lambda a, b: np.mod(a, b).astype(a.dtype),
    [
        case(data([5.5, -5.5, 5.5, -5.5, 6.0, 0.0]), data([2.0, 2.0, -2.0, -2.0, 3.0, 1.5])),
        case(rand(2, 5, 3, 3, lo=-9, hi=9), data(4.0, const=True)),
        case(data([7, -7, 7, -7, 6, 0], "int32"), data([3, 3, -3, -3, 3, 3], "int32")),
        case(rand(2, 5, 3, dtype="int64", lo=-9, hi=9), data(4, "int64", const=True)),
        case(rand(2, 1, 4, dtype="int32", lo=-9, hi=9), rand(3, 1, dtype="int32", lo=1, hi=5)),
    ],
    tol=1e-6,
)
