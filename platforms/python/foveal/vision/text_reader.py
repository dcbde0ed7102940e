"""Frames in, lines of text out."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from foveal import draw, image
from foveal._core import Model
from foveal._picture import Picture
from foveal.errors import ModelError
from foveal.frame import Frame
from foveal.vision import regions, task_spec
from foveal.vision.base import Task, check_items
from foveal.vision.results import TextLine
from foveal.vision.stage import Stage, check_min_score

Quads = NDArray[np.float32]


class TextReader(Task):
    """Reads the text in pictures: lines are found, put upright, recognised. See `Task`.

    The model finds lines (its decoder gives quads, as "text_boxes" does) and its task names the
    model that reads them. A model whose decoder gives text reads alone: the whole picture, or
    `roi`, is one line.

    spec: the model's task (kind "text"), instead of the one that it carries.
    read, orient: zoo name, path or Model of what recognises a line and of what tells those that
    stand on their head (its label "180"), instead of those that the task names.
    min_score: lines that score less are dropped.
    """

    kind = "text"
    gives = ("detections", "text")

    def __init__(
        self,
        model: str | os.PathLike[str] | Model = "text",
        device: str | Sequence[str] = "auto",
        *,
        spec: task_spec.TaskSpec | None = None,
        read: str | os.PathLike[str] | Model | None = None,
        orient: str | os.PathLike[str] | Model | None = None,
        min_score: float | None = None,
        **options: Any,
    ) -> None:
        super().__init__(model, device, **options)
        check_min_score("TextReader", min_score)
        text = self.model.meta.get("task") if spec is None else spec
        self._spec = task_spec.TextSpec() if text is None else task_spec.text(text)
        self._min_score = self._spec.min_score if min_score is None else float(min_score)
        finds = self._stage.gives == "detections"
        if finds and read is None and self._spec.read is None:
            raise ModelError(
                f"{self._stage.name}: the model finds text, and nothing says what reads it",
                hint="pass read=..., the zoo name or path of a recogniser",
            )
        self._arguments |= {"spec": spec, "read": read, "orient": orient, "min_score": min_score}
        self._stages: dict[str, Stage | None] = {}
        self._making = threading.Lock()

    @overload
    def read(self, picture: list[Picture], roi: Any = None) -> list[list[TextLine]]: ...
    @overload
    def read(self, picture: Picture, roi: Any = None) -> list[TextLine]: ...
    def read(self, picture: Any, roi: Any = None) -> Any:
        """The lines of text in a picture, in reading order (rows from the top, each from the left);
        for a list of pictures, a list of such lists. Arguments as `Detector.detect`."""
        return self._run(picture, roi)

    def plain(self, results: Sequence[TextLine]) -> list[dict[str, Any]]:
        return [
            {
                "text": line.text,
                "score": round(line.score, 4),
                "box": [round(v, 2) for v in line.box],
                "quad": [[round(v, 2) for v in corner] for corner in line.quad],
            }
            for line in results
        ]

    def _one(self, frame: Frame, timings: dict[str, float], roi: Any = None) -> list[TextLine]:
        if self._stage.gives == "text":
            return self._line(self._stage, frame, _corners(frame, roi), timings)
        found = self._stage.decode(frame, roi, timings)
        orient, reader = self._other("orient", "classes"), self._other("read", "text")
        assert reader is not None
        quads = np.asarray(found.points, np.float32)
        if len(quads) and quads.shape[1:] != (4, 2):
            raise ModelError(
                f"{self._stage.name}: a TextReader needs a decoder that gives quads (4 points), "
                f"this one gives {quads.shape[1]} points"
            )
        upright = [self._upright(orient, frame, quad, timings) for quad in quads]
        # By shape: the reader plans anew when the width of its tensor changes.
        by_shape = sorted(range(len(quads)), key=lambda i: _aspect(upright[i]))
        lines = {i: self._line(reader, frame, upright[i], timings) for i in by_shape}
        return [line for i in _reading_order(quads) for line in lines[i]]

    def _upright(
        self, orient: Stage | None, frame: Frame, quad: Quads, timings: dict[str, float]
    ) -> Quads:
        """The quad with its corners in reading direction."""
        if _aspect(quad) * self._spec.tall < 1:
            quad = np.roll(quad, -1, axis=0)  # a quarter turn counter-clockwise
        if orient is not None:
            classes = orient.decode(frame, image.Quad(quad.tolist()), timings)
            if len(classes) and orient.label(int(classes.labels[0])) == "180":
                quad = np.roll(quad, -2, axis=0)
        return quad

    def _line(
        self, reader: Stage, frame: Frame, quad: Quads, timings: dict[str, float]
    ) -> list[TextLine]:
        """The text in a quad, as a list of one; of none if it is empty or scores too little."""
        symbols = reader.decode(frame, image.Quad(quad.tolist()), timings)
        text = "".join(reader.label(int(index)) for index in symbols.indices)
        score = float(np.mean(symbols.scores)) if len(symbols.scores) else 0.0
        if not text.strip() or not score >= self._min_score:
            return []
        a, b, c, d = ((float(x), float(y)) for x, y in quad)
        (left, top), (right, bottom) = quad.min(0), quad.max(0)
        box = float(left), float(top), float(right), float(bottom)
        return [TextLine(text, score, (a, b, c, d), box)]

    def _other(self, key: str, gives: str) -> Stage | None:
        """The stage "read" or "orient", made when first needed."""
        with self._making:
            if key not in self._stages:
                model = self._arguments[key]
                name = getattr(self._spec, key)
                if model is None and name is not None:
                    model = task_spec.companion(name, self._arguments["model"], key)
                stage = None
                if model is not None:
                    own = self._arguments
                    stage = Stage(model, own["device"], own["threads"], task="TextReader")
                    if stage.gives != gives:
                        raise ModelError(
                            f"{stage.name}: {key}: expected a model whose decoder gives {gives}, "
                            f"this one gives {stage.gives}"
                        )
                self._stages[key] = stage
            return self._stages[key]

    def _check_results(self, results: Any) -> None:
        check_items(results, ("text", "score", "quad", "box"), "TextLines", "read")

    def _draw(self, pixels: Any, results: Any) -> None:
        draw.draw_lines_of_text(pixels, results)


def _corners(frame: Frame, roi: Any) -> Quads:
    """The corners of a region, of the whole frame if there is none."""
    whole = image.Rect(0, 0, *frame.upright_size)
    return np.array(regions.corners(whole if roi is None else regions.region(roi)), np.float32)


def _sides(quad: Quads) -> tuple[float, float]:
    """The longer ones of the two widths and of the two heights."""
    lengths = [math.dist(quad[i], quad[(i + 1) % 4]) for i in range(4)]
    return max(lengths[0], lengths[2]), max(lengths[1], lengths[3])


def _aspect(quad: Quads) -> float:
    width, height = _sides(quad)
    return width / max(height, 1e-6)


def _reading_order(quads: Quads) -> list[int]:
    """Indices: rows from the top, in each from the left.

    A quad belongs to the row above it when its middle lies within half the height of the row's
    first one.
    """
    if not len(quads):
        return []
    middles, heights = quads[:, :, 1].mean(1), np.array([_sides(quad)[1] for quad in quads])
    rows: list[list[int]] = []
    for i in (int(k) for k in np.argsort(middles, kind="stable")):
        first = rows[-1][0] if rows else i
        if rows and middles[i] - middles[first] < min(heights[i], heights[first]) / 2:
            rows[-1].append(i)
        else:
            rows.append([i])
    return [i for row in rows for i in sorted(row, key=lambda k: float(quads[k, :, 0].min()))]
