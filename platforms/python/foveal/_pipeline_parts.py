"""The parts of a pipeline's specification, which `foveal.image` publishes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from foveal._transform import plain
from foveal.errors import SpecError

Levels = float | Sequence[float]
"""One number, or one per channel in the order of `color`; 0..255."""


class Part:
    """A frozen dataclass that is one object of the spec."""

    k: ClassVar[str] = ""

    def to_spec(self) -> dict[str, Any]:
        """The object as it stands in the spec."""
        own = {n: plain(v) for n, v in asdict(self).items()}  # type: ignore[call-overload]
        return {"k": self.k, **own} if self.k else own


@dataclass(frozen=True)
class Sides(Part):
    """A tensor of the region's aspect, both sides a multiple of a number.

    The region is scaled up until its short side is `min`, then down until its long side is `max`,
    and each side rounded to the nearest `multiple` (at least one, at most what `max` holds).
    """

    k: ClassVar[str] = "sides"
    min: int
    max: int
    multiple: int = 1


@dataclass(frozen=True)
class Strip(Part):
    """A tensor of a fixed height, as wide as the region's aspect asks for.

    The width is rounded up to the next `multiple` and kept within `width` = (least, most).
    """

    k: ClassVar[str] = "strip"
    height: int
    width: tuple[int, int]
    multiple: int = 1


@dataclass(frozen=True)
class Stretch(Part):
    """The region fills the tensor, whatever its aspect."""

    k: ClassVar[str] = "stretch"


@dataclass(frozen=True)
class Letterbox(Part):
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
class Cover(Part):
    """The largest centred part of the region that has the tensor's aspect."""

    k: ClassVar[str] = "cover"


@dataclass(frozen=True)
class Crop(Part):
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
class Matrix(Part):
    """A 3x3 map from tensor pixels to upright frame pixels, continuous coordinates, row-major."""

    k: ClassVar[str] = "matrix"
    m: Sequence[float] = (1, 0, 0, 0, 1, 0, 0, 0, 1)

    def to_spec(self) -> dict[str, Any]:
        try:
            return {"k": self.k, "m": np.asarray(self.m, np.float64).ravel().tolist()}
        except (TypeError, ValueError) as error:
            raise SpecError(f'pipeline spec: fit: key "m": expected 9 numbers: {error}') from None


@dataclass(frozen=True)
class Nearest(Part):
    """The pixel that holds the sample point. grid: "half_pixel", "align_corners", "asymmetric"."""

    k: ClassVar[str] = "nearest"
    grid: str = "half_pixel"


@dataclass(frozen=True)
class Bilinear(Part):
    """Four taps, or the triangle filter over all source pixels when antialias is set. Of regions
    that are turned, a smaller picture is made with that filter first."""

    k: ClassVar[str] = "bilinear"
    antialias: bool = False
    grid: str = "half_pixel"


@dataclass(frozen=True)
class Bicubic(Part):
    """Cubic convolution with parameter a."""

    k: ClassVar[str] = "bicubic"
    a: float = -0.5
    antialias: bool = False
    grid: str = "half_pixel"


@dataclass(frozen=True)
class Lanczos3(Part):
    """Windowed sinc of radius 3."""

    k: ClassVar[str] = "lanczos3"
    antialias: bool = False
    grid: str = "half_pixel"


@dataclass(frozen=True)
class Area(Part):
    """Mean over the covered source area."""

    k: ClassVar[str] = "area"


@dataclass(frozen=True)
class Replicate(Part):
    """Outside the frame: its nearest pixel."""

    k: ClassVar[str] = "replicate"


@dataclass(frozen=True)
class Constant(Part):
    """Outside the frame: a colour, blended tap by tap."""

    k: ClassVar[str] = "constant"
    v: Levels = 0


@dataclass(frozen=True)
class ConstantHard(Part):
    """Outside the frame: a colour, where the sampled point itself lies outside; no blending."""

    k: ClassVar[str] = "constant_hard"
    v: Levels = 0


@dataclass(frozen=True)
class Reflect101(Part):
    """Outside the frame: its pixels, mirrored about the centres of the outermost ones."""

    k: ClassVar[str] = "reflect101"


@dataclass(frozen=True)
class Yuv(Part):
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
class Norm(Part):
    """y = (x * scale - mean) / std, x in 0..255; mean and std per channel of `color`."""

    scale: float = 1.0
    mean: Levels = 0.0
    std: Levels = 1.0


_FITS: dict[str, type[Part]] = {c.k: c for c in (Stretch, Letterbox, Cover, Crop, Matrix)}
_SAMPLES: dict[str, type[Part]] = {c.k: c for c in (Nearest, Bilinear, Bicubic, Lanczos3, Area)}
_BORDERS: dict[str, type[Part]] = {c.k: c for c in (Replicate, Constant, ConstantHard, Reflect101)}
PARTS = {"fit": _FITS, "sample": _SAMPLES, "border": _BORDERS}


def _levels(value: Any) -> Any:
    """Numbers per channel of the canonical text as the fields hold them: one if all are equal."""
    if len(set(value)) == 1:
        return float(value[0])
    return tuple(float(v) for v in value)


def _part(kinds: Mapping[str, type[Part]], value: Mapping[str, Any]) -> Any:
    own = {n: _levels(v) if n in ("pad", "v") else v for n, v in value.items() if n != "k"}
    if isinstance(own.get("resize"), list):
        own["resize"] = tuple(own["resize"])
    if "m" in own:
        own["m"] = tuple(float(v) for v in own["m"])
    kind = kinds.get(value["k"])
    if kind is None:
        raise SpecError(f"pipeline spec: '{value['k']}' has no counterpart in foveal.image")
    return kind(**own)


def fields(text: str) -> dict[str, Any]:
    """The fields of the pipeline that a canonical text describes."""
    d = json.loads(text)
    norm = d["norm"]
    return {
        "size": _size_field(d["size"]),
        "color": d["color"],
        "orient": d["orient"],
        "roi": d["roi"],
        "profile": d["profile"],
        **{name: _part(kinds, d[name]) for name, kinds in PARTS.items()},
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
