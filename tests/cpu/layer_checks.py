"""Layers large enough to reach every tile, band and chunk of the CPU kernels, against float64.

Run by test_isas.py in a process of its own per instruction set:
    FOVEAL_CPU_ISA=avx2 python layer_checks.py
Exits with 77 when this machine lacks the instruction set.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import foveal as fv
import numpy as np
from foveal import _core

Array = np.ndarray[Any, np.dtype[np.float32]]
SKIP = 77


def run_layer(
    op: str, x: Array, constants: list[Array], attrs: dict[str, Any], posts: list[str], threads: int
) -> Array:
    """One node and unary operators behind it, on the CPU device."""
    b = _core.GraphBuilder()
    ids = [b.add_value("x", "float32", list(x.shape), [])]
    ids += [b.add_constant(f"c{i}", c) for i, c in enumerate(constants)]
    y = b.add_value("y", "float32", [-1] * x.ndim, [])
    b.add_node(op, "layer", ids, [y], attrs)
    for i, post in enumerate(posts):
        z = b.add_value(f"p{i}", "float32", [-1] * x.ndim, [])
        b.add_node(post, f"post{i}", [y], [z], {})
        y = z
    b.set_io([ids[0]], [y])
    b.verify()
    session = fv.Session(b.model(), device="cpu", threads=threads)
    return next(iter(session.run({"x": x}).values()))


def conv_reference(x: Array, w: Array, bias: Array, attrs: dict[str, Any]) -> Array:
    """Tap by tap in float64."""
    (sy, sx), (top, left, bottom, right) = attrs["stride"], attrs["pad"]
    (dy, dx), group = attrs["dilation"], attrs["group"]
    x = np.pad(x.astype(np.float64), [(0, 0), (0, 0), (top, bottom), (left, right)])
    n, c, h, wide = x.shape
    o, _, kh, kw = w.shape
    oh, ow = (h - (kh - 1) * dy - 1) // sy + 1, (wide - (kw - 1) * dx - 1) // sx + 1
    y = np.zeros((n, group, o // group, oh * ow))
    xg = x.reshape(n, group, c // group, h, wide)
    wg = w.astype(np.float64).reshape(group, o // group, c // group, kh, kw)
    for i in range(kh):
        for j in range(kw):
            tap = xg[:, :, :, i * dy :: sy, j * dx :: sx][:, :, :, :oh, :ow]
            y += wg[:, :, :, i, j] @ tap.reshape(n, group, c // group, oh * ow)
    return y.reshape(n, o, oh, ow) + bias.astype(np.float64)[:, None, None]


def convolutions() -> Iterator[tuple[str, Array, list[Array], dict[str, Any]]]:
    rng = np.random.default_rng(7)
    # channels in, out, height, width, kernel, stride, pad, dilation, group, batch
    table = [
        (300, 70, 9, 11, 1, 1, 0, 1, 1, 1),  # 1x1: several weight chunks, partial blocks
        (64, 129, 30, 37, 1, 1, 0, 1, 1, 2),
        (48, 40, 15, 17, 1, 2, 0, 1, 1, 1),  # strided 1x1: rows and columns sampled
        (96, 33, 23, 29, 3, 1, 1, 1, 1, 1),  # 3x3: bands, chunks, borders
        (130, 17, 7, 7, 3, 1, 1, 1, 1, 1),
        (40, 64, 41, 33, 3, 2, 1, 1, 1, 1),
        (33, 31, 19, 21, 3, 1, 2, 2, 1, 1),  # dilation
        (20, 20, 17, 16, 5, 3, 2, 1, 1, 1),  # stride 3
        (16, 16, 12, 200, 3, 1, 0, 1, 1, 1),  # no padding: reads the input in place
        (3, 40, 65, 67, 3, 2, 1, 1, 1, 1),  # few channels: plain input
        (3, 64, 60, 61, 7, 2, 3, 1, 1, 2),
        (1, 5, 20, 20, 5, 1, 2, 1, 1, 1),
        (4, 24, 31, 13, 3, 1, 1, 1, 1, 1),
        (64, 64, 14, 14, 3, 1, 1, 1, 4, 1),  # groups of whole blocks
        (60, 90, 11, 9, 3, 1, 1, 1, 6, 1),  # groups merged to fill blocks
        (37, 74, 8, 9, 3, 2, 1, 1, 37, 1),  # channel multiplier
        (72, 72, 29, 31, 3, 1, 1, 1, 72, 2),  # depthwise
        (50, 50, 28, 27, 5, 2, 2, 1, 50, 1),
        (50, 50, 28, 27, 5, 1, 2, 1, 50, 1),
        (19, 19, 16, 21, 3, 2, 1, 1, 19, 1),
        (19, 19, 16, 21, 7, 1, 3, 1, 19, 1),
        (35, 35, 16, 21, 3, 1, 2, 2, 35, 1),
        (960, 240, 1, 1, 1, 1, 0, 1, 1, 1),  # one pixel
        (24, 960, 1, 1, 1, 1, 0, 1, 1, 3),
        (64, 64, 56, 56, 3, 1, 1, 1, 1, 1),  # Winograd: several blocks of tiles
        (16, 16, 9, 11, 3, 1, 1, 1, 1, 1),  # tiles over both edges, one pair of blocks
        (70, 130, 14, 13, 3, 1, 1, 1, 1, 2),  # partial blocks, an odd last pair
        (48, 24, 30, 64, 3, 1, 0, 1, 1, 1),  # no padding
        (40, 40, 17, 19, 3, 1, 2, 1, 1, 1),  # more padding than the kernel needs
    ]
    for c, o, h, w, k, s, p, d, g, n in table:
        x = rng.normal(size=(n, c, h, w)).astype(np.float32)
        weight = rng.normal(size=(o, c // g, k, k)).astype(np.float32)
        bias = rng.normal(size=o).astype(np.float32)
        attrs = {"stride": [s, s], "pad": [p] * 4, "dilation": [d, d], "group": g}
        yield f"conv2d {c}->{o} {h}x{w} k{k} s{s} p{p} d{d} g{g}", x, [weight, bias], attrs
    x = rng.normal(size=(1, 21, 13, 17)).astype(np.float32)
    weight = rng.normal(size=(18, 21, 2, 4)).astype(np.float32)
    attrs = {"stride": [2, 1], "pad": [1, 0, 0, 3], "dilation": [3, 2], "group": 1}
    yield "conv2d uneven", x, [weight, np.zeros(18, np.float32)], attrs


def products() -> Iterator[tuple[str, Array, list[Array], dict[str, Any]]]:
    rng = np.random.default_rng(8)
    for m, k, n in [
        (1, 1280, 1000),
        (5, 300, 77),
        (97, 130, 65),
        (200, 1, 33),
        (14, 64, 32),
        (1, 7, 3),
    ]:
        for transposed in (0, 1):
            a = rng.normal(size=(m, k)).astype(np.float32)
            b = rng.normal(size=(n, k) if transposed else (k, n)).astype(np.float32)
            yield f"matmul {m}x{k}x{n} t{transposed}", a, [b], {"transpose_b": transposed}


def relu(y: Array) -> Array:
    return np.maximum(y, 0)


def hardswish(y: Array) -> Array:
    return y * np.clip(y / 6 + 0.5, 0, 1)


def tolerance(name: str) -> float:
    """Of the output's range. Winograd's transforms cost up to twice the rounding of a sum tap by
    tap; which layers take it is the kernel's choice among those with these words."""
    return 4e-6 if "k3 s1" in name and "d1 g1" in name else 2e-6


POSTS = {"": lambda y: y, "relu": relu, "hardswish": hardswish}


def main() -> int:
    try:
        run_layer("relu", np.ones((1, 1, 1, 1), np.float32), [], {}, [], 1)
    except fv.FovealError as error:
        print(error)
        return SKIP
    if sys.argv[1:] == ["probe"]:
        return 0
    failures = 0
    cases = [(c, conv_reference(c[1], *c[2], c[3])) for c in convolutions()]
    for c in products():
        b = c[2][0].astype(np.float64)
        cases.append((c, c[1].astype(np.float64) @ (b.T if c[3]["transpose_b"] else b)))
    for (name, x, constants, attrs), reference in cases:
        for post, apply in POSTS.items():
            op = name.split()[0]
            one, three = (
                run_layer(op, x, constants, attrs, [post] if post else [], t) for t in (1, 3)
            )
            expected = apply(reference)
            error = np.abs(one - expected).max() / max(1e-30, np.abs(expected).max())
            if error > tolerance(name) or not np.array_equal(one, three):
                failures += 1
                print(
                    f"{name} {post}: error {error:.2g}, threads equal: {np.array_equal(one, three)}"
                )
    print(f"{len(cases)} layers, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
