"""Repeating: expand (broadcast to a shape) and tile (whole copies)."""

import numpy as np
from foveal.conformance.kit import case, op_cases, rand


def expand(x, *, shape):
    return np.broadcast_to(x, np.broadcast_shapes(x.shape, tuple(shape))).copy()


SUITES = [
    op_cases(
        "expand",
        expand,
        [
            case(rand(1, 5, 1, 1), shape=(2, 5, 3, 4)),
            case(rand(1, 5, 1, 4), shape=(1, 5, 3, 4)),
            case(rand(2, 1, 3, 4), shape=(1, 9, 1, 1)),
            case(rand(3, 1), shape=(2, 1, 6)),
            case(rand(1), shape=(7,)),
            case(rand(1, 3), shape=(0, 3)),
            case(rand(), shape=(2, 3)),
            case(rand(2, 5, 3), shape=(1,)),
            case(rand(1, 3, dtype="int64", lo=0, hi=9), shape=(2, 3)),
        ],
        tol=0,
    ),
    op_cases(
        "tile",
        lambda x, repeats: np.tile(x, repeats),
        [
            case(rand(1, 3, 2, 2), repeats=r)
            for r in [(1, 1, 1, 1), (2, 1, 1, 1), (1, 3, 1, 1), (1, 1, 2, 3), (2, 2, 2, 2)]
        ]
        + [
            case(rand(1, 8, 2, 2), repeats=(1, 2, 1, 1)),
            case(rand(5), repeats=(3,)),
            case(rand(2, 3), repeats=(0, 2)),
            case(rand(2, 3), repeats=(3, 2)),
            case(rand(2, 3, dtype="int32", lo=0, hi=9), repeats=(1, 4)),
        ],
        tol=0,
    ),
]
