"""The image pipeline: frames to tensors, model outputs to frame coordinates.

spec = Pipeline(size=(320, 320), fit=Letterbox(), norm=Norm(scale=1 / 255))
plan = spec.compile(dtype="float32", layout="nchw")
out = numpy.empty(plan.shape, plan.dtype)
transform = plan.run(frame, out=out)
boxes = transform.to_frame(boxes_in_the_tensor)
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from foveal import _core
from foveal.draw import draw, draw_box, draw_label, draw_line, draw_point, draw_text, fill_box
from foveal.errors import ArgumentError, ShapeError, SpecError
from foveal.frame import Frame

__all__ = [
    "Area",
    "Bicubic",
    "Bilinear",
    "Constant",
    "Cover",
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
    "Replicate",
    "RotatedRect",
    "Stretch",
    "Transform",
    "Yuv",
    "draw",
    "draw_box",
    "draw_label",
    "draw_line",
    "draw_point",
    "draw_text",
    "fill_box",
]

Levels = float | Sequence[float]
"""One number, or one per channel in the order of `color`; 0..255."""

Array = NDArray[Any]


def _plain(value: Any) -> Any:
    """What JSON can say: tuples and arrays become lists, numpy numbers Python's."""
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(v) for v in value]
    if isinstance(value, np.generic):
        return value.item()
    return value


class _Part:
    """A frozen dataclass that is one object of the spec; fields that are None are left out."""

    k: ClassVar[str] = ""

    def to_spec(self) -> dict[str, Any]:
        """The object as it stands in the spec."""
        own = {n: _plain(v) for n, v in asdict(self).items() if v is not None}  # type: ignore[call-overload]
        return {"k": self.k, **own} if self.k else own


@dataclass(frozen=True)
class Stretch(_Part):
    """The region fills the tensor, whatever its aspect."""

    k: ClassVar[str] = "stretch"


@dataclass(frozen=True)
class Letterbox(_Part):
    """The whole region, aspect kept, bars around it.

    policy: "ultralytics" (rounded size, centred), "yolox" (truncated size, top-left),
    "mediapipe" (exact; the bars come from the pipeline's border). pad: colour of the bars.
    """

    k: ClassVar[str] = "letterbox"
    pad: Levels | None = None
    policy: str = "ultralytics"


@dataclass(frozen=True)
class Cover(_Part):
    """The largest centred part of the region that has the tensor's aspect."""

    k: ClassVar[str] = "cover"


@dataclass(frozen=True)
class Matrix(_Part):
    """A 3x3 map from tensor pixels to upright frame pixels, continuous coordinates, row-major."""

    k: ClassVar[str] = "matrix"
    m: Sequence[float] = (1, 0, 0, 0, 1, 0, 0, 0, 1)

    def to_spec(self) -> dict[str, Any]:
        return {"k": self.k, "m": np.asarray(self.m, np.float64).ravel().tolist()}


@dataclass(frozen=True)
class Nearest(_Part):
    """The pixel that holds the sample point. grid: "half_pixel", "align_corners", "asymmetric"."""

    k: ClassVar[str] = "nearest"
    grid: str = "half_pixel"


@dataclass(frozen=True)
class Bilinear(_Part):
    """Four taps, or the triangle filter over all source pixels when antialias is set."""

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
class Yuv(_Part):
    """How yuv frames become RGB; "frame" = what the frame says."""

    matrix: str = "frame"
    range: str = "frame"
    chroma: str = "replicate"
    siting: str = "frame"


@dataclass(frozen=True)
class Norm(_Part):
    """y = (x * scale - mean) / std, x in 0..255; mean and std per channel of `color`."""

    scale: float = 1.0
    mean: Levels = 0.0
    std: Levels = 1.0


_FITS: dict[str, type[_Part]] = {c.k: c for c in (Stretch, Letterbox, Cover, Matrix)}
_SAMPLES: dict[str, type[_Part]] = {c.k: c for c in (Nearest, Bilinear, Bicubic, Lanczos3, Area)}
_BORDERS: dict[str, type[_Part]] = {c.k: c for c in (Replicate, Constant)}


