"""Anything that shows something becomes a `Frame`: paths, PIL images, numpy arrays, frames."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from foveal.errors import ArgumentError, FrameError, NotFoundError
from foveal.frame import Frame

if TYPE_CHECKING:
    from PIL.Image import Image

Picture = Any
"""A path, a PIL image, a uint8 array (H, W, 3) RGB, (H, W, 4) RGBA or (H, W) grey, or a Frame."""

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
_FORMATS = {1: "gray", 3: "rgb", 4: "rgba"}


def open_image(source: Picture) -> Frame:
    """A frame of `source`; EXIF orientation becomes the frame's rotation and mirror.

    Arrays are not copied where their layout allows it. Raises NotFoundError (no such file),
    FrameError (no picture, damaged, empty), ArgumentError (a type or dtype that shows nothing).
    """
    if isinstance(source, Frame):
        return source
    if isinstance(source, (str, os.PathLike)):
        return _from_file(Path(os.fspath(source)).expanduser())
    if isinstance(source, np.ndarray):
        return _from_array(source)
    if hasattr(source, "getexif") and hasattr(source, "convert"):
        return _from_pil(source, "image")
    raise ArgumentError(
        f"expected a path, a PIL image, a numpy array or a Frame, got {type(source).__name__}"
    )


def upright_size(frame: Frame) -> tuple[int, int]:
    """Width and height after the frame's rotation."""
    turned = frame.rotation in (90, 270)
    return (frame.height, frame.width) if turned else (frame.width, frame.height)


def upright_rgb(frame: Frame) -> NDArray[np.uint8]:
    """The upright picture, (H, W, 3) RGB, of a frame in any format. Copies."""
    from foveal import image

    width, height = upright_size(frame)
    out = np.empty((1, height, width, 3), np.uint8)
    spec = image.Pipeline(size=(width, height), color="RGB", fit=image.Stretch())
    spec.compile(dtype="uint8", layout="nhwc", shape=out.shape).run(frame, out=out)
    picture: NDArray[np.uint8] = out[0]
    return picture


def _from_file(path: Path) -> Frame:
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(path) as image:
                return _from_pil(image, str(path))
    except FileNotFoundError:
        raise NotFoundError(f"there is no picture '{path}'", hint=_photo_hint(path)) from None
    except IsADirectoryError:
        raise FrameError(f"{path}: expected a picture, got a folder", hint="name a file") from None
    except UnidentifiedImageError:
        raise FrameError(
            f"{path}: expected a picture (PNG, JPEG, WebP ...), got {_looks_like(path)}"
        ) from None
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        raise FrameError(f"{path}: too large: {error}", hint="scale the picture down") from None
    except PermissionError as error:
        raise FrameError(f"{path}: cannot be read: {error.strerror}") from error
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        raise FrameError(f"{path}: the picture is damaged: {error}", hint="fetch it again") from error


def _photo_hint(path: Path) -> str:
    from foveal import zoo

    if str(path) in zoo.photos():
        return f"the zoo has this photo: foveal detect $(foveal zoo get {path})"
    return "check the path"


def _looks_like(path: Path) -> str:
    with open(path, "rb") as file:
        head = file.read(64)
    if not head:
        return "an empty file"
    printable = sum(32 <= byte < 127 or byte in b"\r\n\t" for byte in head)
    return "a text file" if printable == len(head) else f"data beginning {head[:8].hex(' ')}"


def _from_pil(image: Image, name: str) -> Frame:
    rotation, mirror = _EXIF.get(image.getexif().get(_EXIF_TAG, 1), (0, False))
    if image.mode.startswith("I"):  # 16-bit grey, which convert() would clip instead of scale
        array = (np.asarray(image).astype(np.int64).clip(0, 65535) >> 8).astype(np.uint8)
    elif image.mode in ("L", "RGB", "RGBA"):
        array = np.asarray(image)
    else:
        array = np.asarray(image.convert("RGB"))
    return _from_array(array, rotation, mirror, name)


def _from_array(
    array: NDArray[Any], rotation: int = 0, mirror: bool = False, name: str = "array"
) -> Frame:
    expected = "expected uint8 (H, W, 3) RGB, (H, W, 4) RGBA or (H, W) grey"
    channels = 1 if array.ndim == 2 else array.shape[-1]
    if array.dtype != np.uint8 or array.ndim not in (2, 3) or channels not in _FORMATS:
        raise ArgumentError(
            f"{name}: {expected}, got {array.dtype} {array.shape}",
            hint="scale to 0..255 and convert: (x * 255).round().astype('uint8')"
            if array.dtype.kind == "f"
            else "",
        )
    height, width = array.shape[:2]
    if not array.size:
        raise FrameError(f"{name}: expected a picture, got {width} x {height} pixels")
    return Frame(
        format=_FORMATS[channels],
        width=width,
        height=height,
        planes=[np.ascontiguousarray(array).reshape(height, -1)],
        rotation=rotation,
        mirror=mirror,
    )
