"""TFLite operators that move elements, and those that compute shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from foveal.convert._tflite.context import TfliteNode, op
from foveal.convert.emit import Unsupported
from foveal.graph import Value


@op("RESHAPE")
def _reshape(n: TfliteNode) -> Value:
    shape = n.ints_at(1, "shape") if n.opt(1) is not None else n.ints(0)
    if 0 in shape:
        raise Unsupported(f"the shape {shape}")
    return n.e.op("reshape", n.x(), shape=shape)


@op("CONCATENATION")
def _concat(n: TfliteNode) -> Value:
    values = [n.x(i) for i in range(len(n.inputs))]
    y = n.e.op("concat", *values, axis=n.axis(n.i32(0), values[0].rank))
    return n.activate(y, 1)


@op("PAD", "PADV2")
def _pad(n: TfliteNode) -> Value:
    x, pads = n.x(), n.array(1, "paddings")
    if pads.shape != (x.rank, 2):
        raise Unsupported(f"paddings of shape {pads.shape} for rank {x.rank}")
    value = 0.0
    if n.type == "PADV2":
        value = float(n.array(2, "padding value").reshape(-1)[0])
    return n.e.op("pad", x, pads=pads.T.reshape(-1), value=value)


@op("MIRROR_PAD")
def _mirror_pad(n: TfliteNode) -> Value:
    if n.i8(0) != 0:
        raise Unsupported("SYMMETRIC mode")
    pads = n.array(1, "paddings")
    return n.e.op("pad", n.x(), pads=pads.T.reshape(-1), mode="reflect")


@op("TRANSPOSE")
def _transpose(n: TfliteNode) -> Value:
    return n.e.op("transpose", n.x(), perm=n.ints_at(1, "permutation"))


@op("SLICE")
def _slice(n: TfliteNode) -> Value:
    x, begin, size = n.x(), n.ints_at(1, "begin"), n.ints_at(2, "size")
    if not len(begin) == len(size) == x.rank:
        raise Unsupported("begin and size of another rank")
    end = [(1 << 31) - 1 if s < 0 else b + s for b, s in zip(begin, size, strict=True)]
    axes = list(range(x.rank))
    return n.e.op("slice", x, axes=axes, begin=begin, end=end, step=[1] * x.rank)


@op("STRIDED_SLICE")
def _strided_slice(n: TfliteNode) -> Value:
    x = n.x()
    begin, end, step = (n.ints_at(i + 1, w) for i, w in enumerate(("begin", "end", "strides")))
    begin_mask, end_mask, ellipsis, new_axis, shrink = (n.i32(i) for i in range(5))
    if ellipsis or new_axis or n.flag(5):
        raise Unsupported("ellipsis, new-axis or offset form")
    count = len(begin)
    if not count == len(end) == len(step) or count > x.rank or 0 in step:
        raise Unsupported("begin, end and strides of different lengths")
    big = (1 << 31) - 1
    drop = []
    for i in range(count):
        if shrink >> i & 1:
            drop.append(i)
            end[i], step[i] = (begin[i] + 1 if begin[i] != -1 else big), 1
            continue
        if begin_mask >> i & 1:
            begin[i] = 0 if step[i] > 0 else big
        if end_mask >> i & 1:
            end[i] = big if step[i] > 0 else -big
    y = n.e.op("slice", x, axes=list(range(count)), begin=begin, end=end, step=step)
    return n.e.op("squeeze", y, axes=drop) if drop else y


@op("REVERSE_V2")
def _reverse(n: TfliteNode) -> Value:
    x = n.x()
    axes = [n.axis(a, x.rank) for a in n.ints_at(1, "axes")]
    big, k = (1 << 31) - 1, len(axes)
    return n.e.op("slice", x, axes=axes, begin=[big] * k, end=[-big] * k, step=[-1] * k)


@op("SPLIT", "SPLIT_V")
def _split(n: TfliteNode) -> Any:
    x = n.x(1 if n.type == "SPLIT" else 0)
    which = n.array(0 if n.type == "SPLIT" else 2, "axis")
    axis = n.axis(int(which.reshape(-1)[0]), x.rank)
    count, total = len(n.outputs), x.dims[axis]
    sizes = n.ints_at(1, "sizes") if n.type == "SPLIT_V" else [total // count] * count
    if -1 in sizes:
        sizes[sizes.index(-1)] = total - sum(s for s in sizes if s >= 0)
    if len(sizes) != count or total < 0:
        raise Unsupported(f"{len(sizes)} parts of {total} for {count} outputs")
    return n.e.op("split", x, outputs=count, axis=axis, sizes=sizes)


@op("PACK")
def _pack(n: TfliteNode) -> Value:
    axis = n.axis(n.i32(1), n.x().rank + 1)
    values = [n.e.op("unsqueeze", n.x(i), axes=[axis]) for i in range(len(n.inputs))]
    return n.e.op("concat", *values, axis=axis)


@op("UNPACK")
def _unpack(n: TfliteNode) -> list[Value]:
    x, count = n.x(), len(n.outputs)
    axis = n.axis(n.i32(1), x.rank)
    parts = n.e.op("split", x, outputs=count, axis=axis, sizes=[1] * count)
    if count == 1:
        parts = [parts]
    return [n.e.op("squeeze", p, axes=[axis]) for p in parts]


@op("SQUEEZE")
def _squeeze(n: TfliteNode) -> Value:
    x = n.x()
    axes = n.ints(0) or [i for i, d in enumerate(x.dims) if d == 1]
    return n.e.op("squeeze", x, axes=axes) if axes else x


@op("EXPAND_DIMS")
def _expand_dims(n: TfliteNode) -> Value:
    axes = n.ints_at(1, "axis")
    return n.e.op("unsqueeze", n.x(), axes=axes[:1])


@op("TILE")
def _tile(n: TfliteNode) -> Value:
    return n.e.op("tile", n.x(), repeats=n.ints_at(1, "repeats"))


@op("BROADCAST_TO")
def _broadcast_to(n: TfliteNode) -> Value:
    return n.e.op("expand", n.x(), shape=n.ints_at(1, "shape"))


@op("GATHER")
def _gather(n: TfliteNode) -> Value:
    if n.i32(1):
        raise Unsupported(f"batch_dims={n.i32(1)}")
    return n.e.op("gather", n.x(0), n.x(1), axis=n.axis(n.i32(0), n.x().rank))


# ---- values known while importing ------------------------------------------------------------


@op("SHAPE")
def _shape(n: TfliteNode) -> Value:
    if not n.x().is_static:
        raise Unsupported("the shape of a tensor whose size is not known")
    return n.e.const(np.array(n.x().dims, n.outputs[0][0]))


@op("RANK")
def _rank(n: TfliteNode) -> Value:
    return n.e.const(np.array(n.x().rank, np.int32))


@op("FILL")
def _fill(n: TfliteNode) -> Value:
    return n.e.full(n.array(1, "value").reshape(()), n.ints_at(0, "shape"))


@op("RANGE")
def _range(n: TfliteNode) -> Value:
    return n.e.range(*(n.array(i, what) for i, what in enumerate(("start", "limit", "delta"))))
