"""Bilinear sampling of bytes in whole numbers, from its definition in imgproc/README.md: one tap at
a time, in Python's own numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import twin

BLEND, TAP = 2**15, 2**14  # weight 1 between rows, along a row
# Most that a component, and a colour of YUV in any matrix and range, is from the exact one.
COMPONENT, COLOUR = 1 / 64, 0.055


def taps(p: float, n: int, rule: str) -> list[tuple[int, float]]:
    """Two source pixels of n around index p, and their weights."""
    if rule == "reflect101" and n > 1:
        p = abs(p) % (2 * n - 2)
        p = 2 * n - 2 - p if p > n - 1 else p
    i = math.floor(p)
    second = float(np.float32(p - i))
    if rule == "constant_hard" and not -0.5 <= p < n - 0.5:
        return [(0, 0.0), (0, 0.0)]
    if rule == "constant":
        weights = (1 - second if 0 <= i < n else 0.0), (second if 0 <= i + 1 < n else 0.0)
    else:
        weights = (1 - second, second) if i >= 0 and i + 1 < n else (1.0, 0.0)
    return [(min(max(at, 0), n - 1), w) for at, w in zip((i, i + 1), weights, strict=True)]


def blend(a: int, b: int, w0: float, w1: float) -> tuple[int, float]:
    """128 times the value between two rows, and how much it counts."""
    if w1 == 0:
        return 128 * a, w0
    if w0 == 0:
        return 128 * b, w1
    return 128 * a + ((b - a) * round(w1 * BLEND) + 128) // 256, 1.0


def tap_weights(w0: float, w1: float) -> tuple[int, int]:
    """Of taps along a row. Two that both count add up to 1."""
    second = round(w1 * TAP)
    return (0 if w0 == 0 else round(w0 * TAP) if w1 == 0 else TAP - second), second


def sample(planes: np.ndarray, x: float, y: float, rule: str) -> tuple[np.ndarray, float]:
    """Components at the continuous position (x, y) in memory, and how much of it is inside."""
    h, w, components = planes.shape
    (left, wl), (right, wr) = taps(x - 0.5, w, rule)
    (top, wt), (below, wb) = taps(y - 0.5, h, rule)
    weights, values = tap_weights(wl, wr), []
    for c in range(components):
        total, gain = 0, 1.0
        for column, weight in zip((left, right), weights, strict=True):
            a, b = int(planes[top, column, c]), int(planes[below, column, c])
            row, gain = blend(a, b, wt, wb)
            total += weight * row
        values.append(gain * total / (128 * TAP))
    return np.array(values), (wl + wr) * (wt + wb)


def sampler(spec: dict[str, Any], picture: twin.Picture, border: Any, rule: str) -> Callable:
    """For `twin.run`."""
    rotation, mirror = twin.orientation(spec, picture)
    linear = spec["yuv"].get("chroma") == "linear" and picture.chroma is not None
    linear = linear and spec["color"] != "GRAY"
    siting = spec["yuv"].get("siting", "frame")
    siting = picture.siting if siting == "frame" else siting

    def value(x: float, y: float) -> np.ndarray:
        x, y = twin.sensor(picture, rotation, mirror, x, y)
        parts, inside = sample(picture.data, x, y, rule)
        if inside == 0:
            return np.asarray(border)
        parts = parts / inside
        if linear:
            parts[1:] = sample(picture.chroma, *twin.chroma_at(picture, siting, x, y), "clamp")[0]
        pixel = twin.Picture(picture.kind, parts[None, None], color=picture.color)
        color = twin.to_color(pixel, spec)[0, 0]
        return color if border is None else inside * color + (1 - inside) * np.asarray(border)

    return value


def expected(plan: Any, spec: dict[str, Any], picture: twin.Picture, roi: Any = None) -> np.ndarray:
    """`twin.run` as a plan that has run says: in whole numbers, or exactly. Single taps are exact
    either way."""
    said = plan.explain()
    whole = "axis-aligned" in said and "in whole numbers" in said
    nearest = spec.get("sample", {}).get("k") == "nearest"
    return twin.run(spec, picture, roi, sampler if whole and not nearest else None)
