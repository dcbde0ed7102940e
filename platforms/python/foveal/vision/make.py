"""The task that a model is for."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from foveal import image
from foveal._core import Model
from foveal.errors import SpecError
from foveal.loader import load
from foveal.vision import task_spec
from foveal.vision.base import Task
from foveal.vision.classifier import Classifier
from foveal.vision.detector import Detector
from foveal.vision.landmarker import Landmarker
from foveal.vision.segmenter import Segmenter
from foveal.vision.stage import DecoderSpec, PipelineSpec, spec_text
from foveal.vision.text_reader import TextReader

KINDS: dict[str, type[Task]] = {
    kind.kind: kind for kind in (Detector, Classifier, Landmarker, Segmenter, TextReader)
}
"""By kind of task spec, which is also what the decoder of a model without one gives."""


def task(
    model: str | os.PathLike[str] | Model, device: str | Sequence[str] = "auto", **options: Any
) -> Task:
    """The task that the model's metadata says, or that its decoder's results are for.

    model, device and options as the task's constructor takes them; raises what that raises, and
    ModelError for a model that says neither.
    """
    kind = task_class(model, **{k: v for k, v in options.items() if k in _SAY})
    return kind(model, device, **options)


_SAY = ("spec", "pipeline", "decoder")


def task_class(
    model: str | os.PathLike[str] | Model,
    *,
    spec: task_spec.TaskSpec | None = None,
    pipeline: PipelineSpec | None = None,
    decoder: DecoderSpec | None = None,
) -> type[Task]:
    """The class of `task(model)`, for whoever makes it elsewhere, as Ray's actors do."""
    meta = load(model).meta
    text = meta.get("task") if spec is None else spec
    if text is not None:
        return KINDS[str(task_spec.read(text, list(KINDS))["kind"])]
    name = "the model" if isinstance(model, Model) else os.fsdecode(model)
    spec_text("task", pipeline, meta, "pipeline", name)
    made = image.Decoder(spec_text("task", decoder, meta, "decoder", name))
    return KINDS[str(getattr(made, "gives", "detections"))]


def check_task(text: task_spec.TaskSpec) -> str:
    """The JSON text of a task spec of any kind. SpecError says what is wrong with it.

    Whether it fits a model is only known when the task is made.
    """
    spec = task_spec.read(text, list(KINDS))
    if spec["kind"] == Landmarker.kind:
        found = task_spec.landmarks(spec)
        for rule in (*found.detection_roi, found.tracking_roi):
            if rule is not None:
                image.RoiRule(rule)
    elif spec["kind"] == TextReader.kind:
        task_spec.text(spec)
    elif other := spec.keys() - {"task", "kind"}:
        raise SpecError(f'task spec: unknown key "{min(other)}" of kind "{spec["kind"]}"')
    return json.dumps(spec)
