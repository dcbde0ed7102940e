"""Reductions over any set of axes."""

import numpy as np
from foveal.conformance.kit import case, data, op_cases, rand


def reduction(f):
    def ref(x, *, axes=(), keepdims=1):
        axis = tuple(axes) or tuple(range(x.ndim))
        wide = x.astype(np.float64) if x.dtype.kind == "f" else x
        return np.asarray(f(wide, axis=axis, keepdims=bool(keepdims))).astype(x.dtype)

    return ref


def log_sum_exp(x, axis, keepdims):
    top = x.max(axis=axis, keepdims=True)
    y = np.log(np.exp(x - top).sum(axis=axis, keepdims=True)) + top
    return y if keepdims else np.squeeze(y, axis=axis)


MEANINGS = {
    "mean": np.mean,
    "sum": np.sum,
    "max": np.max,
    "min": np.min,
    "prod": np.prod,
    "l1": lambda x, axis, keepdims: np.abs(x).sum(axis=axis, keepdims=keepdims),
    "l2": lambda x, axis, keepdims: np.sqrt((x * x).sum(axis=axis, keepdims=keepdims)),
    "sum_square": lambda x, axis, keepdims: (x * x).sum(axis=axis, keepdims=keepdims),
    "log_sum_exp": log_sum_exp,
}

SHAPES = [(1, 1, 1, 1), (1, 3, 5, 7), (2, 17, 3, 4)]
AXES = [(), (2, 3), (1,), (0,), (3,), (2,), (-1,), (-2, -1), (1, 2, 3), (0, 2), (1, 3)]
INTEGER = ("sum", "max", "min", "prod", "mean")


def table(name):
    rows = [case(rand(*s), axes=a, keepdims=k) for s in SHAPES for a in AXES for k in (1, 0)]
    rows += [
        case(rand(37)),
        case(rand(37), axes=(0,), keepdims=0),
        case(rand(5, 33), axes=(0,)),
        case(rand(5, 33), axes=(1,), keepdims=0),
        case(rand(2, 3, 4), axes=(1,)),
        case(rand(2, 3, 2, 2, 5), axes=(2, 4)),
        case(rand(1, 9, 14, 14), axes=(2, 3)),
        case(rand(0, 5, 3, 3), axes=(2, 3)),
    ]
    if name in ("max", "min"):
        rows.append(case(rand(1, 5, 3, 3, lo=-9, hi=-1), axes=(2, 3)))
        rows.append(case(data([[1.0, np.inf, -2.0], [-np.inf, -1.0, 0.0]]), axes=(1,)))
    if name == "log_sum_exp":
        rows.append(case(rand(2, 5, lo=90, hi=120), axes=(1,)))
        rows.append(case(rand(2, 5, lo=-200, hi=-150), axes=(1,)))
    if name in INTEGER:
        rows += [
            case(rand(2, 3, 4, dtype=t, lo=-4, hi=5), axes=a, keepdims=k)
            for t in ("int32", "int64")
            for a in [(), (1,), (0, 2)]
            for k in (1, 0)
        ]
    if name == "mean":
        # Sums, and even counts, that do not fit the type whose mean does.
        rows += [
            case(rand(*shape, dtype=t, lo=lo, hi=hi), axes=axes)
            for t, lo, hi in (("uint8", 0, 256), ("int8", -128, 128), ("uint16", 0, 65536))
            for shape, axes in (((256,), ()), ((1, 4, 8, 5, 8), ()), ((3, 512), (1,)))
        ]
        rows.append(case(rand(300, dtype="int32", lo=2**31 - 9, hi=2**31)))
    return rows


SUITES = [op_cases(f"reduce_{n}", reduction(f), table(n), tol=2e-6) for n, f in MEANINGS.items()]
