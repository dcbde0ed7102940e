"""Drawing: exact pixels, every format, never outside the image."""

from __future__ import annotations

import numpy as np
import pytest
from foveal import image
from foveal.errors import ArgumentError
from foveal.image import Detection

ORDERS = ["RGB", "BGR", "RGBA", "BGRA", "GRAY"]


def blank(order: str, height: int = 20, width: int = 30) -> np.ndarray:
    return np.zeros((height, width) if order == "GRAY" else (height, width, len(order)), np.uint8)


def as_rgb(canvas: np.ndarray, order: str) -> np.ndarray:
    if order == "GRAY":
        return np.repeat(canvas[..., None], 3, -1)
    return canvas[..., [order.index(c) for c in "RGB"]]


@pytest.mark.parametrize("order", ORDERS)
def test_fill_and_box(order: str) -> None:
    canvas = blank(order)
    image.fill_box(canvas, (3, 4, 10, 9), 0x102030, order)
    want = np.zeros((20, 30, 3), np.uint8)
    want[4:9, 3:10] = (0x10, 0x20, 0x30) if order != "GRAY" else round(4.784 + 18.784 + 5.472)
    np.testing.assert_array_equal(as_rgb(canvas, order), want)
    if order.endswith("A"):
        assert not canvas[..., 3].any()  # alpha is left alone
    canvas[:] = 0
    image.draw_box(canvas, (5, 5, 15, 12), 2, 0xFFFFFF, order)
    want = np.zeros((20, 30), bool)
    want[4:13, 4:16] = True
    want[6:11, 6:14] = False
    np.testing.assert_array_equal(as_rgb(canvas, order)[..., 0] == 255, want)


def test_thin_and_degenerate_boxes() -> None:
    canvas = blank("GRAY")
    image.draw_box(canvas, (5, 5, 15, 12), 1, 0xFFFFFF)
    want = np.zeros((20, 30), bool)
    want[4:13, 4:16] = True
    want[5:12, 5:15] = False
    np.testing.assert_array_equal(canvas == 255, want)
    for box in [(5, 5, 5, 5), (9, 9, 4, 4), (5, 5, 6, 5), (1, 1, 2, 2)]:
        for thickness in (1, 2, 3, 10):
            canvas = blank("GRAY")
            image.draw_box(canvas, box, thickness, 0xFFFFFF)
            assert canvas.any()


def test_points_and_lines() -> None:
    canvas = blank("GRAY", 41, 41)
    image.draw_point(canvas, 20.5, 20.5, 10, 0xFFFFFF)
    y, x = np.mgrid[:41, :41]
    distance = np.hypot(x - 20, y - 20)
    want = np.rint(255 * np.clip(10.5 - distance, 0, 1))
    np.testing.assert_allclose(canvas, want, atol=1)
    canvas[:] = 0
    image.draw_line(canvas, (5.5, 10.5, 30.5, 10.5), 1, 0xFFFFFF)
    assert (canvas[10, 6:30] == 255).all() and not canvas[12:].any() and not canvas[:9].any()


def test_text() -> None:
    canvas = blank("GRAY", 12, 8)
    image.draw_text(canvas, 1, 1, "L", 1, 0xFFFFFF)
    want = np.zeros((12, 8), bool)
    want[1:8, 1] = True
    want[7, 1:6] = True
    np.testing.assert_array_equal(canvas == 255, want)
    twice = blank("GRAY", 24, 16)
    image.draw_text(twice, 2, 2, "L", 2, 0xFFFFFF)
    np.testing.assert_array_equal(twice, canvas.repeat(2, 0).repeat(2, 1))
    glyphs = set()
    for code in range(33, 127):
        canvas = blank("GRAY", 10, 6)
        image.draw_text(canvas, 0, 0, chr(code), 1, 0xFFFFFF)
        assert canvas.any() and not canvas[:, 5].any() and not canvas[9].any()
        glyphs.add(canvas.tobytes())
    assert len(glyphs) == 94
    two, query = blank("GRAY", 10, 30), blank("GRAY", 10, 30)
    image.draw_text(two, 0, 0, "é\u20ac\nx", 1, 0xFFFFFF)
    image.draw_text(query, 0, 0, "???x", 1, 0xFFFFFF)
    np.testing.assert_array_equal(two, query)


@pytest.mark.parametrize("order", ORDERS)
def test_nothing_outside_is_touched(order: str) -> None:
    rng = np.random.default_rng(0)
    whole = np.full((60, 90, 4), 7, np.uint8)[..., : 1 if order == "GRAY" else len(order)]
    whole = np.ascontiguousarray(whole[..., 0] if order == "GRAY" else whole)
    canvas = whole[20:40, 30:60]
    far = [-1e300, -1e7, -50, -1, 0, 0.49, 5, 19.5, 29.9, 30, 31, 80, 1e7, 1e300]
    for _ in range(400):
        box = rng.choice(far, 4)
        image.fill_box(canvas, box, 0xFF00FF, order)
        image.draw_box(canvas, box, int(rng.integers(1, 40)), 0xFF00FF, order)
    for _ in range(60):
        x, y = rng.choice(far, 2)
        image.draw_point(canvas, x, y, float(rng.choice([0.1, 3, 500])), 0xFF00FF, order)
        image.draw_line(canvas, rng.choice(far, 4), int(rng.integers(1, 9)), 0xFF00FF, order)
        image.draw_text(canvas, x, y, "Wg|", int(rng.integers(1, 30)), 0xFF00FF, order)
        image.draw_label(canvas, rng.choice(far[1:-1], 4), "label", 3, order=order)
    whole[20:40, 30:60] = 7
    assert (whole == 7).all()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_numbers_that_are_not_finite(value: float) -> None:
    canvas = blank("RGB")
    with pytest.raises(ArgumentError):
        image.draw_box(canvas, (0, 0, value, 1))
    with pytest.raises(ArgumentError):
        image.draw_point(canvas, value, 0)


