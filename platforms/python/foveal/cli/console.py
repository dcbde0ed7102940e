"""What every subcommand prints with: sober tables, errors, sizes. Colour on terminals only."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
from collections.abc import Sequence
from typing import TextIO

from foveal.errors import FovealError


def _colour(stream: TextIO) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(text: str, code: str, stream: TextIO | None = None) -> str:
    """`text` in an ANSI style ("1" bold, "2" dim) where `stream` (default stdout) shows styles."""
    return f"\x1b[{code}m{text}\x1b[0m" if text and _colour(stream or sys.stdout) else text


def error(message: str, hint: str = "") -> None:
    """One line ``error: ...`` and, if there is one, one line ``hint: ...`` on stderr."""
    note(f"{paint('error:', '1;31', sys.stderr)} {one_line(message)}")
    if hint:
        note(f"{paint('hint:', '1', sys.stderr)} {one_line(hint)}")


def note(message: str) -> None:
    """One line on stderr that is no result: warnings, what goes on. Nobody reads a closed or full
    stderr: then it is dropped."""
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(f"{one_line(message)}\n")
        sys.stderr.flush()


def describe(error: BaseException) -> tuple[str, str]:
    """Message and hint of an error that bad input or the system caused."""
    if isinstance(error, FovealError):
        return error.message, error.hint
    if isinstance(error, OSError):
        where = (
            f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, (str, bytes)) else ""
        )
        return f"{where}{error.strerror or error}", ""
    return str(error), ""


def as_json(data: object) -> str:
    """Indented JSON that is valid UTF-8 whatever the file names in it: what is not text in them
    becomes U+FFFD."""
    text = json.dumps(data, indent=2, ensure_ascii=False)
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def print_json(data: object) -> None:
    """`as_json` on stdout, with escapes where stdout cannot show all characters."""
    text = as_json(data)
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        text = json.dumps(json.loads(text), indent=2)
    print(text)


def one_line(text: str) -> str:
    """The text without line breaks; a list of problems, one a line, is joined with semicolons."""
    joined = "; ".join(part.strip() for part in text.splitlines() if part.strip())
    return joined.replace(":; ", ": ")


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[object]],
    right: Sequence[int] = (),
    *,
    hide_empty: bool = False,
) -> None:
    """Prints aligned columns under a dim head. Columns in `right` align right.

    On a terminal lines are cut to its width; elsewhere nothing is cut. `hide_empty` leaves out
    columns that hold nothing but "" or "-".
    """
    cells = [[str(cell) for cell in row] for row in rows]
    if hide_empty:
        kept = [i for i in range(len(head)) if any(line[i] not in ("", "-") for line in cells)]
        head, cells = [head[i] for i in kept], [[line[i] for i in kept] for line in cells]
        right = [kept.index(i) for i in right if i in kept]
    widths = [max(len(line[i]) for line in [list(head), *cells]) for i in range(len(head))]
    limit = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0

    def join(line: Sequence[str]) -> str:
        parts = [
            cell.rjust(widths[i]) if i in right else cell.ljust(widths[i])
            for i, cell in enumerate(line)
        ]
        text = "  ".join(parts).rstrip()
        return text if not limit or len(text) <= limit else text[: limit - 1] + "…"

    print(paint(join(head), "2"))
    for line in cells:
        print(join(line))


_EIGHTHS = "█▉▊▋▌▍▎▏"


def bar(value: float, most: float, width: int) -> str:
    """A horizontal bar of at most `width` characters, full at `most`; "" for nothing."""
    part = min(max(value / most, 0.0), 1.0) * width if most > 0 else 0.0
    try:
        _EIGHTHS.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return "#" * round(part)
    eighths = round(part * 8)
    return _EIGHTHS[0] * (eighths // 8) + (_EIGHTHS[-(eighths % 8)] if eighths % 8 else "")


def title(text: str) -> None:
    """A heading before a table."""
    print(paint(text, "1"))


def count(number: float, unit: str = "") -> str:
    """1234567 -> "1.2 M" (powers of 1000)."""
    for prefix in ("", " k", " M", " G", " T"):
        if abs(number) < 1000 or prefix == " T":
            break
        number /= 1000
    digits = f"{number:.0f}" if not prefix or abs(number) >= 100 else f"{number:.1f}"
    return f"{digits}{prefix}{unit}"


def size(count_of_bytes: float) -> str:
    """1234567 -> "1.2 MB" (powers of 1000)."""
    text = count(count_of_bytes)
    return f"{text}B" if " " in text else f"{text} B"


def shape(dims: Sequence[int | str]) -> str:
    """(1, 3, "height", -1) -> "1 x 3 x height x ?"; a scalar is "scalar"."""
    if not dims:
        return "scalar"
    return " x ".join("?" if d == -1 else str(d) for d in dims)
