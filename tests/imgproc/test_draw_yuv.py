"""Shapes against the twin, on every kind of picture, NV12 and NV21 in place among them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from draw_twin import cells, chroma_cover, circle, mix, polygon, segment, to_yuv
from foveal import draw
from foveal.errors import ArgumentError, FovealError
from foveal.frame import Frame
from test_image_frame import _Guarded

COLOR = 0xE0401C
rng = np.random.default_rng(7)

STAR = [(20.0, 2.5), (8.2, 30.1), (38.0, 11.3), (2.0, 12.0), (33.5, 31.0)]
SMALL = [(-8.0, -3.0), (12.7, 5.2), (3.1, 60.0)]


def box_cover(w: int, h: int, x0: int, y0: int, x1: int, y1: int, thickness: int) -> np.ndarray:
    out, inner = (thickness + 1) // 2, thickness - (thickness + 1) // 2
    whole = cells(w, h, x0 - out, y0 - out, x1 + out, y1 + out)
    return whole - cells(w, h, x0 + inner, y0 + inner, x1 - inner, y1 - inner)


def mask_of(w: int, h: int) -> np.ndarray:
    return np.random.default_rng(1).random((h, w)).astype(np.float32) * 2 - 0.5


Shape = tuple[Callable[[Any], None], Callable[[int, int], np.ndarray]]
SHAPES: dict[str, Shape] = {
    "box": (
        lambda i: draw.draw_box(i, (5, 4, 31, 21), 3, COLOR),
        lambda w, h: box_cover(w, h, 5, 4, 31, 21, 3),
    ),
    "box over the rim": (
        lambda i: draw.draw_box(i, (-3, 7, 90, 18), 4, COLOR),
        lambda w, h: box_cover(w, h, -3, 7, 90, 18, 4),
    ),
    "odd box": (
        lambda i: draw.draw_box(i, (6, 3, 18, 20), 1, COLOR),
        lambda w, h: cells(w, h, 5, 2, 19, 21) - cells(w, h, 6, 3, 18, 20),
    ),
    "filled box": (
        lambda i: draw.fill_box(i, (3, 5, 20, 16), COLOR),
        lambda w, h: cells(w, h, 3, 5, 20, 16),
    ),
    "line": (
        lambda i: draw.draw_line(i, (3.3, 4.1, 30.2, 25.9), 3, COLOR),
        lambda w, h: segment(w, h, 3.3, 4.1, 30.2, 25.9, 1.5),
    ),
    "point": (
        lambda i: draw.draw_point(i, 17.3, 11.8, 4.6, COLOR),
        lambda w, h: segment(w, h, 17.3, 11.8, 17.3, 11.8, 4.6),
    ),
    "circle": (
        lambda i: draw.draw_circle(i, 19.4, 15.1, 9.7, 3, COLOR),
        lambda w, h: circle(w, h, 19.4, 15.1, 9.7, 3),
    ),
    "star": (lambda i: draw.fill_polygon(i, STAR, COLOR), lambda w, h: polygon(w, h, STAR)),
    "triangle over the rim": (
        lambda i: draw.fill_polygon(i, SMALL, COLOR),
        lambda w, h: polygon(w, h, SMALL),
    ),
    "mask": (
        lambda i: draw.draw_mask(i, mask_of(*size_of(i)), COLOR, 0.7),
        lambda w, h: np.clip(mask_of(w, h).astype(np.float64), 0, 1) * 0.7,
    ),
}  # fmt: skip


def size_of(image: Any) -> tuple[int, int]:
    if isinstance(image, Frame):
        return image.width, image.height
    return image.shape[1], image.shape[0]


def yuv_frame(
    fmt: str, w: int, h: int, color: str | None = "bt601-limited", pad: int = 3
) -> tuple[Frame, np.ndarray, np.ndarray, np.ndarray]:
    """A frame in planes whose rows are longer than the picture; the planes; all their memory."""
    cw, ch = (w + 1) // 2, (h + 1) // 2
    luma = rng.integers(0, 256, (h, w + pad), np.uint8)
    chroma = rng.integers(0, 256, (ch, 2 * cw + pad), np.uint8)
    y, uv = luma[:, :w], chroma[:, : 2 * cw]
    frame = Frame(format=fmt, width=w, height=h, planes=[y, uv.reshape(ch, -1)], color=color)
    return frame, y, uv, np.concatenate([luma.ravel(), chroma.ravel()])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("fmt", ["nv12", "nv21"])
@pytest.mark.parametrize("size", [(40, 32), (41, 33), (23, 17)], ids=str)
@pytest.mark.parametrize("color", ["bt601-limited", "bt709-full", "bt2020-limited"])
def test_yuv_in_place(shape: str, fmt: str, size: tuple[int, int], color: str) -> None:
    w, h = size
    act, cover_of = SHAPES[shape]
    frame, y, uv, _ = yuv_frame(fmt, w, h, color)
    before_y, before_uv = y.copy(), uv.copy()
    act(frame)
    cover = cover_of(w, h)
    matrix, range_ = color.split("-")
    luma, *chroma = to_yuv(COLOR, matrix, range_ == "limited")
    if fmt == "nv21":
        chroma.reverse()
    near(y, mix(before_y, luma, cover))
    blocks = chroma_cover(cover)
    for i in range(2):
        near(uv[:, i::2], mix(before_uv[:, i::2], chroma[i], blocks))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("order", ["RGB", "BGR", "RGBA", "BGRA", "GRAY"])
def test_other_pictures(shape: str, order: str) -> None:
    w, h, n = 41, 33, 1 if order == "GRAY" else len(order)
    act, cover_of = SHAPES[shape]
    image = rng.integers(0, 256, (h, w, n), np.uint8)
    before = image.copy()
    act(Frame.from_numpy(image[..., 0] if n == 1 else image, order))
    red, green, blue = COLOR >> 16, COLOR >> 8 & 255, COLOR & 255
    gray = (299 * red + 587 * green + 114 * blue + 500) // 1000
    levels = {"R": red, "G": green, "B": blue}
    for i, name in enumerate(order if n > 1 else "Y"):
        if name == "A":
            np.testing.assert_array_equal(image[..., i], before[..., i])
        else:
            level = levels.get(name, gray)
            near(image[..., i], mix(before[..., i], level, cover_of(w, h)))


def shapes_anywhere(seed: int) -> list[Shape]:
    """Lines of every slope, circles and polygons, many of them beyond the picture's rim."""
    rng = np.random.default_rng(seed)
    x0, y0, x1, y1 = rng.uniform(-40, 100, 4)
    line = {0: (x0, y0, x1, y1), 1: (x0, y0, x1, y0), 2: (x0, y0, x0, y1)}[seed % 3]
    steep = (30 + x0 / 9, -50.0, 31 + x0 / 9, 90.0)
    flat = (-70.0, 20 + y0 / 9, 130.0, 21.5 + y0 / 9)
    thick, radius = int(rng.integers(1, 14)), float(rng.uniform(0.3, 60))
    points = [tuple(p) for p in rng.uniform(-30, 90, (int(rng.integers(3, 8)), 2)).tolist()]

    def line_shape(v: Any) -> Shape:
        return (
            lambda i: draw.draw_line(i, v, thick, COLOR),
            lambda w, h: segment(w, h, *v, thick / 2),
        )

    return [
        *map(line_shape, (line, steep, flat)),
        (
            lambda i: draw.draw_circle(i, x0, y0, radius, thick, COLOR),
            lambda w, h: circle(w, h, x0, y0, radius, thick),
        ),
        (
            lambda i: draw.draw_point(i, x1, y1, radius, COLOR),
            lambda w, h: segment(w, h, x1, y1, x1, y1, radius),
        ),
        (lambda i: draw.fill_polygon(i, points, COLOR), lambda w, h: polygon(w, h, points)),
    ]


