"""Latency of a model here and in other engines: one process, rounds interleaved, ratios.

rows = foveal.bench.compare("face", against=["litert", "openvino"], threads=[1, 2])
print(foveal.bench.table(rows))

Absolute times on a shared machine mean little; the ratios do not depend on what else it did. What
an engine computed is compared with Foveal's result: a fast wrong answer shows.
"""

from __future__ import annotations

from foveal.bench.comparison import Entry, Row, compare, machine
from foveal.bench.report import as_json, markdown, table

__all__ = ["Entry", "Row", "as_json", "compare", "machine", "markdown", "table"]
