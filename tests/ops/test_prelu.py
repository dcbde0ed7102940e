"""PReLU: a slope that broadcasts to x."""

import numpy as np
from foveal.conformance.kit import case, op_cases, rand, weight

CASES = op_cases(
    "prelu",
    lambda x, slope: np.where(x < 0, slope * x, x).astype(x.dtype),
    [
        case(rand(1, c, 5, 3), slope)
        for c in (1, 3, 4, 7, 8, 17)
        for slope in (weight(c, 1, 1), weight(1), rand(c, 1, 1))
    ]
    + [
        case(rand(2, 5, 3, 4), weight(2, 5, 3, 4)),
        case(rand(2, 5, 3, 4), weight(1, 5, 1, 1)),
        case(rand(2, 5, 3, 4), weight(5, 3, 4)),
        case(rand(2, 5, 3, 4), weight(3, 1)),
        case(rand(2, 5, 3, 4), weight()),
        case(rand(6, 5), weight(5)),
        case(rand(9), weight(1)),
        case(rand(0, 5, 2, 2), weight(5, 1, 1)),
    ],
    tol=1e-6,
    elementwise=True,
)
