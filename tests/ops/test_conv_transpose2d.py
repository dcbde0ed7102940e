"""Transposed convolution: every input element adds a weighted window to the output."""

import numpy as np
from foveal.conformance.kit import case, op_cases, rand, weight


def ref(
    x, w, b=None, *, stride=(1, 1), pad=(0, 0, 0, 0), dilation=(1, 1), group=1, output_pad=(0, 0)
):
    n, c, h, wd = x.shape
    _, per_group, kh, kw = w.shape
    full_h = (h - 1) * stride[0] + dilation[0] * (kh - 1) + 1 + output_pad[0]
    full_w = (wd - 1) * stride[1] + dilation[1] * (kw - 1) + 1 + output_pad[1]
    full = np.zeros((n, per_group * group, full_h, full_w))
    for ic in range(c):
        first = ic // (c // group) * per_group
        for ky in range(kh):
            for kx in range(kw):
                for iy in range(h):
                    for ix in range(wd):
                        oy, ox = (
                            iy * stride[0] + ky * dilation[0],
                            ix * stride[1] + kx * dilation[1],
                        )
                        taps = w[ic, :, ky, kx].astype(np.float64)
                        full[:, first : first + per_group, oy, ox] += np.outer(
                            x[:, ic, iy, ix], taps
                        )
    y = full[:, :, pad[0] : full_h - pad[2], pad[1] : full_w - pad[3]]
    if b is not None:
        y = y + b.reshape(1, -1, 1, 1)
    return y.astype(x.dtype)


def conv(n, c, h, w, o, kh, kw, group=1, bias=True, const=True, **attrs):
    make = weight if const else rand
    return case(
        rand(n, c, h, w),
        make(c, o // group, kh, kw),
        make(o) if bias else None,
        group=group,
        **attrs,
    )


rows = [conv(1, c, 4, 3, o, 2, 2, stride=(2, 2)) for c in (1, 3, 4, 7, 8, 17) for o in (1, 4, 9)]
rows += [
    conv(1, c, 4, 5, o, 3, 3, stride=(2, 2), pad=(1, 1, 1, 1), output_pad=(1, 1))
    for c, o in [(1, 1), (3, 5), (8, 8), (9, 16)]
]
rows += [
    conv(1, 3, 5, 4, 6, 3, 3),
    conv(1, 3, 5, 4, 6, 4, 4, stride=(2, 2), pad=(1, 1, 1, 1)),
    conv(1, 3, 5, 4, 6, 3, 2, stride=(3, 1), pad=(1, 0, 0, 1)),
    conv(1, 3, 5, 4, 6, 2, 3, dilation=(2, 3)),
    conv(1, 3, 5, 4, 6, 1, 1, stride=(2, 2)),
    conv(1, 3, 5, 4, 6, 1, 1),
    conv(1, 4, 5, 4, 6, 3, 3, group=2, pad=(1, 1, 1, 1)),
    conv(1, 6, 4, 4, 6, 3, 3, group=6, stride=(2, 2), pad=(1, 1, 1, 1), output_pad=(1, 0)),
    conv(2, 5, 3, 3, 7, 3, 3, stride=(2, 2)),
    conv(1, 2, 1, 1, 3, 5, 5),
    # Kernels far larger than the image: few taps of an output meet it.
    conv(1, 5, 1, 1, 9, 4, 4, stride=(2, 2), pad=(1, 1, 1, 1)),
    conv(1, 3, 1, 1, 2, 37, 41),
    conv(2, 3, 2, 3, 5, 13, 17, stride=(3, 2), pad=(4, 0, 1, 7), output_pad=(2, 1)),
    conv(1, 3, 3, 1, 5, 2, 23, stride=(1, 4), dilation=(2, 6)),
    conv(1, 4, 2, 2, 6, 19, 11, group=2, dilation=(3, 2), stride=(2, 3)),
    conv(1, 9, 2, 5, 17, 29, 3, stride=(2, 1), pad=(11, 0, 11, 2)),
    conv(1, 3, 2, 2, 5, 31, 29, stride=(5, 7), const=False),
    conv(1, 1, 1, 3, 1, 1, 601, bias=False),
    conv(1, 2, 2, 2, 3, 2, 2, stride=(7, 5), dilation=(40, 33), pad=(0, 3, 20, 0)),
    conv(0, 3, 4, 4, 5, 2, 2, stride=(2, 2)),
    conv(1, 5, 3, 4, 3, 2, 2, stride=(2, 2), bias=False),
    conv(1, 5, 3, 4, 3, 3, 3, const=False),
]

CASES = op_cases("conv_transpose2d", ref, rows)
