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
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from foveal import _core
from foveal._decoder import Decoder, Detection, Detections, Symbols
from foveal._image_functions import convert, resize, warp
from foveal._pipeline_parts import (
    PARTS,
    Area,
    Bicubic,
    Bilinear,
    Constant,
    ConstantHard,
    Cover,
    Crop,
    Lanczos3,
    Letterbox,
    Matrix,
    Nearest,
    Norm,
    Part,
    Reflect101,
    Replicate,
    Sides,
    Stretch,
    Strip,
    Yuv,
    fields,
)
from foveal._plan import Plan, frame_handle
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
from foveal.errors import ArgumentError, SpecError
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
            if name in PARTS and not isinstance(value, (Part, Mapping)):
                kinds = ", ".join(f"{kind.__name__}()" for kind in PARTS[name].values())
                raise SpecError(
                    f'pipeline spec: key "{name}": expected one of {kinds}, got {value!r}'
                )
            try:
                said = value.to_spec() if isinstance(value, Part) else plain(value)
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
        for name, value in fields(spec.json).items():
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
        return cls(**fields(_core.ImageSpec(json_text("pipeline spec", text)).json))

    def size_for(self, frame: Frame, roi: Any = None) -> tuple[int, int]:
        """(width, height) of the tensor for this frame and region, whatever the kind of `size`.

        Takes what `Plan.run` takes and raises what it raises: FrameError, ArgumentError.
        """
        handle = frame_handle("size_for", frame)
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
