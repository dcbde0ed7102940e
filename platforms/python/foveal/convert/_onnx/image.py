"""ONNX convolutions, matrix products, pooling, resizing and depth/space moves."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from foveal.convert._onnx.context import OnnxNode, op
from foveal.convert.emit import SIZE_HINT, Unsupported, same_padding
from foveal.convert.symbols import Size
from foveal.graph import Value


def _spatial(n: OnnxNode, x: Value) -> int:
    spatial = x.rank - 2
    if spatial not in (1, 2):
        raise Unsupported(f"an input of rank {x.rank} (only 1-D and 2-D windows)")
    return spatial


def _list(n: OnnxNode, name: str, spatial: int, default: int = 1) -> list[int]:
    values = n.ints(name) or [default] * spatial
    if len(values) != spatial:
        raise Unsupported(f"attribute {name}={values} for {spatial} spatial dimensions")
    return values


def _padding(
    n: OnnxNode, size: list[int], kernel: list[int], stride: list[int], dilation: list[int]
) -> list[int]:
    """[begin..., end...] per spatial dimension."""
    spatial = len(kernel)
    pads = n.ints("pads") or [0] * (2 * spatial)
    mode = n.s("auto_pad", "NOTSET")
    if mode == "NOTSET":
        if len(pads) != 2 * spatial:
            raise Unsupported(f"attribute pads={pads} for {spatial} spatial dimensions")
        return pads
    n.require("auto_pad", mode, ("SAME_UPPER", "SAME_LOWER", "VALID"))
    if mode == "VALID":
        return [0] * (2 * spatial)
    pairs = [
        same_padding(s, k, st, d, mode == "SAME_UPPER")
        for s, k, st, d in zip(size, kernel, stride, dilation, strict=True)
    ]
    return [p[0] for p in pairs] + [p[1] for p in pairs]


class _As2d:
    """1-D windows run as 2-D ones over a height of 1."""

    def __init__(self, n: OnnxNode, spatial: int) -> None:
        self.n = n
        self.one = spatial == 1

    def up(self, v: Value) -> Value:
        return self.n.e.op("unsqueeze", v, axes=[2]) if self.one else v

    def down(self, v: Value) -> Value:
        return self.n.e.op("squeeze", v, axes=[2]) if self.one else v

    def pair(self, values: list[int], default: int = 1) -> list[int]:
        return [default, *values] if self.one else values

    def pads(self, values: list[int]) -> list[int]:
        return [0, values[0], 0, values[1]] if self.one else values


class _Convolution:
    """What Conv and ConvTranspose have in common."""

    def __init__(self, n: OnnxNode) -> None:
        self.n, self.x, self.w = n, n.x(0), n.x(1)
        self.spatial = _spatial(n, self.x)
        if self.w.rank != self.x.rank:
            raise Unsupported(f"an input of rank {self.x.rank} with weights of rank {self.w.rank}")
        n.ignore("kernel_shape")
        self.kernel = self.w.dims[2:]
        self.stride = _list(n, "strides", self.spatial)
        self.dilation = _list(n, "dilations", self.spatial)

    def emit(self, op: str, pads: list[int], **attrs: Any) -> Value:
        to = _As2d(self.n, self.spatial)
        y = self.n.e.op(
            op,
            to.up(self.x),
            to.up(self.w),
            self.n.opt(2),
            stride=to.pair(self.stride),
            pad=to.pads(pads),
            dilation=to.pair(self.dilation),
            group=self.n.i("group", 1),
            **attrs,
        )
        return to.down(y)


@op("Conv")
def _conv(n: OnnxNode) -> Value:
    c = _Convolution(n)
    return c.emit("conv2d", _padding(n, c.x.dims[2:], c.kernel, c.stride, c.dilation))


@op("ConvTranspose")
def _conv_transpose(n: OnnxNode) -> Value:
    c = _Convolution(n)
    spatial, stride = c.spatial, c.stride
    extra = _list(n, "output_padding", spatial, 0)
    reach = [(k - 1) * d + 1 for k, d in zip(c.kernel, c.dilation, strict=True)]
    mode = n.s("auto_pad", "NOTSET")
    shape = n.ints("output_shape")
    pads = n.ints("pads") or [0] * (2 * spatial)
    if shape is not None or mode in ("SAME_UPPER", "SAME_LOWER"):
        size = c.x.dims[2:]
        if shape is None:
            target = [s * st for s, st in zip(size, stride, strict=True)]
        else:
            target = shape[-spatial:]
        if len(target) != spatial:
            raise Unsupported(f"attribute output_shape={shape}")
        if any(s < 0 for s in size) and shape is not None:
            raise Unsupported("output_shape with an input whose size is not known")
        begin, end = [], []
        for i in range(spatial):
            # total = stride * (in - 1) + output_padding + reach - out
            free = extra[i] + reach[i] - stride[i]
            total = free if shape is None else stride[i] * size[i] + free - target[i]
            if total < 0:
                extra[i] -= total
                total = 0
            small = total // 2
            first = small if mode == "SAME_UPPER" else total - small
            begin.append(first)
            end.append(total - first)
        pads = begin + end
    else:
        n.require("auto_pad", mode, ("NOTSET", "VALID"))
        if mode == "VALID":
            pads = [0] * (2 * spatial)
    if len(pads) != 2 * spatial:
        raise Unsupported(f"attribute pads={pads} for {spatial} spatial dimensions")
    return c.emit("conv_transpose2d", pads, output_pad=_As2d(n, spatial).pair(extra, 0))


@op("MaxPool", "AveragePool")
def _pool(n: OnnxNode) -> Value:
    x = n.x()
    spatial = _spatial(n, x)
    kernel, stride = _list(n, "kernel_shape", spatial), _list(n, "strides", spatial)
    dilation = _list(n, "dilations", spatial)
    pads = _padding(n, x.dims[2:], kernel, stride, dilation)
    n.only_first_output()
    n.ignore("storage_order")
    to = _As2d(n, spatial)
    y = n.e.op(
        "pool2d",
        to.up(x),
        mode="max" if n.type == "MaxPool" else "average",
        kernel=to.pair(kernel),
        stride=to.pair(stride),
        pad=to.pads(pads),
        dilation=to.pair(dilation),
        ceil=n.i("ceil_mode"),
        count_pad=n.i("count_include_pad"),
    )
    return to.down(y)


@op("GlobalAveragePool", "GlobalMaxPool")
def _global_pool(n: OnnxNode) -> Value:
    x = n.x()
    name = "reduce_mean" if n.type == "GlobalAveragePool" else "reduce_max"
    return n.e.op(name, x, axes=list(range(2, x.rank)), keepdims=1)


@op("MatMul")
def _matmul(n: OnnxNode) -> Value:
    return n.e.op("matmul", n.x(0), n.x(1))


@op("Gemm")
def _gemm(n: OnnxNode) -> Value:
    a, b, c = n.x(0), n.x(1), n.opt(2)
    alpha, beta = n.f("alpha", 1.0), n.f("beta", 1.0)
    if alpha != 1.0:
        b = n.e.op("mul", b, n.scalar(alpha, b))
    if c is not None and beta != 1.0:
        c = n.e.op("mul", c, n.scalar(beta, c))
    return n.e.op("matmul", a, b, c, transpose_a=n.i("transA"), transpose_b=n.i("transB"))


# ---- resize ------------------------------------------------------------------------------

_GRIDS = ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel")
_ROUNDING = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
_MAX_SIZE = 1 << 40
_MAX_SCALE = 1e6  # of the operator resize


@op("Upsample")
def _upsample(n: OnnxNode) -> Value:
    mode = n.require("mode", n.s("mode", "nearest"), ("nearest", "linear", "bilinear"))
    if n.opset < 9:
        scales = n.floats("scales") or []
    else:
        scales = [float(s) for s in n.array(1, "scales").reshape(-1)]
    return _resize_to(n, scales, None, mode, "asymmetric", "floor")


@op("Resize")
def _resize(n: OnnxNode) -> Value:
    mode = n.require("mode", n.s("mode", "nearest"), ("nearest", "linear"))
    if n.opset < 11:
        scales = [float(s) for s in n.array(1, "scales").reshape(-1)]
        return _resize_to(n, scales, None, mode, "asymmetric", "floor")
    grid = n.s("coordinate_transformation_mode", "half_pixel")
    n.require("coordinate_transformation_mode", grid, _GRIDS)
    rounding = n.s("nearest_mode", "round_prefer_floor")
    n.require("nearest_mode", rounding, _ROUNDING)
    n.require("antialias", n.i("antialias"), (0,))
    policy = n.s("keep_aspect_ratio_policy", "stretch")
    n.require("keep_aspect_ratio_policy", policy, ("stretch",))
    n.ignore("cubic_coeff_a", "extrapolation_value", "exclude_outside", 1)  # 1: region of a crop
    given = n.opt(2)
    sizes = None
    scales_list: list[float] = []
    if given is not None and given.shape != (0,):
        scales_list = [float(s) for s in n.array(2, "scales").reshape(-1)]
    elif n.ints("axes") is None:
        sizes, scales_list = _sizes(n)
    else:
        sizes = n.ints_at(3, "sizes")
    axes = n.ints("axes")
    if axes is not None:
        rank = n.x().rank
        wanted: list[Any] = scales_list if sizes is None else sizes
        if len(wanted) != len(axes) or any(not -rank <= a < rank for a in axes):
            raise Unsupported(f"{len(wanted)} scales or sizes for the axes {axes}")
        places = dict(zip((a % rank for a in axes), wanted, strict=True))
        if sizes is not None:
            sizes = [int(places.get(i, d)) for i, d in enumerate(n.x().dims)]
        else:
            scales_list = [float(places.get(i, 1)) for i in range(rank)]
    return _resize_to(n, scales_list, sizes, mode, grid, rounding)


def _sizes(n: OnnxNode) -> tuple[list[int] | None, list[float]]:
    """Output sizes, or scales when they are multiples of the input's own unknown sizes."""
    x = n.x()
    wanted = n.e.symbols(n.opt(3), "sizes")
    if all(isinstance(d, int) for d in wanted):
        return [d for d in wanted if isinstance(d, int)], []
    scales = []
    for i, d in enumerate(wanted):
        if isinstance(d, int):
            if i >= x.rank or x.dims[i] <= 0:
                raise Unsupported("its sizes mix known and unknown ones", SIZE_HINT)
            scales.append(d / x.dims[i])
        elif i < x.rank and Size(d.value, d.axis).is_axis(x, i):
            scales.append(d.factor)
        else:
            raise Unsupported("its sizes are only known when the model runs", SIZE_HINT)
    return None, scales


