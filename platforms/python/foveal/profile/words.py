"""Numbers and names as the pages, pictures and tables of a profile write them."""

from __future__ import annotations

import math
from collections.abc import Sequence


def count(number: float, unit: str = "") -> str:
    """1234567 -> "1.23 M": three digits, powers of 1000."""
    for prefix in ("", "k", "M", "G", "T"):
        if abs(number) < 999.5 or prefix == "T":
            break
        number /= 1000
    if not number:
        return f"0 {unit}".rstrip()
    digits = max(0, 2 - math.floor(math.log10(abs(number)))) if abs(number) >= 0.01 else 3
    text = f"{number:.{digits}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return f"{text} {prefix}{unit}".rstrip()


def size(count_of_bytes: float) -> str:
    """1234567 -> "1.23 MB"."""
    return count(count_of_bytes, "B")


def duration(us: float) -> str:
    """Microseconds -> "12.3 ms"."""
    return f"{count(us / 1e3)} ms" if us >= 999.5 else f"{count(us)} µs"


def shape(dims: Sequence[int | str]) -> str:
    """(1, 3, 640) -> "1 x 3 x 640", with multiplication signs."""
    return " \u00d7 ".join(plain(str(d)) for d in dims) or "scalar"


def plain(text: str) -> str:
    """The text with what pages and pictures cannot hold (control characters, lone surrogates)
    replaced by U+FFFD."""
    return "".join(
        "\ufffd" if (ord(c) < 32 and c not in "\t\n") or 0x7F <= ord(c) < 0xA0
        or 0xD800 <= ord(c) < 0xE000 or ord(c) & 0xFFFE == 0xFFFE else c
        for c in text
    )  # fmt: skip


def ascii_only(text: str) -> str:
    """For fonts that have nothing else."""
    return text.encode("ascii", "replace").decode()


def shortened(text: str, most: int) -> str:
    """At most `most` characters, the middle left out; "" where not even four fit."""
    text = plain(text).replace("\n", " ")
    if len(text) <= most:
        return text
    if most < 4:
        return ""
    tail = most // 3
    return f"{text[: most - 1 - tail]}…{text[len(text) - tail :]}"


def several(names: Sequence[str], most: int) -> str:
    """Names with commas, "and 3 more" after `most`."""
    shown = ", ".join(shortened(name, 60) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def tails(names: Sequence[str]) -> list[str]:
    """What long names are known by: of names joined with semicolons the first, of a path the last
    three parts."""
    paths = (name.split(";")[0].split("/") for name in names)
    return ["/".join(path if len(path) <= 3 else ["…", *path[-3:]]) for path in paths]


def ticks(end: float, about: int, *, whole: bool = False) -> list[float]:
    """Round numbers from 0 to `end`, about `about` of them."""
    if not end > 0:
        return [0.0]
    step = end / about
    unit = 10.0 ** math.floor(math.log10(step))
    step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= step * 0.999)
    if whole:
        step = max(1.0, step)
    return [index * step for index in range(int(end / step * 1.000001) + 1)]
