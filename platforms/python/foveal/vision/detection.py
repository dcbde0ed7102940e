"""What a detector finds."""

from __future__ import annotations

from dataclasses import dataclass

Box = tuple[float, float, float, float]
Point = tuple[float, float]


@dataclass(frozen=True)
class Detection:
    """One thing found.

    label: its class by name. score: 0..1.
    box: x0, y0, x1, y1 and points: (x, y) each, in pixels of the upright frame (after its
    rotation and mirror), x to the right, y down, (0, 0) the outer corner of the first pixel.
    """

    label: str
    score: float
    box: Box
    points: tuple[Point, ...] = ()

    def __str__(self) -> str:
        x0, y0, x1, y1 = self.box
        return f"{self.label} {self.score:.2f} at {x0:.0f},{y0:.0f} .. {x1:.0f},{y1:.0f}"
