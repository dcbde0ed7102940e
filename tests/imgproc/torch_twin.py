"""What torch.nn.functional.interpolate makes of uint8 tensors, in whole numbers: the horizontal
pass, then the vertical one, each rounded to bytes. Weights in float64, then 16 bits."""

from __future__ import annotations

import math

import numpy as np


def kernel(mode: str, antialias: bool, x: float) -> float:
    x = abs(x)
    if mode == "bilinear":
        return max(1 - x, 0.0)
    a = -0.5 if antialias else -0.75
    if x < 1:
        return ((a + 2) * x - (a + 3)) * x * x + 1
    return (((x - 5) * x + 8) * x - 4) * a if x < 2 else 0.0


def weights(mode: str, antialias: bool, source: int, result: int) -> tuple[np.ndarray, int]:
    """[result, source] whole numbers, and how many of their bits are a fraction."""
    table = np.zeros((result, source))
    scale, taps = source / result, 2 if mode == "bilinear" else 4
    for i in range(result):
        if antialias:
            stretch = max(scale, 1.0)
            centre, reach = scale * (i + 0.5), taps / 2 * stretch
            first = max(int(centre - reach + 0.5), 0)
            pixels = range(first, min(int(centre + reach + 0.5), source))
            values = [kernel(mode, True, (j - centre + 0.5) / stretch) for j in pixels]
            table[i, pixels] = np.array(values) / sum(values)
        else:
            centre = scale * (i + 0.5) - 0.5
            base = math.floor(centre)
            for j in range(base - taps // 2 + 1, base + taps // 2 + 1):
                table[i, min(max(j, 0), source - 1)] += kernel(mode, False, j - centre)
    bits = 0
    while bits < 22 and int(0.5 + table.max() * 2 ** (bits + 1)) < 2**15:
        bits += 1
    scaled = table * 2**bits
    return np.trunc(scaled + np.copysign(0.5, scaled)).astype(np.int64), bits


def resize(pixels: np.ndarray, size: tuple[int, int], mode: str, antialias: bool) -> np.ndarray:
    """uint8 [height, width, channels] at [width, height] = size."""
    out = pixels.astype(np.int64)
    for axis, result in ((1, size[0]), (0, size[1])):
        table, bits = weights(mode, antialias, out.shape[axis], result)
        sums = np.moveaxis(np.tensordot(table, out, (1, axis)), 0, axis)
        out = np.clip((sums + (1 << (bits - 1))) >> bits, 0, 255)
    return out.astype(np.uint8)
