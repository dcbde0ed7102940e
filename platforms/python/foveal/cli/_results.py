"""How `foveal detect` shows what each task finds. Works on the tasks' plain results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foveal.cli import console

KEYS = {
    "detections": "detections",
    "classes": "classes",
    "landmarks": "landmarks",
    "mask": "mask",
    "text": "lines",
}
"""The key of a task's results in JSON, by the kind of task."""

_NOUNS = {
    "detections": "detection",
    "classes": "class",
    "landmarks": "thing",
    "text": "line of text",
}
_PLURALS = {"class": "classes", "line of text": "lines of text"}
_CORNERS = ("x0", "y0", "x1", "y1")


def summary(kind: str, found: Any) -> str:
    """What was found, in a few words."""
    if kind == "mask":
        return f"mask of {found['coverage']:.0%} of the picture"
    noun = _NOUNS[kind]
    if len(found) == 1:
        return f"1 {noun}"
    return f"{len(found)} {_PLURALS.get(noun, noun + 's')}" if found else "nothing found"


def show(kind: str, found: Any) -> None:
    """Prints a table of it, nothing for nothing."""
    if not found:
        return
    if kind == "mask":
        console.table(_CORNERS, [_box(found["box"])], right=(0, 1, 2, 3))
    elif kind == "classes":
        rows: list[tuple[object, ...]] = [(_clean(c["label"]), f"{c['score']:.2f}") for c in found]
        console.table(("label", "score"), rows, right=(1,))
    elif kind == "landmarks":
        rows = [(_clean(f["label"]), len(f["points"]), *_place(f)) for f in found]
        console.table(
            ("label", "points", "score", *_CORNERS), rows, right=range(1, 7), hide_empty=True
        )
    else:
        name = "text" if kind == "text" else "label"
        rows = [(_clean(f[name]), *_place(f)) for f in found]
        console.table((name, "score", *_CORNERS), rows, right=range(1, 6))


def _place(found: dict[str, Any]) -> tuple[str, ...]:
    return (f"{found['score']:.2f}", *_box(found["box"]))


def _box(box: Sequence[float]) -> tuple[str, ...]:
    return tuple(f"{v:.0f}" for v in box)


def _clean(text: str) -> str:
    """Text that comes from a model: nothing in it may steer the terminal."""
    return "".join(c if c.isprintable() else "\ufffd" for c in text)
