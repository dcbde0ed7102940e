"""Frames in, landmarks out; over the frames of a video, things are followed."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np

from foveal import draw, image
from foveal._core import Model
from foveal._picture import Picture
from foveal.errors import ArgumentError, ModelError
from foveal.frame import Frame
from foveal.vision import regions, task_spec
from foveal.vision.base import Task, check_items
from foveal.vision.results import Box, Landmarks
from foveal.vision.smooth import OneEuro

_SAME = 0.5
"""Two boxes of at least this IoU are one thing."""
_NEAR = 0.2
"""A thing that the detector finds again is the one whose last box has at least this IoU."""
_FRAMES_PER_SECOND = 30


@dataclass
class _Track:
    """A thing that is followed. region: where its model looks in the next frame, None where only
    the detector can tell."""

    number: int
    box: Box
    region: regions.Region | None
    smooth: OneEuro | None


class Landmarker(Task):
    """Finds the landmarks of things, with any model whose decoder gives landmarks. See `Task`.

    A region of the frame is chosen first: by the caller (`roi`), from what a detector finds, or, if
    the model names none, the whole frame.

    spec: the model's task (kind "landmarks"), instead of the one that it carries.
    detector: zoo name, path or task that finds the things, instead of the model's own; made when
    first needed.
    max_count: at most so many things; None is what the model says.
    min_score: presence below which a thing is not there.
    tracking: pictures are the frames of a video. The region then comes from the frame before as
    long as the thing is there, the detector looks when fewer than `max_count` things are followed,
    landmarks are smoothed (`smooth`), and every thing keeps its number. Without it, pictures have
    nothing to do with each other. Threads that share a tracking landmarker take turns by frames.
    """

    kind = "landmarks"
    gives = ("landmarks",)

    def __init__(
        self,
        model: str | os.PathLike[str] | Model,
        device: str | Sequence[str] = "auto",
        *,
        spec: task_spec.TaskSpec | None = None,
        detector: str | os.PathLike[str] | Model | Task | None = None,
        max_count: int | None = None,
        tracking: bool = False,
        smooth: bool = True,
        **options: Any,
    ) -> None:
        super().__init__(model, device, **options)
        if max_count is not None and (
            isinstance(max_count, bool) or not isinstance(max_count, (int, np.integer))
        ):
            raise ArgumentError(f"Landmarker: max_count: expected a number, got {max_count!r}")
        if max_count is not None and not 1 <= max_count <= 1000:
            raise ArgumentError(f"Landmarker: max_count: expected 1 to 1000, got {max_count}")
        text = self.model.meta.get("task") if spec is None else spec
        self._spec = task_spec.LandmarksSpec() if text is None else task_spec.landmarks(text)
        self._tracking = bool(tracking)
        self.max_count = self._spec.max if max_count is None else int(max_count)
        self.names = list(self._spec.names)
        self.edges = list(self._spec.edges)
        min_score = self._arguments["min_score"]
        self._min_presence = self._spec.min_presence if min_score is None else float(min_score)
        self._smooth = self._spec.smooth if smooth else None
        self._rules = [image.RoiRule(rule) for rule in self._spec.detection_roi]
        rule = self._spec.tracking_roi
        self._tracking_rule = None if rule is None else image.RoiRule(rule)
        if self._tracking_rule is not None:
            regions.check(self._tracking_rule, self._stage.points, "tracking_roi")
        self._arguments |= {
            "spec": spec,
            "detector": detector,
            "max_count": max_count,
            "tracking": tracking,
            "smooth": smooth,
        }
        self._detector: Task | None = None
        self._turn = threading.RLock()
        self._tracks: list[_Track] = []
        self._next = 0
        self._time = -math.inf

    @property
    def tracking(self) -> bool:
        """Whether pictures are the frames of a video. Setting it also resets."""
        return self._tracking

    @tracking.setter
    def tracking(self, value: bool) -> None:
        with self._turn:
            if bool(value) != self._tracking:
                self._tracking = self._arguments["tracking"] = bool(value)
                if isinstance(self._detector, Landmarker):
                    self._detector.tracking = self._tracking
                self.reset()

    @property
    def detector(self) -> Task | None:
        """The task that finds the things, None if the model needs none. Made when first asked for:
        raises what its constructor raises."""
        with self._turn:
            given = self._arguments["detector"]
            if isinstance(given, Task):
                return given
            if self._detector is None and (given is not None or self._spec.detector is not None):
                from foveal.vision.make import task

                name = self._spec.detector or ""
                if given is None:
                    given = task_spec.companion(name, self._arguments["model"], "detector")
                options = {"threads": self._arguments["threads"]}
                found = task(given, self._arguments["device"], **options)
                if found.gives not in (("detections",), ("landmarks",)):
                    raise ModelError(
                        f"{self._stage.name}: its detector gives {' or '.join(found.gives)}, "
                        "expected detections or landmarks"
                    )
                for rule in self._rules:
                    regions.check(rule, found._stage.points, "detection_roi")
                if isinstance(found, Landmarker):
                    found.tracking = self.tracking
                self._detector = found
            return self._detector

    def reset(self) -> None:
        """Forgets everything that was followed, as before the first frame of a video."""
        with self._turn:
            self._tracks, self._time, self._next = [], -math.inf, 0
            if isinstance(self._detector, Landmarker):
                self._detector.reset()

    @overload
    def find(
        self, picture: list[Picture], roi: Any = None, timestamp: float | None = None
    ) -> list[list[Landmarks]]: ...
    @overload
    def find(
        self, picture: Picture, roi: Any = None, timestamp: float | None = None
    ) -> list[Landmarks]: ...
    def find(self, picture: Any, roi: Any = None, timestamp: float | None = None) -> Any:
        """The landmarks of the things in a picture; for a list of pictures, a list of such lists.

        `picture` as `Detector.detect`. roi: the region of the one thing to look at, as
        `image.Plan.run` takes it; then no detector is asked and nothing is followed.
        timestamp: seconds, growing from frame to frame when tracking; ArgumentError for one that
        does not grow, or one with several pictures. None takes the frame's own, and for pictures
        that have none, or no later one than the last frame, counts 30 frames per second.
        """
        if timestamp is not None and isinstance(picture, (list, tuple)):
            raise ArgumentError(
                "find: timestamp: expected None with a list of pictures", hint="pass them singly"
            )
        return self._run(picture, roi, timestamp)

    def plain(self, results: Sequence[Landmarks]) -> list[dict[str, Any]]:
        return [
            {
                "label": found.label,
                "score": round(float(found.score), 4),
                "track": found.track,
                "box": [round(v, 2) for v in found.box],
                "roi": [round(v, 2) for v in regions.numbers(found.roi)],
                "points": [[round(float(v), 2) for v in point] for point in found.points],
                "visibility": [round(float(v), 4) for v in found.visibility],
            }
            for found in results
        ]

    def _one(
        self,
        frame: Frame,
        timings: dict[str, float],
        roi: Any = None,
        timestamp: float | None = None,
    ) -> list[Landmarks]:
        found = self._whole(frame, timings, roi, timestamp)
        return [replace(f, box=regions.clipped(f.box, frame.upright_size)) for f in found]

    def _whole(
        self,
        frame: Frame,
        timings: dict[str, float],
        roi: Any = None,
        timestamp: float | None = None,
    ) -> list[Landmarks]:
        """`_one` with boxes that are not cut at the picture's edges: regions are made of those."""
        if roi is not None:
            found = self._look(frame, roi, timings)
            return [] if found is None else [found]
        if self.tracking:
            with self._turn:
                return self._follow(frame, self._seconds(frame, timestamp), timings)
        places = self._detected(frame, timings, None)[: self.max_count]
        looked = (self._look(frame, region, timings) for region in places)
        return [found for found in looked if found is not None]

    def _look(self, frame: Frame, region: Any, timings: dict[str, float]) -> Landmarks | None:
        """The landmarks of the thing in a region, None if it is not there."""
        found = self._stage.decode(frame, region, timings)
        if not len(found) or not found.scores[0] >= self._min_presence:
            return None
        points = np.asarray(found.points[0], np.float32)
        x0, y0, x1, y1 = (float(v) for v in found.boxes[0])
        at = np.zeros((len(points), 3), np.float32)
        at[:, : points.shape[1]] = points[:, :3]
        visible = points[:, 3] if points.shape[1] > 3 else np.ones(len(points), np.float32)
        return Landmarks(
            label=self._stage.label(int(found.labels[0])) if self.labels else "",
            score=float(found.scores[0]),
            box=(x0, y0, x1, y1),
            points=at,
            visibility=np.ascontiguousarray(visible),
            roi=regions.region(region),
        )

    def _detected(
        self, frame: Frame, timings: dict[str, float], timestamp: float | None
    ) -> list[Any]:
        """Regions of the things in a frame, best first."""
        detector = self.detector
        if detector is None:
            return [image.Rect(0, 0, *frame.upright_size)]
        own = dict.fromkeys(timings, 0.0)
        if isinstance(detector, Landmarker):
            found: Sequence[Any] = detector._whole(frame, own, None, timestamp)
        else:
            found = detector._one(frame, own)
        for step, milliseconds in own.items():
            timings[step] += milliseconds
        if not self._rules:
            return [image.Rect(*thing.box) for thing in found if regions.has_area(thing.box)]
        made = (regions.apply(r, thing.box, thing.points) for thing in found for r in self._rules)
        return [region for region in made if region is not None]

    def _seconds(self, frame: Frame, timestamp: float | None) -> float:
        if timestamp is None:
            if frame.timestamp is not None and frame.timestamp > self._time:
                return frame.timestamp
            return max(self._time + 1 / _FRAMES_PER_SECOND, 0.0)
        number = isinstance(timestamp, (int, float, np.number)) and not isinstance(timestamp, bool)
        if not number or not math.isfinite(timestamp):
            raise ArgumentError(f"find: timestamp: expected seconds, got {timestamp!r}")
        if not timestamp > self._time:
            raise ArgumentError(
                f"find: timestamp: expected more than the last frame's {self._time:g} s, got "
                f"{timestamp:g} s",
                hint="reset() begins a new video",
            )
        return float(timestamp)

    def _follow(self, frame: Frame, now: float, timings: dict[str, float]) -> list[Landmarks]:
        """The next frame of a video. What raises leaves everything as before the frame."""
        pairs: list[tuple[_Track | None, Landmarks]] = []
        for old in self._tracks:
            seen = old.region and self._look(frame, old.region, timings)
            if seen:
                pairs.append((old, seen))
        if len(pairs) < self.max_count:
            for region in self._detected(frame, timings, now):
                if len(pairs) >= self.max_count:
                    break
                place = regions.hull(region)
                if any(regions.iou(place, regions.hull(f.roi)) >= _SAME for _, f in pairs):
                    continue
                seen = self._look(frame, region, timings)
                if seen:
                    pairs.append((None, seen))
        followed = {track.number for track, _ in pairs if track}
        free = [track for track in self._tracks if track.number not in followed]
        results, tracks = [], []
        rule = self._tracking_rule
        for known, found in _distinct(pairs):
            track = known
            if track is None:
                track = max(free, key=lambda t: regions.iou(t.box, found.box), default=None)
                if track is not None and regions.iou(track.box, found.box) < _NEAR:
                    track = None
                if track is not None:
                    free.remove(track)
            if track is None:
                s = self._smooth
                smooth = None if s is None else OneEuro(s.min_cutoff, s.beta, s.derivative_cutoff)
                track = _Track(self._next, found.box, None, smooth)
                self._next += 1
            region = None if rule is None else regions.apply(rule, found.box, found.points)
            tracks.append(replace(track, box=found.box, region=region))
            results.append(_smoothed(found, track, now))
        self._tracks, self._time = tracks, now
        return results

    def _check_results(self, results: Any) -> None:
        check_items(results, ("label", "score", "box", "points", "track"), "Landmarks", "find")

    def _draw(self, pixels: Any, results: Any) -> None:
        for found in results:
            draw.draw_landmarks(pixels, found, self.edges, self.labels)


def _smoothed(found: Landmarks, track: _Track, now: float) -> Landmarks:
    if track.smooth is None:
        return replace(found, track=track.number)
    x0, y0, x1, y1 = regions.hull(found.roi)
    size = max((x1 - x0 + y1 - y0) / 2, 1.0)
    points = track.smooth(found.points.astype(np.float64), now, size).astype(np.float32)
    (left, top), (right, bottom) = points[:, :2].min(0), points[:, :2].max(0)
    box = float(left), float(top), float(right), float(bottom)
    return replace(found, track=track.number, points=points, box=box)


def _distinct(
    pairs: list[tuple[_Track | None, Landmarks]],
) -> list[tuple[_Track | None, Landmarks]]:
    """Without those that ended up on the same thing as one before; followed ones come first."""
    kept: list[tuple[_Track | None, Landmarks]] = []
    for track, found in pairs:
        if all(regions.iou(found.box, other.box) < _SAME for _, other in kept):
            kept.append((track, found))
    return kept
