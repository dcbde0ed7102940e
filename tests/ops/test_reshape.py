"""Operators that only change the shape: reshape, squeeze, unsqueeze, flatten."""

import numpy as np
from foveal.conformance.kit import case, op_cases, rand


def reshape(x, *, shape):
    return x.reshape([x.shape[i] if n == 0 else n for i, n in enumerate(shape)])


def unsqueeze(x, *, axes):
    return np.expand_dims(x, tuple(axes))


def flatten(x, *, axis=1):
    axis = axis + x.ndim if axis < 0 else axis
    return x.reshape(int(np.prod(x.shape[:axis])), -1)


SUITES = [
    op_cases(
        "reshape",
        reshape,
        [
            case(rand(2, 5, 3, 4), shape=s)
            for s in [
                (2, 60),
                (120,),
                (-1,),
                (0, -1),
                (0, 0, -1),
                (2, 3, 5, 4),
                (1, 1, 120),
                (0, 0, 4, 3),
            ]
        ]
        + [case(rand(1, c, 1, 1), shape=(1, c)) for c in (1, 3, 4, 8, 17)]
        + [case(rand(1, c), shape=(1, c, 1, 1)) for c in (1, 3, 4, 8, 17)]
        + [
            case(rand(1, 12, 3, 3), shape=(1, 2, 6, 3, 3)),
            case(rand(1, 16, 4, 4), shape=(1, 4, 4, 16)),
            case(rand(1, 1, 1, 1), shape=(1,)),
            case(rand(3, 4, dtype="int64", lo=0, hi=9), shape=(2, 6)),
            case(rand(3, 4, dtype="bool"), shape=(-1,)),
        ],
        tol=0,
    ),
    op_cases(
        "squeeze",
        lambda x, axes=(): np.squeeze(x, tuple(axes) or None),
        [case(rand(1, 5, 1, 3), axes=a) for a in [(0,), (2,), (0, 2), (-2,), ()]]
        + [
            case(rand(1, 17, 1, 1), axes=(2, 3)),
            case(rand(1, 3, dtype="int64", lo=0, hi=9), axes=(0,)),
        ],
        tol=0,
    ),
    op_cases(
        "unsqueeze",
        unsqueeze,
        [case(rand(2, 5, 3), axes=a) for a in [(0,), (1,), (3,), (-1,), (0, 4), (1, 3), (-1, 0)]]
        + [case(rand(1, 17), axes=(2, 3)), case(rand(3, dtype="int64", lo=0, hi=9), axes=(0,))],
        tol=0,
    ),
    op_cases(
        "flatten",
        flatten,
        [case(rand(2, 5, 3, 4), axis=a) for a in (0, 1, 2, 3, 4, -1)]
        + [case(rand(2, 17, 1, 1)), case(rand(2, 7, 3, 3)), case(rand(6), axis=0)],
        tol=0,
    ),
]
