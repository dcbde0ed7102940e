"""`Transform`, which `foveal.image` publishes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from foveal import _core
from foveal.errors import ArgumentError, SpecError

Array = NDArray[Any]


def json_text(what: str, text: Any) -> str:
    """A text that UTF-8 can say."""
    if not isinstance(text, str):
        raise SpecError(f"{what}: expected JSON text, got {type(text).__name__}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise SpecError(f"{what}: no valid Unicode: {error}") from None
    return text


def plain(value: Any) -> Any:
    """What JSON can say: tuples and arrays become lists, numpy numbers Python's."""
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(v) for v in value]
    if isinstance(value, np.generic):
        return value.item()
    return value


def spec_text(what: str, spec: Any) -> str:
    """A specification given as JSON text or as the object that it says, as text. SpecError."""
    if not isinstance(spec, Mapping):
        return json_text(what, spec)
    try:
        return json_text(what, json.dumps(plain(spec), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise SpecError(f"{what}: {error}") from None


_TENSOR, _UPRIGHT, _SENSOR = 0, 1, 2


class Transform:
    """What a plan did: maps between the tensor, the upright frame and the sensor's pixels.

    Always the inverse of the map that was applied. Arrays of points end in 2 (x, y), of boxes in
    4 (x0, y0, x1, y1); results are float64.
    """

    def __init__(self, core: Any) -> None:
        self._core = core

    def __repr__(self) -> str:
        (tw, th), (fw, fh) = self.tensor_size, self.frame_size
        turned = f", rotation={self._core.rotation}" if self._core.rotation else ""
        mirrored = ", mirror=True" if self._core.mirror else ""
        valid = ", ".join(f"{v:g}" for v in self.valid)
        return f"Transform(frame {fw}x{fh} -> tensor {tw}x{th}, valid=({valid}){turned}{mirrored})"

    @property
    def matrix(self) -> NDArray[np.float64]:
        """3x3, tensor -> upright frame pixels."""
        m: NDArray[np.float64] = self._core.to_upright
        return m

    @property
    def inverse(self) -> NDArray[np.float64]:
        """3x3, upright frame -> tensor pixels."""
        m: NDArray[np.float64] = self._core.from_upright
        return m

    @property
    def tensor_size(self) -> tuple[int, int]:
        """Width, height."""
        w, h = self._core.tensor_size
        return int(w), int(h)

    @property
    def frame_size(self) -> tuple[int, int]:
        """Width, height of the upright frame."""
        w, h = self._core.frame_size
        return int(w), int(h)

    @property
    def valid(self) -> tuple[float, float, float, float]:
        """The part of the tensor that shows the region: x0, y0, x1, y1. The rest is bars."""
        x0, y0, x1, y1 = self._core.valid
        return x0, y0, x1, y1

    def to_frame(self, boxes: ArrayLike) -> Array:
        """Boxes in the tensor -> upright frame (hull of the mapped corners)."""
        return self._boxes(_TENSOR, _UPRIGHT, boxes)

    def points_to_frame(self, points: ArrayLike) -> Array:
        """Points in the tensor -> upright frame."""
        return self._points(_TENSOR, _UPRIGHT, points)

    def from_frame(self, boxes: ArrayLike) -> Array:
        """Boxes in the upright frame -> tensor."""
        return self._boxes(_UPRIGHT, _TENSOR, boxes)

    def points_from_frame(self, points: ArrayLike) -> Array:
        """Points in the upright frame -> tensor."""
        return self._points(_UPRIGHT, _TENSOR, points)

    def to_sensor(self, boxes: ArrayLike) -> Array:
        """Boxes in the upright frame -> pixels as they lie in memory."""
        return self._boxes(_UPRIGHT, _SENSOR, boxes)

    def points_to_sensor(self, points: ArrayLike) -> Array:
        """Points in the upright frame -> pixels as they lie in memory."""
        return self._points(_UPRIGHT, _SENSOR, points)

    def from_sensor(self, boxes: ArrayLike) -> Array:
        """Boxes in pixels as they lie in memory -> upright frame."""
        return self._boxes(_SENSOR, _UPRIGHT, boxes)

    def points_from_sensor(self, points: ArrayLike) -> Array:
        """Points in pixels as they lie in memory -> upright frame."""
        return self._points(_SENSOR, _UPRIGHT, points)

    def rotated_to_frame(self, boxes: ArrayLike) -> Array:
        """Rotated boxes in the tensor (cx, cy, width, height, degrees clockwise: the last
        dimension is 5) -> their corners in the upright frame, [..., 4, 2].

        Corners, for a region that is not shown at one scale makes no rectangle of a rectangle.
        From top-left clockwise, as the box itself sees them.
        """
        given = _coordinates(boxes)
        if given.ndim < 1 or given.shape[-1] != 5:
            raise ArgumentError(
                f"transform: rotated boxes: expected [..., 5], got {list(given.shape)}"
            )
        x, y, w, h, degrees = (given[..., i] for i in range(5))
        cos, sin = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
        corners = [
            (x + sx * w / 2 * cos - sy * h / 2 * sin, y + sx * w / 2 * sin + sy * h / 2 * cos)
            for sx, sy in ((-1, -1), (1, -1), (1, 1), (-1, 1))
        ]
        return self.points_to_frame(np.stack([np.stack(c, -1) for c in corners], -2))

    def mask_to_frame(self, mask: ArrayLike, mode: str = "bilinear") -> NDArray[np.float32]:
        """A mask [height, width] of any size over the tensor -> float32 [height, width] of the
        upright frame.

        mode: "bilinear" or "nearest". 0 outside of what the tensor shows; values that are not
        finite count as 0; what the mask says of the bars is not mixed in. Raises ArgumentError.
        """
        modes = {"bilinear": 0, "nearest": 1}
        if mode not in modes:
            raise ArgumentError(f"transform: mode: expected bilinear or nearest, got {mode!r}")
        try:
            values = np.asarray(mask, np.float32)
        except (TypeError, ValueError, OverflowError):
            raise ArgumentError("transform: mask: expected an array of numbers") from None
        if values.ndim != 2 or not values.size:
            raise ArgumentError(
                f"transform: mask: expected [height, width], got {list(values.shape)}"
            )
        result: NDArray[np.float32] = self._core.mask(values, modes[mode])
        return result

    def __reduce__(self) -> Any:
        return Transform.from_json, (self.json(),)

    def json(self) -> str:
        """Everything, as JSON; `from_json` reads it back exactly."""
        c = self._core
        return json.dumps(
            {
                "transform": 1,
                "to_frame": c.to_upright.ravel().tolist(),
                "from_frame": c.from_upright.ravel().tolist(),
                "tensor_size": list(c.tensor_size),
                "frame_size": list(c.frame_size),
                "rotation": c.rotation,
                "mirror": c.mirror,
                "valid": list(c.valid),
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Transform:
        """Reads what `json` wrote. Raises SpecError."""
        try:
            d = json.loads(json_text("transform", text))
            tensor_width, tensor_height = d["tensor_size"]
            frame_width, frame_height = d["frame_size"]
            return cls(
                _core.TransformHandle(
                    np.asarray(d["to_frame"], np.float64),
                    np.asarray(d["from_frame"], np.float64),
                    int(tensor_width),
                    int(tensor_height),
                    int(frame_width),
                    int(frame_height),
                    int(d["rotation"]),
                    int(d["mirror"]),
                    list(d["valid"]),
                )
            )
        except SpecError:
            raise
        except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
            raise SpecError(f"transform: not one that json() wrote: {error!r}") from None

    def _points(self, start: int, end: int, points: ArrayLike) -> Array:
        result: Array = self._core.points(start, end, _coordinates(points))
        return result

    def _boxes(self, start: int, end: int, boxes: ArrayLike) -> Array:
        result: Array = self._core.boxes(start, end, _coordinates(boxes))
        return result


def _coordinates(values: ArrayLike) -> NDArray[np.float64]:
    try:
        return np.asarray(values, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(
            f"transform: expected an array of coordinates, got {values!r:.80}"
        ) from None
