"""Anything that shows something becomes a `Frame`: paths, PIL images, numpy arrays, frames."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np

from foveal.errors import ArgumentError, NotFoundError
from foveal.frame import Frame

Picture = Any
"""A path, a picture file that is open in binary mode, or its bytes; a PIL image; an array (H, W, 3)
RGB, (H, W, 4) RGBA or (H, W) grey of uint8, uint16 or float32 0..1 (see Frame.from_numpy); a
Frame."""


def open_image(source: Picture) -> Frame:
    """A frame of `source`; EXIF orientation becomes the frame's rotation and mirror.

    Arrays are not copied where their layout allows it. Raises NotFoundError (no such file),
    FrameError (no picture, damaged, empty), ArgumentError (a type or dtype that shows nothing).
    """
    if isinstance(source, Frame):
        return source
    if isinstance(source, np.ndarray):
        return Frame.from_numpy(source)
    if isinstance(source, (str, os.PathLike)):
        return _from_file(Path(source).expanduser())
    if isinstance(source, (bytes, bytearray, memoryview)):
        return Frame.from_file(io.BytesIO(source))
    if hasattr(source, "getexif") and hasattr(source, "convert"):
        return Frame.from_pil(source)
    if hasattr(source, "read"):
        return Frame.from_file(source)
    raise ArgumentError(
        "expected a path, a file or its bytes, a PIL image, a numpy array or a Frame, "
        f"got {type(source).__name__}"
    )


def _from_file(path: Path) -> Frame:
    from foveal import zoo

    try:
        return Frame.from_file(path)
    except NotFoundError:
        known = str(path) in zoo.photos()
        raise NotFoundError(
            f"there is no picture '{path}'",
            hint=f'the zoo has it: "$(foveal zoo get {path})"' if known else "check the path",
        ) from None
