"""A tiny numpy interpreter of graphs: slow, plain, and independent of the core.

Tests run imported graphs through it and through the source runtime. Operators with windows are
written out here; elementwise ones and data movement share the constant folder's table, which
the ONNX comparison tests check in turn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from foveal.graph import Graph, Node
from foveal.optimize._evaluate import evaluate

Array = np.ndarray


def run(graph: Graph, feeds: dict[str, Array]) -> dict[str, Array]:
    """The graph's outputs by name."""
    values: dict[Any, Array] = {v: feeds[v.name] for v in graph.inputs}

    def get(v: Any) -> Array | None:
        if v is None:
            return None
        return v.data if v.data is not None else values[v]

    for node in graph.nodes:
        outs = run_node(node, [get(v) for v in node.inputs])
        for v, a in zip(node.outputs, outs, strict=True):
            assert a.dtype.name == v.dtype, f"{node!r} made {a.dtype}"
            assert len(a.shape) == v.rank, f"{node!r} made {a.shape}"
            assert all(d in (-1, n) for d, n in zip(v.dims, a.shape, strict=True)), (
                f"{node!r} made {a.shape}"
            )
            values[v] = a
    return {v.name: np.asarray(get(v)) for v in graph.outputs}


def run_node(node: Node, inputs: list[Array | None]) -> list[Array]:
    own = globals().get(f"_op_{node.op}")
    if own is not None:
        return [own(inputs, node.attr)]
    outs = evaluate(node.op, inputs, node.attr)
    assert outs is not None, f"no reference for {node.op}"
    return outs


def _windows(x: Array, kernel: Any, stride: Any, dilation: Any, out: Any) -> Array:
    """[N, C, oh, ow, kh, kw] view of an input that is padded already."""
    n, c, _, _ = x.shape
    s = x.strides
    return np.lib.stride_tricks.as_strided(
        x,
        (n, c, out[0], out[1], kernel[0], kernel[1]),
        (
            s[0], s[1], s[2] * stride[0], s[3] * stride[1], s[2] * dilation[0], s[3] * dilation[1],
        ),
        writeable=False,
    )  # fmt: skip


def _padded(x: Array, pad: Any, value: float = 0.0) -> Array:
    t, left, b, r = pad
    return np.pad(x, ((0, 0), (0, 0), (t, b), (left, r)), constant_values=value)


