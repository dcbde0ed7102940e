"""How large a folded constant may become."""

from __future__ import annotations

import math
from collections.abc import Sequence

from foveal.graph import Value

FOLD_LIMIT = 1 << 24  # elements: a hostile file must not make us allocate without bound


def fold_types(values: Sequence[Value]) -> bool:
    """Whether these results are small and concrete enough to be computed ahead of time."""
    return all(v.is_static and math.prod(v.dims) <= FOLD_LIMIT for v in values)