@pytest.mark.parametrize("seed", range(24))
def test_shapes_anywhere(seed: int) -> None:
    w, h = 67, 45
    for act, cover_of in shapes_anywhere(seed):
        cover = cover_of(w, h)
        image = rng.integers(0, 256, (h, w, 3), np.uint8)
        want = [mix(image[..., c], v, cover) for c, v in enumerate(COLOR.to_bytes(3, "big"))]
        act(image)
        near(image, np.stack(want, -1))
        frame, y, uv, _ = yuv_frame("nv12", w, h)
        luma, *chroma = to_yuv(COLOR, "bt601", True)
        want = [mix(y, luma, cover)]
        want += [mix(uv[:, i::2], v, chroma_cover(cover)) for i, v in enumerate(chroma)]
        act(frame)
        for got, plane in zip((y, uv[:, ::2], uv[:, 1::2]), want, strict=True):
            near(got, plane)


def near(got: np.ndarray, want: np.ndarray) -> None:
    """Equal, but where a half may have been rounded the other way after another order of sums."""
    wrong = np.abs(got.astype(int) - want.astype(int))
    assert wrong.max() <= 1
    assert np.count_nonzero(wrong) <= wrong.size // 200


@pytest.mark.parametrize("fmt", ["nv12", "nv21"])
def test_text_is_that_of_grey_pictures(fmt: str) -> None:
    """Where grey shows the text, luma does, and every touched block is mixed by its share."""
    for at, scale in (((3, 5), 1), ((-4, 2), 2), ((1, -3), 3), ((30, 20), 1)):
        frame, y, uv, _ = yuv_frame(fmt, 41, 33)
        before_y, before_uv = y.copy(), uv.copy()
        draw.draw_text(frame, *at, "Wg|é", scale, COLOR)
        flat = np.zeros((33, 41), np.uint8)
        draw.draw_text(flat, *at, "Wg|é", scale, 0xFFFFFF)
        cover = flat / 255.0
        luma, *chroma = to_yuv(COLOR, "bt601", True)
        near(y, mix(before_y, luma, cover))
        blocks = chroma_cover(cover)
        for i, level in enumerate(chroma if fmt == "nv12" else chroma[::-1]):
            near(uv[:, i::2], mix(before_uv[:, i::2], level, blocks))


