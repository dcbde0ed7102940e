"""`Decoder` and what it gives, which `foveal.image` publishes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foveal import _core
from foveal._transform import Array, Transform, json_text, spec_text
from foveal.errors import ArgumentError


@dataclass(frozen=True)
class Detection:
    """label: class column. score: 0..1. box: [4], points: [p, 2 or 5], upright frame pixels."""

    label: int
    score: float
    box: NDArray[np.float32]
    points: NDArray[np.float32]


@dataclass(frozen=True)
class Detections:
    """n detections, best first. Iterates as `Detection`.

    labels: int32 [n] class columns. scores: float32 [n]. boxes: float32 [n, 4] x0, y0, x1, y1 in
    upright frame pixels. points: float32 [n, p, 2] x, y, or [n, p, 5] x, y, z (in the unit of x),
    visibility, presence (0..1).
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


@dataclass(frozen=True)
class Symbols:
    """n symbols of a line of text, in reading order.

    indices: int32 [n] class columns (places in the model's list of labels). scores: float32 [n].
    """

    indices: NDArray[np.int32]
    scores: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.indices)


# By fv_decoder_result.
_GIVES = {1: "detections", 2: "classes", 3: "landmarks", 4: "mask", 5: "text"}


class Decoder:
    """Turns a model's outputs into results in the frame. Immutable.

    spec: JSON text or the object it says (imgproc/decode/README.md lists the kinds).
    Raises SpecError, naming the key, for anything the specification does not know.
    """

    def __init__(self, spec: str | Mapping[str, Any]) -> None:
        self._core = _core.DecoderHandle(spec_text("decoder spec", spec))

    @classmethod
    def from_json(cls, text: str) -> Decoder:
        """The decoder a specification describes."""
        return cls(json_text("decoder spec", text))

    def __reduce__(self) -> Any:
        return Decoder.from_json, (self.json(),)

    def json(self) -> str:
        """The canonical text."""
        return str(self._core.json)

    @property
    def gives(self) -> str:
        """What `run` returns: "detections", "classes", "landmarks", "mask" or "text"."""
        return _GIVES[self._core.gives]

    def run(self, outputs: Mapping[str, Array], transform: Transform | None = None) -> Any:
        """Decodes a model's outputs (float32 arrays by name).

        transform: what `Plan.run` returned for this input; text needs none. Returns `Detections`
        (also for classes, whose boxes are the region that was seen, and for landmarks, of which
        there are none or one), a mask as float32 [height, width] of the upright frame, 0..1, or
        `Symbols` for text. Raises NotFoundError or ShapeError for outputs that are missing or have
        another shape than the specification says, ArgumentError for arguments of another type.
        """
        if not isinstance(outputs, Mapping):
            raise ArgumentError(
                f"decoder: outputs: expected a dict of arrays, got {type(outputs).__name__}"
            )
        gives = self.gives
        if not isinstance(transform, Transform) and (transform is not None or gives != "text"):
            raise ArgumentError(
                f"decoder: transform: expected a Transform, got {type(transform).__name__}",
                hint="Plan.run returns it",
            )
        arrays = {}
        for name, value in outputs.items():
            if not isinstance(name, str) or not isinstance(value, np.ndarray):
                raise ArgumentError(
                    "decoder: outputs: expected arrays by name, got "
                    f"{name!r}: {type(value).__name__}"
                )
            arrays[name] = value.astype(value.dtype.newbyteorder("="), order="C", copy=False)
        if transform is None or gives == "text":
            return Symbols(*self._core.run_text(arrays))
        if gives == "mask":
            return self._core.run_mask(arrays, transform._core)
        return Detections(*self._core.run(arrays, transform._core))
