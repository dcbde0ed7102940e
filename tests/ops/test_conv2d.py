"""Convolution: tails of channel blocks, kernels, strides, dilations, pads, groups, bias."""

import numpy as np
from foveal.conformance.kit import case, op_cases, rand, weight


def ref(x, w, b=None, *, stride=(1, 1), pad=(0, 0, 0, 0), dilation=(1, 1), group=1):
    n, _, h, wd = x.shape
    o, per_group, kh, kw = w.shape
    top, left, bottom, right = pad
    xp = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (top, bottom), (left, right)))
    oh = (h + top + bottom - dilation[0] * (kh - 1) - 1) // stride[0] + 1
    ow = (wd + left + right - dilation[1] * (kw - 1) - 1) // stride[1] + 1
    y = np.zeros((n, o, oh, ow))
    for oc in range(o):
        first = oc // (o // group) * per_group
        for oy in range(oh):
            for ox in range(ow):
                window = xp[
                    :,
                    first : first + per_group,
                    oy * stride[0] : oy * stride[0] + dilation[0] * (kh - 1) + 1 : dilation[0],
                    ox * stride[1] : ox * stride[1] + dilation[1] * (kw - 1) + 1 : dilation[1],
                ]
                y[:, oc, oy, ox] = (window * w[oc].astype(np.float64)).sum(axis=(1, 2, 3))
    if b is not None:
        y += b.astype(np.float64).reshape(1, -1, 1, 1)
    return y.astype(x.dtype)


def conv(n, c, h, w, o, kh, kw, group=1, bias=True, const=True, **attrs):
    make = weight if const else rand
    b = make(o) if bias else None
    return case(rand(n, c, h, w), make(o, c // group, kh, kw), b, group=group, **attrs)


CHANNELS = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33]

rows = [conv(1, c, 5, 6, o, 1, 1) for c in CHANNELS for o in (1, 4, 6, 17)]
rows += [conv(1, c, 6, 5, o, 3, 3, pad=(1, 1, 1, 1)) for c in CHANNELS for o in (3, 8, 19)]
rows += [
    conv(1, 3, 11, 13, 8, kh, kw, stride=(sy, sx), pad=pad, dilation=(dy, dx))
    for kh, kw, sy, sx, pad, dy, dx in [
        (3, 3, 2, 2, (0, 0, 1, 1), 1, 1),
        (3, 3, 2, 2, (1, 1, 1, 1), 1, 1),
        (3, 3, 1, 1, (2, 2, 2, 2), 2, 2),
        (5, 5, 2, 2, (2, 2, 2, 2), 1, 1),
        (7, 7, 2, 2, (3, 3, 3, 3), 1, 1),
        (1, 7, 1, 1, (0, 3, 0, 3), 1, 1),
        (7, 1, 1, 1, (3, 0, 3, 0), 1, 1),
        (2, 2, 2, 2, (0, 0, 0, 0), 1, 1),
        (2, 4, 3, 1, (1, 0, 2, 3), 2, 1),
        (4, 2, 1, 3, (3, 1, 0, 0), 1, 3),
        (3, 3, 4, 5, (1, 0, 0, 1), 1, 2),
        (11, 13, 1, 1, (0, 0, 0, 0), 1, 1),
        (3, 3, 1, 1, (4, 4, 4, 4), 1, 1),
        (1, 1, 2, 2, (0, 0, 0, 0), 1, 1),
        (1, 1, 1, 1, (1, 1, 1, 1), 1, 1),
    ]
]
# Depthwise, with one and two outputs per channel.
rows += [
    conv(1, c, 7, 6, c * m, k, k, group=c, stride=(s, s), pad=(k // 2,) * 4)
    for c in (1, 3, 4, 7, 8, 16, 17, 33)
    for m, k, s in [(1, 3, 1), (1, 3, 2), (1, 5, 1), (2, 3, 1)]
]
rows += [
    conv(1, 5, 9, 9, 5, 3, 3, group=5, pad=(2, 2, 2, 2), dilation=(2, 2)),
    conv(2, 6, 9, 4, 6, 5, 5, group=6, stride=(2, 2), pad=(1, 2, 2, 1)),
    conv(1, 9, 4, 5, 9, 7, 7, group=9, pad=(3, 3, 3, 3)),
    conv(1, 8, 6, 6, 8, 2, 3, group=8),
    conv(1, 8, 6, 6, 8, 1, 1, group=8),
]
# Groups whose size is not a multiple of any block.
rows += [
    conv(1, c, 5, 5, o, 3, 3, group=g, pad=(1, 1, 1, 1))
    for c, o, g in [
        (4, 4, 2),
        (6, 4, 2),
        (6, 9, 3),
        (16, 16, 2),
        (24, 16, 4),
        (34, 34, 2),
        (10, 5, 5),
    ]
]
rows += [conv(1, c, 4, 3, o, 1, 1, group=g) for c, o, g in [(8, 8, 2), (32, 64, 2), (6, 3, 3)]]
# Batch, sizes of 1, wide rows, no bias, weights that are computed at run time.
rows += [
    conv(2, 5, 7, 7, 6, 3, 3, pad=(1, 1, 1, 1)),
    conv(3, 17, 4, 4, 9, 1, 1),
    conv(1, 1, 1, 1, 1, 1, 1),
    conv(1, 7, 1, 1, 5, 1, 1),
    conv(1, 7, 1, 1, 5, 3, 3, pad=(1, 1, 1, 1)),
    conv(1, 4, 1, 40, 5, 1, 3),
    conv(1, 4, 40, 1, 5, 3, 1, stride=(2, 1)),
    conv(1, 3, 33, 37, 16, 3, 3, stride=(2, 2), pad=(0, 0, 1, 1)),
    conv(1, 40, 14, 14, 72, 1, 1),
    conv(1, 16, 14, 14, 16, 3, 3, pad=(1, 1, 1, 1)),
    conv(1, 64, 7, 7, 40, 3, 3, pad=(1, 1, 1, 1)),
    conv(0, 5, 6, 6, 7, 3, 3, pad=(1, 1, 1, 1)),
    conv(0, 5, 6, 6, 7, 1, 1),
    conv(0, 6, 6, 6, 6, 3, 3, group=6),
    conv(1, 5, 6, 6, 7, 3, 3, bias=False),
    conv(1, 8, 6, 6, 8, 1, 1, bias=False),
    conv(1, 6, 6, 6, 6, 3, 3, group=6, bias=False),
    conv(1, 5, 6, 6, 7, 3, 3, const=False),
    conv(1, 8, 6, 6, 8, 1, 1, const=False),
    conv(1, 6, 6, 6, 6, 3, 3, group=6, const=False),
    conv(1, 0 + 4, 5, 5, 4, 3, 3, group=2, const=False, bias=False),
]

CASES = op_cases("conv2d", ref, rows)
