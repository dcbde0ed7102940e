"""ONNX operators that move elements, and those that compute shapes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from foveal.convert._onnx.context import OnnxNode, op
from foveal.convert.emit import SIZE_HINT, Unsupported
from foveal.graph import Value

_INT64_MAX = (1 << 63) - 1


@op("Concat")
def _concat(n: OnnxNode) -> Value:
    values = [n.x(i) for i in range(len(n.inputs))]
    if not values:
        raise Unsupported("it has no input")
    return n.e.op("concat", *values, axis=n.axis(1, values[0].rank))


@op("Split")
def _split(n: OnnxNode) -> Any:
    x = n.x()
    axis = n.axis(0, x.rank)
    count = len(n.outputs)
    sizes = n.ints_from("split", 1, 13)
    if n.i("num_outputs", count) != count:
        raise Unsupported(f"num_outputs={n.i('num_outputs')} with {count} outputs")
    if sizes is None:
        total = x.dims[axis]
        if total < 0:
            raise Unsupported(f"an even split of axis {axis}, whose size is not known")
        each = -(-total // count)
        sizes = [each] * (count - 1) + [total - each * (count - 1)]
    if len(sizes) != count:
        raise Unsupported(f"{len(sizes)} parts for {count} outputs")
    return n.e.op("split", x, outputs=count, axis=axis, sizes=sizes)


@op("Slice")
def _slice(n: OnnxNode) -> Value:
    x = n.x()
    if n.opset < 10:
        begin, end, axes = n.ints("starts") or [], n.ints("ends") or [], n.ints("axes")
        step = None
    else:
        begin, end = n.ints_at(1, "starts"), n.ints_at(2, "ends")
        axes = None if n.opt(3) is None else n.ints_at(3, "axes")
        step = None if n.opt(4) is None else n.ints_at(4, "steps")
    axes = list(range(len(begin))) if axes is None else [a + x.rank * (a < 0) for a in axes]
    step = step or [1] * len(begin)
    if not len(begin) == len(end) == len(axes) == len(step):
        raise Unsupported("starts, ends, axes and steps of different lengths")
    return n.e.op("slice", x, axes=axes, begin=begin, end=end, step=step)


@op("Pad")
def _pad(n: OnnxNode) -> Value:
    x = n.x()
    mode = n.require("mode", n.s("mode", "constant"), ("constant", "edge", "reflect"))
    if n.opset < 11:
        pads, value = n.ints("pads") or [], n.f("value")
    else:
        pads = n.ints_at(1, "pads")
        fill = n.opt(2)
        value = 0.0 if fill is None else float(n.array(2, "padding value").reshape(-1)[0])
        if n.opt(3) is not None:
            axes = [a % x.rank for a in n.ints_at(3, "axes")]
            full = [0] * (2 * x.rank)
            for i, a in enumerate(axes):
                full[a], full[a + x.rank] = pads[i], pads[i + len(axes)]
            pads = full
    if len(pads) != 2 * x.rank:
        raise Unsupported(f"{len(pads)} pads for an input of rank {x.rank}")
    return n.e.op("pad", x, pads=pads, value=value, mode=mode)


@op("Transpose")
def _transpose(n: OnnxNode) -> Value:
    perm = n.ints("perm") or list(range(n.x().rank))[::-1]
    return n.e.op("transpose", n.x(), perm=perm)


@op("Reshape")
def _reshape(n: OnnxNode) -> Value:
    x = n.x()
    wanted = n.e.symbols(n.opt(1), "shape")
    if n.i("allowzero") and 0 in wanted:
        raise Unsupported("allowzero=1 with a dimension of 0")
    shape: list[int] = []
    for i, d in enumerate(wanted):
        if isinstance(d, int):
            shape.append(d)
        else:
            shape.append(0 if i < x.rank and d.is_axis(x, i) else -1)
    if shape.count(-1) > 1:
        raise Unsupported("its shape has several sizes that are only known when the model runs",
                          SIZE_HINT)  # fmt: skip
    return n.e.op("reshape", x, shape=shape)


@op("Flatten")
def _flatten(n: OnnxNode) -> Value:
    return n.e.op("flatten", n.x(), axis=n.i("axis", 1))


@op("Squeeze")
def _squeeze(n: OnnxNode) -> Value:
    x = n.x()
    axes = n.ints_from("axes", 1, 13)
    if axes is None:
        if not x.is_static:
            raise Unsupported("no axes, and the shape is not known")
        axes = [i for i, d in enumerate(x.dims) if d == 1]
    if not axes:
        return x
    return n.e.op("squeeze", x, axes=axes)


@op("Unsqueeze")
def _unsqueeze(n: OnnxNode) -> Value:
    return n.e.op("unsqueeze", n.x(), axes=n.ints_from("axes", 1, 13) or [])


@op("Expand")
def _expand(n: OnnxNode) -> Value:
    x = n.x()
    wanted = n.e.symbols(n.opt(1), "shape")
    shape = []
    for i, d in enumerate(wanted):
        axis = i - (len(wanted) - x.rank)
        # 1 keeps the input's own dimension.
        own = not isinstance(d, int) and axis >= 0 and d.is_axis(x, axis)
        if not isinstance(d, int) and not own:
            raise Unsupported("its shape is only known when the model runs", SIZE_HINT)
        shape.append(1 if not isinstance(d, int) else d)
    return n.e.op("expand", x, shape=shape)


@op("Tile")
def _tile(n: OnnxNode) -> Value:
    return n.e.op("tile", n.x(), repeats=n.ints_at(1, "repeats"))


@op("Gather")
def _gather(n: OnnxNode) -> Value:
    x = n.x()
    return n.e.op("gather", x, n.x(1), axis=n.axis(0, x.rank))


# ---- values known while importing ----------------------------------------------------------


@op("Constant")
def _constant(n: OnnxNode) -> Value:
    array = n.tensor("value")
    if array is None and n.has("value_float"):
        array = np.array(n.f("value_float"), np.float32)
    if array is None and n.has("value_int"):
        array = np.array(n.i("value_int"), np.int64)
    if array is None and n.has("value_floats"):
        array = np.array(n.floats("value_floats"), np.float32)
    if array is None and n.has("value_ints"):
        array = np.array(n.ints("value_ints"), np.int64)
    if array is None:
        raise Unsupported("a constant that is neither a tensor nor a number")
    return n.e.const(array)


@op("ConstantOfShape")
def _constant_of_shape(n: OnnxNode) -> Value:
    fill = n.tensor("value")
    value = np.zeros((), np.float32) if fill is None else fill.reshape(-1)[:1].reshape(())
    return n.e.full(value, n.ints_at(0, "shape"))


@op("Shape")
def _shape(n: OnnxNode) -> Value:
    x = n.x()
    begin, end = n.i("start"), n.i("end", _INT64_MAX)
    return n.e.sizes(x, range(x.rank)[begin:end])


@op("Size")
def _size(n: OnnxNode) -> Value:
    if not n.x().is_static:
        raise Unsupported("the size of a tensor that is not known")
    return n.e.const(np.array(math.prod(n.x().dims), np.int64))


@op("Range")
def _range(n: OnnxNode) -> Value:
    return n.e.range(*(n.array(i, what) for i, what in enumerate(("start", "limit", "delta"))))
