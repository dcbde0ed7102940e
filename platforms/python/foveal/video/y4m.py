"""Y4M, the format of uncompressed video (YUV4MPEG2): a line of text, then "FRAME" and planes.

8-bit 4:2:0 and grey are read and 4:2:0 is written, so that frames go in and out without a codec
and without a change. https://wiki.multimedia.cx/index.php/YUV4MPEG2 describes the format.
"""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from foveal.errors import FrameError
from foveal.frame import Frame

MAGIC = b"YUV4MPEG2 "
_LINE = 1024  # bytes of a header line at most
_LARGEST = 32768  # pixels of a side, as Frame allows
_FORMATS = {"420": "i420", "420jpeg": "i420", "420mpeg2": "i420", "420paldv": "i420"}
_FORMATS |= {"mono": "gray"}

# Rows: Y, Cb, Cr of BT.601, full-range RGB -> limited range, per 1/255.
_TO_YUV = (
    np.array([[65.481, 128.553, 24.966], [-37.797, -74.203, 112.0], [112.0, -93.786, -18.214]])
    / 255
).astype(np.float32)


class Unsupported(Exception):
    """A Y4M file of another pixel format (10 bits, 4:2:2 ...): the text says which."""


class Y4mSource:
    """Reads frames as "i420" or "gray"; the file is closed by `close`.

    Raises FrameError for a header that is none and a file that ends within a frame, `Unsupported`
    for other pixel formats, OSError for a file that cannot be read.
    """

    live = False

    def __init__(self, path: Path, name: str) -> None:
        self.name = name
        self._file: BinaryIO = path.open("rb")
        try:
            self._open()
        except BaseException:
            self._file.close()
            raise

    def _open(self) -> None:
        width, height, rate, format, range_ = _header(self.name, self._line())
        self.size: tuple[int, int] | None = (width, height)
        self.fps: float | None = float(rate) if rate else None
        self._format = format
        self._color = f"bt601-{range_}"
        sides = [(width, height)]
        if format == "i420":
            sides += [((width + 1) // 2, (height + 1) // 2)] * 2
        self._planes = [w * h for w, h in sides]
        self._length = sum(self._planes)
        self._index = 0
        self._left = os.fstat(self._file.fileno()).st_size - self._file.tell()
        # Exact as long as no frame has parameters of its own, and hardly any file's have.
        frames, rest = divmod(self._left, self._length + len(b"FRAME\n"))
        self.count: int | None = frames if not rest else None
        if not self._left:
            raise FrameError(f"{self.name}: the video has no frames")

    def _line(self) -> bytes:
        return self._file.readline(_LINE + 1)

    def read(self) -> Frame | None:
        """The next frame; None at the end."""
        line = self._line()
        if not line:
            return None
        damaged = f"{self.name}: frame {self._index}: the file is damaged:"
        if not (line.startswith(b"FRAME") and line.endswith(b"\n") and line[5:6] in b" \n"):
            raise FrameError(f"{damaged} expected FRAME, got {line[:20]!r}")
        left = self._left = self._left - len(line)
        data = self._file.read(self._length) if left >= self._length else b""
        if len(data) != self._length:
            raise FrameError(f"{damaged} expected {self._length} bytes of pixels, got {left}")
        self._left -= self._length
        assert self.size is not None
        view, planes = memoryview(data), []
        for length in self._planes:
            planes.append(view[:length])
            view = view[length:]
        frame = Frame(
            format=self._format,
            width=self.size[0],
            height=self.size[1],
            planes=planes,
            color=self._color,
        )
        index = self._index
        self._index += 1
        return frame.stamped(index, index / self.fps if self.fps else None)

    def close(self) -> None:
        self._file.close()


def _header(name: str, line: bytes) -> tuple[int, int, Fraction | None, str, str]:
    """Width, height, frames per second (None if unknown), pixel format and range."""
    if not (line.startswith(MAGIC) and line.endswith(b"\n")):
        raise FrameError(f"{name}: expected a Y4M video, got {line[:20]!r}")
    values = {part[:1]: part[1:] for part in line.decode("latin-1").split()[1:] if part[0] != "X"}
    sides = []
    for key, what in (("W", "width"), ("H", "height")):
        text = values.get(key, "")
        side = int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else 0
        if not 1 <= side <= _LARGEST:
            raise FrameError(f"{name}: {what}: expected 1 to {_LARGEST}, got '{text}'")
        sides.append(side)
    pixels = values.get("C", "420")
    if pixels not in _FORMATS:
        raise Unsupported(pixels)
    above, _, below = values.get("F", "").partition(":")
    digits = all(t.isascii() and t.isdecimal() and len(t) < 10 for t in (above, below))
    rate = Fraction(int(above), int(below)) if digits and int(above) and int(below) else None
    range_ = "full" if b"XCOLORRANGE=FULL" in line else "limited"
    return sides[0], sides[1], rate, _FORMATS[pixels], range_


class Y4mEncoder:
    """Writes RGB pictures of one size as 4:2:0, BT.601, limited range. OSError as `open`."""

    def __init__(self, path: Path, size: tuple[int, int], fps: float) -> None:
        rate = Fraction(fps).limit_denominator(1001)
        self._file: BinaryIO = path.open("wb")
        header = f"W{size[0]} H{size[1]} F{rate.numerator}:{rate.denominator} Ip A1:1 C420jpeg"
        self._file.write(MAGIC + header.encode() + b" XCOLORRANGE=LIMITED\n")

    def write(self, rgb: NDArray[np.uint8]) -> None:
        """One picture, uint8 [height, width, 3]."""
        self._file.write(b"FRAME\n")
        for plane in planes_from_rgb(rgb):
            self._file.write(plane.tobytes())

    def close(self) -> None:
        self._file.close()


def planes_from_rgb(rgb: NDArray[np.uint8]) -> list[NDArray[np.uint8]]:
    """The planes Y [h, w], Cb and Cr [ceil(h/2), ceil(w/2)] of RGB [h, w, 3]. Chroma is the mean
    of its 2 x 2 pixels; at odd sides the last row or column counts twice."""
    yuv = rgb.astype(np.float32) @ _TO_YUV.T + np.array([16, 128, 128], np.float32)
    height, width = rgb.shape[:2]
    chroma = np.pad(yuv[..., 1:], ((0, height % 2), (0, width % 2), (0, 0)), mode="edge")
    half = (chroma[::2, ::2] + chroma[1::2, ::2] + chroma[::2, 1::2] + chroma[1::2, 1::2]) / 4
    planes = (yuv[..., 0], half[..., 0], half[..., 1])
    return [np.rint(plane).astype(np.uint8) for plane in planes]
