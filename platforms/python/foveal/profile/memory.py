"""The memory plan of a session as a picture: every buffer a rectangle over the steps of a run
(left to right) and its place in the arena (bottom up). Drawn once, as shapes, then written as SVG
or, with Pillow, as PNG.
"""

from __future__ import annotations

import html
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from foveal.profile import words

PALETTE = ("#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#76b7b2", "#e15759", "#edc948", "#9c755f")
"""Colours of buffers, by turns; scratch memory is grey."""

_SCRATCH = "#9aa0a6"
_LEFT, _RIGHT, _TOP, _BOTTOM = 64.0, 12.0, 12.0, 34.0  # margins of the plot, px


@dataclass(frozen=True)
class Rectangle:
    """A buffer: bytes `offset` to `offset + bytes` of the arena, taken from step `first` to `last`
    (inclusive). `shared_by`: other tensors in the same bytes (views, results in place)."""

    name: str
    offset: int
    bytes: int
    first: int
    last: int
    shared_by: tuple[str, ...] = ()
    scratch: bool = False


@dataclass(frozen=True)
class MemoryPlan:
    """What a session's buffers occupy; all sizes in bytes."""

    arena: int
    unshared: int
    """What it would be if every buffer had memory of its own."""
    weights: int
    packed: int
    steps: int
    names: Mapping[int, str] = field(repr=False)
    """Step → what runs then."""
    rectangles: tuple[Rectangle, ...] = field(repr=False)

    def live(self) -> list[int]:
        """Bytes in use at every step: the arena cannot be smaller than the largest."""
        change = [0] * (self.steps + 1)
        for box in self.rectangles:
            change[box.first] += box.bytes
            change[box.last + 1] -= box.bytes
        total, live = 0, []
        for step in change[:-1]:
            total += step
            live.append(total)
        return live

    @property
    def fullest(self) -> int:
        """The first step at which most is in use."""
        live = self.live()
        return max(range(len(live)), key=live.__getitem__) if live else 0

    def words(self) -> str:
        """One line: how much, how much without sharing, where it is fullest."""
        if not self.rectangles:
            return "no buffers"
        saved = f" ({self.unshared / self.arena:.1f} times as much)" if self.arena else ""
        peak, step = self.live()[self.fullest], self.names.get(self.fullest, "")
        return (
            f"{words.size(self.arena)} of buffers in one arena; {words.size(self.unshared)} "
            f"without sharing{saved}; at most {words.size(peak)} in use at once, "
            f"at step {self.fullest}{f' ({step})' if step else ''}"
        )


def memory_plan(explained: Mapping[str, Any]) -> MemoryPlan:
    """The plan in what `Session.explain()` tells."""
    memory = explained["memory"]
    boxes = tuple(
        Rectangle(
            buffer["name"],
            buffer["offset"],
            buffer["bytes"],
            buffer["first"],
            buffer["last"],
            tuple(buffer["shared_by"]),
            buffer["scratch"],
        )
        for buffer in memory["buffers"]
    )
    ran = [node for node in explained["nodes"] if node["position"] >= 0]
    last = max([box.last for box in boxes] + [node["position"] for node in ran], default=-1)
    return MemoryPlan(
        memory["arena_bytes"],
        memory["unshared_bytes"],
        int(memory["weight_bytes"]),
        memory["packed_bytes"],
        last + 1,
        {node["position"]: " + ".join([node["op"], *node["posts"]]) for node in ran},
        boxes,
    )


# ---- Shapes --------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Box:
    x: float
    y: float
    width: float
    height: float
    fill: str
    tip: str
    label: str


@dataclass(frozen=True)
class _Line:
    points: tuple[tuple[float, float], ...]
    kind: str  # "grid" or "live"


@dataclass(frozen=True)
class _Text:
    x: float
    y: float  # of the middle
    text: str
    anchor: str  # "start", "middle" or "end"


_Shape = _Box | _Line | _Text


def _shapes(plan: MemoryPlan, width: float, height: float) -> list[_Shape]:
    """The plot within `width` x `height` px: grid, buffers, then the line of bytes in use."""
    right, bottom = width - _RIGHT, height - _BOTTOM
    if not plan.rectangles or not plan.arena:
        return [_Text(width / 2, height / 2, "no buffers", "middle")]

    def x_of(step: float) -> float:
        return _LEFT + (right - _LEFT) * step / plan.steps

    def y_of(offset: float) -> float:
        return bottom - (bottom - _TOP) * offset / plan.arena

    shapes: list[_Shape] = []
    for tick in words.ticks(plan.arena, 5):
        shapes.append(_Line(((_LEFT, y_of(tick)), (right, y_of(tick))), "grid"))
        shapes.append(_Text(_LEFT - 8, y_of(tick), words.size(tick), "end"))
    for tick in words.ticks(plan.steps, 10, whole=True):
        shapes.append(_Text(x_of(tick), bottom + 11, f"{tick:g}", "middle"))
    shapes.append(_Text((_LEFT + right) / 2, bottom + 25, "step of the run", "middle"))
    order = sorted(plan.rectangles, key=lambda box: (box.first, box.offset))
    names = words.tails([box.name for box in order])
    for index, (box, name) in enumerate(zip(order, names, strict=True)):
        wide = x_of(box.last + 1) - x_of(box.first)
        tall = y_of(box.offset) - y_of(box.offset + box.bytes)
        fill = _SCRATCH if box.scratch else PALETTE[index % len(PALETTE)]
        shapes.append(
            _Box(
                x_of(box.first),
                y_of(box.offset + box.bytes),
                wide,
                tall,
                fill,
                _tip(plan, box),
                _label(name, int((wide - 8) / 6.4)) if tall >= 15 else "",
            )
        )
    corners: list[tuple[float, float]] = []
    for step, live in enumerate(plan.live()):
        corners += [(x_of(step), y_of(live)), (x_of(step + 1), y_of(live))]
    shapes.append(_Line(tuple(corners), "live"))
    return shapes


