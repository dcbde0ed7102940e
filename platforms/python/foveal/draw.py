"""Drawing in place, on uint8 images [height, width, 3 or 4] or [height, width], and on frames.

A `Frame` of RGB, BGR, RGBA, BGRA, GRAY, NV12 or NV21 is drawn on in its own planes, which must be
writable: in pixels as they lie in memory (`Transform.to_sensor`), in the colours it says. Chroma
samples are mixed by the part of their 2 x 2 pixels that a shape covers.

Everything is clipped to the image. Colours are 0xRRGGBB; `order` says how the image's channels
lie ("RGB", "BGR", "RGBA", "BGRA", "GRAY"; None: RGB, RGBA or GRAY by the shape); alpha stays what
it is. Coordinates are continuous pixels: (0, 0) is the outer corner of the first one. Raises
ArgumentError for images of another dtype, shape or memory layout, for numbers that are not finite
and for arguments of another type.
"""

from __future__ import annotations

import functools
import math
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foveal import _core
from foveal.errors import ArgumentError
from foveal.frame import Frame

Image = NDArray[np.uint8] | Frame

CELL = (6, 10)
"""Width and height of a character of `draw_text` at scale 1."""

COLORS = (0x00FF5A, 0x00C8FF, 0xFF3CAC, 0xFFE600, 0xFF7A00, 0x3D6BFF, 0xFF2D2D, 0xB44CFF)
"""Vivid colours for `draw`: that of a label is at its number in `labels`, modulo their count."""

_FORMATS = {"RGB": 1, "BGR": 2, "RGBA": 3, "BGRA": 4, "GRAY": 5}
_FRAMES = {**_FORMATS, "NV12": 6, "NV21": 7}
_BY_SHAPE = {1: "GRAY", 3: "RGB", 4: "RGBA"}


def _format(image: Image, order: str | None) -> int:
    if isinstance(image, Frame):
        name = image.format.upper()
        if name not in _FRAMES or order not in (None, name):
            raise ArgumentError(
                f"image: expected a frame of {', '.join(_FRAMES)}, got {image.format}"
                + (f" and order {order!r}" if name in _FRAMES else "")
            )
        return _FRAMES[name]
    if not isinstance(image, np.ndarray):
        raise ArgumentError(f"image: expected an array or a Frame, got {type(image).__name__}")
    channels = image.shape[2] if image.ndim == 3 else 1
    name = str(order).upper() if order else _BY_SHAPE.get(channels, "RGB")
    if name not in _FORMATS:
        raise ArgumentError(f"order: expected {', '.join(_FORMATS)}, got '{order}'")
    return _FORMATS[name]


def _on(image: Image) -> Any:
    """What the core draws on."""
    return image._handle if isinstance(image, Frame) else image


def _size(image: Image) -> tuple[int, int]:
    """(height, width) as they lie in memory."""
    if isinstance(image, Frame):
        return image.height, image.width
    return image.shape[0], image.shape[1]


