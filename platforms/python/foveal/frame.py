"""Camera frames and photos, as they lie in memory."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foveal import _core, _picture_files
from foveal.errors import ArgumentError, FrameError, NotFoundError

if TYPE_CHECKING:
    from PIL.Image import Image


class _Format(NamedTuple):
    code: int  # fv_pixel_format
    pixels: tuple[int, ...]  # bytes per pixel of each plane
    shift: tuple[int, int] = (0, 0)  # log2 of how much smaller the planes behind the first are
    dtype: str = "uint8"
    pairs: bool = False  # rows hold whole pairs of pixels

    def size(self, plane: int, width: int, height: int) -> tuple[int, int]:
        """Columns and rows of a plane."""
        x, y = self.shift if plane else (int(self.pairs), 0)
        columns, rows = (width + (1 << x) - 1) >> x, (height + (1 << y) - 1) >> y
        return (2 * columns if self.pairs else columns), rows


_FORMATS: dict[str, _Format] = {
    "rgb": _Format(1, (3,)),
    "bgr": _Format(2, (3,)),
    "rgba": _Format(3, (4,)),
    "bgra": _Format(4, (4,)),
    "gray": _Format(5, (1,)),
    "nv12": _Format(6, (1, 2), (1, 1)),
    "nv21": _Format(7, (1, 2), (1, 1)),
    "i420": _Format(8, (1, 1, 1), (1, 1)),
    "gray_alpha": _Format(9, (2,)),
    "rgb16": _Format(10, (6,), dtype="uint16"),
    "bgr16": _Format(11, (6,), dtype="uint16"),
    "gray16": _Format(12, (2,), dtype="uint16"),
    "rgbf32": _Format(13, (12,), dtype="float32"),
    "bgrf32": _Format(14, (12,), dtype="float32"),
    "grayf32": _Format(15, (4,), dtype="float32"),
    "yv12": _Format(16, (1, 1, 1), (1, 1)),
    "nv16": _Format(17, (1, 2), (1, 0)),
    "nv61": _Format(18, (1, 2), (1, 0)),
    "i422": _Format(19, (1, 1, 1), (1, 0)),
    "i444": _Format(20, (1, 1, 1)),
    "yuyv": _Format(21, (2,), pairs=True),
    "uyvy": _Format(22, (2,), pairs=True),
    "p010": _Format(23, (2, 4), (1, 1), "uint16"),
    "i010": _Format(24, (2, 2, 2), (1, 1), "uint16"),
}
_CHANNELS = {"rgb": 3, "bgr": 3, "rgba": 4, "bgra": 4, "gray": 1, "gray_alpha": 2}
_SITINGS = {None: 0, "center": 1, "left": 2, "top_left": 3}
_MATRICES = {"bt601": 1, "bt709": 2, "bt2020": 3}
_RANGES = {"limited": 1, "full": 2}

MAX_PIXELS = 250_000_000
"""Pictures with more pixels are refused before they are decoded: they would need more than 1 GB."""


class Frame:
    """One image: format, size, planes, orientation, colour. Immutable; holds on to its buffers.

    Args:
        format (any case):
            "rgb", "bgr", "rgba", "bgra", "gray", "gray_alpha": bytes; alpha is ignored.
            "rgb16", "bgr16", "gray16": uint16, 0..65535.
            "rgbf32", "bgrf32", "grayf32": float32, 0..1; what lies outside is clamped, NaN is 0.
            "nv12", "nv21", "i420", "yv12": 4:2:0; "nv16", "nv61", "i422": 4:2:2; "i444": 4:4:4.
            "yuyv", "uyvy": 4:2:2 in one plane, two pixels in four bytes.
            "p010", "i010": 10 bits, as nv12 at the top, as i420 at the bottom of uint16.
        width, height: pixels as they lie in memory (before rotation), 1..32768.
        planes: buffers (numpy arrays of the format's dtype, bytes, memoryview ...), one per plane:
            one for the packed formats; Y and UV (nv12, nv16, p010) or VU (nv21, nv61); Y, U and V
            (i420, i422, i444, i010) or Y, V and U (yv12). Chroma planes are smaller, rounded up.
            Arrays with strides that a frame cannot express (negative, zero, transposed, pixels
            more than 64 bytes apart) are copied, once; nothing else is.
        rotation: 0, 90, 180 or 270 clockwise degrees that make the image upright.
        mirror: left and right are exchanged, after the rotation.
        color: of yuv formats: "bt601", "bt709" or "bt2020", "-", "limited" or "full"; None when
            unknown (then the pipeline has to say it).
        strides: bytes between rows, one per plane; None takes them from arrays of two or more
            dimensions, and tight rows otherwise.
        pixel_strides: bytes between pixels, one per plane; None = the format's own. I420 with
            chroma strides of 2 is Android's YUV_420_888, whose planes may overlap in any way.
        visible: (x, y, width, height) of the part that is the picture, pixels in memory; None:
            all of it. What lies around it is never read; regions, boxes and transforms count from
            its corner. Any offset, odd ones in chroma formats too.
        siting: where chroma samples lie: "center", "left" (MPEG-2, H.264), "top_left"; None when
            unknown. Matters to pipelines with linear chroma only.

    Raises:
        FrameError: naming the field, what was expected and what came: a plane shorter than its
            strides say, a wrong number of planes, an unknown format, a size of zero ...
    """

    __slots__ = (
        "_color",
        "_format",
        "_handle",
        "_height",
        "_index",
        "_mirror",
        "_planes",
        "_rotation",
        "_siting",
        "_timestamp",
        "_visible",
        "_width",
    )

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
        visible: Sequence[int] | None = None,
        siting: str | None = None,
    ) -> None:
        name = str(format).lower()
        if name not in _FORMATS:
            raise _unknown_format(format)
        layout = _FORMATS[name]
        pixels = layout.pixels
        if isinstance(planes, (np.ndarray, bytes, bytearray, memoryview)):
            planes = [planes]
        planes = _list("planes", planes)
        strides = None if strides is None else _list("strides", strides)
        pixel_strides = None if pixel_strides is None else _list("pixel_strides", pixel_strides)
        if len(planes) != len(pixels):
            raise FrameError(f"frame: planes: {name} has {len(pixels)}, got {len(planes)}")
        for what, given in (("strides", strides), ("pixel_strides", pixel_strides)):
            if given is not None and len(given) != len(planes):
                raise FrameError(
                    f"frame: {what}: expected one per plane ({len(planes)}), got {len(given)}"
                )
        matrix, range_ = _parse_color(color)
        if not isinstance(mirror, (bool, np.bool_, int, np.integer)) or mirror not in (0, 1):
            raise FrameError(f"frame: mirror: expected True or False, got {mirror!r}")
        width, height = _integer("width", width), _integer("height", height)
        shown = _rectangle(visible)
        if shown == (0, 0, width, height):
            shown = None
        if siting not in _SITINGS:
            raise FrameError(
                f"frame: siting: expected center, left, top_left or None, got {siting!r}"
            )
        entries = []
        for i, plane in enumerate(planes):
            size = layout.size(i, width, height)
            laid_out = strides is not None or pixel_strides is not None
            plane = _bytes_of(plane, i, layout, laid_out)
            plane, row, pixel = _plane(plane, i, pixels[i], size, laid_out)
            if strides is not None:
                row = _stride("row_stride", f"strides[{i}]", strides[i])
            if pixel_strides is not None:
                pixel = _stride("pixel_stride", f"pixel_strides[{i}]", pixel_strides[i])
            entries.append((plane, row, pixel))
        self._handle = _core.frame_new(
            layout.code,
            width,
            height,
            entries,
            _integer("rotation", rotation),
            bool(mirror),
            matrix,
            range_,
            _SITINGS[siting],
            shown or (0, 0, 0, 0),
        )
        self._format = name
        self._width = width
        self._height = height
        self._planes = tuple(plane for plane, _, _ in entries)
        self._rotation = int(rotation)
        self._mirror = bool(mirror)
        self._color = color
        self._visible = shown or (0, 0, width, height)
        self._siting = siting
        self._index: int | None = None
        self._timestamp: float | None = None

    def stamped(self, index: int | None, timestamp: float | None) -> Frame:
        """This picture as one of a video's frames, see `index` and `timestamp`. The pixels are
        shared. Raises FrameError for what are no numbers, or not finite ones."""
        if index is not None:
            index = _integer("index", index)
        if timestamp is not None:
            try:
                timestamp = float(timestamp)
            except (TypeError, ValueError, OverflowError):
                timestamp = math.nan
            if not math.isfinite(timestamp):
                raise FrameError("frame: timestamp: expected a finite number of seconds")
        other = object.__new__(Frame)
        for slot in self.__slots__:
            setattr(other, slot, getattr(self, slot))
        other._index, other._timestamp = index, timestamp
        return other

    @property
    def index(self) -> int | None:
        """Its number in the video or from the camera, from 0 on; frames that were dropped count.
        None for a picture by itself."""
        return self._index

    @property
    def timestamp(self) -> float | None:
        """Seconds since the video's start, or since the camera's first frame; None if unknown."""
        return self._timestamp

    @property
    def format(self) -> str:
        """In lower case."""
        return self._format

    @property
    def width(self) -> int:
        """Pixels as they lie in memory."""
        return self._width

    @property
    def height(self) -> int:
        """Pixels as they lie in memory."""
        return self._height

    @property
    def planes(self) -> tuple[Any, ...]:
        """The buffers that are read."""
        return self._planes

    @property
    def rotation(self) -> int:
        """Clockwise degrees that make the image upright."""
        return self._rotation

    @property
    def mirror(self) -> bool:
        """Whether left and right are exchanged, after the rotation."""
        return self._mirror

    @property
    def color(self) -> str | None:
        """Matrix and range of yuv formats."""
        return self._color

    @property
    def visible(self) -> tuple[int, int, int, int]:
        """x, y, width and height of the picture within the memory, before the rotation."""
        return self._visible

    @property
    def siting(self) -> str | None:
        """Where chroma samples lie."""
        return self._siting

    def __repr__(self) -> str:
        turned = f", rotation={self.rotation}" if self.rotation else ""
        mirrored = ", mirror=True" if self.mirror else ""
        whole = self.visible == (0, 0, self.width, self.height)
        part = "" if whole else f", visible={self.visible}"
        return f"Frame({self.format} {self.width}x{self.height}{part}{turned}{mirrored})"

    @property
    def upright_size(self) -> tuple[int, int]:
        """Width and height of the visible picture after the rotation."""
        width, height = self.visible[2:]
        return (height, width) if self.rotation % 180 else (width, height)

    @classmethod
    def from_numpy(
        cls,
        array: NDArray[Any],
        order: str | None = None,
        *,
        rotation: int = 0,
        mirror: bool = False,
    ) -> Frame:
        """A frame over pixels [height, width, 1 to 4] or [height, width]: uint8, uint16 (0..65535)
        or float32 (0..1, see `Frame`).

        order: "RGB", "BGR", "RGBA", "BGRA", "GRAY" or "GRAY_ALPHA"; None: by the number of
        channels GRAY, GRAY_ALPHA, RGB or RGBA. Rows may be strided; other layouts are copied.
        Raises ArgumentError for other dtypes or shapes, and for floats that are clearly no 0..1
        (above 2), FrameError for an empty picture.
        """
        if not isinstance(array, np.ndarray):
            raise ArgumentError(f"array: expected a numpy array, got {type(array).__name__}")
        channels = 1 if array.ndim == 2 else array.shape[-1] if array.ndim == 3 else 0
        order = order or {1: "GRAY", 2: "GRAY_ALPHA", 3: "RGB", 4: "RGBA"}.get(channels, "RGB")
        name = str(order).lower()
        want = _CHANNELS.get(name)
        if want is None:
            raise ArgumentError(
                f"order: expected RGB, BGR, RGBA, BGRA, GRAY or GRAY_ALPHA, got '{order}'"
            )
        suffix = {"uint8": "", "uint16": "16", "float32": "f32"}.get(array.dtype.name)
        if suffix is None or channels != want:
            raise ArgumentError(
                f"array: expected uint8, uint16 or float32 [height, width"
                f"{f', {want}' if want > 1 else ''}] for {order}, got {array.dtype} "
                f"{list(array.shape)}",
                hint="convert 0..1 with .astype('float32'), 0..255 with "
                ".round().clip(0, 255).astype('uint8')"
                if suffix is None and array.dtype.kind in "fiub"
                else "",
            )
        height, width = array.shape[:2]
        if not array.size:
            raise FrameError(f"array: expected a picture, got {width}x{height} pixels")
        if suffix == "f32" and (top := np.max(array, initial=0, where=np.isfinite(array))) > 2:
            raise ArgumentError(
                f"array: expected floats in 0..1, got up to {top:g}",
                hint="divide by 255, or convert: x.round().clip(0, 255).astype('uint8')",
            )
        if suffix:  # these formats have no alpha: pixels are further apart instead
            plain = {"rgba": "rgb", "bgra": "bgr", "gray_alpha": "gray"}
            if name in plain:
                name, array = plain[name], array[..., : 3 if want == 4 else 1]
            name += suffix
        return cls(
            format=name,
            width=width,
            height=height,
            planes=[array],
            rotation=rotation,
            mirror=mirror,
        )

    @classmethod
    def from_buffer(
        cls,
        data: Any,
        format: str,
        width: int,
        height: int,
        *,
        stride: int | None = None,
        **rest: Any,
    ) -> Frame:
        """A frame whose planes follow one another in one buffer, as V4L2, FFmpeg's rawvideo and
        many camera APIs hand them out.

        stride: bytes between rows of the first plane, None = tight; the rows of chroma planes
        then are as much longer than their pixels. rest: what `Frame` takes besides planes and
        strides. Raises FrameError, also for a buffer that is too short or no buffer of bytes.
        """
        name = str(format).lower()
        if name not in _FORMATS:
            raise _unknown_format(format)
        layout = _FORMATS[name]
        try:
            view = memoryview(data).cast("B")
        except (TypeError, ValueError):
            raise FrameError(
                f"frame: data: expected a contiguous buffer, got {type(data).__name__}"
            ) from None
        width, height = _integer("width", width), _integer("height", height)
        planes, strides, at = [], [], 0
        tight = max(layout.size(0, width, height)[0] * layout.pixels[0], 1)
        first = tight if stride is None else _stride("row_stride", "stride", stride)
        for i, pixel in enumerate(layout.pixels):
            columns, rows = layout.size(i, width, height)
            row = first if i == 0 else -(-first * columns * pixel // tight)
            planes.append(view[at : at + max(rows, 0) * row])
            strides.append(row)
            at += max(rows, 0) * row
        return cls(format=name, width=width, height=height, planes=planes, strides=strides, **rest)

    @classmethod
    def empty(cls, format: str, width: int, height: int, **rest: Any) -> Frame:
        """A frame over new memory to be written: planes of zeros that follow one another.

        rest: what `Frame` takes besides planes and strides. Raises FrameError.
        """
        layout = _FORMATS.get(str(format).lower())
        if layout is None:
            raise _unknown_format(format)
        width, height = _integer("width", width), _integer("height", height)
        sides = [layout.size(i, max(width, 0), max(height, 0)) for i in range(len(layout.pixels))]
        bytes_ = sum(c * r * p for (c, r), p in zip(sides, layout.pixels, strict=True))
        return cls.from_buffer(np.zeros(bytes_, np.uint8), format, width, height, **rest)

    @classmethod
    def from_opencv(cls, mat: Any, *, rotation: int = 0, mirror: bool = False) -> Frame:
        """A frame over what OpenCV reads and makes: GRAY, BGR or BGRA by the channels.

        mat: a cv2.Mat, which is an array, or a cv2.UMat, which is fetched. Element types and
        errors are those of `from_numpy`.
        """
        array = mat.get() if type(mat).__name__ == "UMat" else mat
        if not isinstance(array, np.ndarray):
            raise ArgumentError(
                f"mat: expected an array or a UMat, got {type(mat).__name__}",
                hint="cv2.imread gives None for files that it cannot read" if mat is None else "",
            )
        channels = array.shape[-1] if array.ndim == 3 else 1
        if channels == 2:
            raise ArgumentError("mat: expected 1, 3 or 4 channels, got 2")
        order = {1: "GRAY", 4: "BGRA"}.get(channels, "BGR")
        return cls.from_numpy(array, order, rotation=rotation, mirror=mirror)

    @classmethod
    def from_dlpack(
        cls,
        tensor: Any,
        order: str | None = None,
        *,
        layout: str = "auto",
        rotation: int = 0,
        mirror: bool = False,
    ) -> Frame:
        """A frame of a tensor in the CPU's memory (PyTorch, JAX, TensorFlow, CuPy's host arrays …).

        layout: "hwc" (read in place), "chw" (copied once), or "auto": whichever axis can be the
        channels, 1 to 4 of them. Leading dimensions of 1 are dropped; a tensor of two dimensions is
        grey. Element types, `order` and errors are those of `from_numpy`.

        Raises ArgumentError too for a tensor on another device, and one that could be either.
        """
        if not hasattr(tensor, "__dlpack__"):
            raise ArgumentError(
                f"tensor: expected something with __dlpack__, got {type(tensor).__name__}"
            )
        try:
            array = np.from_dlpack(tensor)
        except (BufferError, RuntimeError, TypeError, ValueError) as error:
            raise ArgumentError(
                f"tensor: numpy cannot read it: {error}",
                hint="bring it to the CPU, without gradients, as uint8 or float32",
            ) from None
        while array.ndim > 3 and array.shape[0] == 1:
            array = array[0]
        if layout not in ("auto", "hwc", "chw"):
            raise ArgumentError(f"layout: expected auto, hwc or chw, got {layout!r}")
        if array.ndim == 3:
            if layout == "auto":
                fits = [
                    name for name, axis in (("hwc", 2), ("chw", 0)) if 1 <= array.shape[axis] <= 4
                ]
                if len(fits) != 1:
                    raise ArgumentError(
                        f"tensor: {list(array.shape)} could be "
                        + ("either layout" if fits else "no picture of 1 to 4 channels"),
                        hint='pass layout="hwc" or "chw"' if fits else "",
                    )
                layout = fits[0]
            if layout == "chw":
                array = np.ascontiguousarray(np.moveaxis(array, 0, -1))
        return cls.from_numpy(array, order, rotation=rotation, mirror=mirror)

    @classmethod
    def from_pil(cls, image: Image) -> Frame:
        """A frame of a Pillow image. EXIF orientation becomes rotation and mirror.

        L, RGB and RGBA are taken as they are, 16-bit greys (I;16) as their upper 8 bits, 32-bit
        greys (I) as 8-bit values when none is above 255 and as 16-bit ones otherwise (clipped to
        0..65535). Pillow converts the others to RGB; it clips F to 0..255.

        Raises ArgumentError for what is no Pillow image, FrameError when the image cannot be
        decoded, is empty or has more than `MAX_PIXELS` pixels.
        """
        if not (hasattr(image, "getexif") and hasattr(image, "convert")):
            raise ArgumentError(
                f"image: expected a Pillow image, got {type(image).__name__}",
                hint="Frame.from_numpy takes arrays, Frame.from_file paths",
            )
        width, height = image.size
        if width * height > MAX_PIXELS:
            raise FrameError(
                f"image: {width}x{height} is {width * height} pixels, at most {MAX_PIXELS} "
                "are accepted",
                hint="scale the picture down first",
            )
        try:
            pixels, rotation, mirror = _picture_files.decode(image)
        except _picture_files.DAMAGED as error:
            raise FrameError(f"image: the picture is damaged: {error}") from error
        return cls.from_numpy(pixels, rotation=rotation, mirror=mirror)

    @classmethod
    def from_file(cls, file: str | os.PathLike[str] | IO[bytes]) -> Frame:
        """A frame of a picture file (whatever Pillow reads; the first of several pictures).

        file: a path, or a file that is open in binary mode, `io.BytesIO(data)` for one, which is
        read to its end.

        Raises:
            NotFoundError: there is no such file.
            FrameError: no picture, a damaged one, an empty one, or one of more than `MAX_PIXELS`
                pixels, which must be suspected of being a decompression bomb.
        """
        from PIL import UnidentifiedImageError

        name = getattr(file, "name", "picture") if hasattr(file, "read") else file
        source = _picture_files.source(file)
        try:
            with _picture_files.open_header(source) as image:
                return cls.from_pil(image)
        except FrameError as error:
            raise FrameError(f"{name}: {error.message}", hint=error.hint) from error
        except FileNotFoundError:
            raise NotFoundError(f"{name}: there is no such file") from None
        except IsADirectoryError:
            raise FrameError(f"{name}: expected a picture, got a folder") from None
        except UnidentifiedImageError:
            size = _picture_files.size_of(source)
            got = f"{size} bytes that are none" if size else "an empty file"
            raise FrameError(
                f"{name}: expected a picture (PNG, JPEG, WebP ...), got {got}"
            ) from None
        except _picture_files.DAMAGED as error:
            raise FrameError(f"{name}: the picture is damaged: {error}") from error


def _unknown_format(given: object) -> FrameError:
    return FrameError(f"frame: format: expected one of {', '.join(_FORMATS)}, got '{given}'")


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


def _rectangle(visible: Any) -> tuple[int, int, int, int] | None:
    if visible is None:
        return None
    values = [_integer("visible", v) for v in _list("visible", visible)]
    if len(values) != 4:
        raise FrameError(f"frame: visible: expected x, y, width and height, got {visible!r}")
    if not any(values):
        raise FrameError("frame: visible: width: expected at least 1 pixel, got 0")
    x, y, width, height = values
    return x, y, width, height


def _list(field: str, values: Any) -> list[Any]:
    try:
        return list(values)
    except TypeError:
        raise FrameError(
            f"frame: {field}: expected a list with one entry per plane, got {values!r}"
        ) from None


def _stride(field: str, what: str, value: Any) -> int:
    number = _integer(what, value)
    if number == 0:
        raise FrameError(f"frame: {field}: {what}: expected bytes, more than 0, got 0")
    return number


def _bytes_of(plane: Any, index: int, layout: _Format, laid_out: bool) -> Any:
    """Planes of uint16 or float32 as bytes: [.., pixels, bytes of a pixel] where an array counts
    pixels, [.., bytes of a row] where it counts components. Raw bytes stay what they are."""
    wide = np.dtype(layout.dtype)
    if wide.itemsize == 1:
        return plane
    try:
        array = np.asarray(memoryview(plane))
    except (TypeError, ValueError, BufferError):
        return plane  # refused with the others
    if array.dtype == np.uint8 or array.ndim == 0:
        return plane
    if array.dtype != wide and array.dtype.newbyteorder("=") == wide:
        array = array.astype(wide)
    if array.dtype != wide:
        raise FrameError(
            f"frame: planes[{index}]: expected {wide} (or raw bytes), got {array.dtype}"
        )
    if array.ndim == 2 and layout.pixels[index] == wide.itemsize:
        array = array[..., None]
    try:
        return array.view(np.uint8)
    except ValueError:  # components that are not adjacent
        if laid_out:
            raise FrameError(
                f"frame: planes[{index}]: expected adjacent components where strides are given, "
                f"got strides {array.strides}",
                hint="leave strides out and the array is copied",
            ) from None
        return np.ascontiguousarray(array).view(np.uint8)


def _plane(
    plane: Any, index: int, pixel: int, size: tuple[int, int], laid_out: bool
) -> tuple[Any, int, int]:
    """A buffer and its bytes between rows and between pixels, 0 where it does not say.

    Arrays may be [rows, columns, bytes of a pixel], [rows, bytes of a row] or flat. What strides
    of one pixel in a row in memory order cannot express is copied, unless it is `laid_out` by
    strides of the caller, which count from the buffer's first byte.
    """

    def error(expected: str, got: object) -> FrameError:
        return FrameError(f"frame: planes[{index}]: expected {expected}, got {got}")

    try:
        view = memoryview(plane)
    except (TypeError, ValueError, BufferError):
        got = f"elements of {plane.dtype}" if hasattr(plane, "dtype") else type(plane).__name__
        raise error("a buffer of bytes (uint8)", got) from None
    if view.itemsize != 1 or view.format.lstrip("@=<>!") not in ("B", "c"):
        raise error("bytes (uint8)", f"elements of type '{getattr(plane, 'dtype', view.format)}'")
    shape, strides = view.shape, view.strides
    if shape is None or strides is None or not 1 <= view.ndim <= 3:
        raise error("1 to 3 dimensions", view.ndim)
    columns = view.ndim == 3 or (view.ndim == 2 and pixel == 1)  # the second one counts pixels
    width, height = size
    if view.ndim > 1 and shape[0] < height:
        raise error(f"at least {height} rows", f"an array of shape {shape}")
    if columns and shape[1] < width:
        raise error(f"at least {width} columns", f"an array of shape {shape}")
    if view.ndim == 3 and shape[2] < pixel:
        raise error(f"at least {pixel} bytes per pixel", f"an array of shape {shape}")
    row = strides[0] if view.ndim > 1 and height > 1 else 0
    step = strides[1] if columns and width > 1 else 0
    # Bytes of a row that hold pixels, as far as this buffer can tell.
    used = (width - 1) * (step or pixel) + pixel if columns else width * pixel
    adjacent = strides[-1] == 1 or shape[-1] < 2 or (columns and view.ndim == 2)
    fits = (
        adjacent
        and all(s > 0 or n < 2 for s, n in zip(strides, shape, strict=True))
        and (not step or pixel <= step <= 64)
        and (not row or row >= used)
    )
    if fits:
        return plane, row, step
    if laid_out:
        raise error(
            "rows of pixels in memory order where strides are given",
            f"strides {strides}; leave strides out and the array is copied",
        )
    array = np.asarray(view)
    if columns:
        array = array[:height, :width, :pixel] if view.ndim == 3 else array[:height, :width]
    dense = np.ascontiguousarray(array)
    return dense, dense.strides[0] if view.ndim > 1 else 0, pixel if columns else 0
