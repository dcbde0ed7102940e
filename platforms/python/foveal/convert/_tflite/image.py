"""TFLite convolutions, pooling, resizing, matrix products: NHWC outside, NCHW inside."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from foveal.convert._tflite.context import TfliteNode, op
from foveal.convert.emit import Unsupported, same_padding
from foveal.graph import Value


def _pad(n: TfliteNode, x: Value, field: int, kernel: list[int], stride: list[int],
         dilation: list[int]) -> list[int]:  # fmt: skip
    """[top, left, bottom, right] for SAME (0) or VALID (1) padding of an NHWC input."""
    mode = n.i8(field)
    if mode == 1:
        return [0, 0, 0, 0]
    if mode != 0:
        raise Unsupported(f"padding mode {mode}")
    (t, b), (left, r) = (
        same_padding(x.dims[1 + i], kernel[i], stride[i], dilation[i], upper=True) for i in (0, 1)
    )
    return [t, left, b, r]


def _positive(values: list[int], what: str) -> list[int]:
    if any(v <= 0 for v in values):
        raise Unsupported(f"{what} {values}")
    return values


@op("CONV_2D")
def _conv(n: TfliteNode) -> Value:
    x, w = n.x(0), n.x(1)
    stride = _positive([n.i32(2), n.i32(1)], "stride")
    dilation = _positive([n.i32(5, 1), n.i32(4, 1)], "dilation")
    if w.rank != 4 or x.rank != 4 or not w.is_static or w.dims[3] == 0 or x.dims[3] % w.dims[3]:
        raise Unsupported(f"an input of shape {x.dims} with weights of shape {w.dims}")
    pad = _pad(n, x, 0, w.dims[1:3], stride, dilation)
    weight = n.e.op("transpose", w, perm=[0, 3, 1, 2])  # [O, kh, kw, I]
    y = n.e.op(
        "conv2d", n.nchw(x), weight, n.opt(2), stride=stride, pad=pad, dilation=dilation,
        group=x.dims[3] // w.dims[3],
    )  # fmt: skip
    return n.nhwc(n.activate(y, 3))


@op("DEPTHWISE_CONV_2D")
def _depthwise(n: TfliteNode) -> Value:
    x, w = n.x(0), n.x(1)
    stride = _positive([n.i32(2), n.i32(1)], "stride")
    dilation = _positive([n.i32(6, 1), n.i32(5, 1)], "dilation")
    if w.rank != 4 or x.rank != 4 or w.dims[0] != 1:
        raise Unsupported(f"an input of shape {x.dims} with weights of shape {w.dims}")
    pad = _pad(n, x, 0, w.dims[1:3], stride, dilation)
    weight = n.e.op("transpose", w, perm=[3, 0, 1, 2])  # [1, kh, kw, C * multiplier]
    y = n.e.op(
        "conv2d", n.nchw(x), weight, n.opt(2), stride=stride, pad=pad, dilation=dilation,
        group=x.dims[3],
    )  # fmt: skip
    return n.nhwc(n.activate(y, 4))


@op("TRANSPOSE_CONV")
def _transpose_conv(n: TfliteNode) -> Value:
    size, w, x = n.ints_at(0, "output shape"), n.x(1), n.x(2)
    stride = _positive([n.i32(2), n.i32(1)], "stride")
    if len(size) != 4 or w.rank != 4 or x.rank != 4 or not x.is_static:
        raise Unsupported(f"an output of shape {size} from an input of shape {x.dims}")
    y = _transposed(n, x, w, n.opt(3), stride, size[1:3], valid=n.i8(0) == 1)
    return n.nhwc(n.activate(y, 3))


@op("custom operator Convolution2DTransposeBias")
def _transpose_conv_bias(n: TfliteNode) -> Value:
    """MediaPipe's: the output is the input times the stride (SAME) or all that the taps reach.

    Options are three int32: padding (1 SAME, 2 VALID), stride along x, stride along y.
    """
    x, w = n.x(0), n.x(1)
    if len(n.custom) < 12 or w.rank != 4 or x.rank != 4 or not x.is_static or not w.is_static:
        raise Unsupported(f"an input of shape {x.dims} with weights of shape {w.dims}")
    padding, stride_x, stride_y = struct.unpack_from("<3i", n.custom)
    if padding not in (1, 2):
        raise Unsupported(f"padding mode {padding}")
    stride = _positive([stride_y, stride_x], "stride")
    beyond = [w.dims[1 + i] - stride[i] for i in (0, 1)]
    if padding == 2 and min(beyond) < 0:
        raise Unsupported(f"VALID padding with a stride above the window {w.dims[1:3]}")
    size = [x.dims[1 + i] * stride[i] + (beyond[i] if padding == 2 else 0) for i in (0, 1)]
    return n.nhwc(_transposed(n, x, w, n.opt(2), stride, size, valid=padding == 2))


def _transposed(
    n: TfliteNode, x: Value, w: Value, bias: Value | None, stride: list[int], size: list[int],
    *, valid: bool,
) -> Value:  # fmt: skip
    """A transposed convolution in NCHW whose output is `size` = [height, width]."""
    begin, end, extra = [], [], []
    for i in (0, 1):
        full = (x.dims[1 + i] - 1) * stride[i] + w.dims[1 + i]
        total = max(full - size[i], 0)
        begin.append(total // 2)
        end.append(total - total // 2)
        extra.append(size[i] - (full - total))
    if valid and any(begin + end):
        raise Unsupported(f"VALID padding with an output of {size[0]} x {size[1]}")
    weight = n.e.op("transpose", w, perm=[3, 0, 1, 2])  # [O, kh, kw, I] -> [I, O, kh, kw]
    return n.e.op(
        "conv_transpose2d", n.nchw(x), weight, bias, stride=stride, pad=begin + end,
        output_pad=extra,
    )  # fmt: skip


@op("MAX_POOL_2D", "AVERAGE_POOL_2D")
def _pool(n: TfliteNode) -> Value:
    x = n.x()
    stride = _positive([n.i32(2), n.i32(1)], "stride")
    kernel = _positive([n.i32(4), n.i32(3)], "window")
    if x.rank != 4:
        raise Unsupported(f"an input of rank {x.rank}, expected 4")
    y = n.e.op(
        "pool2d",
        n.nchw(x),
        mode="max" if n.type == "MAX_POOL_2D" else "average",
        kernel=kernel,
        stride=stride,
        pad=_pad(n, x, 0, kernel, stride, [1, 1]),
    )
    return n.nhwc(n.activate(y, 5))


@op("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR")
def _resize(n: TfliteNode) -> Value:
    size = _positive(n.ints_at(1, "size"), "size")
    bilinear = n.type == "RESIZE_BILINEAR"
    first = 2 if bilinear else 0  # option fields 0 and 1 of the former are deprecated
    corners, half = n.flag(first), n.flag(first + 1)
    grid = "align_corners" if corners else "half_pixel" if half else "asymmetric"
    attrs: dict[str, Any] = {"mode": "bilinear" if bilinear else "nearest", "grid": grid}
    if not bilinear:
        attrs["rounding"] = "floor" if grid == "asymmetric" else "round_prefer_ceil"
    return n.nhwc(n.e.op("resize", n.nchw(n.x()), size=size, **attrs))


@op("DEPTH_TO_SPACE")
def _depth_to_space(n: TfliteNode) -> Value:
    return n.nhwc(n.e.op("depth_to_space", n.nchw(n.x()), block=n.i32(0), mode="dcr"))


@op("SPACE_TO_DEPTH")
def _space_to_depth(n: TfliteNode) -> Value:
    return n.nhwc(n.e.op("space_to_depth", n.nchw(n.x()), block=n.i32(0)))


@op("SPACE_TO_BATCH_ND")
def _space_to_batch(n: TfliteNode) -> Value:
    x, (bh, bw), pads = n.x(), _block(n), n.array(2, "paddings").reshape(-1).tolist()
    top, bottom, left, right = pads
    x = n.e.op("pad", x, pads=[0, top, left, 0, 0, bottom, right, 0])
    b, h, w, c = x.dims
    x = n.e.op("reshape", x, shape=[b, h // bh, bh, w // bw, bw, c])
    x = n.e.op("transpose", x, perm=[2, 4, 0, 1, 3, 5])
    return n.e.op("reshape", x, shape=[bh * bw * b, h // bh, w // bw, c])


@op("BATCH_TO_SPACE_ND")
def _batch_to_space(n: TfliteNode) -> Value:
    x, (bh, bw), crops = n.x(), _block(n), n.array(2, "crops").reshape(-1).tolist()
    b, h, w, c = x.dims
    b //= bh * bw
    x = n.e.op("reshape", x, shape=[bh, bw, b, h, w, c])
    x = n.e.op("transpose", x, perm=[2, 3, 0, 4, 1, 5])
    x = n.e.op("reshape", x, shape=[b, h * bh, w * bw, c])
    top, bottom, left, right = crops
    return n.e.op("pad", x, pads=[0, -top, -left, 0, 0, -bottom, -right, 0])


def _block(n: TfliteNode) -> list[int]:
    block = _positive(n.ints_at(1, "block shape"), "block shape")
    if len(block) != 2 or n.x().rank != 4 or not n.x().is_static:
        raise Unsupported(f"block shape {block} of an input of shape {n.x().dims}")
    return block


# ---- matrix products -----------------------------------------------------------------------


@op("FULLY_CONNECTED")
def _fully_connected(n: TfliteNode) -> Value:
    x, w = n.x(0), n.x(1)
    if n.i8(1) != 0:
        raise Unsupported("shuffled weights")
    if w.rank != 2 or not w.is_static:
        raise Unsupported(f"weights of shape {w.dims}")
    if not n.flag(2) and (x.rank != 2 or x.dims[1] != w.dims[1]):
        x = n.e.op("reshape", x, shape=[-1, w.dims[1]])
    bias = n.opt(2)
    y = n.e.op("matmul", x, w, bias, transpose_b=1)
    return n.activate(y, 0)


@op("BATCH_MATMUL")
def _batch_matmul(n: TfliteNode) -> Value:
    return n.e.op("matmul", n.x(0), n.x(1), transpose_a=n.flag(0), transpose_b=n.flag(1))


# ---- weights stored smaller ------------------------------------------------------------------


@op("DEQUANTIZE")
def _dequantize(n: TfliteNode) -> Value:
    x = n.x()
    if x.dtype == "float16":
        return n.e.op("cast", x, dtype="float32")
    if x.quantization is None:
        raise Unsupported(f"{x.dtype} values without scale and zero point")
    scale, zero_point = x.quantization
    return n.e.dequantize(x, n.e.const(scale, "float32"), n.e.const(zero_point, x.dtype))


@op("DENSIFY")
def _densify(n: TfliteNode) -> Value:
    if n.x().data is None:
        raise Unsupported("sparse values that are not constant")
    return n.x()  # sparse constants are read as dense arrays


@op("L2_NORMALIZATION")
def _l2_norm(n: TfliteNode) -> Value:
    x = n.x()
    length = n.e.op("reduce_l2", x, axes=[x.rank - 1], keepdims=1)
    floor = n.e.op("max", length, n.e.const(np.float32(1e-6)))
    return n.activate(n.e.op("div", x, floor), 0)