def _number(what: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(f"draw: {what}: expected a number, got {value!r}") from None


def _whole(what: str, value: Any, low: int, high: int) -> int:
    number = _number(what, value)
    if not low <= number <= high:  # nor NaN
        raise ArgumentError(f"draw: {what}: expected {low} to {high}, got {value!r}")
    return int(number)


def _color(value: Any) -> int:
    if not isinstance(value, (int, np.integer)) or not 0 <= value <= 0xFFFFFF:
        raise ArgumentError(f"draw: color: expected 0 to 0xFFFFFF (0xRRGGBB), got {value!r}")
    return int(value)


def _four(values: Sequence[float]) -> list[float]:
    try:
        four = [float(v) for v in values]
    except (TypeError, ValueError, OverflowError):
        four = []
    if len(four) != 4:
        raise ArgumentError(f"draw: expected the four numbers x0, y0, x1, y1, got {values!r}")
    return four


def _thickness(value: Any) -> int:
    return _whole("thickness", value, 1, 4096)


def _ascii(text: str) -> str:
    """What the font has; lone surrogates would not even reach it."""
    return text.encode("ascii", "replace").decode()


def draw_box(
    image: Image,
    box: Sequence[float],
    thickness: int = 2,
    color: int = 0xFFFFFF,
    order: str | None = None,
) -> None:
    """The outline of a box x0, y0, x1, y1; `thickness` in pixels, around the edge."""
    _core.draw_box(
        _on(image), _format(image, order), _four(box), _thickness(thickness), _color(color)
    )


def fill_box(
    image: Image, box: Sequence[float], color: int = 0xFFFFFF, order: str | None = None
) -> None:
    """A filled box x0, y0, x1, y1."""
    _core.fill_box(_on(image), _format(image, order), _four(box), _color(color))


def draw_line(
    image: Image,
    from_to: Sequence[float],
    thickness: int = 2,
    color: int = 0xFFFFFF,
    order: str | None = None,
) -> None:
    """A line x0, y0, x1, y1 with round ends."""
    code, width = _format(image, order), _thickness(thickness)
    _core.draw_line(_on(image), code, _four(from_to), width, _color(color))


def draw_point(
    image: Image,
    x: float,
    y: float,
    radius: float = 2.0,
    color: int = 0xFFFFFF,
    order: str | None = None,
) -> None:
    """A filled circle."""
    at = _number("x", x), _number("y", y), _number("radius", radius)
    _core.draw_point(_on(image), _format(image, order), *at, _color(color))


def draw_text(
    image: Image,
    x: int,
    y: int,
    text: str,
    scale: int = 1,
    color: int = 0xFFFFFF,
    order: str | None = None,
) -> None:
    """Text; x, y is the top-left corner of its first cell. What is not ASCII becomes '?'."""
    far = 2.0**30
    left, top = (_number(n, v) for n, v in (("x", x), ("y", y)))
    if not (math.isfinite(left) and math.isfinite(top)):
        raise ArgumentError(f"draw: x, y: expected finite numbers, got {x!r}, {y!r}")
    left, top = (int(max(-far, min(far, v))) for v in (left, top))
    if not isinstance(text, str):
        raise ArgumentError(f"draw: text: expected a string, got {type(text).__name__}")
    code, size = _format(image, order), _whole("scale", scale, 1, 4096)
    _core.draw_text(_on(image), code, left, top, _ascii(text), size, _color(color))


def draw_polyline(
    image: Image,
    points: Sequence[Sequence[float]] | NDArray[Any],
    thickness: int = 2,
    color: int = 0xFFFFFF,
    order: str | None = None,
    *,
    closed: bool = False,
) -> None:
    """Lines from point to point (x, y); `closed` leads back to the first one."""
    code, width = _format(image, order), _thickness(thickness)
    _core.draw_polyline(_on(image), code, _points(points), bool(closed), width, _color(color))


def draw_circle(
    image: Image,
    x: float,
    y: float,
    radius: float,
    thickness: int = 2,
    color: int = 0xFFFFFF,
    order: str | None = None,
) -> None:
    """The outline of a circle; `draw_point` fills one."""
    at = _number("x", x), _number("y", y), _number("radius", radius)
    code, width = _format(image, order), _thickness(thickness)
    _core.draw_circle(_on(image), code, *at, width, _color(color))


def fill_polygon(
    image: Image,
    points: Sequence[Sequence[float]] | NDArray[Any],
    color: int = 0xFFFFFF,
    order: str | None = None,
) -> None:
    """The inside of a polygon (even-odd where it crosses itself), with soft edges."""
    _core.fill_polygon(_on(image), _format(image, order), _points(points), _color(color))


def draw_rotated_box(
    image: Image,
    box: Sequence[float],
    thickness: int = 2,
    color: int = 0xFFFFFF,
    order: str | None = None,
) -> None:
    """The outline of a box cx, cy, width, height, degrees clockwise."""
    draw_polyline(image, _corners(box), thickness, color, order, closed=True)


def fill_rotated_box(
    image: Image, box: Sequence[float], color: int = 0xFFFFFF, order: str | None = None
) -> None:
    """A filled box cx, cy, width, height, degrees clockwise."""
    fill_polygon(image, _corners(box), color, order)


def _corners(box: Sequence[float]) -> NDArray[np.float64]:
    try:
        x, y, w, h, degrees = (float(v) for v in box)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(
            f"draw: expected cx, cy, width, height, degrees, got {box!r:.80}"
        ) from None
    if not all(map(math.isfinite, (x, y, w, h, degrees))):
        raise ArgumentError(f"draw: expected finite numbers, got {box!r:.80}")
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    half = np.array([(-w, -h), (w, -h), (w, h), (-w, h)]) / 2
    corners: NDArray[np.float64] = half @ np.array([[cos, sin], [-sin, cos]]) + np.array([x, y])
    return corners


def draw_quad(
    image: Image,
    corners: Sequence[Sequence[float]] | NDArray[Any],
    thickness: int = 2,
    color: int = 0xFFFFFF,
    order: str | None = None,
) -> None:
    """The outline of a quad, four corners (x, y) one after the other."""
    at = _points(corners)
    if len(at) != 4:
        raise ArgumentError(f"draw: expected four corners, got {len(at)}")
    draw_polyline(image, at, thickness, color, order, closed=True)


def draw_mask(
    image: Image,
    mask: NDArray[Any],
    color: int = COLORS[0],
    strength: float = 0.5,
    order: str | None = None,
) -> None:
    """Tints an image where a mask (floats [height, width], 0..1) is set: at 1, `strength` of the
    pixel is the colour."""
    code = _format(image, order)
    if not isinstance(mask, np.ndarray) or mask.dtype.kind != "f":
        raise ArgumentError("draw: mask: expected an array of floats")
    if mask.shape != _size(image):
        raise ArgumentError(f"draw: mask: expected {list(_size(image))}, got {list(mask.shape)}")
    share = _number("strength", strength)
    values = np.ascontiguousarray(mask, np.float32)
    _core.draw_mask(_on(image), code, values, share, _color(color))


def draw_label(
    image: Image,
    box: Sequence[float],
    text: str,
    scale: int = 1,
    color: int = 0x000000,
    text_color: int = 0xFFFFFF,
    order: str | None = None,
) -> None:
    """Text on a filled bar above a box, or inside it where there is no room above."""
    _format(image, order)
    box = _four(box)
    if not all(map(math.isfinite, box)):
        raise ArgumentError(f"draw: expected finite numbers, got {box}")
    if not isinstance(text, str):
        raise ArgumentError(f"draw: text: expected a string, got {type(text).__name__}")
    scale = _whole("scale", scale, 1, 4096)
    height, width = _size(image)
    drawn = None if text.isascii() else _rendered(text, (CELL[1] - 1) * scale)
    long = len(text) * CELL[0] * scale if drawn is None else drawn.shape[1]
    bar = long + 3 * scale, (CELL[1] + 2) * scale
    x = round(max(0.0, min(float(box[0]), width - bar[0])))
    above = round(float(box[1])) - bar[1]
    y = above if above >= 0 else max(0, min(round(float(box[1])), height - bar[1]))
    fill_box(image, (x, y, x + bar[0], y + bar[1]), color, order)
    if drawn is None:
        draw_text(image, x + 2 * scale, y + 2 * scale, text, scale, text_color, order)
    else:
        _stamp(image, x + 2 * scale, y + scale, drawn, text_color, order)


def _detections(values: Any) -> list[Any]:
    found = list(values) if np.iterable(values) else [values]
    for d in found:
        if not all(hasattr(d, n) for n in ("label", "score", "box", "points")):
            raise ArgumentError(f"draw: expected detections, got {type(d).__name__}")
    return found


def draw(
    image: Image, detections: Sequence[Any], labels: Sequence[str] = (), order: str | None = None
) -> None:
    """Boxes, points and labels of detections, the best on top. Sizes follow the image's.

    A detection has .label (text, or an index into `labels`), .score, .box and .points, as
    `foveal.vision.Detection` and the items of `foveal.image.Detections` do.
    """
    thickness, scale = _sizes(image, order)
    for d in reversed(_detections(detections)):
        name, color = _look(d.label, labels)
        x0, y0, x1, y1 = box = _four(d.box)
        draw_box(image, box, thickness, color, order)
        # Small faces stay recognisable below their points.
        radius = max(1.5, min(1.25 * thickness, (x1 - x0) / 24, (y1 - y0) / 24))
        for x, y in d.points:
            draw_point(image, x, y, radius + max(1.0, radius / 3), 0x000000, order)
            draw_point(image, x, y, radius, color, order)
        edge = (x0 - thickness / 2, y0 - thickness / 2, x1, y1)
        text_color = 0x000000 if _is_bright(color) else 0xFFFFFF
        draw_label(image, edge, f"{name} {d.score:.2f}", scale, color, text_color, order)


def _look(label: Any, labels: Sequence[str]) -> tuple[str, int]:
    """Text and colour of a label: one colour in every picture."""
    name = str(label)
    if isinstance(label, (int, np.integer)):
        number = int(label)
        name = labels[number] if 0 <= number < len(labels) else name
    elif name in labels:
        number = list(labels).index(name)
    else:
        number = zlib.crc32(name.encode("utf-8", "replace"))
    return name, COLORS[number % len(COLORS)]


def _is_bright(color: int) -> bool:
    red, green, blue = color >> 16, color >> 8 & 255, color & 255
    return 299 * red + 587 * green + 114 * blue > 128_000


def draw_classes(
    image: Image, classes: Sequence[Any], labels: Sequence[str] = (), order: str | None = None
) -> None:
    """A list of classes (.label, .score) in the top-left corner, the best on top."""
    _, scale = _sizes(image, order)
    top = scale * 2.0
    for c in classes:
        name, color = _look(c.label, labels)
        bar = (CELL[1] + 2) * scale
        text_color = 0x000000 if _is_bright(color) else 0xFFFFFF
        where = (2.0 * scale, top + bar, 2.0 * scale, top + bar)
        draw_label(image, where, f"{c.score:.2f} {name}", scale, color, text_color, order)
        top += bar


def draw_landmarks(
    image: Image,
    found: Any,
    edges: Sequence[tuple[int, int]] = (),
    labels: Sequence[str] = (),
    order: str | None = None,
) -> None:
    """The landmarks of one thing (.label, .score, .box, .points, .track) and the edges between
    them, pairs of indices. Landmarks that are hardly visible (.visibility below 0.5) are left out.
    """
    thickness, scale = _sizes(image, order)
    at = _points(np.asarray(found.points)[:, :2])
    seen = np.isfinite(at).all(1) & (np.asarray(found.visibility) >= 0.5)
    name, own = _look(found.label, labels)
    track = getattr(found, "track", None)
    color = own if track is None else COLORS[int(track) % len(COLORS)]
    x0, y0, x1, y1 = _four(found.box)
    # Many landmarks on a small thing stay apart.
    gap = math.sqrt(max((x1 - x0) * (y1 - y0), 1.0) / max(len(at), 1))
    width = max(1, min(thickness, round(gap / 5)))
    for a, b in edges:
        if a < len(at) and b < len(at) and seen[a] and seen[b]:
            draw_line(image, (*at[a], *at[b]), width, color, order)
    radius = max(0.8, min(1.25 * thickness, gap / 7))
    point_color = 0xFFFFFF if edges else color
    for x, y in at[seen]:
        draw_point(image, x, y, radius, point_color, order)
    texts = [name] if name else []
    texts += [] if track is None else [f"#{track}"]
    if texts:
        text_color = 0x000000 if _is_bright(color) else 0xFFFFFF
        draw_label(image, (x0, y0, x1, y1), " ".join(texts), scale, color, text_color, order)


def draw_lines_of_text(image: Image, lines: Sequence[Any], order: str | None = None) -> None:
    """What was read (.text) set in the place of each line, in its quad (.quad), with an outline."""
    thickness, _ = _sizes(image, order)
    for line in lines:
        _typeset(image, _points(line.quad), str(line.text), order)
        draw_quad(image, line.quad, max(1, thickness // 2), COLORS[0], order)


def _sizes(image: Image, order: str | None) -> tuple[int, int]:
    """Thickness of lines and scale of text that suit an image."""
    _format(image, order)
    side = min(_size(image))
    return max(2, round(side / 180)), max(1, round(side / 260))


def _points(values: Any) -> NDArray[np.float64]:
    try:
        at = np.asarray(values, np.float64)
    except (TypeError, ValueError, OverflowError):
        at = np.zeros(0)
    if at.ndim != 2 or at.shape[1] != 2:
        raise ArgumentError(f"draw: expected points (x, y), got {values!r:.80}")
    return at


def _blend(
    image: Image, x: int, y: int, weight: NDArray[np.float32], color: int, order: str | None
) -> None:
    """Mixes a colour into a part of an image, whose top-left corner is x, y: all of it inside."""
    code, (rows, columns) = _format(image, order), weight.shape
    if isinstance(image, Frame):  # chroma does not end where a part of it may
        whole = np.zeros(_size(image), np.float32)
        whole[y : y + rows, x : x + columns] = weight
        _core.draw_mask(image._handle, code, whole, 1.0, color)
    else:
        _core.draw_mask(image[y : y + rows, x : x + columns], code, weight, 1.0, color)


_FONTS = (
    "NotoSansCJK-Regular.ttc",
    "NotoSansSC-Regular.otf",
    "wqy-microhei.ttc",
    "PingFang.ttc",
    "msyh.ttc",
    "Arial Unicode.ttf",
    "DejaVuSans.ttf",
    "NotoSans-Regular.ttf",
    "Arial.ttf",
)
"""Fonts of the system for what is not ASCII, those that have most first."""


@functools.cache
def _font_file() -> str | None:
    from PIL import ImageFont

    for name in _FONTS:
        try:
            ImageFont.truetype(name, 8)
        except (OSError, ImportError):
            continue
        return name
    return None


def _font(size: float, text: str) -> Any:
    """A font of a height in pixels for a text; None from a Pillow without one that scales."""
    from PIL import ImageFont

    try:
        name = None if text.isascii() else _font_file()
        size = max(1.0, size)
        font: Any = ImageFont.truetype(name, size) if name else ImageFont.load_default(size)
        font.getlength("a")
    except (TypeError, ImportError, OSError, ValueError):
        return None
    return font


def _shown(font: Any, text: str) -> str:
    """The text on one line, with '?' for what a font lacks."""
    text = " ".join(text.encode("utf-8", "replace").decode().split())
    if text.isascii():
        return text
    lacking = bytes(font.getmask("\U0010fffe"))
    return "".join(c if c.isascii() or bytes(font.getmask(c)) != lacking else "?" for c in text)


def _rendered(text: str, size: int) -> NDArray[np.float32] | None:
    """Text as weights [height, width] 0..1, `size` pixels high; None without a font."""
    from PIL import Image as pil
    from PIL import ImageDraw

    font = _font(size, text)
    if font is None:
        return None
    text = _shown(font, text)
    long = max(1, math.ceil(font.getlength(text)))
    page = pil.new("L", (min(long, 1 << 14), math.ceil(size * 1.25)))
    ImageDraw.Draw(page).text((0, 0), text, fill=255, font=font)
    weight: NDArray[np.float32] = np.asarray(page, np.float32) / np.float32(255)
    return weight


def _typeset(image: Image, quad: NDArray[np.float64], text: str, order: str | None) -> None:
    """Text on a light ground that fills a quad (its first corner is the text's top-left)."""
    from PIL import Image as pil
    from PIL import ImageDraw

    if not np.isfinite(quad).all() or len(quad) != 4:
        return
    along, down = quad[1] - quad[0], quad[3] - quad[0]
    width, height = (min(max(1, round(float(np.hypot(*v)))), 1 << 13) for v in (along, down))
    font = _font(0.8 * height, text)
    axes = np.stack([along / width, down / height], 1)
    if font is None or abs(np.linalg.det(axes)) < 1e-6:
        return
    text = _shown(font, text)
    if (long := font.getlength(text)) > width - 2:
        font = _font(0.8 * height * max(width - 2, 1) / long, text)
    strip = pil.new("L", (width, height))
    ImageDraw.Draw(strip).text((2, height / 2), text, fill=255, font=font, anchor="lm")
    ground = pil.new("L", (width, height), 255)
    rows, columns = _size(image)
    x0, y0 = (max(0, math.floor(v)) for v in quad.min(0))
    x1, y1 = (min(n, math.ceil(v)) for v, n in zip(quad.max(0), (columns, rows), strict=True))
    if x1 <= x0 or y1 <= y0:
        return
    back = np.linalg.inv(axes)
    start = back @ (np.array([x0, y0]) - quad[0])
    affine = (*back[0], start[0], *back[1], start[1])
    for layer, strength, color in ((ground, 0.85, 0xFFFFFF), (strip, 1.0, 0x101010)):
        turned = layer.transform(
            (x1 - x0, y1 - y0), pil.Transform.AFFINE, affine, pil.Resampling.BILINEAR
        )
        weight = np.asarray(turned, np.float32) * np.float32(strength / 255)
        _blend(image, x0, y0, weight, color, order)


def _stamp(
    image: Image, x: int, y: int, weight: NDArray[np.float32], color: int, order: str | None
) -> None:
    """Blends rendered text with its top-left corner at x, y, clipped to the image."""
    rows, columns = _size(image)
    weight = weight[max(0, -y) : max(0, rows - y), max(0, -x) : max(0, columns - x)]
    if weight.size:
        _blend(image, max(0, x), max(0, y), weight, color, order)
