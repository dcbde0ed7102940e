"""Resizing: grids, rounding of nearest neighbours, bilinear weights."""

import numpy as np
from foveal.conformance.kit import case, op_cases, rand


def source(i, n_in, n_out, scale, grid, kind):
    """Coordinate in the input of output index i, as numbers of this kind."""
    i, scale, half = kind(i), kind(scale), kind(0.5)
    if grid == "half_pixel" or (grid == "pytorch_half_pixel" and n_out > 1):
        return (i + half) / scale - half
    if grid == "asymmetric":
        return i / scale
    assert grid in ("align_corners", "pytorch_half_pixel")
    return i * kind(n_in - 1) / kind(n_out - 1) if n_out > 1 else kind(0)


ROUND = {
    "floor": np.floor,
    "ceil": np.ceil,
    "round_prefer_floor": lambda v: np.ceil(np.float64(v) - 0.5 - 1e-6),
    "round_prefer_ceil": lambda v: np.floor(np.float64(v) + 0.5 + 1e-6),
}


def weights(n_in, n_out, scale, mode, grid, rounding, kind):
    """Matrix [n_out, n_in]: how much of each input element goes into each output element."""
    m = np.zeros((n_out, n_in))
    for i in range(n_out):
        at = source(i, n_in, n_out, scale, grid, kind)
        if mode == "nearest":
            m[i, int(np.clip(ROUND[rounding](at), 0, n_in - 1))] = 1
        else:
            at = min(max(at, 0.0), n_in - 1.0)
            low = int(np.floor(at))
            m[i, low] += 1 - (at - low)
            m[i, min(low + 1, n_in - 1)] += at - low
    return m


def ref(x, *, size=(), scale=(), mode="nearest", grid="half_pixel", rounding="round_prefer_floor"):
    inputs = x.shape[2:]
    out = size or [int(np.floor(n * s)) for n, s in zip(inputs, scale, strict=True)]
    kind = np.float32 if scale and mode == "nearest" else np.float64
    scale = scale or [o / n for o, n in zip(out, inputs, strict=True)]
    my, mx = (weights(inputs[i], out[i], scale[i], mode, grid, rounding, kind) for i in range(2))
    return np.einsum("ah,nchw,bw->ncab", my, x.astype(np.float64), mx).astype(x.dtype)


GRIDS = ["half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"]

rows = [
    case(rand(1, c, 3, 4), scale=(2.0, 2.0), mode=m)
    for c in (1, 3, 4, 5, 7, 8, 9, 16, 17, 33)
    for m in ("nearest", "bilinear")
]
rows += [
    case(rand(1, 5, 4, 5), size=size, mode="bilinear", grid=g)
    for g in GRIDS
    for size in [(8, 10), (4, 5), (2, 3), (7, 9), (1, 1), (1, 9), (3, 1)]
]
rows += [
    case(rand(1, 5, 4, 6), size=size, mode="nearest", grid=g, rounding=r)
    for g in ("half_pixel", "asymmetric")
    for r in ROUND
    for size in [(8, 12), (2, 3), (4, 6), (16, 3)]
]
rows += [
    case(rand(1, 5, 5, 9), size=size, mode="nearest", grid="align_corners", rounding=r)
    for r in ROUND
    for size in [(9, 17), (3, 5)]
]
rows += [
    case(rand(2, 3, 4, 4), scale=(1.5, 2.5), mode="bilinear"),
    case(rand(2, 3, 4, 4), scale=(0.5, 0.5), mode="bilinear"),
    case(rand(2, 3, 5, 7), scale=(0.6, 0.7), mode="bilinear", grid="asymmetric"),
    case(rand(1, 3, 5, 5), size=(7, 7), scale=(1.5, 1.5), mode="bilinear"),
    case(rand(1, 3, 5, 5), size=(7, 7), scale=(1.5, 1.5), mode="bilinear", grid="asymmetric"),
    case(rand(1, 4, 1, 1), size=(3, 5), mode="bilinear"),
    case(rand(1, 4, 1, 1), size=(3, 5), mode="nearest"),
    case(rand(0, 4, 3, 3), size=(3, 5), mode="bilinear"),
    case(rand(0, 4, 3, 3), size=(6, 6), mode="nearest"),
    case(rand(1, 9, 20, 20), scale=(2.0, 2.0), mode="bilinear", grid="align_corners"),
]
# Coordinates at or near a tie: which neighbour wins depends on their type and on what a tie is.
rows += [
    case(rand(1, 5, n, 3), size=(out, 3), scale=scale, mode="nearest", grid=g, rounding=r)
    for n, out in [(6, 8), (30, 65), (14, 39), (46, 56), (91, 28)]
    for scale in [(float(np.float32(out) / np.float32(n)), 1.0)]
    for g in ("half_pixel", "asymmetric")
    for r in ROUND
]

CASES = op_cases("resize", ref, rows, tol=2e-6)