def _resize_to(
    n: OnnxNode, scales: list[float], sizes: list[int] | None, mode: str, grid: str, rounding: str
) -> Value:
    x = n.x()
    spatial = _spatial(n, x)
    given: list[float] | list[int] = scales if sizes is None else sizes
    if len(given) != x.rank:
        raise Unsupported(f"{len(given)} scales or sizes for an input of rank {x.rank}")
    if sizes is None:
        if any(s != 1 for s in scales[:2]):
            raise Unsupported(f"scales {scales}: only the last two dimensions can be resized")
        if any(not (math.isfinite(s) and s > 0) for s in scales):
            raise Unsupported(f"scales {scales}")
    elif sizes[:2] != x.dims[:2] and any(
        d not in (-1, s) for s, d in zip(sizes[:2], x.dims[:2], strict=True)
    ):
        raise Unsupported(f"sizes {sizes}: only the last two dimensions can be resized")
    to = _As2d(n, spatial)
    attrs: dict[str, Any] = {"mode": "nearest" if mode == "nearest" else "bilinear", "grid": grid}
    if mode == "nearest":
        attrs["rounding"] = rounding
    if sizes is None:
        scale = [np.float32(s) for s in scales[2:]]
        if all(d >= 0 for d in x.dims[2:]):
            # The size is rounded down from a product in float32: 10 by 2.6 is 26, not 25.
            product = [np.float32(d) * s for d, s in zip(x.dims[2:], scale, strict=True)]
            if not all(0 <= p < _MAX_SIZE for p in product):
                raise Unsupported(f"scales {scales} for an input of shape {list(x.shape)}")
            attrs["size"] = to.pair([int(p) for p in product])
        factors = [float(s) for s in scale]
        y = n.e.op("resize", to.up(x), scale=[1.0, *factors] if to.one else factors, **attrs)
    else:
        if mode == "nearest" and all(d > 0 for d in x.dims[2:]):
            # ONNX Runtime's coordinates, which decide between neighbours equally far.
            ratio = [
                float(np.float32(s) / np.float32(d))
                for s, d in zip(sizes[2:], x.dims[2:], strict=True)
            ]
            if all(r < _MAX_SCALE for r in ratio):
                attrs["scale"] = [1.0, *ratio] if to.one else ratio
        y = n.e.op("resize", to.up(x), size=to.pair(list(sizes[2:])), **attrs)
    return to.down(y)


@op("DepthToSpace")
def _depth_to_space(n: OnnxNode) -> Value:
    mode = n.require("mode", n.s("mode", "DCR"), ("DCR", "CRD"))
    return n.e.op("depth_to_space", n.x(), block=n.i("blocksize"), mode=mode.lower())


@op("SpaceToDepth")
def _space_to_depth(n: OnnxNode) -> Value:
    n.require("mode", n.s("mode", "DCR"), ("DCR",))
    return n.e.op("space_to_depth", n.x(), block=n.i("blocksize"))
