"""Ultralytics: YOLOv5, v8, 11 … as its own predictor prepares pictures.

Detection, segmentation, pose and oriented boxes: a letterbox by OpenCV, grey 114, RGB, 0..1.
Classification: torchvision's resize and crop of a Pillow picture.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from foveal.image import Bilinear, Crop, Letterbox, Norm, Pipeline
from foveal.recipes._recipe import (
    Recipe,
    json_object,
    names,
    pair,
    read_file,
    refuse,
    sides,
)

NAME = "ultralytics"

_LETTERBOXED = ("detect", "segment", "pose", "obb")


def recipe(args: Mapping[str, Any] | int) -> Recipe:
    """The pipeline of a model's arguments, as its exports carry them.

    args: imgsz (one number, or height and width), task ("detect" if it is missing), names (the
    labels), rect (must not be set: its tensors follow the picture). Or imgsz alone.

    Raises SpecError.
    """
    given: Mapping[str, Any] = args if isinstance(args, Mapping) else {"imgsz": args}
    height, width = pair(NAME, "imgsz", given.get("imgsz", 640))
    task = given.get("task") or "detect"
    labels = names(NAME, given["names"]) if given.get("names") else ()
    if given.get("rect"):
        raise refuse(
            NAME,
            "rect makes tensors whose size follows from the picture",
            "predict with rect=False, which is what exported models get",
        )
    if given.get("channels") not in (None, 3):
        raise refuse(NAME, f"channels: expected 3, got {given['channels']!r:.80}")
    if task == "classify":
        if height != width:
            raise refuse(NAME, f"imgsz: expected a square for classification, got {height, width}")
        pipeline = Pipeline(
            size=(width, height),
            fit=Crop(width, "torchvision"),
            sample=Bilinear(antialias=True),
            profile="pillow",
            norm=Norm(1 / 255),
            intermediate="u8",
        )
    elif task in _LETTERBOXED:
        pipeline = Pipeline(
            size=(width, height),
            fit=Letterbox(114, "ultralytics"),
            profile="cv2",
            norm=Norm(1 / 255),
            intermediate="u8",
        )
    else:
        raise refuse(
            NAME, f"task: expected {', '.join(_LETTERBOXED)} or classify, got {task!r:.80}"
        )
    return Recipe(pipeline, labels)


def read(text: str) -> Recipe:
    """A size ("640", "640x480": width x height), or the path of a JSON object of arguments."""
    size = sides(NAME, text)
    if size:
        return recipe({"imgsz": size})
    return recipe(json_object(NAME, read_file(NAME, os.fspath(text))))
