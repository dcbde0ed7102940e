"""Camera frames and photos, as they lie in memory."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from foveal import _core
from foveal.errors import ArgumentError, FrameError, NotFoundError

if TYPE_CHECKING:
    from PIL.Image import Image

# name -> (fv_pixel_format, bytes per pixel of each plane)
_FORMATS: dict[str, tuple[int, tuple[int, ...]]] = {
    "rgb": (1, (3,)),
    "bgr": (2, (3,)),
    "rgba": (3, (4,)),
    "bgra": (4, (4,)),
    "gray": (5, (1,)),
    "nv12": (6, (1, 2)),
    "nv21": (7, (1, 2)),
    "i420": (8, (1, 1, 1)),
}
_MATRICES = {"bt601": 1, "bt709": 2, "bt2020": 3}
_RANGES = {"limited": 1, "full": 2}

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


class Frame:
    """One image: format, size, planes, orientation, colour. Immutable; holds on to its buffers.

    Args:
        format: "rgb", "bgr", "rgba", "bgra" (alpha is ignored), "gray", "nv12", "nv21", "i420"
            (any case).
        width, height: pixels as they lie in memory (before rotation), 1..32768.
        planes: buffers (numpy uint8 arrays, bytes, memoryview ...), one per plane: one for the
            packed formats, Y and UV for nv12/nv21, Y, U and V for i420. Chroma planes are half
            size, rounded up. Nothing is copied.
        rotation: 0, 90, 180 or 270 clockwise degrees that make the image upright.
        mirror: left and right are exchanged, after the rotation.
        color: of yuv formats: "bt601", "bt709" or "bt2020", "-", "limited" or "full"; None when
            unknown (then the pipeline has to say it).
        strides: bytes between rows, one per plane; None takes them from arrays of two or more
            dimensions, and tight rows otherwise.
        pixel_strides: bytes between pixels, one per plane; None = the format's own. I420 with
            chroma strides of 2 is Android's YUV_420_888.

    Raises:
        FrameError: naming the field, what was expected and what came: a plane shorter than its
            strides say, a wrong number of planes, an unknown format, a size of zero ...
    """

    __slots__ = ("_handle", "color", "format", "height", "mirror", "planes", "rotation", "width")

    def __init__(
        self,
        *,
        format: str,
        width: int,
        height: int,
        planes: Sequence[Any],
        rotation: int = 0,
        mirror: bool = False,
        color: str | None = "bt601-limited",
        strides: Sequence[int] | None = None,
        pixel_strides: Sequence[int] | None = None,
    ) -> None:
        name = str(format).lower()
        if name not in _FORMATS:
            raise FrameError(
                f"frame: format: expected one of {', '.join(_FORMATS)}, got '{format}'"
            )
        code, pixels = _FORMATS[name]
        if isinstance(planes, (np.ndarray, bytes, bytearray, memoryview)):
            planes = [planes]
        if len(planes) != len(pixels):
            raise FrameError(f"frame: planes: {name} has {len(pixels)}, got {len(planes)}")
        for what, given in (("strides", strides), ("pixel_strides", pixel_strides)):
            if given is not None and len(given) != len(planes):
                raise FrameError(
                    f"frame: {what}: expected one per plane ({len(planes)}), got {len(given)}"
                )
        matrix, range_ = _parse_color(color)
        width, height = _integer("width", width), _integer("height", height)
        entries = []
        for i, plane in enumerate(planes):
            half = name in ("nv12", "nv21", "i420") and i > 0
            size = ((width + 1) // 2, (height + 1) // 2) if half else (width, height)
            row, pixel = _strides(plane, i, pixels[i], size)
            if strides is not None:
                row = _integer(f"strides[{i}]", strides[i])
            if pixel_strides is not None:
                pixel = _integer(f"pixel_strides[{i}]", pixel_strides[i])
            entries.append((plane, row, pixel))
        self._handle = _core.frame_new(
            code,
            width,
            height,
            entries,
            _integer("rotation", rotation),
            bool(mirror),
            matrix,
            range_,
        )
        self.format = name
        self.width = width
        self.height = height
        self.planes = tuple(planes)
        self.rotation = int(rotation)
        self.mirror = bool(mirror)
        self.color = color

    def __repr__(self) -> str:
        turned = f", rotation={self.rotation}" if self.rotation else ""
        mirrored = ", mirror=True" if self.mirror else ""
        return f"Frame({self.format} {self.width}x{self.height}{turned}{mirrored})"

    @property
    def upright_size(self) -> tuple[int, int]:
        """Width and height after the rotation."""
        return (self.height, self.width) if self.rotation % 180 else (self.width, self.height)

    @classmethod
    def from_numpy(
        cls,
        array: NDArray[np.uint8],
        order: str | None = None,
        *,
        rotation: int = 0,
        mirror: bool = False,
    ) -> Frame:
        """A frame over uint8 pixels [height, width, 3 or 4] or [height, width].

        order: "RGB", "BGR", "RGBA", "BGRA", "GRAY"; None: RGB, RGBA or GRAY by the shape. Rows
        may be strided; other layouts are copied. Raises ArgumentError for other dtypes or shapes,
        FrameError for an empty picture.
        """
        channels = 1 if array.ndim == 2 else array.shape[-1] if array.ndim == 3 else 0
        order = order or {1: "GRAY", 3: "RGB", 4: "RGBA"}.get(channels, "RGB")
        want = {"rgb": 3, "bgr": 3, "rgba": 4, "bgra": 4, "gray": 1}.get(order.lower())
        if want is None:
            raise ArgumentError(f"order: expected RGB, BGR, RGBA, BGRA or GRAY, got '{order}'")
        if array.dtype != np.uint8 or channels != want:
            raise ArgumentError(
                f"array: expected uint8 [height, width{f', {want}' if want > 1 else ''}] for "
                f"{order}, got {array.dtype} {list(array.shape)}",
                hint="scale to 0..255 and convert: (x * 255).round().astype('uint8')"
                if array.dtype.kind == "f"
                else "",
            )
        height, width = array.shape[:2]
        if not array.size:
            raise FrameError(f"array: expected a picture, got {width}x{height} pixels")
        adjacent = array.strides[1] == want and (array.ndim == 2 or array.strides[2] == 1)
        if not adjacent or array.strides[0] < width * want:
            array = np.ascontiguousarray(array)
        return cls(
            format=order,
            width=width,
            height=height,
            planes=[array],
            rotation=rotation,
            mirror=mirror,
        )

    @classmethod
    def from_pil(cls, image: Image) -> Frame:
        """A frame of a Pillow image. EXIF orientation becomes rotation and mirror.

        Modes other than L, RGB and RGBA are converted to RGB. Raises FrameError when the image
        cannot be decoded or is empty.
        """
        try:
            rotation, mirror = _EXIF.get(image.getexif().get(_EXIF_TAG, 1), (0, False))
            if image.mode.startswith("I"):  # 16-bit grey, which convert() would clip, not scale
                wide = np.asarray(image).astype(np.int64)
                pixels = (wide.clip(0, 65535) >> 8).astype(np.uint8)
            elif image.mode in ("L", "RGB", "RGBA"):
                pixels = np.asarray(image)
            else:
                pixels = np.asarray(image.convert("RGB"))
        except (OSError, SyntaxError, ValueError, EOFError) as error:
            raise FrameError(f"image: the picture is damaged: {error}") from error
        return cls.from_numpy(pixels, rotation=rotation, mirror=mirror)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Frame:
        """A frame of a picture file (whatever Pillow reads; the first of several pictures).

        Raises:
            NotFoundError: there is no such file.
            FrameError: no picture, a damaged one, an empty one, or one so large that it must be
                suspected of being a decompression bomb.
        """
        from PIL import Image, UnidentifiedImageError

        file = Path(path)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", Image.DecompressionBombWarning)
                with Image.open(file) as image:
                    return cls.from_pil(image)
        except FrameError as error:
            raise FrameError(f"{file}: {error.message}", hint=error.hint) from error
        except FileNotFoundError:
            raise NotFoundError(f"{file}: there is no such file") from None
        except IsADirectoryError:
            raise FrameError(f"{file}: expected a picture, got a folder") from None
        except UnidentifiedImageError:
            size = file.stat().st_size
            got = f"{size} bytes that are none" if size else "an empty file"
            raise FrameError(
                f"{file}: expected a picture (PNG, JPEG, WebP ...), got {got}"
            ) from None
        except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
            raise FrameError(f"{file}: {error}", hint="scale the picture down first") from None
        except (OSError, SyntaxError, ValueError, EOFError) as error:
            raise FrameError(f"{file}: the picture is damaged: {error}") from error


def _parse_color(color: str | None) -> tuple[int, int]:
    if color is None:
        return 0, 0
    matrix, _, range_ = str(color).lower().partition("-")
    if matrix not in _MATRICES or range_ not in _RANGES:
        raise FrameError(
            f"frame: color: expected {'|'.join(_MATRICES)}-{'|'.join(_RANGES)}, got '{color}'"
        )
    return _MATRICES[matrix], _RANGES[range_]


def _integer(field: str, value: Any) -> int:
    try:
        number = int(value.__index__())
    except AttributeError:
        raise FrameError(f"frame: {field}: expected a whole number, got {value!r}") from None
    if not -(2**31) <= number < 2**31:
        raise FrameError(f"frame: {field}: expected a 32-bit number, got {number}")
    return number


def _strides(plane: Any, index: int, pixel: int, size: tuple[int, int]) -> tuple[int, int]:
    """Bytes between rows and between pixels of a buffer; 0 where it does not say.

    Arrays may be [rows, columns, bytes of a pixel], [rows, bytes of a row] or flat.
    """

    def error(expected: str, got: object) -> FrameError:
        return FrameError(f"frame: planes[{index}]: expected {expected}, got {got}")

    try:
        view = memoryview(plane)
    except TypeError:
        raise error("a buffer of bytes", type(plane).__name__) from None
    if view.itemsize != 1 or view.shape is None or view.strides is None:
        raise error("bytes (uint8)", f"elements of {view.itemsize} bytes")
    shape, strides = view.shape, view.strides
    if any(s < 0 for s in strides):
        raise error("strides that are not negative", f"{strides}; pass a contiguous copy")
    if view.ndim > 3 or view.ndim < 1:
        raise error("1 to 3 dimensions", view.ndim)
    columns = view.ndim == 3 or (view.ndim == 2 and pixel == 1)  # the second one counts pixels
    if view.ndim > 1 and shape[0] < size[1]:
        raise error(f"at least {size[1]} rows", shape[0])
    if columns and shape[1] < size[0]:
        raise error(f"at least {size[0]} columns", shape[1])
    if view.ndim == 3 and shape[2] < pixel:
        raise error(f"at least {pixel} bytes per pixel", shape[2])
    if strides[-1] != 1 and shape[-1] > 1 and not (columns and view.ndim == 2):
        raise error("adjacent bytes", f"a stride of {strides[-1]}")
    row = strides[0] if view.ndim > 1 and shape[0] > 1 else 0
    step = strides[1] if columns and shape[1] > 1 else 0
    if step and not pixel <= step <= 64:
        raise error(f"{pixel} to 64 bytes between pixels", f"{step}; pass a contiguous copy")
    return row, step
