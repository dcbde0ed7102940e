"""Padding with a constant, the edge or a reflection; negative amounts crop."""

import numpy as np
from foveal.conformance.kit import case, op_cases, rand


def ref(x, *, pads, value=0.0, mode="constant"):
    n = x.ndim
    before, after = pads[:n], pads[n:]
    crop = tuple(
        slice(max(-b, 0), x.shape[i] - max(-a, 0))
        for i, (b, a) in enumerate(zip(before, after, strict=True))
    )
    grow = [(max(b, 0), max(a, 0)) for b, a in zip(before, after, strict=True)]
    if mode == "constant":
        return np.pad(x[crop], grow, constant_values=x.dtype.type(value))
    return np.pad(x[crop], grow, mode=mode)


rows = [
    case(rand(1, c, 3, 4), pads=p)
    for c in (1, 3, 4, 8, 17)
    for p in [(0, 0, 1, 1, 0, 0, 1, 1), (0, 1, 0, 0, 0, 2, 0, 0), (0, 0, 0, 3, 0, 5, 2, 0)]
]
rows += [
    case(rand(2, 5, 4, 3), pads=(1, 0, 0, 0, 0, 0, 0, 2)),
    case(rand(2, 5, 4, 3), pads=(0, 0, 1, 2, 0, 0, 3, 1), value=-7.5),
    case(rand(2, 5, 4, 3), pads=(0, 0, -1, 1, 0, 0, 1, -1)),
    case(rand(2, 5, 4, 3), pads=(0, -2, 0, 0, 0, -1, 0, 0)),
    case(rand(2, 5, 4, 3), pads=(0,) * 8),
    case(rand(7), pads=(2, 3)),
    case(rand(0, 3), pads=(1, 0, 1, 0), value=2.0),
    case(rand(0, 3, 2, 2), pads=(0, 0, 1, 1, 0, 0, 1, 1)),
    case(rand(3, 7), pads=(0, 2, 1, 0), value=1.5),
    case(rand(3, 7, dtype="int64", lo=-9, hi=9), pads=(0, 2, 1, 0), value=3.0),
    case(rand(3, 7, dtype="int32", lo=-9, hi=9), pads=(0, 2, 1, 0)),
    case(rand(1, 2, 3, 2, 3), pads=(0, 0, 1, 0, 1, 0, 0, 0, 2, 0)),
]
rows += [
    case(rand(2, 5, 4, 6), pads=p, mode=m)
    for m in ("edge", "reflect")
    for p in [
        (0, 0, 1, 2, 0, 0, 3, 4),
        (0, 0, 0, 1, 0, 0, 0, 0),
        (0, 0, 3, 5, 0, 0, 3, 5),
        (0, 2, 0, 0, 0, 4, 0, 0),
        (0, 0, -1, 2, 0, 0, 2, -1),
    ]
]
rows += [case(rand(7), pads=(2, 3), mode=m) for m in ("edge", "reflect")]
rows += [case(rand(1, 3, 1, 4), pads=(0, 0, 2, 0, 0, 0, 1, 0), mode="edge")]

CASES = op_cases("pad", ref, rows, tol=0)
