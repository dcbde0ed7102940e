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
from foveal.vision.stage import spec_text
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
    meta = load(model).meta
    given = options.get("spec")
    text = meta.get("task") if given is None else given
    if text is not None:
        kind = str(task_spec.read(text, list(KINDS))["kind"])
    else:
        name = "the model" if isinstance(model, Model) else os.fsdecode(model)
        spec_text("task", options.get("pipeline"), meta, "pipeline", name)
        decoder = image.Decoder(spec_text("task", options.get("decoder"), meta, "decoder", name))
        kind = str(getattr(decoder, "gives", "detections"))
    return KINDS[kind](model, device, **options)


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
