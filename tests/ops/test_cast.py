"""Conversion between element types."""

import numpy as np
from foveal.conformance.kit import case, data, op_cases, rand

TYPES = ["float32", "int32", "int64", "uint8", "int8", "bool"]

CASES = op_cases(
    "cast",
    lambda x, dtype="float32": x.astype(dtype),  # towards zero; bool: x != 0
    [
        case(rand(*shape, dtype=source, lo=0, hi=100), dtype=target)
        for source in TYPES
        for target in TYPES
        for shape in [(7,), (1, 5, 3, 3), (0, 3)]
    ]
    + [
        case(data([0.9, -0.9, 1.5, -1.5, 0.0, -0.0, 100.7]), dtype=t)
        for t in ("int32", "int64", "int8", "bool")
    ]
    + [
        case(data([2**31 - 1, -(2**31), 2**24 + 1, 2**53 + 1], "int64"), dtype="float32"),
        case(data([np.nan, np.inf, -np.inf, 3.0])),
        case(rand(2, 5, 3), dtype="float16"),
        case(rand(2, 5, 3, dtype="float16")),
        case(rand(2, 5, 3), dtype="float64"),
    ],
    tol=0,
)
