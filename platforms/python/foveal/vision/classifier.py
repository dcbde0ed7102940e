"""Frames in, classes out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

from foveal import draw
from foveal._picture import Picture
from foveal.frame import Frame
from foveal.vision.base import Task, check_items
from foveal.vision.results import Class


class Classifier(Task):
    """Says what a picture shows, with any model whose decoder gives classes. See `Task`.

    How many classes it names is the decoder's "top".
    """

    kind = "classes"
    gives = ("classes",)

    @overload
    def classify(self, picture: list[Picture], roi: Any = None) -> list[list[Class]]: ...
    @overload
    def classify(self, picture: Picture, roi: Any = None) -> list[Class]: ...
    def classify(self, picture: Any, roi: Any = None) -> Any:
        """The best classes of a picture, best first; for a list of pictures, a list of such lists.

        Arguments as `Detector.detect`.
        """
        return self._run(picture, roi)

    def plain(self, results: Sequence[Class]) -> list[dict[str, Any]]:
        return [{"label": c.label, "score": round(c.score, 4)} for c in results]

    def _one(self, frame: Frame, timings: dict[str, float], roi: Any = None) -> list[Class]:
        found = self._stage.decode(frame, roi, timings)
        pairs = zip(found.labels, found.scores, strict=True)
        return [Class(self._stage.label(int(label)), float(score)) for label, score in pairs]

    def _check_results(self, results: Any) -> None:
        check_items(results, ("label", "score"), "Classes", "classify")

    def _draw(self, pixels: Any, results: Any) -> None:
        draw.draw_classes(pixels, results, self.labels)
