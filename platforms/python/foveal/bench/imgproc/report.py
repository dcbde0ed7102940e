"""The image bench's rows as a table or JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foveal.bench import report
from foveal.bench.comparison import Row

HEAD = ("case", "threads", "library", "ms", "spread", "ratio", "of floor", "differs by")
RIGHT = (1, 3, 4, 5, 6, 7)


def cells(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """One line per library of each row. ratio: Foveal's time over the library's. of floor: the
    memory's own time over the library's. differs by: levels of 255, on average."""
    lines: list[tuple[str, ...]] = []
    for row in rows:
        floor = next((e.timing for e in row.entries if e.engine == "floor"), None)
        for i, entry in enumerate(row.entries):
            where = (row.model, str(row.threads)) if i == 0 else ("", "")
            if entry.timing is None:
                lines.append((*where, entry.engine, "fails", "", "", "", ""))
                continue
            share = "" if floor is None else f"{floor.median / entry.timing.median:.0%}"
            far = "" if entry.deviation is None else f"{entry.deviation * 255:.2f}"
            compared = "" if entry.ratio is None else f"{entry.ratio.median:.2f}"
            ms = report.number(entry.timing.median)
            spread = f"{entry.timing.spread:.1%}"
            lines.append((*where, entry.engine, ms, spread, compared, share, far))
    return lines


def table(rows: Sequence[Row]) -> str:
    """Aligned text. ratio = Foveal's time over the library's: below 1 Foveal is faster."""
    return report.aligned([HEAD, *cells(rows)], RIGHT)


def as_json(rows: Sequence[Row]) -> dict[str, Any]:
    """Everything measured, and on what. Times in milliseconds."""
    return report.as_json(rows)
