"""Normalisations."""

import numpy as np
from foveal.conformance.kit import case, op_cases, rand, weight


def per_channel(v, x):
    return v.astype(np.float64).reshape(1, -1, *[1] * (x.ndim - 2))


def batch_norm(x, scale, bias, mean, variance, *, epsilon=1e-5):
    s, b, m, v = (per_channel(p, x) for p in (scale, bias, mean, variance))
    return ((x - m) / np.sqrt(v + epsilon) * s + b).astype(x.dtype)


def instance_norm(x, scale, bias, *, epsilon=1e-5):
    wide, axes = x.astype(np.float64), tuple(range(2, x.ndim))
    d = wide - wide.mean(axis=axes, keepdims=True)
    y = d / np.sqrt((d * d).mean(axis=axes, keepdims=True) + epsilon)
    return (y * per_channel(scale, x) + per_channel(bias, x)).astype(x.dtype)


def layer_norm(x, scale=None, bias=None, *, axis=-1, epsilon=1e-5):
    """Over `axis` and every axis behind it; scale and bias have that shape."""
    wide, axes = x.astype(np.float64), tuple(range(axis % x.ndim, x.ndim))
    d = wide - wide.mean(axis=axes, keepdims=True)
    y = d / np.sqrt((d * d).mean(axis=axes, keepdims=True) + epsilon)
    if scale is not None:
        y = y * scale
    if bias is not None:
        y = y + bias
    return y.astype(x.dtype)


def l2_normalize(x, *, axis=-1, epsilon=1e-5):
    wide = x.astype(np.float64)
    squares = (wide * wide).sum(axis=axis, keepdims=True)
    return (wide / np.sqrt(np.maximum(squares, epsilon))).astype(x.dtype)


SHAPES = [(1, 1, 2, 2), (1, 3, 5, 7), (2, 17, 3, 4), (1, 8, 6, 6), (0, 3, 2, 2)]

SUITES = [
    op_cases(
        "batch_norm",
        batch_norm,
        [
            case(rand(*s), weight(s[1]), weight(s[1]), weight(s[1]), weight(s[1], lo=0.1, hi=2))
            for s in [*SHAPES, (4, 5), (2, 5, 7)]
        ]
        + [
            case(
                rand(1, 5, 3, 3),
                *(rand(5) for _ in range(3)),
                rand(5, lo=0.1, hi=2),
                epsilon=1e-3,
            )
        ],
    ),
    op_cases(
        "instance_norm",
        instance_norm,
        [case(rand(*s), weight(s[1]), weight(s[1])) for s in SHAPES]
        + [case(rand(2, 5, 3, 3), weight(5), weight(5), epsilon=1e-2)],
    ),
    op_cases(
        "layer_norm",
        layer_norm,
        [
            case(rand(2, 5, 33)),
            case(rand(2, 5, 33), weight(33)),
            case(rand(2, 5, 33), weight(33), weight(33)),
            case(rand(2, 5, 33), None, weight(33)),
            case(rand(2, 5, 7), weight(5, 7), weight(5, 7), axis=1),
            case(rand(2, 5, 7), weight(5, 7), weight(5, 7), axis=-2, epsilon=1e-2),
            case(rand(3, 4, 5, 6), weight(6), weight(6)),
            case(rand(7, 16), weight(16), weight(16)),
        ],
    ),
    op_cases(
        "l2_normalize",
        l2_normalize,
        [case(rand(2, 5, 7), axis=a) for a in (0, 1, 2, -1)]
        + [case(rand(1, 5, 3, 4), axis=1), case(rand(1, 128)), case(rand(3, 9), epsilon=1e-12)]
        + [case(rand(3, 9, lo=-1e-4, hi=1e-4), epsilon=1e-2)],
    ),
]
