"""What a mapping function sees of one TFLite operator, and the table of mapping functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from foveal.convert.emit import Emitter, Unsupported
from foveal.convert.flatbuffer import Table
from foveal.graph import Value

Mapping = Callable[["TfliteNode"], Any]
OPS: dict[str, Mapping] = {}

NHWC_TO_NCHW = [0, 3, 1, 2]
NCHW_TO_NHWC = [0, 2, 3, 1]


def op(*names: str) -> Callable[[Mapping], Mapping]:
    """Registers a mapping function: node → its output value, or a list of them."""

    def keep(f: Mapping) -> Mapping:
        for name in names:
            OPS[name] = f
        return f

    return keep


class TfliteNode:
    """One operator: inputs as graph values in TFLite's own axis order (NHWC), options by field."""

    def __init__(
        self, kind: str, inputs: list[Value | None], outputs: list[tuple[str, list[int]]],
        options: Table | None, emitter: Emitter, custom: bytes = b"",
    ) -> None:  # fmt: skip
        self.type = kind
        self.inputs = inputs
        self.outputs = outputs  # declared (dtype, shape) of each
        self.options = options
        self.custom = custom  # options of a custom operator, in a format of its own
        self.e = emitter

    def x(self, i: int = 0) -> Value:
        value = self.opt(i)
        if value is None:
            raise Unsupported(f"it lacks input {i}")
        return value

    def opt(self, i: int) -> Value | None:
        return self.inputs[i] if i < len(self.inputs) else None

    def array(self, i: int, what: str) -> np.ndarray:
        return self.e.array(self.opt(i), what)

    def ints_at(self, i: int, what: str) -> list[int]:
        return self.e.ints(self.opt(i), what)

    # ---- options -------------------------------------------------------------------------

    def i32(self, field: int, default: int = 0) -> int:
        return self.options.i32(field, default) if self.options else default

    def i8(self, field: int, default: int = 0) -> int:
        return self.options.i8(field, default) if self.options else default

    def flag(self, field: int) -> bool:
        return self.options.flag(field) if self.options else False

    def f32(self, field: int, default: float = 0.0) -> float:
        return self.options.f32(field, default) if self.options else default

    def ints(self, field: int) -> list[int]:
        return self.options.array(field, "i4").tolist() if self.options else []

    # ---- shorthands ----------------------------------------------------------------------

    def nchw(self, v: Value) -> Value:
        if v.rank != 4:
            raise Unsupported(f"an input of rank {v.rank}, expected 4")
        return self.e.op("transpose", v, perm=NHWC_TO_NCHW)

    def nhwc(self, v: Value) -> Value:
        return self.e.op("transpose", v, perm=NCHW_TO_NHWC)

    def axis(self, axis: int, rank: int) -> int:
        if not -rank <= axis < rank:
            raise Unsupported(f"axis {axis} is outside rank {rank}")
        return axis % rank

    def activate(self, v: Value, field: int) -> Value:
        """Applies the fused activation in option `field`."""
        kind = self.i8(field)
        if kind == 0:
            return v
        if kind == 1:
            return self.e.op("relu", v)
        if kind in (2, 3):
            low, high = ((-1.0, 1.0), (0.0, 6.0))[kind - 2]
            return self.e.op("clip", v, min=low, max=high)
        if kind == 4:
            return self.e.op("tanh", v)
        raise Unsupported(f"fused activation number {kind}")
