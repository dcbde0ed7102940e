"""Anything that shows something becomes a `Frame`: paths, PIL images, numpy arrays, frames."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foveal import image
from foveal.errors import ArgumentError, FrameError, NotFoundError
from foveal.frame import Frame

Picture = Any
"""A path, the bytes of a picture file, a PIL image, an array (H, W, 3) RGB, (H, W, 4) RGBA or
(H, W) grey of uint8, uint16 or float32 0..1 (see Frame.from_numpy), or a Frame."""


def open_image(source: Picture) -> Frame:
    """A frame of `source`; EXIF orientation becomes the frame's rotation and mirror.

    Arrays are not copied where their layout allows it. Raises NotFoundError (no such file),
    FrameError (no picture, damaged, empty), ArgumentError (a type or dtype that shows nothing).
    """
    if isinstance(source, Frame):
        return source
    if isinstance(source, (str, os.PathLike)):
        return _from_file(Path(source).expanduser())
    if isinstance(source, np.ndarray):
        return Frame.from_numpy(source)
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _from_bytes(bytes(source))
    if hasattr(source, "getexif") and hasattr(source, "convert"):
        return Frame.from_pil(source)
    raise ArgumentError(
        "expected a path, the bytes of a file, a PIL image, a numpy array or a Frame, "
        f"got {type(source).__name__}"
    )


def upright_rgb(frame: Frame) -> NDArray[np.uint8]:
    """The upright picture, (H, W, 3) RGB, of a frame in any format. Copies."""
    return image.convert(frame, "rgb")


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


def _from_bytes(data: bytes) -> Frame:
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data)) as image:
            return Frame.from_pil(image)
    except UnidentifiedImageError:
        raise FrameError(
            f"expected the bytes of a picture file (PNG, JPEG, WebP ...), got {len(data)} bytes "
            "that are none"
        ) from None
    except Image.DecompressionBombError as error:
        raise FrameError(f"image: {error}", hint="scale the picture down first") from None
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        if isinstance(error, FrameError):
            raise
        raise FrameError(f"image: the picture is damaged: {error}") from error
