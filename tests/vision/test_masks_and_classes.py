"""Segmenter and Classifier with fakes in the place of their models, and drawing what they give."""

import json
import tracemalloc

import foveal as fv
import numpy as np
import pytest
from foveal import draw
from foveal.errors import ArgumentError
from foveal.vision import Classifier, Segmenter, base

PICTURE = np.full((40, 60, 3), 100, np.uint8)


class FakeStage:
    name = "fake"

    def __init__(self, model, *_, **__):
        self.model, self.labels = model, ["cat", "dog"]

    def label(self, index):
        return self.labels[index]

    def decode(self, frame, roi, timings):
        return self.result


@pytest.fixture
def made(monkeypatch):
    monkeypatch.setattr(base, "Stage", FakeStage)

    def make(kind, gives, result):
        FakeStage.gives, FakeStage.result = gives, result
        return kind(fv.load("face"))

    return make


def test_classes(made):
    zeros = np.zeros((2, 4), np.float32)
    scores = np.array([0.7, 0.2], np.float32)
    found = fv.image.Detections(np.array([1, 0], np.int32), scores, zeros, np.zeros((2, 0, 2)))
    task = made(Classifier, "classes", found)
    best, second = task.classify(PICTURE)
    assert (best.label, second.label) == ("dog", "cat") and best.score == pytest.approx(0.7)
    assert task.plain([best]) == [{"label": "dog", "score": 0.7}] and str(best) == "dog 0.70"
    drawn = np.asarray(task.draw(PICTURE))
    assert np.any(drawn[:20] != 100)
    with pytest.raises(ArgumentError, match="draw"):
        task.draw(PICTURE, [1])


def decoded(rle):
    """COCO's uncompressed run lengths -> bool [h, w]."""
    values = np.concatenate([np.full(n, i % 2) for i, n in enumerate(rle["counts"])])
    return values.reshape(rle["size"], order="F").astype(bool)


def test_mask(made):
    rng = np.random.default_rng(0)
    for values in (
        rng.random((40, 60)).astype(np.float32),
        np.zeros((40, 60), np.float32),
        np.ones((40, 60), np.float32),
        np.pad(np.ones((10, 20), np.float32), ((5, 25), (8, 32))),
    ):
        task = made(Segmenter, "mask", values)
        mask = task.segment(PICTURE)
        assert mask.values is values and mask.coverage == pytest.approx(values.mean(), abs=1e-6)
        plain = task.plain(mask)
        assert json.loads(json.dumps(plain)) == plain
        np.testing.assert_array_equal(decoded(plain["rle"]), values >= 0.5)
    assert plain["box"] == [8, 5, 28, 15] and str(mask) == "mask 60x40, 8% of it"
    drawn = np.asarray(task.draw(PICTURE)).astype(int)
    np.testing.assert_array_equal(drawn[values == 0], 100)
    color = np.array([draw.COLORS[0] >> s & 255 for s in (16, 8, 0)])
    assert np.abs(drawn[values == 1] - (100 + color) / 2).max() <= 1
    for bad in (3, np.zeros(3), [1]):
        with pytest.raises(ArgumentError, match="draw"):
            task.draw(PICTURE, bad)


@pytest.mark.parametrize(
    ("order", "channels"), [("RGB", 3), ("BGR", 3), ("RGBA", 4), ("BGRA", 4), ("GRAY", 1)]
)
def test_mask_in_every_order(order, channels):
    """Each tinted channel against the same in RGB; alpha stays."""
    rng = np.random.default_rng(1)
    image = rng.integers(0, 256, (300, 30, channels), np.uint8)
    mask = rng.random((300, 30)).astype(np.float32)
    before, red, green, blue = image.copy(), 250, 20, 130
    draw.draw_mask(image, mask, color=red << 16 | green << 8 | blue, strength=0.8, order=order)
    if order == "GRAY":
        want = {0: round(0.299 * red + 0.587 * green + 0.114 * blue)}
    else:
        want = {order.index(n): v for n, v in (("R", red), ("G", green), ("B", blue))}
    for channel, color in want.items():
        old = before[..., channel].astype(float)
        expected = old + (color - old) * mask * 0.8
        assert np.abs(image[..., channel] - expected).max() <= 0.51
    if channels == 4:
        np.testing.assert_array_equal(image[..., 3], before[..., 3])


def test_masks_of_large_pictures_take_little_memory():
    image, mask = np.zeros((2000, 2000, 3), np.uint8), np.ones((2000, 2000), np.float32)
    tracemalloc.start()
    try:
        draw.draw_mask(image, mask)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert image.any() and peak < mask.nbytes / 2


def test_masks_that_cannot_be_drawn():
    image = np.zeros((4, 4, 3), np.uint8)
    draw.draw_mask(image, np.full((4, 4), np.nan, np.float32))
    assert not image.any()
    for mask in (np.zeros((3, 4), np.float32), np.zeros((4, 4), np.uint8), [[0.0]]):
        with pytest.raises(ArgumentError, match="mask"):
            draw.draw_mask(image, mask)


def test_lines_and_quads():
    image, twin = np.zeros((60, 60, 3), np.uint8), np.zeros((60, 60, 3), np.uint8)
    corners = [(10, 10), (50, 15), (45, 50), (12, 40)]
    draw.draw_quad(image, corners, 2, 0xFF0000)
    for i in range(4):
        draw.draw_line(twin, (*corners[i], *corners[(i + 1) % 4]), 2, 0xFF0000)
    np.testing.assert_array_equal(image, twin)
    image[:], twin[:] = 0, 0
    draw.draw_polyline(image, np.array(corners), 3)
    for i in range(3):
        draw.draw_line(twin, (*corners[i], *corners[i + 1]), 3)
    np.testing.assert_array_equal(image, twin)
    draw.draw_polyline(image, np.zeros((0, 2)))
    draw.draw_polyline(image, [(1, 1)], closed=True)
    for bad in ([1, 2], [(1, 2, 3)], "abc", [("a", "b")]):
        with pytest.raises(ArgumentError, match="points"):
            draw.draw_polyline(image, bad)
    with pytest.raises(ArgumentError, match="four corners"):
        draw.draw_quad(image, corners[:3])


@pytest.mark.parametrize(
    "text", ["Größe", "é" * 50, "文字", "a\u0301", "\u202e", "\U0001f600", "\ud800", "é\nü\0"]
)
def test_text_that_the_built_in_font_lacks(text):
    """It is clipped to the image, leaves no question marks, and fills its bar."""
    for at in ((5, 20, 30, 30), (-50, -50, 0, 0), (70, 55, 90, 90)):
        canvas = np.zeros((60, 80, 3), np.uint8)
        draw.draw_label(canvas, at, text, 1, 0xFF0000, 0x00FF00)
        assert canvas[..., 0].any() and not canvas[..., 2].any()
    marks = np.zeros((60, 80, 3), np.uint8)
    draw.draw_label(marks, (5, 20, 30, 30), "?" * len(text), 1, 0xFF0000, 0x00FF00)
    canvas[:] = 0
    draw.draw_label(canvas, (5, 20, 30, 30), text, 1, 0xFF0000, 0x00FF00)
    assert np.any(canvas != marks)