@pytest.mark.parametrize("fmt", ["nv12", "nv21"])
def test_nothing_beside_the_picture_is_touched(fmt: str) -> None:
    far = [-1e30, -1e7, -50, -1, 0, 0.49, 5, 19.5, 29.9, 31, 80, 1e7, 1e30]
    for w, h in ((31, 17), (1, 1), (2, 1), (1, 2)):
        cw, ch = (w + 1) // 2, (h + 1) // 2
        luma, chroma = (
            np.full((h + 4, w + 9), 7, np.uint8),
            np.full((ch + 4, 2 * cw + 9), 7, np.uint8),
        )
        y, uv = luma[2 : 2 + h, 4 : 4 + w], chroma[2 : 2 + ch, 4 : 4 + 2 * cw]
        frame = Frame(format=fmt, width=w, height=h, planes=[y, uv])
        for _ in range(60):
            a, b, c, d = rng.choice(far, 4)
            draw.draw_box(frame, (a, b, c, d), int(rng.integers(1, 40)), COLOR)
            draw.fill_box(frame, (a, b, c, d), COLOR)
            draw.draw_circle(frame, a, b, float(rng.choice([0.1, 3, 60000])), 5, COLOR)
            draw.fill_polygon(frame, [(a, b), (c, d), (b, c)], COLOR)
            draw.draw_text(frame, a, b, "Wg|", int(rng.integers(1, 30)), COLOR)
            draw.fill_rotated_box(frame, (a, b, 30, 20, c), COLOR)
            draw.draw_label(frame, (a, b, c, d), "label", 2)
        draw.draw_line(frame, (-1e30, 3, 1e30, 5), 3, COLOR)
        draw.draw_label(frame, (0, 0, 1, 1), "Straße")
        y[:], uv[:] = 7, 7
        assert (luma == 7).all() and (chroma == 7).all()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("fmt", ["nv12", "nv21"])
