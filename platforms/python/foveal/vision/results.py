"""What tasks find.

Coordinates are pixels of the upright frame (after its rotation and mirror), x to the right, y
down, (0, 0) the outer corner of the first pixel. Scores are 0..1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foveal import image

Box = tuple[float, float, float, float]
Point = tuple[float, float]
Array = NDArray[np.float32]


def _where(box: Box) -> str:
    x0, y0, x1, y1 = box
    return f"{x0:.0f},{y0:.0f} .. {x1:.0f},{y1:.0f}"


@dataclass(frozen=True)
class Detection:
    """One thing found: its class by name, box x0, y0, x1, y1 and points (x, y)."""

    label: str
    score: float
    box: Box
    points: tuple[Point, ...] = ()

    def __str__(self) -> str:
        return f"{self.label} {self.score:.2f} at {_where(self.box)}"


@dataclass(frozen=True)
class Class:
    """One class that a picture may belong to."""

    label: str
    score: float

    def __str__(self) -> str:
        return f"{self.label} {self.score:.2f}"


@dataclass(frozen=True, eq=False)
class Landmarks:
    """The landmarks of one thing.

    label: what the model says of it ("right" of a hand), "" if nothing.
    score: how sure the model is that the thing is there. box: the hull of the points, cut at the
    picture's edges; points may lie outside.
    points: float32 [n, 3]; z in the unit of x, smaller is nearer, 0 from models that give none.
    visibility: float32 [n], 1 from models that give none.
    roi: the region that the model looked at. track: the thing's number over the frames of a video,
    None for still pictures.
    """

    label: str
    score: float
    box: Box
    points: Array
    visibility: Array
    roi: image.RotatedRect | image.Rect | image.Quad
    track: int | None = None

    def __str__(self) -> str:
        name = self.label or "landmarks"
        number = "" if self.track is None else f" #{self.track}"
        return f"{name}{number} {self.score:.2f} at {_where(self.box)}"


@dataclass(frozen=True, eq=False)
class Mask:
    """values: float32 [height, width] of the upright frame, 0..1; 0 outside of the region."""

    values: Array

    def __str__(self) -> str:
        height, width = self.values.shape
        return f"mask {width}x{height}, {self.coverage:.0%} of it"

    @property
    def coverage(self) -> float:
        """The mean value: the part of the frame that the mask covers, 0..1."""
        return float(self.values.mean(dtype=np.float64))


@dataclass(frozen=True)
class TextLine:
    """One line of text.

    quad: its corners from the top-left clockwise in reading direction. box: their hull.
    score: the mean of its symbols' scores.
    """

    text: str
    score: float
    quad: tuple[Point, Point, Point, Point]
    box: Box

    def __str__(self) -> str:
        return f"{self.text} {self.score:.2f} at {_where(self.box)}"
