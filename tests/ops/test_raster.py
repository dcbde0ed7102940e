"""Strided copies of regions: what all data movement becomes."""

import numpy as np
from foveal.conformance.kit import case, op_cases, rand


def ref(*xs, shape, regions, rank, fill=0.0):
    y = np.full(int(np.prod(shape)), fill, xs[0].dtype)
    width = 3 + 3 * rank
    for start in range(0, len(regions), width):
        source, src, dst, *rest = regions[start : start + width]
        size, src_stride, dst_stride = rest[:rank], rest[rank : 2 * rank], rest[2 * rank :]
        flat = xs[source].reshape(-1)
        for i in np.ndindex(*size):
            y[dst + int(np.dot(i, dst_stride))] = flat[src + int(np.dot(i, src_stride))]
    return y.reshape(shape)


def region(source, src, dst, size, src_stride, dst_stride):
    return (source, src, dst, *size, *src_stride, *dst_stride)


rows = [
    # A plain copy, a reversed one, every second element, a transposition.
    case(rand(12), shape=(12,), rank=1, regions=region(0, 0, 0, (12,), (1,), (1,))),
    case(rand(12), shape=(12,), rank=1, regions=region(0, 11, 0, (12,), (-1,), (1,))),
    case(rand(12), shape=(6,), rank=1, regions=region(0, 1, 0, (6,), (2,), (1,))),
    case(rand(3, 5), shape=(5, 3), rank=2, regions=region(0, 0, 0, (5, 3), (1, 5), (3, 1))),
    # One element everywhere.
    case(rand(4), shape=(3, 5), rank=2, regions=region(0, 2, 0, (3, 5), (0, 0), (5, 1))),
    # Two inputs side by side, the rest filled.
    case(
        rand(3, 2),
        rand(3, 4),
        shape=(3, 8),
        rank=2,
        fill=-1.5,
        regions=region(0, 0, 0, (3, 2), (2, 1), (8, 1)) + region(1, 0, 2, (3, 4), (4, 1), (8, 1)),
    ),
    # NCHW to NHWC, and a crop of an image.
    case(
        rand(1, 5, 3, 4),
        shape=(1, 3, 4, 5),
        rank=3,
        regions=region(0, 0, 0, (3, 4, 5), (4, 1, 12), (20, 5, 1)),
    ),
    case(
        rand(1, 5, 6, 7),
        shape=(1, 5, 2, 3),
        rank=3,
        regions=region(0, 9, 0, (5, 2, 3), (42, 7, 1), (6, 3, 1)),
    ),
    case(rand(3, 17), shape=(17, 3), rank=2, regions=region(0, 0, 0, (17, 3), (1, 17), (3, 1))),
    case(
        rand(2, 3, 2, 2, 2),
        shape=(2, 2, 2, 2, 3),
        rank=5,
        regions=region(0, 0, 0, (2, 2, 2, 2, 3), (24, 4, 2, 1, 8), (24, 12, 6, 3, 1)),
    ),
]
rows += [
    case(
        rand(3, 5, dtype=t, lo=0, hi=99),
        shape=(5, 3),
        rank=2,
        regions=region(0, 0, 0, (5, 3), (1, 5), (3, 1)),
    )
    for t in ("int64", "int32", "uint8", "float16", "bool")
]

CASES = op_cases("raster", ref, rows, tol=0)
