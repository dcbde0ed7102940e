"""Frames in, masks out."""

from __future__ import annotations

from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from foveal import draw
from foveal._picture import Picture
from foveal.errors import ArgumentError
from foveal.frame import Frame
from foveal.vision.base import Task
from foveal.vision.results import Mask
from foveal.vision.stage import brief


class Segmenter(Task):
    """Tells a thing from what is behind it, with any model whose decoder gives a mask. See `Task`.

    min_score plays no part here: a mask has all its values.
    """

    kind = "mask"
    gives = ("mask",)

    @overload
    def segment(self, picture: list[Picture], roi: Any = None) -> list[Mask]: ...
    @overload
    def segment(self, picture: Picture, roi: Any = None) -> Mask: ...
    def segment(self, picture: Any, roi: Any = None) -> Any:
        """The mask of a picture, in the upright frame's size; for a list of pictures, a list.

        Arguments as `Detector.detect`; the mask is 0 outside of `roi`.
        """
        return self._run(picture, roi)

    def plain(self, results: Mask) -> dict[str, Any]:
        """`coverage`; `box`, the hull of the values from 0.5 up; `rle`: those values as COCO's
        uncompressed run lengths (columns first, beginning with the 0s)."""
        inside = results.values >= 0.5
        return {
            "coverage": round(results.coverage, 4),
            "box": _hull(inside),
            "rle": {"size": list(inside.shape), "counts": _run_lengths(inside)},
        }

    def _one(self, frame: Frame, timings: dict[str, float], roi: Any = None) -> Mask:
        return Mask(self._stage.decode(frame, roi, timings))

    def _check_results(self, results: Any) -> None:
        values = getattr(results, "values", None)
        if not isinstance(values, np.ndarray) or values.ndim != 2:
            raise ArgumentError(
                f"draw: expected a Mask, got {brief(results)}",
                hint="pass what segment() returned, or nothing",
            )

    def _draw(self, pixels: Any, results: Any) -> None:
        draw.draw_mask(pixels, results.values)


def _hull(inside: NDArray[np.bool_]) -> list[int]:
    """x0, y0, x1, y1 around what is true; four 0s around nothing."""
    rows, columns = (np.flatnonzero(inside.any(axis=axis)) for axis in (1, 0))
    if not len(rows):
        return [0, 0, 0, 0]
    return [int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1]


def _run_lengths(inside: NDArray[np.bool_]) -> list[int]:
    flat = np.concatenate(([False], inside.ravel(order="F")))
    edges = np.flatnonzero(flat[1:] != flat[:-1])
    lengths: list[int] = np.diff(np.concatenate(([0], edges, [inside.size]))).tolist()
    return lengths