def _op_conv2d(ins: Any, attr: Any) -> Array:
    x, w = ins[0], ins[1]
    stride, dil, group = attr("stride"), attr("dilation"), attr("group")
    x = _padded(x, attr("pad"))
    kernel = w.shape[2:]
    out = [(x.shape[2 + i] - (kernel[i] - 1) * dil[i] - 1) // stride[i] + 1 for i in (0, 1)]
    win = _windows(x, kernel, stride, dil, out)
    n, c = x.shape[:2]
    if group == c and w.shape[1] == 1:
        mult = w.shape[0] // c
        y = np.einsum("nchwij,cmij->ncmhw", win, w.reshape(c, mult, *kernel), optimize=False)
        y = y.reshape(n, c * mult, *out)
    else:
        parts = []
        for g in range(group):
            xs = win[:, g * c // group : (g + 1) * c // group]
            ws = w[g * w.shape[0] // group : (g + 1) * w.shape[0] // group]
            parts.append(np.moveaxis(np.tensordot(xs, ws, axes=([1, 4, 5], [1, 2, 3])), 3, 1))
        y = np.concatenate(parts, axis=1)
    if len(ins) > 2 and ins[2] is not None:
        y = y + ins[2].reshape(1, -1, 1, 1)
    return np.ascontiguousarray(y, dtype=x.dtype)


def _op_conv_transpose2d(ins: Any, attr: Any) -> Array:
    x, w = ins[0], ins[1]
    (sh, sw), (dh, dw), group = attr("stride"), attr("dilation"), attr("group")
    t, left, b, r = attr("pad")
    oph, opw = attr("output_pad")
    n, c, h, width = x.shape
    og, kh, kw = w.shape[1:]
    full_h = (h - 1) * sh + (kh - 1) * dh + 1 + oph
    full_w = (width - 1) * sw + (kw - 1) * dw + 1 + opw
    y = np.zeros((n, og * group, full_h, full_w), x.dtype)
    cg = c // group
    for g in range(group):
        for i in range(kh):
            for j in range(kw):
                part = np.einsum(
                    "nchw,co->nohw", x[:, g * cg : (g + 1) * cg], w[g * cg : (g + 1) * cg, :, i, j]
                )
                y[
                    :,
                    g * og : (g + 1) * og,
                    i * dh : i * dh + (h - 1) * sh + 1 : sh,
                    j * dw : j * dw + (width - 1) * sw + 1 : sw,
                ] += part
    y = y[:, :, t : full_h - b, left : full_w - r]
    if len(ins) > 2 and ins[2] is not None:
        y = y + ins[2].reshape(1, -1, 1, 1)
    return np.ascontiguousarray(y)


def _op_matmul(ins: Any, attr: Any) -> Array:
    a, b = ins[0], ins[1]
    if attr("transpose_a"):
        a = np.swapaxes(a, -1, -2)
    if attr("transpose_b"):
        b = np.swapaxes(b, -1, -2)
    y = np.matmul(a, b)
    if len(ins) > 2 and ins[2] is not None:
        y = y + ins[2]
    return np.asarray(y)


def pooled_size(
    size: int, kernel: int, stride: int, pads: int, dilation: int, ceil: bool, begin: int
) -> int:
    reach = (kernel - 1) * dilation + 1
    n = size + pads - reach
    out = (-(-n // stride) if ceil else n // stride) + 1
    if ceil and (out - 1) * stride >= size + begin:  # a window must start inside
        out -= 1
    return out


def _op_pool2d(ins: Any, attr: Any) -> Array:
    x = ins[0]
    kernel, stride, dil, pad = attr("kernel"), attr("stride"), attr("dilation"), attr("pad")
    average = attr("mode") == "average"
    out = [
        pooled_size(
            x.shape[2 + i], kernel[i], stride[i], pad[i] + pad[i + 2], dil[i], attr("ceil"), pad[i]
        )
        for i in (0, 1)
    ]
    need = [(out[i] - 1) * stride[i] + (kernel[i] - 1) * dil[i] + 1 for i in (0, 1)]
    extra = [max(need[i] - x.shape[2 + i] - pad[i] - pad[i + 2], 0) for i in (0, 1)]
    grow = [pad[0], pad[1], pad[2] + extra[0], pad[3] + extra[1]]
    win = _windows(_padded(x, grow, 0.0 if average else -np.inf), kernel, stride, dil, out)
    if not average:
        return np.ascontiguousarray(win.max(axis=(4, 5)))
    inside = np.ones((1, 1, *x.shape[2:]), x.dtype)
    if attr("count_pad"):
        inside = _padded(inside, pad, 1.0)
        inside = _padded(inside, [0, 0, *extra])
    else:
        inside = _padded(inside, grow)
    count = _windows(inside, kernel, stride, dil, out).sum(axis=(4, 5))
    return np.asarray(win.sum(axis=(4, 5)) / count, x.dtype)


def _source(out: int, size: int, scale: float, grid: str, length: int, kind: Any) -> Array:
    i, scale = np.arange(out, dtype=kind), kind(scale)
    if grid == "asymmetric":
        return i / scale
    if grid == "align_corners":
        return i * kind(size - 1) / kind(length - 1) if length > 1 else i * 0
    if grid == "pytorch_half_pixel" and length <= 1:
        return i * 0
    return (i + kind(0.5)) / scale - kind(0.5)


def _nearest(at: Array, rounding: str) -> Array:
    if rounding in ("floor", "ceil"):
        return getattr(np, rounding)(at).astype(int)
    below = np.floor(at)
    past_half = at - below - at.dtype.type(0.5)
    tie = np.abs(past_half) < 1e-6
    return (below + np.where(tie, rounding == "round_prefer_ceil", past_half > 0)).astype(int)


def _op_resize(ins: Any, attr: Any) -> Array:
    x = ins[0]
    size, scale = attr("size"), attr("scale")
    for k in (0, 1):
        n = x.shape[2 + k]
        out = size[k] if size else int(np.floor(n * scale[k]))
        nearest = attr("mode") == "nearest"
        kind = np.float32 if nearest and scale else np.float64
        src = _source(out, n, scale[k] if scale else out / n, attr("grid"), out, kind)
        if nearest:
            x = np.take(x, np.clip(_nearest(src, attr("rounding")), 0, n - 1), axis=2 + k)
        else:
            src = np.clip(src, 0, n - 1)
            lo = np.minimum(np.floor(src).astype(int), n - 1)
            t = (src - lo).astype(x.dtype).reshape((-1, 1) if k == 0 else (-1,))
            hi = np.minimum(lo + 1, n - 1)
            x = np.take(x, lo, axis=2 + k) * (1 - t) + np.take(x, hi, axis=2 + k) * t
    return np.ascontiguousarray(x, dtype=ins[0].dtype)


def _op_softmax(ins: Any, attr: Any) -> Array:
    x = ins[0].astype(np.float64)
    e = np.exp(x - x.max(axis=attr("axis"), keepdims=True))
    return (e / e.sum(axis=attr("axis"), keepdims=True)).astype(ins[0].dtype)


def _op_log_softmax(ins: Any, attr: Any) -> Array:
    x = ins[0].astype(np.float64)
    x = x - x.max(axis=attr("axis"), keepdims=True)
    return (x - np.log(np.exp(x).sum(axis=attr("axis"), keepdims=True))).astype(ins[0].dtype)


def _arg(ins: Any, attr: Any, f: Any) -> Array:
    x, axis = ins[0], attr("axis")
    if attr("select_last"):
        y = x.shape[axis] - 1 - f(np.flip(x, axis), axis=axis)
    else:
        y = f(x, axis=axis)
    return np.expand_dims(y, axis) if attr("keepdims") else y


def _op_argmax(ins: Any, attr: Any) -> Array:
    return _arg(ins, attr, np.argmax)


def _op_argmin(ins: Any, attr: Any) -> Array:
    return _arg(ins, attr, np.argmin)


def _op_mod(ins: Any, attr: Any) -> Array:
    return np.asarray(np.mod(ins[0], ins[1]))


def _channels(v: Array, rank: int) -> Array:
    return v.reshape((-1,) + (1,) * (rank - 2))


def _op_batch_norm(ins: Any, attr: Any) -> Array:
    x = ins[0]
    scale, bias, mean, var = (_channels(v, x.ndim) for v in ins[1:5])
    return np.asarray((x - mean) / np.sqrt(var + attr("epsilon")) * scale + bias, x.dtype)


def _op_instance_norm(ins: Any, attr: Any) -> Array:
    x, axes = ins[0], tuple(range(2, ins[0].ndim))
    m, v = x.mean(axis=axes, keepdims=True), x.var(axis=axes, keepdims=True)
    y = (x - m) / np.sqrt(v + attr("epsilon"))
    return np.asarray(y * _channels(ins[1], x.ndim) + _channels(ins[2], x.ndim), x.dtype)


def _op_layer_norm(ins: Any, attr: Any) -> Array:
    x = ins[0]
    axes = tuple(range(attr("axis") % x.ndim, x.ndim))
    y = (x - x.mean(axis=axes, keepdims=True)) / np.sqrt(
        x.var(axis=axes, keepdims=True) + attr("epsilon")
    )
    y = y * ins[1] if len(ins) > 1 and ins[1] is not None else y
    return np.asarray(y + ins[2] if len(ins) > 2 and ins[2] is not None else y, x.dtype)


def _op_l2_normalize(ins: Any, attr: Any) -> Array:
    x = ins[0]
    s = np.sum(x * x, axis=attr("axis"), keepdims=True)
    return np.asarray(x / np.sqrt(np.maximum(s, attr("epsilon"))), x.dtype)


def _op_depth_to_space(ins: Any, attr: Any) -> Array:
    n, c, h, w = ins[0].shape
    b = attr("block")
    if attr("mode") == "dcr":
        y = ins[0].reshape(n, b, b, c // b // b, h, w).transpose(0, 3, 4, 1, 5, 2)
    else:
        y = ins[0].reshape(n, c // b // b, b, b, h, w).transpose(0, 1, 4, 2, 5, 3)
    return np.ascontiguousarray(y).reshape(n, c // b // b, h * b, w * b)


def _op_space_to_depth(ins: Any, attr: Any) -> Array:
    n, c, h, w = ins[0].shape
    b = attr("block")
    y = ins[0].reshape(n, c, h // b, b, w // b, b).transpose(0, 3, 5, 1, 2, 4)
    return np.ascontiguousarray(y).reshape(n, c * b * b, h // b, w // b)
