"""The image pipeline: frames to tensors, model outputs to frame coordinates.

spec = Pipeline(size=(320, 320), fit=Letterbox(), norm=Norm(scale=1 / 255))
plan = spec.compile(dtype="float32", layout="nchw")
out = numpy.empty(plan.shape, plan.dtype)
transform = plan.run(frame, out=out)
boxes = transform.to_frame(boxes_in_the_tensor)

Whole pictures: resize(frame, (640, 480)), convert(frame, "bgr"), warp(frame, matrix, (224, 224)).

A plan for `session.inputs[0]` needs no `out`: it writes the memory that `session.run()` reads.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from foveal import _core
from foveal._decoder import Decoder, Detection, Detections, Symbols
from foveal._image_functions import convert, resize, warp
from foveal._plan_arguments import (
    LAYOUTS,
    dtype_name,
    guess_layout,
    open_shape,
    plan_size,
    quantization,
    size_in,
    target,
)
from foveal._roi import Quad, Rect, RoiRule, RotatedRect, roi_values
from foveal._transform import Transform, json_text, plain
from foveal.draw import (
    draw,
    draw_box,
    draw_circle,
    draw_label,
    draw_line,
    draw_mask,
    draw_point,
    draw_polyline,
    draw_rotated_box,
    draw_text,
    fill_box,
    fill_polygon,
    fill_rotated_box,
)
from foveal.errors import ArgumentError, ShapeError, SpecError
from foveal.frame import Frame

__all__ = [
    "Area",
    "Bicubic",
    "Bilinear",
    "Constant",
    "ConstantHard",
    "Cover",
    "Crop",
    "Decoder",
    "Detection",
    "Detections",
    "Lanczos3",
    "Letterbox",
    "Matrix",
    "Nearest",
    "Norm",
    "Pipeline",
    "Plan",
    "Quad",
    "Rect",
    "Reflect101",
    "Replicate",
    "RoiRule",
    "RotatedRect",
    "Sides",
    "Stretch",
    "Strip",
    "Symbols",
    "Transform",
    "Yuv",
    "convert",
    "draw",
    "draw_box",
    "draw_circle",
    "draw_label",
    "draw_line",
    "draw_mask",
    "draw_point",
    "draw_polyline",
    "draw_rotated_box",
    "draw_text",
    "fill_box",
    "fill_polygon",
    "fill_rotated_box",
    "resize",
    "warp",
]

Levels = float | Sequence[float]
"""One number, or one per channel in the order of `color`; 0..255."""

Array = NDArray[Any]


class _Part:
    """A frozen dataclass that is one object of the spec."""

    k: ClassVar[str] = ""

    def to_spec(self) -> dict[str, Any]:
        """The object as it stands in the spec."""
        own = {n: plain(v) for n, v in asdict(self).items()}  # type: ignore[call-overload]
        return {"k": self.k, **own} if self.k else own


@dataclass(frozen=True)
class Sides(_Part):
    """A tensor of the region's aspect, both sides a multiple of a number.

    The region is scaled up until its short side is `min`, then down until its long side is `max`,
    and each side rounded to the nearest `multiple` (at least one, at most what `max` holds).
    """

    k: ClassVar[str] = "sides"
    min: int
    max: int
    multiple: int = 1


@dataclass(frozen=True)
class Strip(_Part):
    """A tensor of a fixed height, as wide as the region's aspect asks for.

    The width is rounded up to the next `multiple` and kept within `width` = (least, most).
    """

    k: ClassVar[str] = "strip"
    height: int
    width: tuple[int, int]
    multiple: int = 1


@dataclass(frozen=True)
class Stretch(_Part):
    """The region fills the tensor, whatever its aspect."""

    k: ClassVar[str] = "stretch"


@dataclass(frozen=True)
class Letterbox(_Part):
    """The whole region, aspect kept, bars around it.

    policy: "ultralytics" (rounded size, centred), "yolox" (truncated size, top-left), "paddleocr"
    (size rounded up, top-left), "mediapipe" (exact; the bars come from the pipeline's border).
    pad: colour of the bars.
    """

    k: ClassVar[str] = "letterbox"
    pad: Levels | None = None
    policy: str = "ultralytics"

    def to_spec(self) -> dict[str, Any]:
        own = super().to_spec()
        if self.pad is None:  # the spec's default depends on the policy
            del own["pad"]
        return own


@dataclass(frozen=True)
class Cover(_Part):
    """The largest centred part of the region that has the tensor's aspect."""

    k: ClassVar[str] = "cover"


@dataclass(frozen=True)
class Crop(_Part):
    """The region resized, then the tensor cut from its middle, to the pixel as others do it.

    resize: the short side of the resized picture (the long one is truncated), or its (width,
    height); at least the tensor's. policy, how the rest is halved: "torchvision" (half to even),
    "huggingface" (down); or "opencv" (blobFromImage with crop: the picture covers the tensor,
    resized by the factor, and there is no `resize`).
    """

    k: ClassVar[str] = "crop"
    resize: int | tuple[int, int] | None = None
    policy: str = "torchvision"

    def to_spec(self) -> dict[str, Any]:
        own = super().to_spec()
        if self.resize is None:
            del own["resize"]
        return own


@dataclass(frozen=True)
class Matrix(_Part):
    """A 3x3 map from tensor pixels to upright frame pixels, continuous coordinates, row-major."""

    k: ClassVar[str] = "matrix"
    m: Sequence[float] = (1, 0, 0, 0, 1, 0, 0, 0, 1)

    def to_spec(self) -> dict[str, Any]:
        try:
            return {"k": self.k, "m": np.asarray(self.m, np.float64).ravel().tolist()}
        except (TypeError, ValueError) as error:
            raise SpecError(f'pipeline spec: fit: key "m": expected 9 numbers: {error}') from None


@dataclass(frozen=True)
class Nearest(_Part):
    """The pixel that holds the sample point. grid: "half_pixel", "align_corners", "asymmetric"."""

    k: ClassVar[str] = "nearest"
    grid: str = "half_pixel"


@dataclass(frozen=True)
class Bilinear(_Part):
    """Four taps, or the triangle filter over all source pixels when antialias is set. Of regions
    that are turned, a smaller picture is made with that filter first."""

    k: ClassVar[str] = "bilinear"
    antialias: bool = False
    grid: str = "half_pixel"


@dataclass(frozen=True)
class Bicubic(_Part):
    """Cubic convolution with parameter a."""

    k: ClassVar[str] = "bicubic"
    a: float = -0.5
    antialias: bool = False
    grid: str = "half_pixel"


@dataclass(frozen=True)
class Lanczos3(_Part):
    """Windowed sinc of radius 3."""

    k: ClassVar[str] = "lanczos3"
    antialias: bool = False
    grid: str = "half_pixel"


@dataclass(frozen=True)
class Area(_Part):
    """Mean over the covered source area."""

    k: ClassVar[str] = "area"


@dataclass(frozen=True)
class Replicate(_Part):
    """Outside the frame: its nearest pixel."""

    k: ClassVar[str] = "replicate"


@dataclass(frozen=True)
class Constant(_Part):
    """Outside the frame: a colour, blended tap by tap."""

    k: ClassVar[str] = "constant"
    v: Levels = 0


@dataclass(frozen=True)
class ConstantHard(_Part):
    """Outside the frame: a colour, where the sampled point itself lies outside; no blending."""

    k: ClassVar[str] = "constant_hard"
    v: Levels = 0


@dataclass(frozen=True)
class Reflect101(_Part):
    """Outside the frame: its pixels, mirrored about the centres of the outermost ones."""

    k: ClassVar[str] = "reflect101"


@dataclass(frozen=True)
class Yuv(_Part):
    """How yuv frames become RGB; "frame" = what the frame says.

    to: of color "YUV" only: what the tensor's Y, U and V are, "bt601-limited", "bt709-full" ..., or
    "frame", the frame's own numbers.
    """

    matrix: str = "frame"
    range: str = "frame"
    chroma: str = "replicate"
    siting: str = "frame"
    to: str | None = None

    def to_spec(self) -> dict[str, Any]:
        return {key: value for key, value in super().to_spec().items() if value is not None}


@dataclass(frozen=True)
class Norm(_Part):
    """y = (x * scale - mean) / std, x in 0..255; mean and std per channel of `color`."""

    scale: float = 1.0
    mean: Levels = 0.0
    std: Levels = 1.0


_FITS: dict[str, type[_Part]] = {c.k: c for c in (Stretch, Letterbox, Cover, Crop, Matrix)}
_SAMPLES: dict[str, type[_Part]] = {c.k: c for c in (Nearest, Bilinear, Bicubic, Lanczos3, Area)}
_BORDERS: dict[str, type[_Part]] = {c.k: c for c in (Replicate, Constant, ConstantHard, Reflect101)}
_PARTS = {"fit": _FITS, "sample": _SAMPLES, "border": _BORDERS}


def _levels(value: Any) -> Any:
    """Numbers per channel of the canonical text as the fields hold them: one if all are equal."""
    if len(set(value)) == 1:
        return float(value[0])
    return tuple(float(v) for v in value)


def _part(kinds: Mapping[str, type[_Part]], value: Mapping[str, Any]) -> Any:
    own = {n: _levels(v) if n in ("pad", "v") else v for n, v in value.items() if n != "k"}
    if isinstance(own.get("resize"), list):
        own["resize"] = tuple(own["resize"])
    if "m" in own:
        own["m"] = tuple(float(v) for v in own["m"])
    kind = kinds.get(value["k"])
    if kind is None:
        raise SpecError(f"pipeline spec: '{value['k']}' has no counterpart in foveal.image")
    return kind(**own)


@dataclass(frozen=True)
class Pipeline:
    """What a model wants to see. Immutable; travels in the model file as JSON.

    size: (width, height) of the tensor, or how it follows from the region: Sides, Strip.
    color: "RGB", "BGR", "GRAY" or "YUV" (see `Yuv.to`). orient: "frame" (apply the frame's
    rotation and mirror), "none", or degrees. roi: "full", or "per_call" (given to `run`).
    profile: the numeric contract, "exact" or "fast"; "torch" (with intermediate "u8" the bytes it
    makes of uint8 tensors); with intermediate "u8" "cv2" or "cv2_4" for the bytes of OpenCV 5 or 4,
    "pillow" or "pillow_12" for those of Pillow from 13 on or before. intermediate: "f32", or "u8"
    to round to whole numbers before the normalisation.

    Fields hold canonical values, e.g. one number where all channels have the same: pipelines that
    mean the same are equal and have equal hashes.

    Raises SpecError, naming the key, for anything the specification does not know.
    """

    size: tuple[int, int] | Sides | Strip
    color: str = "RGB"
    orient: str | int = "frame"
    roi: str = "full"
    fit: Stretch | Letterbox | Cover | Crop | Matrix = field(default_factory=Stretch)
    sample: Nearest | Bilinear | Bicubic | Lanczos3 | Area = field(default_factory=Bilinear)
    profile: str = "exact"
    border: Replicate | Constant | ConstantHard | Reflect101 = field(default_factory=Replicate)
    yuv: Yuv = field(default_factory=Yuv)
    norm: Norm = field(default_factory=Norm)
    intermediate: str = "f32"

    def __post_init__(self) -> None:
        parts = ['"imgproc": 1']
        for name, value in vars(self).items():
            if name in _PARTS and not isinstance(value, (_Part, Mapping)):
                kinds = ", ".join(f"{kind.__name__}()" for kind in _PARTS[name].values())
                raise SpecError(
                    f'pipeline spec: key "{name}": expected one of {kinds}, got {value!r}'
                )
            try:
                said = value.to_spec() if isinstance(value, _Part) else plain(value)
                parts.append(f'"{name}": {json.dumps(said, allow_nan=False)}')
            except SpecError:
                raise
            except (TypeError, ValueError, RecursionError):
                raise SpecError(
                    f'pipeline spec: key "{name}": expected finite numbers, text or a part that '
                    f"foveal.image makes, got {value!r}"
                ) from None
        spec = _core.ImageSpec("{" + ", ".join(parts) + "}")
        object.__setattr__(self, "_spec", spec)
        for name, value in _fields(spec.json).items():
            object.__setattr__(self, name, value)

    def __reduce__(self) -> Any:
        return Pipeline.from_json, (self.json(),)

    def json(self) -> str:
        """The canonical text: equal pipelines give equal text."""
        return str(self._spec.json)  # type: ignore[attr-defined]

    def digest(self) -> str:
        """SHA-256 of the canonical text, hexadecimal."""
        return str(self._spec.digest)  # type: ignore[attr-defined]

    @classmethod
    def from_json(cls, text: str) -> Pipeline:
        """The pipeline a specification describes. Raises SpecError."""
        return cls(**_fields(_core.ImageSpec(json_text("pipeline spec", text)).json))

    def size_for(self, frame: Frame, roi: Any = None) -> tuple[int, int]:
        """(width, height) of the tensor for this frame and region, whatever the kind of `size`.

        Takes what `Plan.run` takes and raises what it raises: FrameError, ArgumentError.
        """
        handle = _frame_handle("size_for", frame)
        width, height = self._spec.size_for(handle, roi_values(roi))  # type: ignore[attr-defined]
        return int(width), int(height)

    def compile(
        self,
        tensor: Any = None,
        *,
        size: tuple[int, int] | None = None,
        dtype: DTypeLike | None = None,
        layout: str = "auto",
        shape: Sequence[int | str | None] | None = None,
        threads: int = 1,
        quantize: tuple[float, int] | None = None,
    ) -> Plan:
        """Prepares the pipeline for one tensor.

        Args:
            tensor: gives dtype, shape and quantisation. An input of a session
                (`session.inputs[0]`), or the Session of a model with one input: then `run` writes
                that input's own memory unless told `out`, and gives open dimensions the pipeline's
                size. Or an input of a Model, which only describes.
            size: (width, height) of the tensor, e.g. from `size_for`. Needed when the pipeline's
                size is Sides or Strip and neither tensor nor shape says it; a plan has one size.
            dtype: "float32" (default), "float16", "bfloat16" (a uint16 array of its bits),
                "uint8", "int8" or "int16" (rounded half to even, saturated), as text or as numpy's
                type.
            layout: "nchw", "nhwc", "nc4hw4", "nc8hw8", "nc16hw16"; "auto" decides by the shape
                (nchw without one).
            shape: four dimensions in that layout's order (NCHW for the blocked ones); None, names
                and -1 are filled in.
            threads: how many threads a run may use. The result does not depend on it.
            quantize: (scale, zero_point) of a uint8, int8 or int16 tensor, which then holds
                clamp(round(y / scale) + zero_point), y being what the pipeline's norm makes.
                Without it the tensor's own, and (1, 0) where that has none.

        Raises:
            ArgumentError: an argument of the wrong type; a size that nothing says.
            ShapeError: the pipeline's size and channels do not fit the tensor.
            SpecError: something this build cannot do exactly as specified; it says what.
        """
        tensor, session = target(tensor)
        element = None if dtype is None else dtype_name(dtype)
        if tensor is not None:
            if session is not None and element not in (None, str(tensor.dtype)):
                raise ArgumentError(
                    f"compile: dtype: the session's input '{tensor.name}' is {tensor.dtype}, "
                    f"got {element}"
                )
            element = element or str(tensor.dtype)
            shape = tensor.shape if shape is None else shape
            if element == str(tensor.dtype) and quantize is None:
                quantize = getattr(tensor, "quantization", None)
        element = element or "float32"
        shape = None if shape is None else open_shape(shape)
        if isinstance(threads, bool) or not isinstance(threads, (int, np.integer)):
            raise ArgumentError(f"compile: threads: expected a whole number, got {threads!r}")
        if not 0 <= threads <= 64:
            raise ArgumentError(f"compile: threads: expected 0 (as 1) to 64, got {threads}")
        channels = 1 if self.color == "GRAY" else 3
        wanted = plan_size(self.size, size)
        name = str(layout).lower()
        if name == "auto":
            name = guess_layout(shape, channels, wanted)
        order, block = LAYOUTS.get(name, (-1, 0))
        if order < 0:
            raise ArgumentError(f"layout: expected auto, {', '.join(LAYOUTS)}, got '{layout}'")
        scale, zero_point = quantization(quantize)
        width, height = wanted or size_in(shape, order)
        full: tuple[int, ...] = (1, channels, height, width)
        if order == 1:
            full = (1, height, width, channels)
        if block and session is not None:
            raise ArgumentError(
                f"compile: layout: a session's input is nchw or nhwc, got '{layout}'"
            )
        known = list(full) if shape is None or len(shape) == 4 else [-1] * len(shape)
        dims = [
            d if isinstance(d, int) else k
            for d, k in zip(known if shape is None else shape, known, strict=True)
        ]
        core = self._spec.compile(  # type: ignore[attr-defined]
            element, order, block, dims, int(threads), scale, zero_point
        )
        if block:
            full = (1, -(-channels // block), height, width, block)
        own = None if session is None else (session, str(tensor.name))
        held = np.dtype("uint16" if element == "bfloat16" else element)
        return Plan(self, core, held, full, (width, height), own)


def _fields(text: str) -> dict[str, Any]:
    """The fields of the pipeline that a canonical text describes."""
    d = json.loads(text)
    norm = d["norm"]
    return {
        "size": _size_field(d["size"]),
        "color": d["color"],
        "orient": d["orient"],
        "roi": d["roi"],
        "profile": d["profile"],
        **{name: _part(kinds, d[name]) for name, kinds in _PARTS.items()},
        "yuv": Yuv(**d["yuv"]),
        "norm": Norm(float(norm["scale"]), _levels(norm["mean"]), _levels(norm["std"])),
        "intermediate": d["intermediate"],
    }


def _size_field(size: Any) -> tuple[int, int] | Sides | Strip:
    """The field that a canonical size describes."""
    if isinstance(size, list):
        return int(size[0]), int(size[1])
    multiple = int(size["multiple"])
    if size["k"] == Sides.k:
        return Sides(int(size["min"]), int(size["max"]), multiple)
    least, most = size["width"]
    return Strip(int(size["height"]), (int(least), int(most)), multiple)


def _frame_handle(what: str, frame: Any) -> Any:
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
        handle, region = _frame_handle("run", frame), roi_values(roi)
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
        return out, self._run_batch(_frame_handle("run", frame), regions, out)

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