def test_images_that_cannot_be_drawn_on() -> None:
    for bad in (
        np.zeros((4, 4, 3), np.float32),
        np.zeros((4, 4, 2), np.uint8),
        np.zeros((4,), np.uint8),
        np.zeros((4, 0, 3), np.uint8),
        np.zeros((4, 8, 3), np.uint8)[:, ::2],
        np.zeros((4, 4, 3), np.uint8)[::-1],
        "image",
    ):
        with pytest.raises(ValueError):
            image.fill_box(bad, (0, 0, 1, 1))  # type: ignore[arg-type]
    canvas = blank("RGB")
    for call in (
        lambda: image.draw_box(canvas, (0, 0, 1, 1), 0),
        lambda: image.draw_text(canvas, 0, 0, "x", 0),
        lambda: image.draw_point(canvas, 0, 0, 0),
        lambda: image.draw_box(canvas, (0, 0, 1, 1), 1, 0, "HSV"),
        lambda: image.draw_box(canvas, (0, 0, 1, 1), 1, 0, "RGBA"),
        lambda: image.draw_box(canvas, (0, 0, 1), 1),
    ):
        with pytest.raises(ArgumentError):
            call()


def test_draw_shows_the_best_on_top() -> None:
    canvas = np.zeros((200, 300, 3), np.uint8)
    points = np.zeros((0, 2), np.float32)  # their soft edges would mix with what lies below
    found = [
        Detection(1, 0.9, np.array([40, 40, 120, 120], np.float32), points),
        Detection(0, 0.5, np.array([40, 40, 120, 120], np.float32), points),
    ]
    image.draw(canvas, found, ["cat", "dog"])
    both = canvas.copy()
    image.draw(canvas, found[:1], ["cat", "dog"])
    np.testing.assert_array_equal(canvas, both)
    assert canvas[80, 38:42].any() and canvas[28:36, 44].any()  # the box's edge; its label above
    assert not canvas[80, 44:116].any() and not canvas[:, :36].any()


CANVAS = blank("RGB")
WRONG = [
    lambda v: image.draw_box(CANVAS, v),
    lambda v: image.draw_box(CANVAS, (0, 0, v, 1)),
    lambda v: image.draw_box(CANVAS, (0, 0, 1, 1), v),
    lambda v: image.draw_box(CANVAS, (0, 0, 1, 1), 1, v),
    lambda v: image.fill_box(CANVAS, v),
    lambda v: image.fill_box(CANVAS, (0, 0, 1, 1), v),
    lambda v: image.draw_line(CANVAS, v),
    lambda v: image.draw_point(CANVAS, v, 1),
    lambda v: image.draw_point(CANVAS, 1, 1, v),
    lambda v: image.draw_text(CANVAS, v, 1, "x"),
    lambda v: image.draw_text(CANVAS, 1, v, "x"),
    lambda v: image.draw_text(CANVAS, 1, 1, "x", v),
    lambda v: image.draw_text(CANVAS, 1, 1, "x", 1, v),
    lambda v: image.draw_text(CANVAS, 1, 1, "x", order=v or "none"),
    lambda v: image.draw_label(CANVAS, v, "x"),
    lambda v: image.draw_label(CANVAS, (0, 0, 1, 1), "x", v),
    lambda v: image.draw(CANVAS, v),
    lambda v: image.draw(CANVAS, [v]),
    lambda v: image.draw(v, []),
    lambda v: image.draw_label(v, (0, 0, 1, 1), "x"),
]


@pytest.mark.parametrize("call", range(len(WRONG)))
@pytest.mark.parametrize(
    "value", ["abc", None, object(), float("nan"), float("inf"), -(10**400), (1, "x")]
)
def test_arguments_of_another_type(call: int, value: object) -> None:
    with pytest.raises(ArgumentError):
        WRONG[call](value)
    assert not CANVAS.any()


def test_texts_of_any_characters() -> None:
    canvas, want = blank("RGB"), blank("RGB")
    image.draw_text(canvas, 0, 0, "\udcff\N{SNOWMAN}a\N{PILE OF POO}")
    image.draw_text(want, 0, 0, "??a?")
    np.testing.assert_array_equal(canvas, want)
    for text in (None, 5, b"x"):
        with pytest.raises(ArgumentError, match="text"):
            image.draw_text(canvas, 0, 0, text)  # type: ignore[arg-type]
        with pytest.raises(ArgumentError, match="text"):
            image.draw_label(canvas, (0, 0, 1, 1), text)  # type: ignore[arg-type]