def _part(kinds: Mapping[str, type[_Part]], value: Mapping[str, Any]) -> Any:
    own = {n: tuple(v) if isinstance(v, list) else v for n, v in value.items() if n != "k"}
    kind = kinds.get(value["k"])
    if kind is None:
        raise SpecError(f"pipeline spec: '{value['k']}' has no counterpart in foveal.image")
    return kind(**own)


@dataclass(frozen=True)
class Pipeline:
    """What a model wants to see. Immutable; travels in the model file as JSON.

    size: (width, height) of the tensor. color: "RGB", "BGR" or "GRAY". orient: "frame" (apply the
    frame's rotation and mirror), "none", or degrees. roi: "full", or "per_call" (given to `run`).
    profile: the numeric contract, "exact" or "fast". intermediate: "f32", or "u8" to round to
    whole numbers before the normalisation.

    Raises SpecError, naming the key, for anything the specification does not know.
    """

    size: tuple[int, int]
    color: str = "RGB"
    orient: str | int = "frame"
    roi: str = "full"
    fit: Stretch | Letterbox | Cover | Matrix = field(default_factory=Stretch)
    sample: Nearest | Bilinear | Bicubic | Lanczos3 | Area = field(default_factory=Bilinear)
    profile: str = "exact"
    border: Replicate | Constant = field(default_factory=Replicate)
    yuv: Yuv = field(default_factory=Yuv)
    norm: Norm = field(default_factory=Norm)
    intermediate: str = "f32"

    def __post_init__(self) -> None:
        parts = {
            n: p.to_spec() if isinstance(p, _Part) else _plain(p) for n, p in vars(self).items()
        }
        try:
            text = json.dumps({"imgproc": 1, **parts}, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise SpecError(f"pipeline spec: {error}") from None
        object.__setattr__(self, "_spec", _core.ImageSpec(text))
        object.__setattr__(self, "size", tuple(int(v) for v in self.size))

    def json(self) -> str:
        """The canonical text: equal pipelines give equal text."""
        return str(self._spec.json)  # type: ignore[attr-defined]

    def digest(self) -> str:
        """SHA-256 of the canonical text, hexadecimal."""
        return str(self._spec.digest)  # type: ignore[attr-defined]

    @classmethod
    def from_json(cls, text: str) -> Pipeline:
        """The pipeline a specification describes. Raises SpecError."""
        d = json.loads(_core.ImageSpec(text).json)
        return cls(
            size=(d["size"][0], d["size"][1]),
            color=d["color"],
            orient=d["orient"],
            roi=d["roi"],
            fit=_part(_FITS, d["fit"]),
            sample=_part(_SAMPLES, d["sample"]),
            profile=d["profile"],
            border=_part(_BORDERS, d["border"]),
            yuv=Yuv(**d["yuv"]),
            norm=Norm(
                scale=d["norm"]["scale"], mean=tuple(d["norm"]["mean"]), std=tuple(d["norm"]["std"])
            ),
            intermediate=d["intermediate"],
        )

    def compile(
        self,
        tensor: Any = None,
        *,
        dtype: str | None = None,
        layout: str = "auto",
        shape: Sequence[int | str | None] | None = None,
        threads: int = 1,
    ) -> Plan:
        """Prepares the pipeline for one tensor.

        Args:
            tensor: a TensorInfo (`session.inputs[0]`): gives dtype and shape. Or the Session of a
                model with one input: then `run` writes that input's own memory unless told `out`.
            dtype: "float32" (default) or "uint8".
            layout: "nchw", "nhwc", "nc4hw4", "nc8hw8", "nc16hw16"; "auto" decides by the shape
                (nchw without one).
            shape: four dimensions in that layout's order (NCHW for the blocked ones); None, names
                and -1 are filled in.
            threads: how many threads a run may use. The result does not depend on it.

        Raises:
            ShapeError: the pipeline's size and channels do not fit the tensor.
            SpecError: something this build cannot do exactly as specified; it says what.
        """
        session = tensor if hasattr(tensor, "input_view") else None
        if session is not None:
            if len(session.inputs) != 1:
                names = ", ".join(t.name for t in session.inputs)
                raise ArgumentError(
                    f"compile: the session has {len(session.inputs)} inputs: {names}",
                    hint="pass one of session.inputs, and out=session.input_view(name) to run",
                )
            tensor = session.inputs[0]
        if tensor is not None:
            dtype = dtype or str(tensor.dtype)
            shape = tensor.shape if shape is None else shape
        channels = 1 if self.color == "GRAY" else 3
        name = str(layout).lower()
        if name == "auto":
            name = _guess_layout(shape, channels, self.size)
        order, block = _LAYOUTS.get(name, (-1, 0))
        if order < 0:
            raise ArgumentError(f"layout: expected auto, {', '.join(_LAYOUTS)}, got '{layout}'")
        width, height = self.size
        full: tuple[int, ...] = (1, channels, height, width)
        if order == 1:
            full = (1, height, width, channels)
        dims = [d if isinstance(d, (int, np.integer)) and d >= 0 else -1 for d in shape or full]
        core = self._spec.compile(  # type: ignore[attr-defined]
            dtype or "float32", order, block, [int(d) for d in dims], int(threads)
        )
        if block:
            full = (1, -(-channels // block), height, width, block)
        return Plan(self, core, np.dtype(dtype or "float32"), full, session)


_LAYOUTS = {"nchw": (0, 0), "nhwc": (1, 0), "nc4hw4": (0, 4), "nc8hw8": (0, 8), "nc16hw16": (0, 16)}


def _guess_layout(
    shape: Sequence[int | str | None] | None, channels: int, size: tuple[int, int]
) -> str:
    if shape is None:
        return "nchw"
    if len(shape) != 4:
        raise ShapeError(f"compile: expected a tensor of 4 dimensions, got {list(shape)}")

    def fits(want: tuple[int, ...]) -> bool:
        return all(
            not isinstance(d, (int, np.integer)) or d < 0 or d == w
            for d, w in zip(shape[1:], want, strict=True)
        )

    width, height = size
    nchw, nhwc = fits((channels, height, width)), fits((height, width, channels))
    if nchw and nhwc:
        raise ArgumentError(
            f"compile: shape {list(shape)} could be NCHW or NHWC",
            hint='pass layout="nchw" or "nhwc"',
        )
    if not nchw and not nhwc:
        raise ShapeError(
            f"compile: expected [1, {channels}, {height}, {width}] or "
            f"[1, {height}, {width}, {channels}], got {list(shape)}",
            hint="the pipeline's size is (width, height); its color gives the channels",
        )
    return "nchw" if nchw else "nhwc"


@dataclass(frozen=True)
class Rect:
    """A region of the upright frame: x0, y0, x1, y1 in pixels; may reach outside."""

    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True)
class RotatedRect:
    """Centre, size, clockwise degrees; upright pixels."""

    cx: float
    cy: float
    width: float
    height: float
    degrees: float


@dataclass(frozen=True)
class Quad:
    """Corners that become the tensor's top-left, top-right, bottom-right and bottom-left."""

    corners: Sequence[Sequence[float]]


def _roi(roi: Any) -> tuple[int, list[float]] | None:
    if roi is None:
        return None
    if isinstance(roi, Rect):
        return 1, [float(v) for v in (roi.x0, roi.y0, roi.x1, roi.y1)]
    if isinstance(roi, RotatedRect):
        return 2, [float(v) for v in (roi.cx, roi.cy, roi.width, roi.height, roi.degrees)]
    if isinstance(roi, Quad):
        return 3, np.asarray(roi.corners, np.float64).ravel().tolist()
    values = np.asarray(roi, np.float64).ravel().tolist()
    kind = {4: 1, 5: 2, 8: 3}.get(len(values))
    if kind is None:
        raise ArgumentError(
            "roi: expected Rect, RotatedRect, Quad, or 4, 5 or 8 numbers, got "
            f"{len(values)} numbers"
        )
    return kind, values


class Plan:
    """A compiled pipeline. One thread at a time.

    Attributes:
        spec: the pipeline. shape, dtype: of the array that `run` writes.
    """

    def __init__(
        self,
        spec: Pipeline,
        core: Any,
        dtype: np.dtype[Any],
        shape: tuple[int, ...],
        session: Any = None,
    ) -> None:
        self._session = session
        self.spec = spec
        self.shape = shape
        self.dtype = dtype
        self._core = core

    def run(self, frame: Frame, roi: Any = None, out: Array | None = None) -> Transform:
        """Writes the tensor of `frame` and returns what was done.

        roi: Rect, RotatedRect, Quad, or 4 (x0, y0, x1, y1), 5 (cx, cy, w, h, degrees) or 8
        numbers, in upright pixels; needed exactly when the spec says "per_call".
        out: C-contiguous array of this plan's dtype and size (any shape of that many elements),
        e.g. `session.input_view(name)`. None: the input of the session it was compiled for; then
        `session.run()` runs on it.

        Raises FrameError (frame or ROI), ArgumentError (out, missing ROI).
        """
        if not isinstance(frame, Frame):
            raise ArgumentError(
                f"run: expected a Frame, got {type(frame).__name__}",
                hint="Frame.from_numpy, Frame.from_pil and Frame.from_file make one",
            )
        if out is None and self._session is not None:
            out = self._session.input_view(self._session.inputs[0].name, self.shape)
        if out is None:
            raise ArgumentError(
                "run: out: expected an array to write to, got None",
                hint="pass out=array, or compile the pipeline for a Session",
            )
        if out.size != int(np.prod(self.shape)):
            raise ShapeError(f"run: out: expected shape {self.shape}, got {out.shape}")
        return Transform(self._core.run(frame._handle, _roi(roi), out))

    def __call__(self, frame: Frame, roi: Any = None) -> tuple[Array, Transform]:
        """A new array and its transform."""
        out = np.empty(self.shape, self.dtype)
        return out, self.run(frame, roi, out)

    def explain(self) -> str:
        """Chosen kernels and geometry, as text. The plan is final once a frame has been seen."""
        return str(self._core.explain())


_TENSOR, _UPRIGHT, _SENSOR = 0, 1, 2


class Transform:
    """What a plan did: maps between the tensor, the upright frame and the sensor's pixels.

    Always the inverse of the map that was applied. Arrays of points end in 2 (x, y), of boxes in
    4 (x0, y0, x1, y1); results are float64.
    """

    def __init__(self, core: Any) -> None:
        self._core = core

    @property
    def matrix(self) -> NDArray[np.float64]:
        """3x3, tensor -> upright frame pixels."""
        m: NDArray[np.float64] = self._core.to_upright
        return m

    @property
    def inverse(self) -> NDArray[np.float64]:
        """3x3, upright frame -> tensor pixels."""
        m: NDArray[np.float64] = self._core.from_upright
        return m

    @property
    def tensor_size(self) -> tuple[int, int]:
        """Width, height."""
        w, h = self._core.tensor_size
        return int(w), int(h)

    @property
    def frame_size(self) -> tuple[int, int]:
        """Width, height of the upright frame."""
        w, h = self._core.frame_size
        return int(w), int(h)

    @property
    def valid(self) -> tuple[float, float, float, float]:
        """The part of the tensor that shows the region: x0, y0, x1, y1. The rest is bars."""
        x0, y0, x1, y1 = self._core.valid
        return x0, y0, x1, y1

    def to_frame(self, boxes: ArrayLike) -> Array:
        """Boxes in the tensor -> upright frame (hull of the mapped corners)."""
        return self._boxes(_TENSOR, _UPRIGHT, boxes)

    def points_to_frame(self, points: ArrayLike) -> Array:
        """Points in the tensor -> upright frame."""
        return self._points(_TENSOR, _UPRIGHT, points)

    def from_frame(self, boxes: ArrayLike) -> Array:
        """Boxes in the upright frame -> tensor."""
        return self._boxes(_UPRIGHT, _TENSOR, boxes)

    def points_from_frame(self, points: ArrayLike) -> Array:
        """Points in the upright frame -> tensor."""
        return self._points(_UPRIGHT, _TENSOR, points)

    def to_sensor(self, boxes: ArrayLike) -> Array:
        """Boxes in the upright frame -> pixels as they lie in memory."""
        return self._boxes(_UPRIGHT, _SENSOR, boxes)

    def points_to_sensor(self, points: ArrayLike) -> Array:
        """Points in the upright frame -> pixels as they lie in memory."""
        return self._points(_UPRIGHT, _SENSOR, points)

    def from_sensor(self, boxes: ArrayLike) -> Array:
        """Boxes in pixels as they lie in memory -> upright frame."""
        return self._boxes(_SENSOR, _UPRIGHT, boxes)

    def points_from_sensor(self, points: ArrayLike) -> Array:
        """Points in pixels as they lie in memory -> upright frame."""
        return self._points(_SENSOR, _UPRIGHT, points)

    def json(self) -> str:
        """Everything, as JSON; `from_json` reads it back exactly."""
        c = self._core
        return json.dumps(
            {
                "transform": 1,
                "to_frame": c.to_upright.ravel().tolist(),
                "from_frame": c.from_upright.ravel().tolist(),
                "tensor_size": list(c.tensor_size),
                "frame_size": list(c.frame_size),
                "rotation": c.rotation,
                "mirror": c.mirror,
                "valid": list(c.valid),
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Transform:
        """Reads what `json` wrote. Raises SpecError."""
        try:
            d = json.loads(text)
            tensor_width, tensor_height = d["tensor_size"]
            frame_width, frame_height = d["frame_size"]
            return cls(
                _core.TransformHandle(
                    np.asarray(d["to_frame"], np.float64),
                    np.asarray(d["from_frame"], np.float64),
                    int(tensor_width),
                    int(tensor_height),
                    int(frame_width),
                    int(frame_height),
                    int(d["rotation"]),
                    int(d["mirror"]),
                    list(d["valid"]),
                )
            )
        except (KeyError, TypeError, ValueError) as error:
            raise SpecError(f"transform: not one that json() wrote: {error!r}") from None

    def _points(self, start: int, end: int, points: ArrayLike) -> Array:
        result: Array = self._core.points(start, end, np.asarray(points, np.float64))
        return result

    def _boxes(self, start: int, end: int, boxes: ArrayLike) -> Array:
        result: Array = self._core.boxes(start, end, np.asarray(boxes, np.float64))
        return result


@dataclass(frozen=True)
class Detection:
    """label: class column. score: 0..1. box: [4], points: [n, 2], upright frame pixels."""

    label: int
    score: float
    box: NDArray[np.float32]
    points: NDArray[np.float32]


@dataclass(frozen=True)
class Detections:
    """n detections, best first. Iterates as `Detection`.

    labels: int32 [n] class columns. scores: float32 [n]. boxes: float32 [n, 4] x0, y0, x1, y1 and
    points: float32 [n, p, 2], in upright frame pixels.
    """

    labels: NDArray[np.int32]
    scores: NDArray[np.float32]
    boxes: NDArray[np.float32]
    points: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, i: int) -> Detection:
        return Detection(int(self.labels[i]), float(self.scores[i]), self.boxes[i], self.points[i])

    def __iter__(self) -> Iterator[Detection]:
        return (self[i] for i in range(len(self)))


class Decoder:
    """Turns a detector's outputs into boxes in the frame. Immutable.

    spec: JSON text or the object it says (kinds "ssd" and "centerface").
    Raises SpecError, naming the key, for anything the specification does not know.
    """

    def __init__(self, spec: str | Mapping[str, Any]) -> None:
        if isinstance(spec, str):
            text = spec
        else:
            try:
                text = json.dumps(_plain(spec), allow_nan=False)
            except (TypeError, ValueError) as error:
                raise SpecError(f"decoder spec: {error}") from None
        self._core = _core.DecoderHandle(text)

    @classmethod
    def from_json(cls, text: str) -> Decoder:
        """The decoder a specification describes."""
        return cls(text)

    def json(self) -> str:
        """The canonical text."""
        return str(self._core.json)

    def run(self, outputs: Mapping[str, Array], transform: Transform) -> Detections:
        """Decodes a model's outputs (float32 arrays by name).

        transform: what `Plan.run` returned for this input. Raises NotFoundError or ShapeError for
        outputs that are missing or have another shape than the specification says.
        """
        return Detections(*self._core.run(dict(outputs), transform._core))
