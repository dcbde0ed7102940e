"""What cv2 computes on 8-bit pictures, in numpy: whole-number definitions, one line per rule.

Pictures are uint8 [h, w] or [h, w, c]; matrices map indices of the result to indices of the source
(WARP_INVERSE_MAP).
"""

from __future__ import annotations

import numpy as np


def _taps(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """First tap and fraction (float32) of every output of an axis of n pixels shown by d."""
    at = ((np.arange(d) + 0.5) * (1 / (d / n)) - 0.5).astype(np.float32)
    first = np.floor(at).astype(np.int64)
    return first, at - first.astype(np.float32)


def resize(source: np.ndarray, width: int, height: int) -> np.ndarray:
    """INTER_LINEAR: 11-bit weights, rows of sums cut to 15 bits, one rounding."""
    h, w = source.shape[:2]
    pixels = source.reshape(h, w, -1).astype(np.int64)
    x, u = _taps(w, width)
    y, v = _taps(h, height)
    u[(x < 0) | (x >= w - 1)] = 0  # columns at the rim have one tap
    x = np.clip(x, 0, w - 1)
    a0, a1 = (np.rint(k * 2048).astype(np.int64)[None, :, None] for k in (1 - u, u))
    b0, b1 = (np.rint(k * 2048).astype(np.int64)[:, None, None] for k in (1 - v, v))
    sums = (pixels[:, x] * a0 + pixels[:, np.minimum(x + 1, w - 1)] * a1) >> 4
    top, below = sums[np.clip(y, 0, h - 1)], sums[np.clip(y + 1, 0, h - 1)]
    out = (((b0 * top) >> 16) + ((b1 * below) >> 16) + 2) >> 2
    return out.astype(np.uint8).reshape(height, width, *source.shape[2:])


def resize_nearest(source: np.ndarray, width: int, height: int) -> np.ndarray:
    """INTER_NEAREST: the pixel at floor(x * scale)."""

    def pick(n: int, d: int) -> np.ndarray:
        return np.minimum(np.floor(np.arange(d) * (1 / (d / n))).astype(np.int64), n - 1)

    h, w = source.shape[:2]
    return source[pick(h, height)][:, pick(w, width)]


def _tap(source: np.ndarray, x: np.ndarray, y: np.ndarray, border: object) -> np.ndarray:
    """Pixels at whole indices. border: "replicate", "reflect101" or the colour outside."""
    h, w = source.shape[:2]
    if isinstance(border, str) and border == "reflect101":
        x, y = (_mirrored(i, n) for i, n in ((x, w), (y, h)))
    inside = (x >= 0) & (x < w) & (y >= 0) & (y < h)
    pixels = source[np.clip(y, 0, h - 1), np.clip(x, 0, w - 1)].astype(np.float64)
    return pixels if isinstance(border, str) else np.where(inside[..., None], pixels, border)


def _mirrored(i: np.ndarray, n: int) -> np.ndarray:
    if n == 1:
        return np.zeros_like(i)
    i = np.abs(i) % (2 * n - 2)
    return np.where(i < n, i, 2 * n - 2 - i)


def _blend(source: np.ndarray, x: np.ndarray, y: np.ndarray, border: object) -> np.ndarray:
    i, j = np.floor(x).astype(np.int64), np.floor(y).astype(np.int64)
    u, v = (x - i)[..., None], (y - j)[..., None]
    top = _tap(source, i, j, border) * (1 - u) + _tap(source, i + 1, j, border) * u
    below = _tap(source, i, j + 1, border) * (1 - u) + _tap(source, i + 1, j + 1, border) * u
    return top * (1 - v) + below * v


def _mapped(matrix: np.ndarray, width: int, height: int) -> tuple[np.ndarray, np.ndarray]:
    y, x = np.mgrid[:height, :width].astype(np.float64)
    u, v, t = (m[0] * x + m[1] * y + m[2] for m in matrix)
    return u / t, v / t


def warp(
    source: np.ndarray, matrix: np.ndarray, width: int, height: int, border: object
) -> np.ndarray:
    """OpenCV 5 warpAffine and warpPerspective, linear: real positions and weights, float result."""
    return _blend(source, *_mapped(matrix, width, height), border)


def warp_nearest(
    source: np.ndarray, matrix: np.ndarray, width: int, height: int, border: object
) -> np.ndarray:
    """OpenCV 5 of both, and 4.x warpPerspective: the nearest pixel, ties to the even one."""
    x, y = (np.rint(p).astype(np.int64) for p in _mapped(matrix, width, height))
    return _tap(source, x, y, border).astype(np.uint8)


def _fixed(row: np.ndarray, width: int, height: int, half: int) -> np.ndarray:
    """1/1024 of a pixel: both products are rounded before they are added."""
    return (
        np.rint((row[1] * np.arange(height) + row[2]) * 1024).astype(np.int64)[:, None]
        + half
        + np.rint(row[0] * np.arange(width) * 1024).astype(np.int64)
    )


def warp_4(
    source: np.ndarray, matrix: np.ndarray, width: int, height: int, border: object
) -> np.ndarray:
    """OpenCV 4.x (up to 4.11) warpAffine, linear: positions of 1/32 pixel, 15-bit weights."""
    x, y = (_fixed(matrix[i], width, height, 16) >> 5 for i in (0, 1))
    return np.floor(_blend(source, x / 32, y / 32, border) + 0.5).astype(np.uint8)


def warp_4_perspective(
    source: np.ndarray, matrix: np.ndarray, width: int, height: int, border: object
) -> np.ndarray:
    """The same for warpPerspective, whose positions are rounded to 1/32 pixel once."""
    x, y = (np.rint(p * 32) / 32 for p in _mapped(matrix, width, height))
    return np.floor(_blend(source, x, y, border) + 0.5).astype(np.uint8)


def warp_4_nearest(
    source: np.ndarray, matrix: np.ndarray, width: int, height: int, border: object
) -> np.ndarray:
    x, y = (_fixed(matrix[i], width, height, 512) >> 10 for i in (0, 1))
    return _tap(source, x, y, border).astype(np.uint8)


def yuv_to_rgb(yuv: np.ndarray) -> np.ndarray:
    """cvtColor's BT.601 limited range, 20-bit factors; footroom is cut off before the matrix."""
    y, u, v = (yuv[..., i].astype(np.int64) - k for i, k in ((0, 16), (1, 128), (2, 128)))
    y = np.maximum(y, 0) * 1220542 + (1 << 19)
    rgb = [y + 1673527 * v, y - 852492 * v - 409993 * u, y + 2116026 * u]
    return np.clip(np.stack(rgb, -1) >> 20, 0, 255).astype(np.uint8)


def rgb_to_gray(rgb: np.ndarray) -> np.ndarray:
    return ((rgb.astype(np.int64) @ [9798, 19235, 3735] + (1 << 14)) >> 15).astype(np.uint8)