def _label(name: str, most: int) -> str:
    """The name as far as it fits; "" where too little would be left to know it by."""
    text = words.shortened(name, most)
    return text if len(text) >= min(10, len(name)) else ""


def _tip(plan: MemoryPlan, box: Rectangle) -> str:
    lines = [
        words.plain(box.name),
        f"{words.size(box.bytes)} at {box.offset:,}",
        f"steps {box.first} to {box.last}"
        + (f", from {plan.names[box.first]}" if box.first in plan.names else ""),
    ]
    if box.shared_by:
        lines.append("also " + words.several(box.shared_by, 8))
    return "\n".join(lines)


# ---- SVG -----------------------------------------------------------------------------------


def memory_svg(plan: MemoryPlan, width: int = 1080, height: int = 380) -> str:
    """An <svg> element for an HTML page, whose style it takes (classes grid, live, buffer, label);
    hovering a buffer tells its name, size, offset and steps. All text is escaped."""
    parts = [
        f'<svg class="memory" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="memory plan" xmlns="http://www.w3.org/2000/svg">'
    ]
    parts += [_svg(shape) for shape in _shapes(plan, width, height)]
    return "".join([*parts, "</svg>"])


def _escape(text: str) -> str:
    return html.escape(words.plain(text))


def _svg(shape: _Shape) -> str:
    if isinstance(shape, _Line):
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in shape.points)
        return f'<polyline class="{shape.kind}" points="{points}"/>'
    if isinstance(shape, _Text):
        return (
            f'<text x="{shape.x:.1f}" y="{shape.y:.1f}" dy=".35em" '
            f'text-anchor="{shape.anchor}">{_escape(shape.text)}</text>'
        )
    label = (
        f'<text class="label" x="{shape.x + 4:.1f}" y="{shape.y + shape.height / 2:.1f}" '
        f'dy=".35em">{_escape(shape.label)}</text>'
        if shape.label
        else ""
    )
    return (
        f'<g class="buffer"><title>{_escape(shape.tip)}</title>'
        f'<rect x="{shape.x:.2f}" y="{shape.y:.2f}" width="{shape.width:.2f}" '
        f'height="{max(shape.height, 0.5):.2f}" fill="{shape.fill}"/>{label}</g>'
    )


# ---- PNG -----------------------------------------------------------------------------------

_INK, _DIM, _GRID, _PAPER = "#1f2328", "#59636e", "#e4e7eb", "#ffffff"
_FINE = 2  # drawn so many times as large, then scaled down: smooth edges


def write_memory_png(
    plan: MemoryPlan,
    path: str | os.PathLike[str],
    title: str = "",
    size: Sequence[int] = (1080, 460),
) -> None:
    """Draws the plan under a title and `plan.words()`. The file is written whole or not at all.

    Raises IOFailure when it cannot be written.
    """
    from PIL import Image, ImageDraw

    from foveal.cache import atomic_path

    width, height = size
    head = 58
    image = Image.new("RGB", (width * _FINE, height * _FINE), _PAPER)
    pen = ImageDraw.Draw(image)
    _write(pen, 16, 20, words.shortened(title or "memory plan", 90), "start", _INK, 17)
    _write(pen, 16, 43, words.shortened(plan.words(), 160), "start", _DIM, 12)
    for shape in _shapes(plan, width, height - head):
        _draw(pen, shape, head)
    image = image.resize((width, height), Image.Resampling.LANCZOS)
    with atomic_path(path) as temporary:
        image.quantize(128).save(temporary, format="PNG", optimize=True)


def _draw(pen: Any, shape: _Shape, down: float) -> None:
    if isinstance(shape, _Line):
        points = [(x * _FINE, (y + down) * _FINE) for x, y in shape.points]
        live = shape.kind == "live"
        pen.line(points, fill=_INK if live else _GRID, width=3 if live else 2)
    elif isinstance(shape, _Text):
        _write(pen, shape.x, shape.y + down, shape.text, shape.anchor, _DIM, 11)
    else:
        left, top = shape.x * _FINE, (shape.y + down) * _FINE
        right, bottom = left + shape.width * _FINE, top + max(shape.height, 0.5) * _FINE
        edge = _PAPER if min(right - left, bottom - top) > 6 else None
        pen.rectangle((left, top, right, bottom), fill=shape.fill, outline=edge, width=1)
        if shape.label:
            middle = shape.y + down + shape.height / 2
            _write(pen, shape.x + 4, middle, shape.label, "start", "#ffffff", 11)


def _write(pen: Any, x: float, y: float, text: str, anchor: str, fill: str, points: float) -> None:
    from PIL import ImageFont

    try:
        font: Any = ImageFont.load_default(points * _FINE)
        place = {"start": "lm", "middle": "mm", "end": "rm"}[anchor]
        pen.text((x * _FINE, y * _FINE), text, fill=fill, font=font, anchor=place)
    except (TypeError, ValueError):  # a Pillow without FreeType: its small fixed font, as it is
        plain = words.ascii_only(text)
        long = pen.textlength(plain) * {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor]
        pen.text((x * _FINE - long, y * _FINE - 6), plain, fill=fill)
