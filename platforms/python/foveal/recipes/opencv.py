"""OpenCV: the arguments of `cv2.dnn.blobFromImage`, whose picture is taken to be BGR."""

from __future__ import annotations

from typing import Any

from foveal.image import Crop, Norm, Pipeline, Stretch
from foveal.recipes._recipe import (
    Recipe,
    json_object,
    levels,
    number,
    read_file,
    refuse,
    whole,
)

NAME = "opencv"


def recipe(
    scalefactor: float = 1.0,
    size: Any = None,
    mean: Any = 0,
    swapRB: bool = False,
    crop: bool = False,
    ddepth: Any = "CV_32F",
) -> Recipe:
    """The pipeline of a blob: y = (x - mean) * scalefactor.

    size: (width, height), required. mean: in the order of the blob's channels, as the function
    takes it (up to four; the last is that of an alpha channel, which pipelines do not have).

    Raises SpecError.
    """
    if not isinstance(size, (list, tuple)) or len(size) != 2:
        raise refuse(NAME, f"size: expected (width, height), got {size!r:.80}")
    width, height = (whole(NAME, "size", side) for side in size)
    for name, flag in (("swapRB", swapRB), ("crop", crop)):
        if not isinstance(flag, (bool, int)):
            raise refuse(NAME, f"{name}: expected true or false, got {flag!r:.80}")
    scale = number(NAME, "scalefactor", scalefactor)
    given = list(mean) if isinstance(mean, (list, tuple)) else [mean]
    if not 1 <= len(given) <= 4:
        raise refuse(NAME, f"mean: expected one to four numbers, got {len(given)}")
    own = levels(NAME, "mean", [*given, 0, 0][:3])  # as cv2.Scalar: what is missing is 0
    if ddepth not in ("CV_32F", 5) and (scale != 1 or any(own)):
        raise refuse(NAME, f"ddepth {ddepth!r:.80} with a scale or a mean")
    return Recipe(
        Pipeline(
            size=(width, height),
            color="RGB" if swapRB else "BGR",
            fit=Crop(policy="opencv") if crop else Stretch(),
            profile="cv2",
            norm=Norm(scale, tuple(v * scale for v in own)),
            intermediate="u8",
        )
    )


def read(text: str) -> Recipe:
    """The path of a JSON object of the arguments."""
    given = json_object(NAME, read_file(NAME, text))
    known = ("scalefactor", "size", "mean", "swapRB", "crop", "ddepth")
    unknown = [key for key in given if key not in known]
    if unknown:
        raise refuse(NAME, f"unknown key {unknown[0]!r}", f"known: {', '.join(known)}")
    return recipe(**given)
