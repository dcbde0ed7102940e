"""Whole pictures in, whole pictures out: resize, convert, warp."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

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


class _Plans(threading.local):
    """The latest plans of each thread: runs of one plan would wait for each other."""

    def __init__(self) -> None:
        self.get = lru_cache(maxsize=16)(_compile)


def _compile(spec: Pipeline, layout: str, threads: int) -> Plan:
    return spec.compile(dtype="uint8", layout=layout, threads=threads)


_plans = _Plans()


def resize(
    picture: Frame | Pixels,
    size: tuple[int, int],
    *,
    sample: Any = None,
    profile: str = "exact",
    fit: Any = None,
    color: str | None = None,
    out: Pixels | None = None,
    threads: int = 1,
) -> Pixels:
    """The picture at another size: uint8 [height, width, channels], grey [height, width].

    Args:
        picture: a Frame, which comes out upright, or uint8 pixels [height, width, 3] (any order of
            channels, which stays), [height, width, 4] RGBA or [height, width].
        size: (width, height) of the result.
        sample: Bilinear() (default), Bilinear(antialias=True), Nearest(), Bicubic() ...
        profile: the numeric contract, see `Pipeline`.
        fit: Stretch() (default), Cover(), Letterbox().
        color: "rgb", "bgr", "gray", "rgba" or "bgra", see `convert`. None: grey stays grey,
            everything else becomes "rgb".
        out: receives the result: uint8, C-contiguous, of its shape, apart from the picture.
        threads: how many may work on it.

    Raises:
        ArgumentError: a picture, size, colour or `out` of the wrong kind. ShapeError: `out` has
            another shape. SpecError: what a profile does not define, or this build cannot do.
    """
    frame = _frame("resize", picture)
    spec = _spec("resize", frame, size, color, sample=sample, profile=profile, fit=fit)
    return _run("resize", frame, *spec, out, threads)


def convert(
    picture: Frame | Pixels,
    color: str,
    *,
    profile: str = "exact",
    out: Pixels | None = None,
    threads: int = 1,
) -> Pixels:
    """The whole upright picture as uint8 [height, width, channels], grey as [height, width].

    color: "rgb", "bgr", "gray", "rgba" or "bgra". Alpha of a result is 255: that of a picture is
    not read. picture, profile, out, threads and errors: as of `resize`; FrameError for YUV frames
    that do not say their matrix and range.
    """
    frame = _frame("convert", picture)
    spec = _spec("convert", frame, frame.upright_size, color, profile=profile)
    return _run("convert", frame, *spec, out, threads)


def warp(
    picture: Frame | Pixels,
    matrix: ArrayLike,
    size: tuple[int, int],
    *,
    sample: Any = None,
    profile: str = "exact",
    border: Any = None,
    color: str | None = None,
    out: Pixels | None = None,
    threads: int = 1,
) -> Pixels:
    """The picture seen through an affine or projective map: uint8 [height, width, channels], grey
    [height, width].

    Args:
        matrix: [2, 3] or [3, 3], from pixels of the result to upright pixels of the picture, in
            continuous coordinates (the first pixel's centre is at 0.5, 0.5). Of OpenCV's matrix M,
            picture to result between pixel indices: T @ inv(M) @ inv(T) with T a translation by
            0.5, 0.5.
        border: what lies outside the picture: Constant(0) (default), Constant(v), Replicate() ...
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
    spec = _spec(
        "warp",
        frame,
        size,
        color,
        sample=sample,
        profile=profile,
        fit=Matrix(tuple(full)),
        border=Constant(0) if border is None else border,
    )
    return _run("warp", frame, *spec, out, threads)


def _frame(what: str, picture: Any) -> Frame:
    if isinstance(picture, Frame):
        return picture
    if isinstance(picture, np.ndarray):
        return Frame.from_numpy(picture)
    raise ArgumentError(
        f"{what}: picture: expected a Frame or a numpy array, got {type(picture).__name__}",
        hint="Frame.from_pil and Frame.from_file make frames",
    )


def _spec(
    what: str, frame: Frame, size: Any, color: str | None, **parts: Any
) -> tuple[Pipeline, int, str]:
    """The pipeline, the result's channels and the layout that gives them."""
    from foveal.image import Pipeline

    name = (
        ("gray" if frame.format.startswith("gray") else "rgb")
        if color is None
        else str(color).lower()
    )
    if name not in _COLORS:
        raise ArgumentError(f"{what}: color: expected one of {', '.join(_COLORS)}, got {color!r}")
    pair = tuple(size) if isinstance(size, (Sequence, np.ndarray)) else ()
    if len(pair) != 2 or any(isinstance(v, (bool, str)) for v in pair):
        raise ArgumentError(f"{what}: size: expected (width, height), got {size!r}")
    order, channels, layout = _COLORS[name]
    given = {key: value for key, value in parts.items() if value is not None}
    spec = Pipeline(size=(pair[0], pair[1]), color=order, intermediate="u8", **given)
    return spec, channels, layout


def _run(
    what: str,
    frame: Frame,
    spec: Pipeline,
    channels: int,
    layout: str,
    out: Pixels | None,
    threads: int,
) -> Pixels:
    plan = _plans.get(spec, layout, threads)
    width, height = plan.size
    shape = (height, width) if channels == 1 else (height, width, channels)
    if out is None:
        out = np.empty(shape, np.uint8)
    plan.check_out(what, out, shape)
    if any(np.may_share_memory(out, np.asarray(plane)) for plane in frame.planes):
        raise ArgumentError(f"{what}: out: expected memory apart from the picture's")
    plan.run(frame, out=out.reshape(plan.shape))
    if channels == 4:
        out[..., 3] = 255
    return out
