"""Matrix products: numpy's rules for batches and vectors, transposes, bias."""

import numpy as np
from foveal.conformance.kit import case, op_cases, rand, weight


def ref(a, b, bias=None, *, transpose_a=0, transpose_b=0):
    if transpose_a:
        a = np.swapaxes(a, -1, -2)
    if transpose_b:
        b = np.swapaxes(b, -1, -2)
    y = np.matmul(a.astype(np.float64), b.astype(np.float64))
    if bias is not None:
        y = y + bias
    return y.astype(a.dtype)


SIZES = [1, 2, 3, 5, 8, 15, 16, 17, 33]

rows = [case(rand(m, k), weight(k, n)) for m in (1, 2, 7) for k in (1, 5, 16, 33) for n in SIZES]
rows += [case(rand(m, 19), rand(19, n)) for m in SIZES for n in (1, 6, 17, 32)]
rows += [
    case(rand(5, 7), weight(7, 9), weight(9)),
    case(rand(5, 7), weight(7, 9), rand(9)),
    case(rand(5, 7), weight(7, 9), weight(1, 9)),
    case(rand(5, 7), weight(7, 9), weight(5, 1)),
    case(rand(5, 7), weight(7, 9), weight(5, 9)),
    case(rand(5, 7), weight(7, 9), weight()),
    case(rand(5, 7), weight(9, 7), weight(9), transpose_b=1),
    case(rand(1, 64), weight(10, 64), weight(10), transpose_b=1),
    case(rand(7, 5), weight(7, 9), transpose_a=1),
    case(rand(7, 5), rand(9, 7), transpose_a=1, transpose_b=1),
    case(rand(3, 4, 5), weight(5, 6)),
    case(rand(3, 4, 5), weight(5, 6), weight(6)),
    case(rand(3, 4, 5), rand(3, 5, 6)),
    case(rand(3, 5, 4), rand(3, 6, 5), transpose_a=1, transpose_b=1),
    case(rand(2, 1, 4, 5), rand(3, 5, 6)),
    case(rand(1, 4, 5), rand(2, 3, 5, 6)),
    case(rand(4, 5), rand(2, 3, 5, 6)),
    case(rand(2, 3, 4, 5), rand(2, 3, 5, 6)),
    case(rand(2, 3, 4, 5), rand(2, 3, 6, 5), transpose_b=1),
    case(rand(0, 7), weight(7, 9), weight(9)),
    case(rand(2, 0, 7), rand(2, 7, 3)),
    case(rand(5), rand(5)),
    case(rand(5), rand(5, 6)),
    case(rand(4, 5), rand(5)),
    case(rand(5), rand(2, 5, 6)),
    case(rand(2, 4, 5), rand(5)),
    case(rand(2, 7, 16), weight(16, 17)),
    case(rand(50, 130), weight(130, 70), weight(70)),
    case(rand(1, 300), weight(300, 33)),
]

CASES = op_cases("matmul", ref, rows)
