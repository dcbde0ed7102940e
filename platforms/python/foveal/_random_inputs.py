"""Random numbers for the inputs of a session: for measuring and for trying a model out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from foveal.session import Session


def random_input(session: Session, name: str, generator: np.random.Generator) -> Any:
    """An array for input `name`, whose shape must be decided: uniform in -1..1, whole in 0..255,
    or False and True."""
    view = session.input_view(name)
    shape, dtype = view.shape, view.dtype
    if dtype.kind == "f":
        return generator.uniform(-1, 1, shape).astype(dtype)
    high = 2 if dtype.kind == "b" else min(256, int(np.iinfo(dtype).max) + 1)
    return generator.integers(0, high, shape).astype(dtype)
