"""libyuv through ctypes: its own row functions up to float planes."""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foveal.bench.imgproc.cases import PAD, Case, Picture
from foveal.bench.imgproc.peers.peer import Peer, Prepared
from foveal.errors import NotFoundError, UnsupportedOpError

_BILINEAR = 2  # of its FilterMode
_TO_ARGB = {"nv12": "NV12ToARGB", "rgb": "RAWToARGB"}  # its ARGB is B, G, R, A in memory


class LibYuv(Peer):
    name = "libyuv"
    package = ""

    def version(self) -> str:
        _library()
        return "shared library"

    def prepare(self, case: Case, pictures: Sequence[Picture], threads: int) -> Prepared | None:
        """One thread: the library has none."""
        if case.turned or case.antialias:
            return None
        if case.pixels:
            return _to_pixels(case, pictures)
        call = _Calls(_library())
        argb = np.empty((case.height, case.width, 4), np.uint8)
        turned = np.empty((case.crop, case.crop, 4), np.uint8)
        left, top, width, height = case.inner
        small = np.empty((height, width, 4), np.uint8)
        planes = np.empty((4, height, width), np.uint8)
        out = np.empty((1, 3, case.size[1], case.size[0]), np.float32)
        convert = _TO_ARGB.get(case.format)
        how = [convert] if convert else []
        how += ["ARGBRotate"] * bool(case.rotation)
        how += ["ARGBScale", "SplitARGBPlane", "ByteToFloat"]

        def run(i: int) -> NDArray[np.float32]:
            pixels = pictures[i].planes[0]
            if convert:
                call(convert, *pictures[i].planes, argb, case.width, case.height)
                pixels = argb
            if case.crop:
                x, y = (case.width - case.crop) // 2, (case.height - case.crop) // 2
                pixels = pixels[y : y + case.crop, x : x + case.crop]
            if case.rotation:
                call("ARGBRotate", pixels, turned, case.crop, case.crop, case.rotation)
                pixels = turned
            source = (pixels, pixels.shape[1], pixels.shape[0])
            call("ARGBScale", *source, small, width, height, _BILINEAR)
            call("SplitARGBPlane", small, *planes, width, height)
            if case.letterbox:
                out.fill(PAD / 255)
            for c in range(3):
                call.floats(planes[c], out[0, c, top : top + height, left : left + width])
            return out

        return Prepared(run, ", ".join(how))


def _to_pixels(case: Case, pictures: Sequence[Picture]) -> Prepared:
    call = _Calls(_library())
    out = np.empty((case.height, case.width, 3), np.uint8)

    def run(i: int) -> NDArray[np.uint8]:
        call("NV21ToRAW", *pictures[i].planes, out, case.width, case.height)
        return out

    return Prepared(run, "NV21ToRAW")


class _Calls:
    """Functions by name; an array becomes its address and the bytes between its rows."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def __call__(self, name: str, *arguments: Any) -> None:
        flat: list[Any] = []
        for one in arguments:
            if isinstance(one, np.ndarray):
                flat += [ctypes.c_void_p(one.ctypes.data), ctypes.c_int(one.strides[0])]
            else:
                flat.append(ctypes.c_int(one))
        if getattr(self._library, name)(*flat):
            raise UnsupportedOpError(f"libyuv: {name} failed")

    def floats(self, plane: NDArray[np.uint8], out: NDArray[np.float32]) -> None:
        """x / 255, row by row where the result has bars."""
        whole = out.flags.c_contiguous
        rows = [(plane, out)] if whole else list(zip(plane, out, strict=True))
        for source, target in rows:
            self._library.ByteToFloat(
                ctypes.c_void_p(source.ctypes.data),
                ctypes.c_void_p(target.ctypes.data),
                ctypes.c_float(1 / 255),
                ctypes.c_int(source.size),
            )


def _library() -> ctypes.CDLL:
    for name in (ctypes.util.find_library("yuv"), "libyuv.so.0", "libyuv.so"):
        try:
            if name:
                return ctypes.CDLL(name)
        except OSError:
            continue
    raise NotFoundError(
        "bench: libyuv is not installed",
        hint="install the system's package: apt-get install libyuv0, brew install libyuv",
    )
