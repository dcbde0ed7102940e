"""What `Pipeline.compile` is given, checked and completed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from foveal.errors import ArgumentError, ShapeError


def plan_size(own: object, given: Any) -> tuple[int, int] | None:
    """The size of a plan as far as the pipeline and the caller say it; None leaves it open."""
    fixed: tuple[int, int] | None = own if isinstance(own, tuple) else None
    if given is None:
        return fixed
    whole = isinstance(given, (tuple, list, np.ndarray)) and len(given) == 2
    if not whole or any(
        isinstance(v, bool) or not isinstance(v, (int, np.integer)) or not 1 <= v < 2**31
        for v in given
    ):
        raise ArgumentError(f"compile: size: expected (width, height), got {given!r}")
    size = int(given[0]), int(given[1])
    if fixed not in (None, size):
        raise ShapeError(f"compile: size: the pipeline's size is {fixed}, got {size}")
    return size


def size_in(shape: Sequence[int | str | None] | None, order: int) -> tuple[int, int]:
    """(width, height) that a shape of four dimensions says."""
    dims = (None,) * 4 if shape is None or len(shape) != 4 else tuple(shape)
    height, width = dims[2:] if order == 0 else dims[1:3]
    if not isinstance(width, int) or not isinstance(height, int):
        raise ArgumentError(
            "compile: size: the pipeline's size depends on the frame, and "
            + ("there is no shape" if shape is None else f"{list(shape)} leaves it open"),
            hint="pass size=pipeline.size_for(frame)",
        )
    return width, height


def target(tensor: Any) -> tuple[Any, Any]:
    """What `compile` was given, as a tensor's description and the session that owns it, if any."""
    if tensor is None:
        return None, None
    if hasattr(tensor, "input_view"):
        session = tensor
        if len(session.inputs) != 1:
            names = ", ".join(t.name for t in session.inputs)
            raise ArgumentError(
                f"compile: the session has {len(session.inputs)} inputs: {names}",
                hint="pass the one of session.inputs that takes the picture",
            )
        return session.inputs[0], session
    if not (hasattr(tensor, "name") and hasattr(tensor, "shape") and hasattr(tensor, "dtype")):
        raise ArgumentError(
            "compile: expected a Session or one of its inputs, got "
            f"{tensor if isinstance(tensor, (int, float, str)) else type(tensor).__name__!r}",
            hint="dtype, layout and shape go by name",
        )
    return tensor, getattr(tensor, "session", None)


# What numpy names; which of them a pipeline writes is the compiler's business.
_DTYPES = {f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)}
_DTYPES |= {"bool", "bfloat16", "float16", "float32", "float64"}


def dtype_name(dtype: Any) -> str:
    if isinstance(dtype, str) and dtype in _DTYPES:
        return dtype
    try:
        found = np.dtype(dtype)
    except (TypeError, ValueError):
        found = None
    if found is None or not found.isnative or found.name not in _DTYPES:
        raise ArgumentError(
            f"compile: dtype: expected a name such as float32, uint8 or int8, got {dtype!r}"
        )
    return str(found.name)


def quantization(given: Any) -> tuple[float, int]:
    """Scale and zero point; (1, 0) without any."""
    if given is None:
        return 1.0, 0
    pair = tuple(given) if isinstance(given, (tuple, list)) else ()
    numbers = len(pair) == 2 and not any(isinstance(v, (bool, np.bool_)) for v in pair)
    if (
        not numbers
        or not isinstance(pair[0], (int, float, np.integer, np.floating))
        or not isinstance(pair[1], (int, np.integer))
        or not -(2**31) <= pair[1] < 2**31
    ):
        raise ArgumentError(
            f"compile: quantize: expected (scale, zero_point), a whole number last, got {given!r}"
        )
    return float(pair[0]), int(pair[1])


def open_shape(shape: Any) -> tuple[int | str | None, ...]:
    """A shape of ints from 0, names, None; -1 becomes None."""
    dims = None if isinstance(shape, (str, bytes)) or not np.iterable(shape) else tuple(shape)
    for d in dims or ():
        whole = isinstance(d, (int, np.integer)) and not isinstance(d, bool)
        if not (d is None or isinstance(d, str) or (whole and -1 <= d < 2**63)):
            dims = None
            break
    if dims is None:
        raise ArgumentError(
            f"compile: shape: expected four whole numbers, names or None, got {shape!r}"
        )
    return tuple(
        d if d is None or isinstance(d, str) else (int(d) if d >= 0 else None) for d in dims
    )


LAYOUTS = {"nchw": (0, 0), "nhwc": (1, 0), "nc4hw4": (0, 4), "nc8hw8": (0, 8), "nc16hw16": (0, 16)}


def guess_layout(
    shape: Sequence[int | str | None] | None, channels: int, size: tuple[int, int] | None
) -> str:
    if shape is None:
        return "nchw"
    if len(shape) != 4:
        raise ShapeError(f"compile: expected a tensor of 4 dimensions, got {list(shape)}")

    def fits(want: tuple[int | None, ...]) -> bool:
        return all(
            not isinstance(d, int) or w is None or d == w
            for d, w in zip(shape[1:], want, strict=True)
        )

    width, height = size or (None, None)
    nchw, nhwc = fits((channels, height, width)), fits((height, width, channels))
    if nchw and nhwc:
        raise ArgumentError(
            f"compile: shape {list(shape)} could be NCHW or NHWC",
            hint='pass layout="nchw" or "nhwc"',
        )
    if not nchw and not nhwc:
        high, wide = (height, width) if size else ("height", "width")
        raise ShapeError(
            f"compile: expected [1, {channels}, {high}, {wide}] or "
            f"[1, {high}, {wide}, {channels}], got {list(shape)}",
            hint="the pipeline's size is (width, height); its color gives the channels",
        )
    return "nchw" if nchw else "nhwc"
