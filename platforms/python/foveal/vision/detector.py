"""Frames in, detections out. All that a model needs comes from its metadata."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from foveal import image
from foveal._core import Model
from foveal.errors import ArgumentError, ModelError, SpecError
from foveal.loader import load
from foveal.session import Session
from foveal.vision.detection import Detection
from foveal.vision.picture import Picture, open_image, upright_rgb

if TYPE_CHECKING:
    from PIL.Image import Image

PipelineSpec = image.Pipeline | str | Mapping[str, Any]
DecoderSpec = image.Decoder | str | Mapping[str, Any]
"""An object of `foveal.image`, its JSON text, or what that says."""


class Detector:
    """Finds things in pictures with any model that carries a pipeline and a decoder.

    model: a zoo name, a path (.fvm, .onnx, .tflite) or a loaded Model.
    device, threads: as `foveal.Session`.
    min_score: drops detections below it (0..1); None leaves what the decoder says.
    pipeline, decoder, labels: for models that carry none, or to replace theirs.

    Threads may share a detector: their pictures take turns. Detectors that share a Model run side
    by side.

    Raises ArgumentError for an argument of the wrong type, ModelError for a model without pipeline
    or decoder, SpecError for a spec that is wrong or does not fit the model, and everything
    `foveal.load` and `foveal.Session` raise.
    """

    def __init__(
        self,
        model: str | os.PathLike[str] | Model = "face",
        device: str | Sequence[str] = "auto",
        *,
        threads: int = 0,
        min_score: float | None = None,
        pipeline: PipelineSpec | None = None,
        decoder: DecoderSpec | None = None,
        labels: Sequence[str] | None = None,
    ) -> None:
        _check_arguments(min_score, labels)
        self.model = load(model)
        name = "the model" if isinstance(model, Model) else os.fsdecode(model)
        meta = self.model.meta
        self._spec = image.Pipeline.from_json(_spec_text(pipeline, meta, "pipeline", name))
        self._decoder = image.Decoder.from_json(
            _with_min_score(_spec_text(decoder, meta, "decoder", name), min_score)
        )
        self.labels = list(labels) if labels is not None else _labels(meta, name)
        if len(self.model.inputs) != 1:
            raise ModelError(
                f"{name}: a detector feeds one image, the model has "
                f"{len(self.model.inputs)} inputs: "
                + ", ".join(info.name for info in self.model.inputs),
                hint="use foveal.Session and foveal.image directly",
            )
        self._session = Session(self.model, device, threads)
        info = self._session.inputs[0]
        shape, layout = _input_shape(info.name, info.shape, self._spec.size)
        self._plan = self._spec.compile(dtype=str(info.dtype), layout=layout, shape=shape)
        self._input = self._session.input_view(info.name, shape)
        self.timings: dict[str, float] = {"preprocess": 0.0, "inference": 0.0, "decode": 0.0}
        """Milliseconds of the call that ended last, summed over its pictures."""

    @property
    def session(self) -> Session:
        """The session that runs the model; it belongs to the detector."""
        return self._session

    @overload
    def detect(self, picture: list[Picture]) -> list[list[Detection]]: ...
    @overload
    def detect(self, picture: Picture) -> list[Detection]: ...
    def detect(self, picture: Any) -> Any:
        """What is in a picture, best first; for a list of pictures, a list of such lists.

        `picture`: a path, a PIL image, a uint8 array (H, W, 3) RGB or (H, W) grey, or a Frame.
        Boxes and points are in pixels of the upright picture (EXIF and frame rotation applied).
        """
        timings = dict.fromkeys(self.timings, 0.0)
        found = (
            [self._detect(one, timings) for one in picture]
            if isinstance(picture, (list, tuple))
            else self._detect(picture, timings)
        )
        self.timings = timings
        return found

    __call__ = detect

    def draw(self, picture: Picture, detections: Sequence[Detection] | None = None) -> Image:
        """The upright picture as a PIL image with boxes, points and labels.

        Without `detections` they are found first. ArgumentError for what is no Detection.
        """
        from PIL import Image as pil

        if detections is not None:
            _check_detections(detections)
        frame = open_image(picture)
        found = self.detect(frame) if detections is None else detections
        picture = upright_rgb(frame)
        image.draw(picture, found, self.labels)
        return pil.fromarray(picture)

    def _detect(self, picture: Picture, timings: dict[str, float]) -> list[Detection]:
        frame = open_image(picture)
        # One turn: the session's input memory holds this picture until the outputs are copied.
        with self._session.lock:
            begin = time.perf_counter()
            transform = self._plan.run(frame, out=self._input)
            fed = time.perf_counter()
            outputs = self._session.run()
            ran = time.perf_counter()
        found = self._decoder.run(outputs, transform)
        result = [
            Detection(
                self._label(int(label)),
                float(score),
                (float(box[0]), float(box[1]), float(box[2]), float(box[3])),
                tuple((float(x), float(y)) for x, y in points),
            )
            for label, score, box, points in zip(
                found.labels, found.scores, found.boxes, found.points, strict=True
            )
        ]
        done = time.perf_counter()
        steps = {"preprocess": fed - begin, "inference": ran - fed, "decode": done - ran}
        for step, seconds in steps.items():
            timings[step] += seconds * 1e3
        return result

    def _label(self, index: int) -> str:
        return self.labels[index] if 0 <= index < len(self.labels) else f"class {index}"


def _check_arguments(min_score: object, labels: object) -> None:
    number = isinstance(min_score, (int, float, np.number)) and not isinstance(min_score, bool)
    if min_score is not None and not number:
        raise ArgumentError(
            f"Detector: min_score: expected a number in 0..1 or None, got {min_score!r}"
        )
    texts = isinstance(labels, Sequence) and not isinstance(labels, (str, bytes))
    if labels is not None and not (texts and all(isinstance(x, str) for x in labels)):  # type: ignore[attr-defined]
        raise ArgumentError(
            f"Detector: labels: expected a list of texts, got {_brief(labels)}",
            hint="one text per class, in the order of the model's classes",
        )


def _check_detections(detections: object) -> None:
    parts = ("label", "score", "box", "points")
    good = isinstance(detections, Sequence) and all(
        all(hasattr(d, part) for part in parts) for d in detections
    )
    if not good:
        raise ArgumentError(
            f"draw: expected a list of Detections, got {_brief(detections)}",
            hint="pass what detect() returned, or nothing",
        )


def _brief(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


def _labels(meta: Mapping[str, str], name: str) -> list[str]:
    try:
        found = json.loads(meta.get("labels", "[]"))
    except ValueError:
        found = None
    if not isinstance(found, list):
        raise ModelError(
            f"{name}: the labels that it carries are no JSON list", hint="pass labels=[...]"
        )
    return [str(label) for label in found]


def _spec_text(
    given: PipelineSpec | DecoderSpec | None, meta: Mapping[str, str], key: str, name: str
) -> str:
    """The JSON text of a spec: the caller's, else the model's."""
    if given is None:
        if key not in meta:
            raise ModelError(
                f"{name}: the model carries no {key}, and none was given",
                hint=f"pass {key}=..., or put it into the file: foveal convert IN OUT --{key} FILE",
            )
        return meta[key]
    wanted: type = image.Pipeline if key == "pipeline" else image.Decoder
    if isinstance(given, wanted):
        return str(given.json())  # type: ignore[union-attr]
    if isinstance(given, str):
        return given
    if isinstance(given, Mapping):
        try:
            return json.dumps(dict(given))
        except (TypeError, ValueError) as error:
            raise SpecError(f"{key} spec: {error}") from error
    raise ArgumentError(
        f"Detector: {key}: expected a foveal.image.{wanted.__name__}, a dict or JSON text, "
        f"got {type(given).__name__}"
    )


def _input_shape(
    name: str, declared: Sequence[int | str], size: tuple[int, int]
) -> tuple[tuple[int, int, int, int], str]:
    """The input's shape, open dimensions filled in from the pipeline's size, and its axis order."""
    if len(declared) == 4:
        width, height = size
        for layout, channels, filled in (
            ("nchw", declared[1], (1, declared[1], height, width)),
            ("nhwc", declared[3], (1, height, width, declared[3])),
        ):
            fits = all(d == f or not _known(d) for d, f in zip(declared, filled, strict=True))
            if fits and channels in (1, 3):
                return filled, layout  # type: ignore[return-value]
    shown = " x ".join(str(d) for d in declared)
    raise SpecError(
        f"input '{name}' is {shown}, the pipeline makes pictures of {size[0]} x {size[1]}",
        hint="give a pipeline whose size is the model's input",
    )


def _known(dim: int | str) -> bool:
    return isinstance(dim, int) and dim >= 0


def _with_min_score(text: str, min_score: float | None) -> str:
    if min_score is None:
        return text
    if not 0 <= min_score <= 1:
        raise SpecError(f"min_score is {min_score}, expected a number in 0..1")
    try:
        spec = json.loads(text)
        return json.dumps({**spec, "min_score": min_score})
    except (ValueError, TypeError) as error:
        raise SpecError(f"the decoder spec is not a JSON object: {error}") from error
