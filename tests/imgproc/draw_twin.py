"""Drawing, obviously correct: a cover of 0..1 per pixel, mixed in with numpy."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

KR_KB = {"bt601": (0.299, 0.114), "bt709": (0.2126, 0.0722), "bt2020": (0.2627, 0.0593)}


def segment(w: int, h: int, x0: float, y0: float, x1: float, y1: float, r: float) -> np.ndarray:
    """Everything within r of a segment, soft at the rim."""
    x, y = np.meshgrid(np.arange(w) + 0.5, np.arange(h) + 0.5)
    dx, dy = x1 - x0, y1 - y0
    length = dx * dx + dy * dy
    t = np.clip(((x - x0) * dx + (y - y0) * dy) / length, 0, 1) if length else np.zeros_like(x)
    return np.clip(r + 0.5 - np.hypot(x - x0 - t * dx, y - y0 - t * dy), 0, 1)


def circle(w: int, h: int, cx: float, cy: float, radius: float, thickness: int) -> np.ndarray:
    x, y = np.meshgrid(np.arange(w) + 0.5, np.arange(h) + 0.5)
    return np.clip(thickness / 2 + 0.5 - np.abs(np.hypot(x - cx, y - cy) - radius), 0, 1)


def cells(w: int, h: int, x0: int, y0: int, x1: int, y1: int) -> np.ndarray:
    out = np.zeros((h, w))
    out[max(y0, 0) : max(y1, 0), max(x0, 0) : max(x1, 0)] = 1
    return out


def polygon(w: int, h: int, points: Sequence[tuple[float, float]]) -> np.ndarray:
    """Even-odd: four lines a row, exact along each."""
    out = np.zeros((h, w))
    for y in range(h):
        for step in range(4):
            line = y + (step + 0.5) / 4
            cuts = []
            for (ax, ay), (bx, by) in zip(points, [*points[1:], points[0]], strict=True):
                if (ay <= line) != (by <= line):
                    cuts.append(ax + (line - ay) / (by - ay) * (bx - ax))
            cuts.sort()
            for start, end in zip(cuts[::2], cuts[1::2], strict=False):
                for x in range(w):
                    out[y, x] += max(0.0, min(end, x + 1) - max(start, x)) / 4
    return np.minimum(out, 1)


def to_yuv(color: int, matrix: str, limited: bool) -> list[int]:
    red, green, blue = color >> 16, color >> 8 & 255, color & 255
    kr, kb = KR_KB[matrix]
    y = kr * red + (1 - kr - kb) * green + kb * blue
    u, v = (blue - y) / (2 * (1 - kb)), (red - y) / (2 * (1 - kr))
    if limited:
        y, u, v = 16 + y * 219 / 255, u * 224 / 255, v * 224 / 255
    return [math.floor(min(max(c, 0), 255) + 0.5) for c in (y, 128 + u, 128 + v)]


def mix(values: np.ndarray, color: float, cover: np.ndarray) -> np.ndarray:
    """values [h, w] uint8, rounded half away from zero."""
    return np.floor(values + (color - values.astype(np.float64)) * cover + 0.5).astype(np.uint8)


def chroma_cover(cover: np.ndarray) -> np.ndarray:
    """The mean over each block of 2 x 2 pixels, over those that there are at the edges."""
    h, w = cover.shape
    out = np.zeros(((h + 1) // 2, (w + 1) // 2))
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            out[y, x] = cover[2 * y : 2 * y + 2, 2 * x : 2 * x + 2].mean()
    return out
