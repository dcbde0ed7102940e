"""The task that a model is for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from foveal import image
from foveal._core import Model
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
