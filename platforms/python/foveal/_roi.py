"""Regions of the upright frame, which `foveal.image` publishes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from foveal import _core
from foveal._transform import json_text, spec_text
from foveal.errors import ArgumentError


@dataclass(frozen=True)
class Rect:
    """A region of the upright frame: x0, y0, x1, y1 in pixels; may reach outside."""

    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True)
class RotatedRect:
    """Centre, size, clockwise degrees; upright pixels."""

    cx: float
    cy: float
    width: float
    height: float
    degrees: float


@dataclass(frozen=True)
class Quad:
    """Corners that become the tensor's top-left, top-right, bottom-right and bottom-left."""

    corners: Sequence[Sequence[float]]


def roi_values(roi: Any) -> tuple[int, list[float]] | None:
    """Kind and numbers of a region as the core takes them. Raises ArgumentError."""
    if roi is None:
        return None
    try:
        return _values(roi)
    except ArgumentError:
        raise
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(
            f"roi: expected Rect, RotatedRect, Quad, or 4, 5 or 8 numbers, got {roi!r}"
        ) from None


def _values(roi: Any) -> tuple[int, list[float]]:
    if isinstance(roi, Rect):
        return 1, [float(v) for v in (roi.x0, roi.y0, roi.x1, roi.y1)]
    if isinstance(roi, RotatedRect):
        return 2, [float(v) for v in (roi.cx, roi.cy, roi.width, roi.height, roi.degrees)]
    if isinstance(roi, Quad):
        return 3, np.asarray(roi.corners, np.float64).ravel().tolist()
    values = np.asarray(roi, np.float64).ravel().tolist()
    kind = {4: 1, 5: 2, 8: 3}.get(len(values))
    if kind is None:
        raise ArgumentError(
            "roi: expected Rect, RotatedRect, Quad, or 4, 5 or 8 numbers, got "
            f"{len(values)} numbers"
        )
    return kind, values


class RoiRule:
    """How a detection or landmarks become the region that the next model looks at. Immutable.

    spec: JSON text or the object it says (imgproc/README.md, "ROI rules"). The steps and their
    order are those of MediaPipe's DetectionsToRects, landmarks-to-rect and RectTransformation
    calculators. Raises SpecError, naming the key, for anything the rule does not know.
    """

    def __init__(self, spec: str | Mapping[str, Any]) -> None:
        self._core = _core.RoiRuleHandle(spec_text("roi rule", spec))

    @classmethod
    def from_json(cls, text: str) -> RoiRule:
        """The rule that a text describes. Raises SpecError."""
        return cls(json_text("roi rule", text))

    def __reduce__(self) -> Any:
        return RoiRule.from_json, (self.json(),)

    def __repr__(self) -> str:
        return f"RoiRule({self.json()})"

    def json(self) -> str:
        """The canonical text: equal rules give equal text."""
        return str(self._core.json)

    def apply(
        self, box: ArrayLike | None = None, points: ArrayLike | None = None
    ) -> RotatedRect | Quad:
        """The region of a detection or landmarks, in upright frame pixels like they are: a
        RotatedRect, or a Quad if the rule mirrors.

        box: x0, y0, x1, y1; None if the hull is not the box. points: [n, 2 or more], each
        beginning with x, y; None if the rule uses none. Raises ArgumentError for what makes no
        region: a point that is used and missing or not finite, a hull without area.
        """
        corners = None if box is None else _numbers("box", box)
        if corners is not None and corners.shape != (4,):
            raise ArgumentError(f"roi rule: box: expected 4 numbers, got {list(corners.shape)}")
        xy = np.empty((0, 2), np.float32) if points is None else _numbers("points", points)
        if xy.ndim != 2 or xy.shape[1] < 2:
            raise ArgumentError(
                f"roi rule: points: expected an array [n, 2 or more], got {list(xy.shape)}"
            )
        numbers = self._core.apply(corners, xy)
        if len(numbers) == 5:
            return RotatedRect(*numbers)
        return Quad(tuple(zip(numbers[::2], numbers[1::2], strict=True)))


def _numbers(name: str, values: ArrayLike) -> np.ndarray[Any, np.dtype[np.float32]]:
    try:
        with np.errstate(over="ignore"):  # what float32 cannot hold is infinite: refused as such
            return np.ascontiguousarray(values, np.float32)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(f"roi rule: {name}: expected numbers, got {values!r:.80}") from None
