"""YOLOX: a letterbox in the top-left corner, by OpenCV, grey 114, BGR, 0..255."""

from __future__ import annotations

from typing import Any

from foveal.image import Letterbox, Norm, Pipeline
from foveal.recipes._recipe import Recipe, pair, refuse, sides

NAME = "yolox"


def recipe(size: Any = 640, *, legacy: bool = False) -> Recipe:
    """The pipeline of a model for (height, width), or of one side for both.

    legacy: of models before 0.2: RGB, normalised as ImageNet's. Raises SpecError.
    """
    height, width = pair(NAME, "size", size)
    norm = Norm(1 / 255, (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)) if legacy else Norm()
    return Recipe(
        Pipeline(
            size=(width, height),
            color="RGB" if legacy else "BGR",
            fit=Letterbox(114, "yolox"),
            profile="cv2",
            norm=norm,
            intermediate="u8",
        )
    )


def read(text: str) -> Recipe:
    """A size, "416" or "640x480" (width x height), with ":legacy" behind it for old models."""
    size, _, version = text.partition(":")
    found = sides(NAME, size)
    if found is None or version not in ("", "legacy"):
        raise refuse(NAME, f"expected a size, for instance 416 or 416:legacy, got '{text}'")
    return recipe(found, legacy=version == "legacy")
