"""Picture files and Pillow images as pixels, apart from how they are to be turned."""

from __future__ import annotations

import io
import os
import threading
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from foveal.cache import is_device
from foveal.errors import ArgumentError, FrameError

if TYPE_CHECKING:
    from PIL.Image import Image

DAMAGED = (OSError, SyntaxError, ValueError, EOFError)
"""What Pillow raises for pictures that it cannot decode."""

# EXIF orientation -> clockwise degrees that make the picture upright, then mirror left and right.
_EXIF = {
    1: (0, False),
    2: (0, True),
    3: (180, False),
    4: (180, True),
    5: (90, True),
    6: (90, False),
    7: (270, True),
    8: (270, False),
}
_EXIF_TAG = 0x0112

_opening = threading.Lock()  # held while Pillow's own, process-wide limit is set aside


def source(file: str | os.PathLike[str] | IO[bytes]) -> Path | io.BytesIO:
    """What Pillow is to open: a path, or what is left of an open file."""
    try:
        return io.BytesIO(file.read()) if hasattr(file, "read") else Path(file)
    except TypeError:
        mode = "one of text" if isinstance(file, io.TextIOBase) else type(file).__name__
        raise ArgumentError(f"file: expected a path or a file of bytes, got {mode}") from None
    except ValueError as error:  # closed, or a name with a zero in it
        raise ArgumentError(f"file: cannot be read: {error}") from error


def open_header(file: Path | io.BytesIO) -> Image:
    """A picture of which the header was read. Pillow's limit of pixels is set aside: it warns from
    89 million on, ours is checked before anything is decoded."""
    from PIL import Image as pil

    if isinstance(file, Path) and is_device(file):
        raise FrameError(
            "expected a picture, got a device or a pipe", hint="copy the data to a file first"
        )
    with _opening:
        limit, pil.MAX_IMAGE_PIXELS = pil.MAX_IMAGE_PIXELS, None
        try:
            return pil.open(file)
        finally:
            pil.MAX_IMAGE_PIXELS = limit


def size_of(file: Path | io.BytesIO) -> int:
    """Bytes."""
    return file.stat().st_size if isinstance(file, Path) else file.getbuffer().nbytes


def decode(image: Image) -> tuple[NDArray[np.uint8], int, bool]:
    """Pixels as `Frame.from_pil` says; rotation and mirror that EXIF asks for."""
    image.load()  # before its EXIF is read: for TIFF this already turns the pixels
    rotation, mirror = _EXIF.get(image.getexif().get(_EXIF_TAG, 1), (0, False))
    return _pixels(image), rotation, mirror


def _pixels(image: Image) -> NDArray[np.uint8]:
    if image.mode.startswith("I"):  # convert() would clip, not scale
        wide = np.asarray(image).astype(np.int64)
        if image.mode == "I" and not (wide > 255).any():
            return wide.clip(0, 255).astype(np.uint8)
        return (wide.clip(0, 65535) >> 8).astype(np.uint8)
    if image.mode in ("L", "RGB", "RGBA"):
        return np.asarray(image)
    if image.mode == "La":  # Pillow knows one way out of it
        image = image.convert("LA")
    # Colours are the same either way; to RGB, Pillow warns of the transparency it drops.
    keep = "transparency" in image.info or image.mode in ("PA", "RGBa")
    return np.asarray(image.convert("RGBA" if keep else "RGB"))
