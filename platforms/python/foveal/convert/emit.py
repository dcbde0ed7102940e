"""What importers share: adding nodes with constants folded on the way."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from typing import Any, Literal, overload

import numpy as np

from foveal.convert.report import Unsupported
from foveal.convert.symbols import Size, symbolic
from foveal.graph import Graph, Value
from foveal.optimize._evaluate import RULES, evaluate
from foveal.optimize._fold import may_fold, spend

__all__ = ["MAX_OUTPUTS", "SHARING", "SIZE_HINT", "Emitter", "Unsupported", "same_padding"]

log = logging.getLogger("foveal.convert")

MAX_OUTPUTS = 4096
SHARING = 16  # times a file's size: weights that tensors may take from it
SIZE_HINT = "export with fixed input sizes, or give them with input_shapes (--input-shape)"


def same_padding(
    size: int, kernel: int, stride: int, dilation: int, upper: bool
) -> tuple[int, int]:
    """Begin and end padding for an output of ceil(size / stride).

    With stride 1 the total does not depend on `size`, which may then be unknown (-1).
    """
    reach = (kernel - 1) * dilation + 1
    if stride == 1:
        total = reach - 1
    elif size < 0:
        raise Unsupported(
            "SAME padding of an input whose size is not known",
            SIZE_HINT,
        )
    else:
        total = max((-(-size // stride) - 1) * stride + reach - size, 0)
    small = total // 2
    return (small, total - small) if upper else (total - small, small)


class Emitter:
    """Adds nodes to `graph`; a node whose inputs are constants becomes a constant."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.label = ""  # name for the nodes added next
        self._meanings: dict[Value, tuple[float, int] | None] = {}

    def const(self, value: Any, dtype: str | None = None) -> Value:
        return self.graph.constant(np.asarray(value, dtype=dtype), name=f"{self.label}/const")

    def reserve(self, elements: int, what: str) -> None:
        """To be called before a constant is computed. Raises Unsupported when it is too large."""
        if not spend(self.graph, elements):
            raise Unsupported(f"{what} of {elements} elements")

    def full(self, value: np.ndarray, shape: Sequence[int]) -> Value:
        """A constant filled with a scalar. Raises Unsupported when it would be too large."""
        if len(shape) > 8 or any(not 0 <= d <= self.graph.fold_limit for d in shape):
            raise Unsupported(f"a constant of shape {list(shape)}")
        self.reserve(math.prod(shape), "a constant")
        return self.const(np.broadcast_to(value, tuple(shape)))

    def range(self, start: np.ndarray, limit: np.ndarray, delta: np.ndarray) -> Value:
        """start, start + delta, ... up to limit, of start's type; Unsupported when too many."""
        first, last, step = (float(v.reshape(())) for v in (start, limit, delta))
        count = (last - first) / step if step else math.inf
        if not math.isfinite(count):
            raise Unsupported(f"a range of {count} elements")
        self.reserve(max(math.ceil(count), 0), "a range")
        steps = np.arange(max(math.ceil(count), 0))
        return self.const((start.reshape(()) + steps * delta.reshape(())).astype(start.dtype))

    @overload
    def op(
        self, op: str, *inputs: Value | None, outputs: Literal[1] = 1, **attrs: Any
    ) -> Value: ...

    @overload
    def op(self, op: str, *inputs: Value | None, outputs: int = 1, **attrs: Any) -> Any: ...

    def op(self, op: str, *inputs: Value | None, outputs: int = 1, **attrs: Any) -> Any:
        """The output value, or a list of `outputs` values."""
        arrays = [None if v is None else v.data for v in inputs]
        constant = all(v is None or v.data is not None for v in inputs) and any(
            a is not None for a in arrays
        )
        result = self.graph.add(op, inputs, attrs, outputs=outputs, name=self.label)
        made = result if outputs > 1 else [result]
        if any(a is not None and a.dtype == object for a in arrays):
            return self._symbolic(op, arrays, made, constant)
        if not constant or op not in RULES or not may_fold(self.graph, made):
            return result
        node = made[0].producer
        folded = evaluate(op, arrays, node.attr)
        self.graph.pop()
        if folded is None or len(folded) != outputs:
            raise Unsupported("its constants do not fit together or into its attributes")
        values = [self.graph.constant(a, v.name) for a, v in zip(folded, made, strict=True)]
        return values if outputs > 1 else values[0]

    # ---- shapes that are only partly known -------------------------------------------------

    def sizes(self, value: Value, axes: Sequence[int]) -> Value:
        """The sizes of these axes as a constant; unknown ones stay symbols (see symbols.py)."""
        dims = [d if d >= 0 else Size(value, a) for a in axes for d in [value.dims[a]]]
        if all(isinstance(d, int) for d in dims):
            return self.const(np.array(dims, np.int64))
        return self._symbol_value(np.array(dims, object), "int64")

    def _symbol_value(self, array: np.ndarray, dtype: str) -> Value:
        if not any(isinstance(d, Size) for d in array.reshape(-1)):
            return self.const(array.astype(dtype))
        return Value(
            self.graph, self.graph.unique(f"{self.label}/sizes"), dtype, array.shape, array
        )

    def _symbolic(self, op: str, arrays: Any, made: list[Value], constant: bool) -> Any:
        self.graph.pop()
        node = made[0].producer
        assert node is not None
        results = symbolic(op, arrays, node.attr) if constant else None
        if results is None:
            raise Unsupported(
                "it computes with a size that is only known when the model runs", SIZE_HINT
            )
        values = [self._symbol_value(a, v.dtype) for a, v in zip(results, made, strict=True)]
        return values if len(values) > 1 else values[0]

    def symbols(self, value: Value | None, what: str) -> list[int | Size]:
        """Like :meth:`ints`, but unknown sizes may be among them."""
        if value is not None and value.data is not None and value.data.dtype == object:
            return [d if isinstance(d, Size) else int(d) for d in value.data.reshape(-1)]
        return list(self.ints(value, what))

    def alias(self, value: Value) -> Value:
        """A view of `value` under a name of its own."""
        node_out = self.graph.add("reshape", [value], {"shape": [0] * value.rank}, name=self.label)
        return node_out

    def ints(self, value: Value | None, what: str) -> list[int]:
        """The integers of a constant. Raises Unsupported when it is computed at run time."""
        array = self.array(value, what)
        if array.size > 1 << 16:
            raise Unsupported(f"its {what} has {array.size} elements")
        return [int(i) for i in np.asarray(array).reshape(-1)]

    def array(self, value: Value | None, what: str) -> np.ndarray:
        if value is None:
            raise Unsupported(f"it has no {what}")
        if value.data is None or value.data.dtype == object:
            raise Unsupported(f"its {what} is computed when the model runs", SIZE_HINT)
        return value.data

    def dequantize(self, value: Value, scale: Value, zero_point: Value | None) -> Value:
        """(value - zero_point) * scale in float32. zero_point: of value's type; None is 0."""
        real = self.op("cast", value, dtype="float32")
        if zero_point is not None:
            real = self.op("sub", real, self.op("cast", zero_point, dtype="float32"))
        return self.op("mul", real, scale)

    def describe_input(self, value: Value, quantization: tuple[float, int] | None) -> None:
        """To be called for every node that takes an input's whole numbers for real ones.

        quantization: (scale, zero point), None when it is not the same for all of them. The input
        keeps it if all its readers agree; else it has none.
        """
        known = self._meanings.setdefault(value, quantization)
        if known != quantization:
            log.warning(
                "input '%s' is read with several scales or zero points: it keeps none; say which "
                "one pictures take with Pipeline.compile(quantize=(scale, zero_point))",
                value.name,
            )
            known = self._meanings[value] = None
        value.quantization = known

    def add_list(self, op: str, values: Sequence[Value]) -> Value:
        """Left fold of a binary operator."""
        total = values[0]
        for v in values[1:]:
            total = self.op(op, total, v)
        return total
