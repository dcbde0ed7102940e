"""Slices: negative indices, clamping, steps of any sign."""

from foveal.conformance.kit import case, op_cases, rand

BIG = 2**31 - 1


def ref(x, *, axes, begin, end, step):
    index = [slice(None)] * x.ndim
    for a, b, e, s in zip(axes, begin, end, step, strict=True):
        n = x.shape[a]
        b, e = (v + n if v < 0 else v for v in (b, e))
        if s > 0:
            b, e = min(max(b, 0), n), min(max(e, 0), n)
            index[a] = slice(b, e, s)
        else:
            b, e = min(max(b, 0), n - 1), min(max(e, -1), n - 1)
            index[a] = slice(b, None if e < 0 else e, s)
    return x[tuple(index)].copy()


def one(axis, begin, end, step=1):
    return {"axes": (axis,), "begin": (begin,), "end": (end,), "step": (step,)}


rows = [
    case(rand(2, 9, 6, 7), **one(axis, *bes))
    for axis in (1, 2, 3)
    for bes in [
        (0, BIG),
        (1, 5),
        (-3, BIG),
        (0, -1),
        (2, 100),
        (-100, 3),
        (0, BIG, 2),
        (1, BIG, 3),
        (-1, -BIG, -1),
        (5, 0, -1),
        (4, -100, -2),
    ]
]
rows += [
    case(rand(1, c, 3, 3), **one(1, b, e))
    for c, b, e in [(8, 4, 8), (16, 8, 16), (17, 1, 16), (33, 0, 16), (5, 4, 5), (8, 3, 4)]
]
rows += [
    case(rand(4, 3, 2, 2), **one(0, 1, 3)),
    case(rand(4, 3), **one(1, 2, 2)),
    case(rand(1, 5, 3, 3), **one(1, 3, 3)),
    case(rand(11), **one(0, 3, 9)),
    case(rand(11), **one(0, -1, -BIG, -3)),
    case(
        rand(2, 8, 6, 7),
        axes=(1, 3, 2),
        begin=(2, -1, 0),
        end=(6, 0, -2),
        step=(1, -2, 2),
    ),
    case(rand(2, 8, 6, 7), axes=(-1, -2), begin=(1, 1), end=(3, 4), step=(1, 1)),
    case(rand(2, 7, dtype="int64", lo=-9, hi=9), **one(1, 2, 5)),
    case(rand(2, 7, dtype="uint8", lo=0, hi=9), **one(1, 2, 5)),
    case(rand(1, 2, 3, 4, 5), **one(4, 1, 4)),
]

CASES = op_cases("slice", ref, rows, tol=0)