def test_nothing_behind_a_plane_is_touched(shape: str, fmt: str) -> None:
    """Planes whose last byte is the last before a page without access."""
    for w, h in ((41, 33), (40, 32), (7, 1), (1, 7)):
        walls = [_Guarded(bytes(w * h)), _Guarded(bytes((w + 1) // 2 * 2 * ((h + 1) // 2)))]
        frame = Frame(format=fmt, width=w, height=h, planes=[g.view for g in walls])
        SHAPES[shape][0](frame)
        draw.draw_text(frame, w - 9, h - 8, "Wg", 2, COLOR)


def test_rotated_boxes() -> None:
    image = np.zeros((60, 80), np.uint8)
    draw.fill_rotated_box(image, (40, 30, 40, 20, 90))
    want = cells(80, 60, 30, 10, 50, 50) * 255
    np.testing.assert_array_equal(image, want)
    image[:] = 0
    draw.fill_rotated_box(image, (40, 30, 40, 20, 30))  # clockwise: its right side goes down
    assert image[30 + 9, 40 + 15] and not image[30 - 9, 40 + 15]
    area = image.astype(float).sum() / 255
    assert abs(area - 800) < 8
    other = np.zeros((60, 80), np.uint8)
    draw.draw_rotated_box(other, (40, 30, 40, 20, 30), 1)
    assert other.any() and not other[30, 40]


def test_polylines_close() -> None:
    points = [(5, 5), (30, 8), (20, 25)]
    lines, closed = np.zeros((2, 32, 40), np.uint8)
    draw.draw_polyline(lines, points, 2)
    want = np.zeros((32, 40), np.uint8)
    for a, b in itertools.pairwise(points):
        draw.draw_line(want, (*a, *b), 2)
    np.testing.assert_array_equal(lines, want)
    draw.draw_polyline(closed, points, 2, closed=True)
    draw.draw_line(want, (*points[2], *points[0]), 2)
    np.testing.assert_array_equal(closed, want)
    before = lines.copy()
    for few in ([], [(3, 3)]):
        draw.draw_polyline(lines, np.reshape(few, (-1, 2)), 2)
    np.testing.assert_array_equal(lines, before)


def test_all_of_a_frame_may_be_called_visible() -> None:
    pixels = np.zeros((6, 8, 3), np.uint8)
    frame = Frame(format="rgb", width=8, height=6, planes=[pixels], visible=(0, 0, 8, 6))
    draw.fill_box(frame, (0, 0, 8, 6), 0xFFFFFF)
    assert pixels.all() and frame.visible == (0, 0, 8, 6)


def test_frames_that_cannot_be_drawn_on() -> None:
    y, uv = np.zeros((8, 8), np.uint8), np.zeros((4, 8), np.uint8)
    for frame in (
        Frame(format="nv12", width=8, height=8, planes=[bytes(64), bytes(32)]),
        Frame(format="nv12", width=8, height=8, planes=[y, uv], color=None),
        Frame(format="i420", width=8, height=8, planes=[y, uv[:, :4], uv[:, 4:]]),
        Frame(format="nv12", width=8, height=8, planes=[y, uv], visible=(2, 2, 4, 4)),
    ):
        with pytest.raises(FovealError):
            draw.fill_box(frame, (0, 0, 8, 8))
    frame = Frame(format="nv12", width=8, height=8, planes=[y, uv])
    with pytest.raises(ArgumentError, match="order"):
        draw.fill_box(frame, (0, 0, 8, 8), order="RGB")
    assert not y.any() and not uv.any()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "x", None, -(10**400)])
def test_hostile_numbers(value: Any) -> None:
    image = np.zeros((8, 8), np.uint8)
    for call in (
        lambda: draw.draw_circle(image, value, 1, 1),
        lambda: draw.draw_circle(image, 1, 1, value),
        lambda: draw.draw_circle(image, 1, 1, 1, value),
        lambda: draw.fill_polygon(image, [(0, 0), (1, value), (5, 5)]),
        lambda: draw.draw_polyline(image, [(0, 0), (1, value)]),
        lambda: draw.draw_polyline(image, [(0, 0), (1, 1)], value),
        lambda: draw.draw_rotated_box(image, (1, 1, 5, 5, value)),
        lambda: draw.fill_rotated_box(image, (1, value, 5, 5, 0)),
        lambda: draw.draw_mask(image, np.zeros((8, 8), np.float32), strength=value),
    ):
        with pytest.raises(ArgumentError):
            call()
    for thickness in (0, -3, 1 << 20):
        with pytest.raises(ArgumentError):
            draw.draw_circle(image, 1, 1, 1, thickness)
    for radius in (0, -1, 1e9):
        with pytest.raises(ArgumentError):
            draw.draw_circle(image, 1, 1, radius)
    assert not image.any()


def test_masks_of_nothing() -> None:
    image = np.zeros((4, 4), np.uint8)
    draw.draw_mask(image, np.full((4, 4), np.nan, np.float32), 0xFFFFFF)
    draw.draw_mask(image, np.full((4, 4), -np.inf, np.float32), 0xFFFFFF)
    assert not image.any()
    draw.draw_mask(image, np.full((4, 4), np.inf, np.float32), 0xFFFFFF, 1.0)
    assert (image == 255).all()
