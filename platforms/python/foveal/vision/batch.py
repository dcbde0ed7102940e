"""Tables of pictures: dicts of columns (Ray Data) and pandas DataFrames (Dask)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from foveal.errors import ArgumentError

IMAGE = "image"
RESULTS = "results"


def is_table(value: object) -> bool:
    """Whether `value` is a dict of columns or a DataFrame."""
    return isinstance(value, Mapping) or (hasattr(value, "columns") and hasattr(value, "assign"))


def run(table: Any, results_of: Callable[[list[Any]], list[Any]]) -> Any:
    """The table with the column "results" that `results_of` makes of its pictures.

    The column "image" goes unless it holds paths. Raises ArgumentError for a table without it or
    with columns of different lengths, and what `results_of` raises.
    """
    names = list(table) if isinstance(table, Mapping) else list(table.columns)
    if IMAGE not in names:
        raise ArgumentError(
            f'batch: expected a column "{IMAGE}", got {", ".join(map(str, names)) or "none"}',
            hint=f'arrays uint8 [H, W, 3], paths, or bytes of files go into "{IMAGE}"',
        )
    column = table[IMAGE]
    if isinstance(column, (str, bytes)) or not np.iterable(column):
        raise ArgumentError(f'batch: column "{IMAGE}": expected a list or an array of pictures')
    pictures = list(column)
    results = np.empty(len(pictures), object)
    results[:] = results_of(pictures)
    keep = all(isinstance(picture, str) for picture in pictures)
    if not isinstance(table, Mapping):
        return (table if keep else table.drop(columns=[IMAGE])).assign(**{RESULTS: results})
    lengths = {len(values) for values in table.values()}
    if lengths != {len(pictures)}:
        raise ArgumentError(f"batch: columns of different lengths: {sorted(lengths)}")
    kept = {name: values for name, values in table.items() if keep or name != IMAGE}
    return {**kept, RESULTS: results}
