"""Frames in, detections out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, overload

from foveal import image
from foveal._core import Model
from foveal._picture import Picture
from foveal.frame import Frame
from foveal.vision.base import Task, check_items
from foveal.vision.results import Detection


class Detector(Task):
    """Finds things in pictures with any model whose decoder gives detections. See `Task`."""

    kind = "detections"
    gives = ("detections",)

    def __init__(
        self,
        model: str | os.PathLike[str] | Model = "face",
        device: str | Sequence[str] = "auto",
        **options: Any,
    ) -> None:
        super().__init__(model, device, **options)

    @overload
    def detect(self, picture: list[Picture], roi: Any = None) -> list[list[Detection]]: ...
    @overload
    def detect(self, picture: Picture, roi: Any = None) -> list[Detection]: ...
    def detect(self, picture: Any, roi: Any = None) -> Any:
        """What is in a picture, best first; for a list of pictures, a list of such lists.

        `picture`: a path, a PIL image, a uint8 array (H, W, 3) RGB or (H, W) grey, or a Frame.
        `roi`: the part to look at, as `image.Plan.run` takes it; None is all of it.
        Boxes and points are in pixels of the upright picture (EXIF and frame rotation applied).
        """
        return self._run(picture, roi)

    def plain(self, results: Sequence[Detection]) -> list[dict[str, Any]]:
        return [
            {
                "label": d.label,
                "score": round(d.score, 4),
                "box": [round(v, 2) for v in d.box],
                "points": [[round(v, 2) for v in point] for point in d.points],
            }
            for d in results
        ]

    def _one(self, frame: Frame, timings: dict[str, float], roi: Any = None) -> list[Detection]:
        found = self._stage.decode(frame, roi, timings)
        return [
            Detection(
                self._stage.label(int(label)),
                float(score),
                (float(box[0]), float(box[1]), float(box[2]), float(box[3])),
                tuple((float(p[0]), float(p[1])) for p in points),
            )
            for label, score, box, points in zip(
                found.labels, found.scores, found.boxes, found.points, strict=True
            )
        ]

    def _check_results(self, results: Any) -> None:
        check_items(results, ("label", "score", "box", "points"), "Detections", "detect")

    def _draw(self, pixels: Any, results: Any) -> None:
        image.draw(pixels, results, self.labels)
