"""The bench's rows as a table, Markdown or JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from foveal.bench.comparison import WRONG, Entry, Row, machine

HEAD = ("model", "threads", "engine", "ms", "spread", "ratio", "load ms", "first ms", "peak MB")
RIGHT = (1, 3, 4, 5, 6, 7, 8)  # columns that align right


def cells(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """One line per engine of each row, as text."""
    return [
        (
            label(row.model) if i == 0 else "",
            str(row.threads) if i == 0 else "",
            *_cells(entry),
        )
        for row in rows
        for i, entry in enumerate(row.entries)
    ]


def label(model: str) -> str:
    """A zoo name as it is, a file by its name alone."""
    return Path(model).name


def problems(rows: Sequence[Row]) -> list[str]:
    """One line for every engine that failed or whose outputs differ from Foveal's."""
    lines = []
    for row in rows:
        for entry in row.entries:
            where = f"{label(row.model)}, threads: {row.threads}, {entry.engine}"
            if entry.timing is None:
                lines.append(f"{where}: {entry.problem}")
            elif _wrong(entry):
                lines.append(
                    f"{where}: its outputs differ from Foveal's by {entry.deviation:.2g} of their "
                    "range"
                )
    return list(dict.fromkeys(lines))


def _wrong(entry: Entry) -> bool:
    return entry.deviation is not None and not entry.deviation <= WRONG


def _cells(entry: Entry) -> tuple[str, ...]:
    if entry.timing is None:
        return (entry.engine, "fails", "", "", "", "", "")
    ratio = f"{entry.ratio.median:.2f}" if entry.ratio else ""
    if _wrong(entry):
        ratio += " (differs)"
    return (
        entry.engine,
        number(entry.timing.median),
        f"{entry.timing.spread:.1%}",
        ratio,
        "" if entry.load_ms is None else number(entry.load_ms),
        "" if entry.first_run_ms is None else number(entry.first_run_ms),
        "" if entry.peak_bytes is None else f"{entry.peak_bytes / 1e6:.1f}",
    )


def number(value: float) -> str:
    """Milliseconds with three digits that count."""
    return f"{value:.3f}" if value < 1 else f"{value:.2f}" if value < 10 else f"{value:.1f}"


def table(rows: Sequence[Row]) -> str:
    """Aligned text. ratio = Foveal's time over the engine's: below 1 Foveal is faster."""
    return aligned([HEAD, *cells(rows)], RIGHT)


def aligned(lines: Sequence[tuple[str, ...]], right: Sequence[int]) -> str:
    """Columns as wide as their widest cell; those in `right` align right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def markdown(rows: Sequence[Row]) -> str:
    """One line per model and number of threads: Foveal's time, then the ratio to every engine."""
    engines = list(dict.fromkeys(e.engine for row in rows for e in row.entries[1:]))
    lines = [
        f"| model | threads | Foveal ms |{''.join(f' ÷ {name} |' for name in engines)}",
        f"|---|---|---|{'---|' * len(engines)}",
    ]
    for row in rows:
        found = {e.engine: e for e in row.entries}
        ours = found["foveal"].timing
        ratios = [_ratio(found.get(name)) for name in engines]
        ms = "-" if ours is None else number(ours.median)
        lines.append(f"| {label(row.model)} | {row.threads} | {ms} | {' | '.join(ratios)} |")
    return "\n".join(lines)


def _ratio(entry: Entry | None) -> str:
    if entry is None:
        return "-"
    if entry.ratio is None:
        return "fails"
    return f"{entry.ratio.median:.2f}{' (differs)' if _wrong(entry) else ''}"


def as_json(rows: Sequence[Row]) -> dict[str, Any]:
    """Everything measured, and on what. Times in milliseconds."""
    return {
        "machine": machine(),
        "ratio": "Foveal's time over the engine's; below 1 Foveal is faster",
        "rows": [asdict(row) for row in rows],
    }
