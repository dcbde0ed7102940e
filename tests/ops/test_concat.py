"""Concatenation, across and inside channel blocks."""

import numpy as np
from foveal.conformance.kit import case, op_cases, rand, weight

rows = [
    case(*(rand(1, c, 3, 5) for c in channels), axis=1)
    for channels in [
        (1, 1),
        (3, 5),
        (4, 4),
        (8, 8),
        (8, 16, 24),
        (5, 4, 7),
        (16, 1),
        (17, 33),
        (2,),
    ]
]
rows += [case(rand(2, 5, 3, 4), rand(2, 5, 3, 4), axis=a) for a in (0, 1, 2, 3, -1, -2, -3)]
rows += [
    case(rand(2, 5, 1, 4), rand(2, 5, 3, 4), rand(2, 5, 2, 4), axis=2),
    case(rand(2, 5, 3, 4), weight(2, 2, 3, 4), axis=1),
    case(rand(7), rand(3), axis=0),
    case(rand(2, 0), rand(2, 3), axis=1),
    case(rand(0, 3, 2, 2), rand(0, 5, 2, 2), axis=1),
    case(rand(2, 7), rand(2, 1), rand(2, 9), axis=1),
    case(rand(2, 3, 4), rand(2, 3, 5), axis=-1),
    case(rand(1, 2, 2, 3, 2), rand(1, 3, 2, 3, 2), axis=1),
]
rows += [
    case(rand(3, dtype=t, lo=0, hi=90), rand(2, dtype=t, lo=0, hi=90), axis=0)
    for t in ("int64", "int32", "uint8", "bool")
]

CASES = op_cases("concat", lambda *xs, axis: np.concatenate(xs, axis), rows, tol=0)
