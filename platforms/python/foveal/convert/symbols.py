"""Arithmetic on sizes that are only known when the model runs.

Exported graphs compute shapes: take the shape of a tensor, pick an element, multiply, concatenate,
reshape. With fixed input sizes all of it folds into constants. With symbolic ones the importer
carries a :class:`Size` through the same operators, in arrays of objects, until a reshape or a
resize can say it with a copied or inferred dimension.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from foveal.graph import Value
from foveal.optimize._evaluate import RULES

MOVES = frozenset(
    ("concat", "gather", "slice", "squeeze", "unsqueeze", "reshape", "split", "transpose", "expand")
)


class Size:
    """`factor` times the size of one axis of a value; axis -1: some size nobody can name."""

    def __init__(self, value: Value | None, axis: int, factor: float = 1.0) -> None:
        self.value = value
        self.axis = axis
        self.factor = factor

    def is_axis(self, value: Value, axis: int) -> bool:
        """Whether this is certainly the size of that axis."""
        if self.value is None or self.factor != 1:
            return False
        if self.value is value:
            return self.axis == axis
        name = self.value.shape[self.axis]
        return isinstance(name, str) and value.shape[axis] == name

    def __mul__(self, other: Any) -> Size:
        if isinstance(other, Size) or self.value is None:
            return UNKNOWN_SIZE
        return Size(self.value, self.axis, self.factor * float(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Size:
        if isinstance(other, Size) or self.value is None or other == 0:
            return UNKNOWN_SIZE
        return Size(self.value, self.axis, self.factor / float(other))

    def _sum(self, other: Any) -> Size:
        return self if not isinstance(other, Size) and other == 0 else UNKNOWN_SIZE

    __add__ = __radd__ = __sub__ = _sum

    def __rtruediv__(self, other: Any) -> Size:
        return UNKNOWN_SIZE

    __rsub__ = __rtruediv__


UNKNOWN_SIZE = Size(None, -1)

_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
}


def symbolic(
    op: str, arrays: Sequence[np.ndarray | None], attr: Callable[[str], Any]
) -> list[np.ndarray] | None:
    """Results over arrays of objects, None for an operator that sizes do not pass through."""
    data = [None if a is None or a.dtype.kind == "b" else a.astype(object) for a in arrays]
    if op in MOVES:
        # The indices of a gather are numbers, never sizes.
        made = RULES[op]([data[0], *arrays[1:]] if op == "gather" else data, attr)
        outs = made if isinstance(made, list) else [made]
        return [np.asarray(o, object) for o in outs]
    if op in ("cast", "floor"):
        return [np.asarray(data[0], object)]
    a, b = [*data, None][:2]
    if a is None or b is None:
        return None
    if op == "div":
        return [np.asarray(np.frompyfunc(_divide, 2, 1)(a, b), object)]
    if op in _ARITHMETIC:
        return [np.asarray(np.frompyfunc(_ARITHMETIC[op], 2, 1)(a, b), object)]
    return None


def _divide(a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int):
        return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if b else UNKNOWN_SIZE
    return a / b if isinstance(a, Size) or isinstance(b, Size) or b else UNKNOWN_SIZE
