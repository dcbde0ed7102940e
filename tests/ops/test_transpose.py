"""Permutations of the axes."""

from itertools import permutations

import numpy as np
from foveal.conformance.kit import case, op_cases, rand

rows = [case(rand(2, 5, 3, 4), perm=p) for p in permutations(range(4))]
rows += [case(rand(1, c, 3, 5), perm=(0, 2, 3, 1)) for c in (1, 3, 4, 8, 9, 16, 17, 33)]
rows += [case(rand(1, 3, 5, c), perm=(0, 3, 1, 2)) for c in (1, 3, 4, 8, 9, 16, 17, 33)]
rows += [case(rand(2, 3, 5), perm=p) for p in permutations(range(3))]
rows += [
    case(rand(7, 9), perm=(1, 0)),
    case(rand(0, 9), perm=(1, 0)),
    case(rand(0, 3, 2, 2), perm=(0, 2, 3, 1)),
    case(rand(64, 33), perm=(1, 0)),
    case(rand(5), perm=(0,)),
    case(rand(2, 3, 2, 3, 2), perm=(0, 1, 3, 4, 2)),
    case(rand(1, 2, 3, 2, 3, 2), perm=(0, 1, 4, 2, 5, 3)),
    case(rand(1, 4, 1, 4), perm=(0, 2, 3, 1)),
]
rows += [
    case(rand(2, 3, 5, dtype=t, lo=0, hi=9), perm=(2, 0, 1))
    for t in ("int64", "int32", "uint8", "bool")
]

CASES = op_cases("transpose", lambda x, perm: np.transpose(x, perm).copy(), rows, tol=0)
