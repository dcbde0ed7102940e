"""Time from a frame to a model's tensor, here and with other libraries: `foveal bench --imgproc`.

rows = foveal.bench.imgproc.compare(against=["opencv", "libyuv"])
print(foveal.bench.imgproc.table(rows))

Frames come from a ring larger than the last-level cache, as a camera's do: they are not in it.
"""

from __future__ import annotations

from foveal.bench.imgproc.cases import CASES, Case
from foveal.bench.imgproc.comparison import compare
from foveal.bench.imgproc.report import HEAD, RIGHT, as_json, cells, table

__all__ = ["CASES", "HEAD", "RIGHT", "Case", "as_json", "cells", "compare", "table"]
