"""Maximum and mean over a sliding window."""

import numpy as np
from foveal.conformance.kit import case, data, op_cases, rand


def out_size(size, kernel, stride, before, after, dilation, ceil):
    span = size + before + after - dilation * (kernel - 1) - 1
    n = (-(-span // stride) if ceil else span // stride) + 1
    if ceil and (n - 1) * stride >= size + before:  # the last window must start inside
        n -= 1
    return n


def ref(
    x,
    *,
    kernel,
    mode="max",
    stride=(1, 1),
    pad=(0, 0, 0, 0),
    dilation=(1, 1),
    ceil=0,
    count_pad=0,
):
    n, c, h, w = x.shape
    oh = out_size(h, kernel[0], stride[0], pad[0], pad[2], dilation[0], ceil)
    ow = out_size(w, kernel[1], stride[1], pad[1], pad[3], dilation[1], ceil)
    y = np.zeros((n, c, oh, ow))
    for oy in range(oh):
        for ox in range(ow):
            taps, padded = [], 0
            for ky in range(kernel[0]):
                for kx in range(kernel[1]):
                    iy = oy * stride[0] - pad[0] + ky * dilation[0]
                    ix = ox * stride[1] - pad[1] + kx * dilation[1]
                    if 0 <= iy < h and 0 <= ix < w:
                        taps.append(x[:, :, iy, ix].astype(np.float64))
                    elif iy < h + pad[2] and ix < w + pad[3]:
                        padded += 1  # beyond that, ceil rounded up: not even padding
            if mode == "max":
                y[:, :, oy, ox] = np.max(taps, axis=0)
            else:
                y[:, :, oy, ox] = np.sum(taps, axis=0) / (len(taps) + (padded if count_pad else 0))
    return y.astype(x.dtype)


MODES = ("max", "average")

rows = [
    case(rand(1, c, 6, 7), mode=m, kernel=(2, 2), stride=(2, 2))
    for c in (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33)
    for m in MODES
]
rows += [
    case(rand(1, 5, 9, 8), mode=m, kernel=k, stride=s, pad=p, dilation=d)
    for m in MODES
    for k, s, p, d in [
        ((3, 3), (1, 1), (1, 1, 1, 1), (1, 1)),
        ((3, 3), (2, 2), (1, 1, 1, 1), (1, 1)),
        ((3, 3), (2, 2), (0, 0, 1, 1), (1, 1)),
        ((3, 2), (1, 3), (2, 0, 0, 1), (1, 1)),
        ((5, 5), (1, 1), (2, 2, 2, 2), (1, 1)),
        ((1, 1), (1, 1), (0, 0, 0, 0), (1, 1)),
        ((1, 1), (2, 2), (0, 0, 0, 0), (1, 1)),
        ((9, 8), (1, 1), (0, 0, 0, 0), (1, 1)),
        ((2, 3), (1, 1), (0, 0, 0, 0), (2, 2)),
    ]
]
rows += [
    case(rand(1, 6, 8, 7), mode=m, kernel=(3, 3), stride=(2, 2), pad=p, ceil=1, count_pad=cp)
    for m, cp in [("max", 0), ("average", 0), ("average", 1)]
    for p in [(0, 0, 0, 0), (1, 1, 1, 1), (0, 1, 1, 0)]
]
rows += [
    case(rand(1, 6, 8, 7), mode="average", kernel=(3, 3), pad=(1, 1, 1, 1), count_pad=1),
    case(rand(1, 3, 2, 2), mode="max", kernel=(2, 2), stride=(2, 2), pad=(1, 1, 1, 1)),
    case(rand(1, 3, 4, 4), mode="max", kernel=(1, 1), stride=(3, 3), ceil=1),
    case(rand(2, 9, 5, 5, lo=-9, hi=-1), mode="max", kernel=(3, 3), pad=(1, 1, 1, 1)),
    case(rand(2, 9, 5, 5, lo=-9, hi=-1), mode="average", kernel=(3, 3), pad=(1, 1, 1, 1)),
    case(rand(3, 4, 1, 1), mode="max", kernel=(1, 1)),
    case(rand(0, 4, 6, 6), mode="max", kernel=(2, 2), stride=(2, 2)),
    case(rand(0, 4, 6, 6), mode="average", kernel=(3, 3), pad=(1, 1, 1, 1)),
    case(rand(1, 8, 14, 14), mode="average", kernel=(14, 14)),
    case(data(np.full((1, 5, 4, 4), -np.inf)), mode="max", kernel=(2, 2)),
]

CASES = op_cases("pool2d", ref, rows, tol=1e-6)
