"""ONNX operators that are written with several of ours."""

from __future__ import annotations

import numpy as np

from foveal.convert._onnx.context import OnnxNode, op
from foveal.convert.emit import SIZE_HINT, Unsupported
from foveal.graph import Value


def _per_channel(n: OnnxNode, v: Value, rank: int) -> Value:
    """[C] as [C, 1, ...], to broadcast along axis 1."""
    return n.e.op("unsqueeze", v, axes=list(range(1, rank - 1))) if rank > 2 else v


@op("GroupNormalization")
def _group_norm(n: OnnxNode) -> Value:
    x, scale, bias = n.x(0), n.x(1), n.x(2)
    groups, channels = n.i("num_groups"), x.dims[1] if x.rank > 2 else -1
    n.require("stash_type", n.i("stash_type", 1), (1,))
    if groups <= 0 or channels < 0 or channels % groups:
        raise Unsupported(f"{groups} groups of an input of shape {x.dims}")
    back = [0, channels, *x.dims[2:]]
    if back.count(-1) > 1:
        raise Unsupported("its input has several sizes that are not known", SIZE_HINT)
    if n.opset < 21:  # one scale and bias per group
        n.e.reserve(channels, "its channels' groups")
        repeat = np.repeat(np.arange(groups), channels // groups)
        scale, bias = (n.e.op("gather", v, n.e.const(repeat), axis=0) for v in (scale, bias))
    y = n.e.op("reshape", x, shape=[0, groups, -1])
    y = n.e.op("layer_norm", y, axis=2, epsilon=n.f("epsilon", 1e-5))
    y = n.e.op("reshape", y, shape=back)
    y = n.e.op("mul", y, _per_channel(n, scale, x.rank))
    return n.e.op("add", y, _per_channel(n, bias, x.rank))


@op("RMSNormalization")
def _rms_norm(n: OnnxNode) -> Value:
    x, scale = n.x(0), n.x(1)
    n.require("stash_type", n.i("stash_type", 1), (1,))
    axes = list(range(n.axis(-1, x.rank), x.rank))
    mean = n.e.op("reduce_mean", n.e.op("square", x), axes=axes, keepdims=1)
    root = n.e.op("rsqrt", n.e.op("add", mean, n.scalar(n.f("epsilon", 1e-5), x)))
    return n.e.op("mul", n.e.op("mul", x, root), scale)


@op("MeanVarianceNormalization")
def _mean_variance(n: OnnxNode) -> Value:
    x = n.x()
    axes = n.ints("axes") or [0, 2, 3]
    centred = n.e.op("sub", x, n.e.op("reduce_mean", x, axes=axes, keepdims=1))
    variance = n.e.op("reduce_mean", n.e.op("square", centred), axes=axes, keepdims=1)
    deviation = n.e.op("add", n.e.op("sqrt", variance), n.scalar(1e-9, x))
    return n.e.op("div", centred, deviation)


@op("LRN")
def _local_response(n: OnnxNode) -> Value:
    """The sum over neighbouring channels is a 1x1 convolution with a band of ones."""
    x, size = n.x(), n.i("size")
    channels = x.dims[1] if x.rank == 4 else -1
    if channels <= 0 or size <= 0:
        raise Unsupported(f"size {size} of an input of shape {x.dims}")
    n.e.reserve(channels**2, "a band")
    distance = np.arange(channels) - np.arange(channels)[:, None]
    band = (distance >= -((size - 1) // 2)) & (distance <= size // 2)
    weight = n.e.const(band.astype(x.dtype)[:, :, None, None])
    total = n.e.op("conv2d", n.e.op("square", x), weight)
    total = n.e.op("mul", total, n.scalar(n.f("alpha", 1e-4) / size, x))
    total = n.e.op("add", total, n.scalar(n.f("bias", 1.0), x))
    return n.e.op("div", x, n.e.op("pow", total, n.scalar(n.f("beta", 0.75), x)))


@op("Swish")
def _swish(n: OnnxNode) -> Value:
    x, alpha = n.x(), n.f("alpha", 1.0)
    gate = x if alpha == 1 else n.e.op("mul", x, n.scalar(alpha, x))
    return n.e.op("mul", x, n.e.op("sigmoid", gate))


@op("Shrink")
def _shrink(n: OnnxNode) -> Value:
    x, edge, bias = n.x(), n.f("lambd", 0.5), n.f("bias", 0.0)
    zero = n.scalar(0, x)
    above = n.e.op("where", n.e.op("greater", x, n.scalar(edge, x)),
                   n.e.op("sub", x, n.scalar(bias, x)), zero)  # fmt: skip
    below = n.e.op("less", x, n.scalar(-edge, x))
    return n.e.op("where", below, n.e.op("add", x, n.scalar(bias, x)), above)


@op("IsNaN")
def _is_nan(n: OnnxNode) -> Value:
    return n.e.op("not_equal", n.x(), n.x())


@op("Trilu")
def _trilu(n: OnnxNode) -> Value:
    x = n.x()
    k = 0 if n.opt(1) is None else n.int_at(1, "diagonal")
    rows, columns = x.dims[-2:] if x.rank >= 2 else (-1, -1)
    if min(rows, columns) < 0:
        raise Unsupported(f"an input of shape {x.dims}", SIZE_HINT)
    n.e.reserve(rows * columns, "a triangle")
    distance = np.arange(columns) - np.arange(rows)[:, None]
    keep = distance >= k if n.i("upper", 1) else distance <= k
    return n.e.op("where", n.e.const(keep), x, n.scalar(0, x))
