"""Choice between two operands; all three broadcast to one another."""

import numpy as np
from foveal.conformance.kit import case, data, op_cases, rand

SHAPES = [
    ((1, 3, 5, 7), (1, 3, 5, 7), (1, 3, 5, 7)),
    ((2, 17, 3, 3), (), ()),
    ((5, 1, 1), (2, 5, 4, 3), (4, 3)),
    ((1,), (2, 3), (2, 1)),
    ((2, 1, 4, 1), (1, 3, 1, 5), ()),
    ((7,), (7,), (7,)),
    ((0, 3), (3,), ()),
]

CASES = op_cases(
    "where",
    np.where,
    [
        case(rand(*c, dtype="bool"), rand(*a, dtype=t, lo=-9, hi=9), rand(*b, dtype=t, lo=-9, hi=9))
        for t in ("float32", "int64", "int32")
        for c, a, b in SHAPES
    ]
    + [
        case(
            data([True, False, True, False], "bool"),
            data([np.nan, np.nan, np.inf, 1]),
            data([1, 2, np.nan, -np.inf]),
        )
    ],
    tol=0,
)
