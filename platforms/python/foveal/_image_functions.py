"""Whole pictures in, whole pictures out: resize, convert, warp."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, get_args, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from foveal._picture import Picture, open_image
from foveal.errors import ArgumentError
from foveal.frame import Frame

if TYPE_CHECKING:
    from foveal.image import Pipeline, Plan

Pixels = NDArray[np.uint8]

# colour of a result -> the pipeline's colour, channels, layout. Four channels are a block of lanes,
# of which the pipeline fills three.
_COLORS = {
    "rgb": ("RGB", 3, "nhwc"),
    "bgr": ("BGR", 3, "nhwc"),
    "gray": ("GRAY", 1, "nhwc"),
    "rgba": ("RGB", 4, "nc4hw4"),
    "bgra": ("BGR", 4, "nc4hw4"),
}
YuvFormat = Literal["nv12", "nv21", "i420", "yv12", "nv16", "nv61", "i422", "i444", "yuyv", "uyvy"]
_YUV: tuple[str, ...] = get_args(YuvFormat)


class _Plans(threading.local):
    """The latest plans of each thread: runs of one plan would wait for each other."""

    def __init__(self) -> None:
        self.get = lru_cache(maxsize=16)(_compile)


def _compile(spec: Pipeline, layout: str, threads: int) -> Plan:
    return spec.compile(dtype="uint8", layout=layout, threads=threads)


_plans = _Plans()


@overload
def resize(
    picture: Picture, size: tuple[int, int], *, sample: Any = None, profile: str = "exact",
    fit: Any = None, color: YuvFormat, to: str | None = None, out: Frame | None = None,
    threads: int = 1,
) -> Frame: ...  # fmt: skip
@overload
def resize(
    picture: Picture, size: tuple[int, int], *, sample: Any = None, profile: str = "exact",
    fit: Any = None, color: str | None = None, out: Pixels | None = None, threads: int = 1,
) -> Pixels: ...  # fmt: skip
def resize(
    picture: Picture,
    size: tuple[int, int],
    *,
    sample: Any = None,
    profile: str = "exact",
    fit: Any = None,
    color: str | None = None,
    to: str | None = None,
    out: Any = None,
    threads: int = 1,
) -> Any:
    """The picture at another size: uint8 [height, width, channels], grey [height, width].

    Args:
        picture: a Frame, which comes out upright, or pixels [height, width, 3] (any order of
            channels, which stays), [height, width, 4] RGBA or [height, width]; or a Pillow image,
            a path, a file or its bytes, which come out as EXIF says.
        size: (width, height) of the result.
        sample: Bilinear() (default), Bilinear(antialias=True), Nearest(), Bicubic() ...
        profile: the numeric contract, see `Pipeline`.
        fit: Stretch() (default), Cover(), Letterbox().
        color: "rgb", "bgr", "gray", "rgba", "bgra" or a YUV format, see `convert`. None: grey stays
            grey, everything else becomes "rgb".
        to: matrix and range of a YUV result, see `convert`.
        out: receives the result: uint8, C-contiguous, of its shape, apart from the picture; or the
            Frame of a YUV result.
        threads: how many may work on it.

    Raises:
        ArgumentError: a picture, size, colour or `out` of the wrong kind. ShapeError: `out` has
            another shape. SpecError: what a profile does not define, or this build cannot do.
    """
    frame = _frame("resize", picture)
    parts = {"sample": sample, "profile": profile, "fit": fit}
    return _run("resize", frame, size, color, to, out, threads, parts)


@overload
def convert(
    picture: Picture, color: YuvFormat, *, to: str | None = None, profile: str = "exact",
    out: Frame | None = None, threads: int = 1,
) -> Frame: ...  # fmt: skip
@overload
def convert(
    picture: Picture, color: str, *, profile: str = "exact", out: Pixels | None = None,
    threads: int = 1,
) -> Pixels: ...  # fmt: skip
def convert(
    picture: Picture,
    color: str,
    *,
    to: str | None = None,
    profile: str = "exact",
    out: Any = None,
    threads: int = 1,
) -> Any:
    """The whole upright picture as uint8 [height, width, channels], grey as [height, width].

    color: "rgb", "bgr", "gray", "rgba" or "bgra". Alpha of a result is 255: that of a picture is
    not read. Or a YUV format of 8 bits ("nv12", "nv21", "i420", "yv12", "nv16", "nv61", "i422",
    "i444", "yuyv", "uyvy"), which gives a Frame; a chroma sample is the mean of its pixels.
    to: of a YUV result: "bt601-limited", "bt709-full" ...; None is what the frame has, and an error
    for pictures that are not YUV.
    picture, profile, out, threads and errors: as of `resize`; FrameError for YUV frames that do not
    say their matrix and range.
    """
    frame = _frame("convert", picture)
    parts = {"profile": profile}
    return _run("convert", frame, frame.upright_size, color, to, out, threads, parts)


@overload
def warp(
    picture: Picture, matrix: ArrayLike, size: tuple[int, int], *, sample: Any = None,
    profile: str = "exact", border: Any = None, color: YuvFormat, to: str | None = None,
    out: Frame | None = None, threads: int = 1,
) -> Frame: ...  # fmt: skip
@overload
def warp(
    picture: Picture, matrix: ArrayLike, size: tuple[int, int], *, sample: Any = None,
    profile: str = "exact", border: Any = None, color: str | None = None, out: Pixels | None = None,
    threads: int = 1,
) -> Pixels: ...  # fmt: skip
def warp(
    picture: Picture,
    matrix: ArrayLike,
    size: tuple[int, int],
    *,
    sample: Any = None,
    profile: str = "exact",
    border: Any = None,
    color: str | None = None,
    to: str | None = None,
    out: Any = None,
    threads: int = 1,
) -> Any:
    """The picture seen through an affine or projective map: uint8 [height, width, channels], grey
    [height, width].

    Args:
        matrix: [2, 3] or [3, 3], from pixels of the result to upright pixels of the picture, in
            continuous coordinates (the first pixel's centre is at 0.5, 0.5). Of OpenCV's matrix M,
            picture to result between pixel indices: T @ inv(M) @ inv(T) with T a translation by
            0.5, 0.5.
        border: what lies outside the picture: black (default), Constant(v), Replicate() ...
        the others: as of `resize`.

    Raises what `resize` raises; SpecError for a matrix that has no inverse or is not finite.
    """
    from foveal.image import Constant, Matrix

    frame = _frame("warp", picture)
    try:
        rows = np.asarray(matrix, np.float64)
    except (TypeError, ValueError):
        rows = np.empty(0)
    if rows.shape not in ((2, 3), (3, 3)):
        raise ArgumentError(f"warp: matrix: expected numbers [2, 3] or [3, 3], got {matrix!r}")
    full = [*rows.ravel().tolist(), *((0.0, 0.0, 1.0) if len(rows) == 2 else ())]
    if border is None:
        dark = 16 if str(to or frame.color).endswith("limited") else 0
        border = Constant((dark, 128, 128) if _name(frame, color) in _YUV else 0)
    parts = {"sample": sample, "profile": profile, "fit": Matrix(tuple(full)), "border": border}
    return _run("warp", frame, size, color, to, out, threads, parts)


def _frame(what: str, picture: Picture) -> Frame:
    try:
        return open_image(picture)
    except ArgumentError as error:
        raise ArgumentError(f"{what}: picture: {error.message}", hint=error.hint) from error


def _name(frame: Frame, color: str | None) -> str:
    if color is None:
        return "gray" if frame.format.startswith("gray") else "rgb"
    return str(color).lower()


def _run(
    what: str,
    frame: Frame,
    size: Any,
    color: str | None,
    to: str | None,
    out: Any,
    threads: int,
    parts: dict[str, Any],
) -> Any:
    from foveal.image import Pipeline, Yuv

    name = _name(frame, color)
    if name not in _COLORS and name not in _YUV:
        known = ", ".join((*_COLORS, *_YUV))
        raise ArgumentError(f"{what}: color: expected one of {known}, got {color!r}")
    pair = tuple(size) if isinstance(size, (Sequence, np.ndarray)) else ()
    if len(pair) != 2 or any(isinstance(v, (bool, str)) for v in pair):
        raise ArgumentError(f"{what}: size: expected (width, height), got {size!r}")
    given = {key: value for key, value in parts.items() if value is not None}
    if name in _YUV:
        spec = Pipeline(size=(pair[0], pair[1]), color="YUV", yuv=Yuv(to=to or "frame"), **given)
        return _run_yuv(what, frame, spec, name, to, out, threads)
    if to is not None:
        raise ArgumentError(f"{what}: to: belongs to YUV results, got it with color '{name}'")
    order, channels, layout = _COLORS[name]
    spec = Pipeline(size=(pair[0], pair[1]), color=order, intermediate="u8", **given)
    plan = _plans.get(spec, layout, threads)
    width, height = plan.size
    shape = (height, width) if channels == 1 else (height, width, channels)
    if out is None:
        out = np.empty(shape, np.uint8)
    plan.check_out(what, out, shape)
    _check_apart(what, frame, [out])
    plan.run(frame, out=out.reshape(plan.shape))
    if channels == 4:
        out[..., 3] = 255
    return out


def _run_yuv(
    what: str, frame: Frame, spec: Pipeline, name: str, to: str | None, out: Any, threads: int
) -> Frame:
    if to is None and frame.format not in (*_YUV, "p010", "i010"):
        raise ArgumentError(
            f"{what}: to: expected matrix and range of the result: {frame.format} has none",
            hint='for example to="bt709-limited" for video, "bt601-full" for JPEG',
        )
    plan = _plans.get(spec, "nchw", threads)
    width, height = plan.size
    if out is not None and (not isinstance(out, Frame) or out.format != name):
        raise ArgumentError(f"{what}: out: expected a Frame of {name}, got {out!r:.60}")
    made: Frame | None = out
    if made is None:
        made = Frame.empty(name, width, height, color=to or frame.color, siting="center")
    _check_apart(what, frame, made.planes)
    plan.run(frame, out=made)
    return made


def _check_apart(what: str, frame: Frame, written: Sequence[Any]) -> None:
    if any(
        np.may_share_memory(np.asarray(a), np.asarray(b)) for a in written for b in frame.planes
    ):
        raise ArgumentError(f"{what}: out: expected memory apart from the picture's")
