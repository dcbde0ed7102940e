"""A stage: one model with its session, its image pipeline and its decoder.

Tasks are made of stages. Everything a stage knows of its model comes from the model's metadata or
from its caller.
"""

from __future__ import annotations

import json
import os
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foveal import image
from foveal._core import Model
from foveal.errors import ArgumentError, ModelError, SpecError
from foveal.frame import Frame
from foveal.loader import load
from foveal.session import Session

PipelineSpec = image.Pipeline | str | Mapping[str, Any]
DecoderSpec = image.Decoder | str | Mapping[str, Any]
"""An object of `foveal.image`, its JSON text, or what that says."""

STEPS = ("preprocess", "inference", "decode")
"""What `timings` tells."""

_PLANS = 32  # of one stage; the least recently used goes first


class Stage:
    """A model made ready to look at regions of frames.

    Arguments as `foveal.vision.Detector`; `task` is the name that errors begin with. Threads may
    share a stage: their frames take turns.
    """

    def __init__(
        self,
        model: str | os.PathLike[str] | Model,
        device: str | Sequence[str] = "auto",
        threads: int = 0,
        *,
        task: str = "Stage",
        min_score: float | None = None,
        pipeline: PipelineSpec | None = None,
        decoder: DecoderSpec | None = None,
        labels: Sequence[str] | None = None,
    ) -> None:
        check_min_score(task, min_score)
        _check_labels(task, labels)
        self.model = load(model)
        self.name = "the model" if isinstance(model, Model) else os.fsdecode(model)
        meta = self.model.meta
        self.pipeline = image.Pipeline.from_json(
            spec_text(task, pipeline, meta, "pipeline", self.name)
        )
        text = spec_text(task, decoder, meta, "decoder", self.name)
        self.decoder = image.Decoder.from_json(_with_min_score(text, min_score))
        self.labels = list(labels) if labels is not None else _labels(meta, self.name)
        if len(self.model.inputs) != 1:
            raise ModelError(
                f"{self.name}: a {task} feeds one image, the model has "
                f"{len(self.model.inputs)} inputs: "
                + ", ".join(info.name for info in self.model.inputs),
                hint="use foveal.Session and foveal.image directly",
            )
        self.session = Session(self.model, device, threads)
        self._plans: OrderedDict[tuple[tuple[int, int], bool], image.Plan] = OrderedDict()
        size = self.pipeline.size
        if isinstance(size, tuple):  # errors now, not at the first picture
            self._plan(size, self.pipeline.roi == "per_call")

    @property
    def gives(self) -> str:
        """What the decoder gives: "detections", "classes", "landmarks", "mask" or "text"."""
        return str(getattr(self.decoder, "gives", "detections"))

    @property
    def points(self) -> int:
        """How many points the decoder gives to each detection."""
        return int(json.loads(self.decoder.json()).get("points", 0))

    def label(self, index: int) -> str:
        """The name of a class."""
        return self.labels[index] if 0 <= index < len(self.labels) else f"class {index}"

    def run(
        self, frame: Frame, roi: Any, timings: dict[str, float]
    ) -> tuple[dict[str, NDArray[Any]], image.Transform]:
        """The model's outputs for a region of the frame, as new arrays, and how it was mapped.

        roi: as `image.Plan.run`; None is the whole frame. Adds milliseconds to `timings`.
        """
        if roi is None and self.pipeline.roi == "per_call":
            roi = image.Rect(0, 0, *frame.upright_size)
        size: Any = self.pipeline.size
        if not isinstance(size, tuple):
            spec = replace(self.pipeline, roi="full" if roi is None else "per_call")
            size = spec.size_for(frame, roi)
        # One turn: the session's input memory holds this picture until the outputs are copied.
        with self.session.lock:
            begin = time.perf_counter()
            plan = self._plan(size, roi is not None)
            transform = plan.run(frame, roi)
            fed = time.perf_counter()
            outputs = self.session.run()
            ran = time.perf_counter()
        timings["preprocess"] += (fed - begin) * 1e3
        timings["inference"] += (ran - fed) * 1e3
        return outputs, transform

    def decode(self, frame: Frame, roi: Any, timings: dict[str, float]) -> Any:
        """`run`, and then what the decoder makes of the outputs."""
        outputs, transform = self.run(frame, roi, timings)
        begin = time.perf_counter()
        found = self.decoder.run(outputs, transform)
        timings["decode"] += (time.perf_counter() - begin) * 1e3
        return found

    def _plan(self, size: tuple[int, int], regions: bool) -> image.Plan:
        """The plan that writes the session's input for tensors of `size`; with `regions` it takes
        a ROI per call. The caller holds the session's lock, or is the constructor."""
        key = size, regions
        plan = self._plans.get(key)
        if plan is None:
            spec = replace(self.pipeline, size=size, roi="per_call" if regions else "full")
            info = self.session.inputs[0]
            shape, layout = _input_shape(info.name, info.shape, size)
            plan = spec.compile(info, layout=layout, shape=shape)
            self._plans[key] = plan
            if len(self._plans) > _PLANS:
                self._plans.popitem(last=False)
        self._plans.move_to_end(key)
        return plan


def check_min_score(task: str, min_score: object) -> None:
    """ArgumentError for what is neither a number nor None, SpecError for one out of 0..1."""
    if min_score is None:
        return
    if not isinstance(min_score, (int, float, np.number)) or isinstance(min_score, bool):
        raise ArgumentError(
            f"{task}: min_score: expected a number in 0..1 or None, got {min_score!r}"
        )
    if not 0 <= float(min_score) <= 1:
        raise SpecError(f"min_score is {min_score}, expected a number in 0..1")


def _check_labels(task: str, labels: object) -> None:
    texts = isinstance(labels, Sequence) and not isinstance(labels, (str, bytes))
    if labels is not None and not (texts and all(isinstance(x, str) for x in labels)):  # type: ignore[attr-defined]
        raise ArgumentError(
            f"{task}: labels: expected a list of texts, got {brief(labels)}",
            hint="one text per class, in the order of the model's classes",
        )


def brief(value: object) -> str:
    """The value in an error, at most 60 characters of it."""
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


def spec_text(
    task: str,
    given: PipelineSpec | DecoderSpec | None,
    meta: Mapping[str, str],
    key: str,
    name: str,
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
        f"{task}: {key}: expected a foveal.image.{wanted.__name__}, a dict or JSON text, "
        f"got {type(given).__name__}"
    )


def _input_shape(
    name: str, declared: Sequence[int | str], size: tuple[int, int]
) -> tuple[tuple[int, int, int, int], str]:
    """The input's shape, open dimensions filled in from the tensor's size, and its axis order."""
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
    try:
        spec = json.loads(text)
        return json.dumps({**spec, "min_score": float(min_score)})
    except (ValueError, TypeError) as error:
        raise SpecError(f"the decoder spec is not a JSON object: {error}") from error
