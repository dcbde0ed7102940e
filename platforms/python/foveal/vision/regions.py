"""Regions of frames: what `foveal.image` makes of them, as boxes, corners and numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from foveal import image
from foveal.errors import ArgumentError, SpecError
from foveal.vision.results import Box

Region = image.RotatedRect | image.Rect | image.Quad


def apply(rule: image.RoiRule, box: Any, points: Any) -> Region | None:
    """The region that a rule makes of a thing, None of one that has no extent or no place."""
    try:
        return rule.apply(box, points if len(points) else None)
    except ArgumentError:
        return None


def check(rule: image.RoiRule, points: int, key: str) -> None:
    """SpecError for a rule that needs more points than there are."""
    at = [((i + 1) * math.cos(2.4 * i), (i + 1) * math.sin(2.4 * i)) for i in range(points)]
    try:
        rule.apply((0, 0, 1, 1), at or None)
    except ArgumentError as error:
        raise SpecError(f'task spec: key "{key}": with {points} points: {error.message}') from None


def region(roi: Any) -> Region:
    """What `image.Plan.run` takes for a region, as an object."""
    if isinstance(roi, (image.RotatedRect, image.Rect, image.Quad)):
        return roi
    values = [float(v) for v in np.asarray(roi, np.float64).ravel()]
    if len(values) == 4:
        return image.Rect(*values)
    if len(values) == 5:
        return image.RotatedRect(*values)
    return image.Quad(tuple(zip(values[::2], values[1::2], strict=True)))


def numbers(roi: Region) -> list[float]:
    """A region as the numbers that `image.Plan.run` takes for it."""
    if isinstance(roi, image.Quad):
        return [float(v) for corner in roi.corners for v in corner]
    return [float(v) for v in vars(roi).values()]


def hull(roi: Region) -> Box:
    """The upright box around a region."""
    values = numbers(roi)
    if isinstance(roi, image.Rect):
        return values[0], values[1], values[2], values[3]
    if isinstance(roi, image.Quad):
        return min(values[::2]), min(values[1::2]), max(values[::2]), max(values[1::2])
    cx, cy, width, height, degrees = values
    across, along = abs(math.cos(math.radians(degrees))), abs(math.sin(math.radians(degrees)))
    half_width = (width * across + height * along) / 2
    half_height = (width * along + height * across) / 2
    return cx - half_width, cy - half_height, cx + half_width, cy + half_height


def has_area(box: Box) -> bool:
    """Whether there is anything in a box."""
    return box[2] > box[0] and box[3] > box[1]


def clipped(box: Box, size: tuple[int, int]) -> Box:
    """What of a box lies in a picture of (width, height)."""
    x0, y0, x1, y1 = box
    width, height = size
    return (
        min(max(x0, 0.0), width),
        min(max(y0, 0.0), height),
        min(max(x1, 0.0), width),
        min(max(y1, 0.0), height),
    )


def iou(a: Box, b: Box) -> float:
    """Intersection over union, 0 where there is no union."""
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    both = max(width, 0.0) * max(height, 0.0)
    areas = sum((box[2] - box[0]) * (box[3] - box[1]) for box in (a, b))
    return both / (areas - both) if areas > both else 0.0


def corners(roi: Region) -> list[tuple[float, float]]:
    """Top-left, top-right, bottom-right and bottom-left of a region, along its own axes."""
    values = numbers(roi)
    if isinstance(roi, image.Quad):
        return list(zip(values[::2], values[1::2], strict=True))
    if isinstance(roi, image.Rect):
        x0, y0, x1, y1 = values
        return [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
    cx, cy, width, height, degrees = values
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return [
        (cx + c * x * width - s * y * height, cy + s * x * width + c * y * height)
        for x, y in ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5))
    ]
