"""`Plan`, which `foveal.image` publishes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from foveal._roi import roi_values
from foveal._transform import Transform
from foveal.errors import ArgumentError, ShapeError
from foveal.frame import Frame

if TYPE_CHECKING:
    from foveal.image import Pipeline

Array = NDArray[Any]


def frame_handle(what: str, frame: Any) -> Any:
    if not isinstance(frame, Frame):
        raise ArgumentError(
            f"{what}: expected a Frame, got {type(frame).__name__}",
            hint="Frame.from_numpy, Frame.from_pil and Frame.from_file make one",
        )
    return frame._handle


class Plan:
    """A compiled pipeline. Threads may share it: its runs take turns.

    Attributes:
        spec: the pipeline. shape, dtype: of the array that `run` writes. size: its (width, height).
    """

    def __init__(
        self,
        spec: Pipeline,
        core: Any,
        dtype: np.dtype[Any],
        shape: tuple[int, ...],
        size: tuple[int, int],
        target: tuple[Any, str] | None = None,
    ) -> None:
        self._target = target  # the session and the name of its input
        self.spec = spec
        self.shape = shape
        self.size = size
        self.dtype = dtype
        self._core = core

    def __repr__(self) -> str:
        width, height = self.size
        target = "" if self._target is None else f" -> input '{self._target[1]}'"
        return f"Plan({width}x{height} {self.spec.color}, {self.dtype} {self.shape}{target})"

    @overload
    def run(self, frame: Frame, roi: Any = None, out: Array | Frame | None = None) -> Transform: ...

    @overload
    def run(
        self, frame: Frame, *, rois: Sequence[Any], out: Array | None = None
    ) -> list[Transform]: ...

    def run(
        self,
        frame: Frame,
        roi: Any = None,
        out: Array | Frame | None = None,
        rois: Sequence[Any] | None = None,
    ) -> Transform | list[Transform]:
        """Writes the tensor of `frame` and returns what was done.

        roi: Rect, RotatedRect, Quad, or 4 (x0, y0, x1, y1), 5 (cx, cy, w, h, degrees) or 8
        numbers, in upright pixels; needed exactly when the spec says "per_call".
        rois: several of them (at most 4096), at once: `out` has one tensor for each along its first
        dimension, and what was done comes as a list. A region that is refused leaves all of `out`
        as it was.
        out: C-contiguous, writable array of this plan's dtype and shape (leading dimensions of 1
        may be missing, and one flat dimension will do), e.g. `session.input_view(name)`. None:
        the input that the plan was compiled for, resized if need be; then `session.run()` runs
        on it. Threads that share the session hold `session.lock` around the two.
        Or a Frame of the plan's size in a YUV format of 8 bits, whose planes are written; the
        plan then is one of color "YUV" and dtype uint8, without norm.

        Raises FrameError (frame or ROI), ArgumentError (out, missing ROI), ShapeError (out).
        """
        handle, region = frame_handle("run", frame), roi_values(roi)
        if rois is not None:
            return self._run_batch(handle, _regions(roi, rois), out)
        if isinstance(out, Frame):
            return Transform(self._core.run_picture(handle, region, out._handle))
        if out is not None:
            self.check_out("run", out, self.shape)
            return Transform(self._core.run(handle, region, out))
        if self._target is None:
            raise ArgumentError(
                "run: out: expected an array to write to, got None",
                hint="pass out=array, or compile the pipeline for one of session.inputs",
            )
        session, name = self._target
        with session.lock:
            view = session.input_view(name, self.shape)
            return Transform(self._core.run(handle, region, view))

    def _run_batch(self, handle: Any, regions: list[Any], out: Any) -> list[Transform]:
        shape = (len(regions), *self.shape[1:])
        if out is not None:
            self.check_out("run", out, shape)
            made = self._core.run_batch(handle, regions, out) if regions else []
            return [Transform(one) for one in made]
        if self._target is None or not regions:
            raise ArgumentError(
                f"run: out: expected an array of shape {shape} to write to, got None"
            )
        session, name = self._target
        with session.lock:
            view = session.input_view(name, shape)
            return [Transform(one) for one in self._core.run_batch(handle, regions, view)]

    def check_out(self, what: str, out: Any, shape: tuple[int, ...]) -> None:
        """Raises ArgumentError or ShapeError, in the name of `what`, unless `out` is an array of
        this plan's dtype and that shape which it can write to."""
        if not isinstance(out, np.ndarray):
            raise ArgumentError(f"{what}: out: expected a numpy array, got {type(out).__name__}")
        if out.dtype != self.dtype or not out.dtype.isnative:
            raise ArgumentError(f"{what}: out: expected dtype {self.dtype}, got {out.dtype}")
        if not (out.ndim == 1 and out.size == int(np.prod(shape))) and (
            _without_ones(out.shape) != _without_ones(shape)
        ):
            raise ShapeError(f"{what}: out: expected shape {shape}, got {out.shape}")
        flags = out.flags
        if not (flags.c_contiguous and flags.writeable and flags.aligned):
            raise ArgumentError(
                f"{what}: out: expected a C-contiguous, aligned, writable array, got one with "
                f"strides {out.strides}{'' if flags.writeable else ', read-only'}"
                f"{'' if flags.aligned else ', not aligned'}"
            )

    @overload
    def __call__(self, frame: Frame, roi: Any = None) -> tuple[Array, Transform]: ...

    @overload
    def __call__(self, frame: Frame, *, rois: Sequence[Any]) -> tuple[Array, list[Transform]]: ...

    def __call__(
        self, frame: Frame, roi: Any = None, rois: Sequence[Any] | None = None
    ) -> tuple[Array, Transform | list[Transform]]:
        """A new array and its transform; of `rois`, see `run`, an array [n, ...] and a list."""
        if rois is None:
            out = np.empty(self.shape, self.dtype)
            return out, self.run(frame, roi, out)
        regions = _regions(roi, rois)
        out = np.empty((len(regions), *self.shape[1:]), self.dtype)
        return out, self._run_batch(frame_handle("run", frame), regions, out)

    def explain(self) -> str:
        """Chosen kernels and geometry, as text. The plan is final once a frame has been seen."""
        return str(self._core.explain())


def _regions(roi: Any, rois: Any) -> list[Any]:
    """The regions of a batch as the core takes them."""
    if roi is not None:
        raise ArgumentError("run: expected roi or rois, got both")
    if isinstance(rois, (str, bytes)) or not np.iterable(rois):
        raise ArgumentError(f"run: rois: expected a sequence of regions, got {rois!r}")
    regions = [roi_values(one) for one in rois]
    if None in regions:
        raise ArgumentError("run: rois: expected regions, got None among them")
    return regions


def _without_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape without its leading dimensions of 1."""
    first = next((i for i, d in enumerate(shape) if d != 1), len(shape))
    return shape[first:]
