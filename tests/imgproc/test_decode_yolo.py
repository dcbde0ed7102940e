"""YOLOv8 and YOLOX heads: planted boxes, a numpy twin, bad specs, bad tensors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from decode_cases import NOT_FINITE, assert_canonical, assert_named, identity, stretched
from foveal.errors import NotFoundError, ShapeError
from foveal.image import Decoder, Detections

V8: dict[str, Any] = {
    "decoder": 1,
    "kind": "yolov8",
    "output": "o",
    "min_score": 0.25,
    "nms": {"k": "hard", "iou": 0.7, "per_class": True},
}
X: dict[str, Any] = {
    "decoder": 1,
    "kind": "yolox",
    "output": "o",
    "min_score": 0.3,
    "nms": {"k": "hard", "iou": 0.45, "per_class": True},
}


def suppress(boxes: np.ndarray, scores: np.ndarray, labels: np.ndarray, iou: float) -> list[int]:
    """Greedy, per class; best first, ties in order."""
    kept: list[int] = []
    for i in sorted(range(len(scores)), key=lambda i: -scores[i]):
        free = True
        for j in kept:
            low = np.maximum(boxes[i, :2], boxes[j, :2])
            high = np.minimum(boxes[i, 2:], boxes[j, 2:])
            common = np.prod(np.maximum(high - low, 0))
            areas = np.prod(boxes[i, 2:] - boxes[i, :2]) + np.prod(boxes[j, 2:] - boxes[j, :2])
            free &= not (labels[i] == labels[j] and common / (areas - common) > iou)
        if free:
            kept.append(i)
    return kept


def from_center(xywh: np.ndarray) -> np.ndarray:
    return np.concatenate([xywh[:, :2] - xywh[:, 2:] / 2, xywh[:, :2] + xywh[:, 2:] / 2], 1)


def check(found: Detections, boxes: Any, scores: Any, labels: Any, atol: float = 1e-3) -> None:
    np.testing.assert_array_equal(found.labels, labels)
    np.testing.assert_allclose(found.scores, scores, atol=1e-6)
    np.testing.assert_allclose(found.boxes, boxes, rtol=1e-5, atol=atol)


def v8_twin(data: np.ndarray, iou: float, least: float) -> tuple[Any, Any, Any]:
    """[4 + classes, n] -> boxes, scores, labels."""
    boxes = from_center(data[:4].T.astype(np.float64))
    scores, labels = data[4:].max(0), data[4:].argmax(0)
    good = np.flatnonzero(scores >= least)
    boxes, scores, labels = boxes[good], scores[good], labels[good]
    kept = suppress(boxes, scores, labels, iou)
    return boxes[kept], scores[kept], labels[kept]


def v8_head(classes: int, n: int, hot: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    data = rng.uniform(0, 0.2, (4 + classes, n)).astype(np.float32)
    data[:2] = rng.uniform(50, 590, (2, n))
    data[2:4] = rng.uniform(20, 300, (2, n))
    at = rng.choice(n, hot, replace=False)
    data[4 + rng.integers(0, min(classes, 3), hot), at] = rng.uniform(0.3, 1, hot)
    return data


def test_v8_planted_boxes() -> None:
    data = np.zeros((1, 84, 8400), np.float32)
    data[0, :4, 17] = [320, 200, 100, 50]
    data[0, :4, 8399] = [100, 100, 40, 80]
    data[0, :4, 4000] = [322, 201, 100, 50]  # the first again, and worse
    data[0, 4 + 79, 17], data[0, 4, 8399], data[0, 4 + 79, 4000] = 0.9, 0.5, 0.8
    found = Decoder({**V8, "classes": 80}).run({"o": data}, stretched(640, 640, (1280, 320)))
    check(found, [[540, 87.5, 740, 112.5], [160, 30, 240, 70]], [0.9, 0.5], [79, 0])
    assert found.points.shape == (2, 0, 2)


@pytest.mark.parametrize(("classes", "n"), [(80, 8400), (1, 5), (3, 1025), (7, 1)])
@pytest.mark.parametrize("layout", ["channels_first", "channels_last"])
def test_v8_against_the_twin(classes: int, n: int, layout: str) -> None:
    data = v8_head(classes, n, min(n, 150), n)
    spec = {**V8, "layout": layout, "clip": False, "max_detections": 1000}
    sent = data if layout == "channels_first" else np.ascontiguousarray(data.T)
    found = Decoder(spec).run({"o": sent[None]}, identity(640, 640))
    check(found, *v8_twin(data, 0.7, 0.25))
    logits = data.copy()
    logits[4:] = np.log(data[4:] / (1 - data[4:] + 1e-7))
    sent = logits if layout == "channels_first" else np.ascontiguousarray(logits.T)
    again = Decoder({**spec, "scores": "sigmoid"}).run({"o": sent[None]}, identity(640, 640))
    check(again, found.boxes, found.scores, found.labels)


@pytest.mark.parametrize("layout", ["channels_first", "channels_last"])
def test_v8_points(layout: str) -> None:
    data = np.zeros((4 + 1 + 3 * 17, 21), np.float32)
    marks = np.random.default_rng(0).uniform(0, 64, (17, 3)).astype(np.float32)
    data[:5, 20] = [30, 30, 20, 20, 0.75]
    data[5:, 20] = marks.ravel()
    sent = data if layout == "channels_first" else np.ascontiguousarray(data.T)
    spec = {**V8, "points": 17, "layout": layout}
    found = Decoder(spec).run({"o": sent}, stretched(64, 64, (128, 64)))
    check(found, [[40, 20, 80, 40]], [0.75], [0])
    np.testing.assert_allclose(found.points[0], marks[:, :2] * [2, 1], rtol=1e-6)


def test_the_first_of_equal_classes_counts() -> None:
    data = np.zeros((4 + 20, 3), np.float32)
    data[:4] = 9
    data[4 + 11 :, 1] = 0.5
    for sent, layout in ((data, "channels_first"), (data.T.copy(), "channels_last")):
        found = Decoder({**V8, "layout": layout}).run({"o": sent}, identity(64, 64))
        assert found.labels.tolist() == [11]


def test_v8_too_many_candidates_leave_the_best() -> None:
    rng = np.random.default_rng(5)
    n = 40000
    data = np.zeros((5, n), np.float32)
    data[0], data[1] = np.arange(n) % 200 * 3 + 10, np.arange(n) // 200 * 3 + 10
    data[2:4] = 2
    data[4] = rng.permutation(n) / n * 0.5 + 0.4
    spec = {**V8, "clip": False, "max_detections": 100000}
    found = Decoder(spec).run({"o": data}, identity(640, 640))
    best = np.argsort(-data[4], kind="stable")[:8192]
    check(found, from_center(data[:4].T)[best], data[4][best], np.zeros(8192))


def x_head(size: tuple[int, int], strides: list[int], classes: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    n = sum(size[0] // s * (size[1] // s) for s in strides)
    data = rng.uniform(0, 1, (n, 5 + classes)).astype(np.float32)
    data[:, 2:4] = rng.uniform(0, 1.5, (n, 2))
    data[:, 4] *= rng.uniform(0, 1, n) > 0.8
    return data


def x_twin(
    data: np.ndarray, size: tuple[int, int], strides: list[int], least: float
) -> tuple[Any, Any, Any]:
    cells = [(x, y, s) for s in strides for y in range(size[1] // s) for x in range(size[0] // s)]
    grid = np.array(cells, np.float64)
    xy = (data[:, :2] + grid[:, :2]) * grid[:, 2:]
    wh = np.exp(data[:, 2:4].astype(np.float64)) * grid[:, 2:]
    boxes = from_center(np.concatenate([xy, wh], 1))
    scores, labels = data[:, 4] * data[:, 5:].max(1), data[:, 5:].argmax(1)
    good = np.flatnonzero(scores >= least)
    boxes, scores, labels = boxes[good], scores[good], labels[good]
    kept = suppress(boxes, scores, labels, 0.45)
    return boxes[kept], scores[kept], labels[kept]


def test_x_planted_box() -> None:
    data = np.zeros((1, 3549, 85), np.float32)  # 416: 52 * 52 + 26 * 26 + 13 * 13
    data[0, 52 * 52 + 3 * 26 + 5, :5] = [0.5, 0.25, math.log(4), math.log(2), 0.9]
    data[0, 52 * 52 + 3 * 26 + 5, 5 + 2] = 0.8
    found = Decoder({**X, "size": [416, 416]}).run({"o": data}, identity(416, 416))
    check(found, [[88 - 32, 52 - 16, 88 + 32, 52 + 16]], [0.72], [2])


@pytest.mark.parametrize(
    ("size", "strides", "classes"),
    [((416, 416), [8, 16, 32], 80), ((96, 64), [8, 16, 32], 1), ((64, 128), [64], 3)],
)
def test_x_against_the_twin(size: tuple[int, int], strides: list[int], classes: int) -> None:
    data = x_head(size, strides, classes, 3)
    spec = {**X, "strides": strides, "clip": False, "max_detections": 10000}
    found = Decoder(spec).run({"o": data[None]}, identity(*size))
    check(found, *x_twin(data, size, strides, 0.3), atol=2e-3)
    logits = data.copy()
    logits[:, 4:] = np.log((data[:, 4:] + 1e-9) / (1 - data[:, 4:] + 1e-9))
    again = Decoder({**spec, "scores": "sigmoid"}).run({"o": logits}, identity(*size))
    check(again, *x_twin(data, size, strides, 0.3), atol=2e-3)


@pytest.mark.parametrize("value", NOT_FINITE)
def test_numbers_that_are_NOT_FINITE_are_never_reported(value: float) -> None:
    t = identity(64, 64)
    for channel in range(4):
        v8 = np.full((6, 84), 0.9, np.float32)
        v8[channel] = value
        x = np.full((84, 7), 0.9, np.float32)
        x[:, channel] = value
        assert len(Decoder({**V8, "clip": False}).run({"o": v8}, t)) == 0
        found = Decoder({**X, "clip": False}).run({"o": x}, t)
        if channel > 1 and value == -np.inf:  # exp: a box without size, which is finite
            assert np.isfinite(found.boxes).all()
        else:
            assert len(found) == 0
    v8, x = np.full((6, 84), 9, np.float32), np.full((84, 7), 1, np.float32)
    v8[4:] = value
    x[:, 4:] = value
    assert len(Decoder(V8).run({"o": v8}, t)) == 0
    assert len(Decoder(X).run({"o": x}, t)) == 0
    for spec, data in ((V8, v8), (X, x)):
        found = Decoder({**spec, "scores": "sigmoid", "min_score": 0}).run({"o": data}, t)
        assert np.isfinite(found.scores).all() and (found.scores <= 1).all()
    marks = np.full((4 + 1 + 6, 84), 9, np.float32)
    marks[4] = 0.9
    marks[8] = value
    assert len(Decoder({**V8, "points": 2}).run({"o": marks}, t)) == 0


@pytest.mark.parametrize(
    ("spec", "shape", "text"),
    [
        (V8, (4, 100), "4 channels"),
        (V8, (2, 84, 100), "'o'"),
        (V8, (84,), "'o'"),
        (V8, (84, 0), "'o'"),
        ({**V8, "classes": 80}, (85, 100), "[84, ?]"),
        ({**V8, "points": 17}, (55, 100), "55 channels"),
        ({**V8, "layout": "channels_last"}, (100, 4), "4 channels"),
        (X, (84, 5), "5 channels"),
        (X, (83, 85), "84"),
        (X, (85, 84), "84"),
        ({**X, "strides": [48]}, (84, 7), "a multiple of 48"),
        ({**X, "size": [64, 32]}, (84, 7), "64x32"),
    ],
)
def test_outputs_that_do_not_fit(spec: dict[str, Any], shape: tuple[int, ...], text: str) -> None:
    with pytest.raises(ShapeError) as caught:
        Decoder(spec).run({"o": np.zeros(shape, np.float32)}, identity(64, 64))
    assert text in str(caught.value)
    with pytest.raises(NotFoundError, match="'o' is missing"):
        Decoder({**spec, "strides": [8]} if spec is X else V8).run({}, identity(64, 64))


@pytest.mark.parametrize("spec", [V8, X])
@pytest.mark.parametrize(
    ("text", "change"),
    [
        ('"output" is missing', {"output": None}),
        ('"output"', {"output": ""}),
        ('"output"', {"output": 3}),
        ('"scores"', {"scores": "softmax"}),
        ('"min_score"', {"min_score": -0.1}),
        ('"max_detections"', {"max_detections": 2.5}),
        ('nms: key "k"', {"nms": {"k": "soft"}}),
        ('unknown key "anchors"', {"anchors": []}),
    ],
)
def test_every_wrong_common_key_is_named(
    spec: dict[str, Any], text: str, change: dict[str, Any]
) -> None:
    assert_named(spec, change, text)


@pytest.mark.parametrize(
    ("spec", "text", "change"),
    [
        (V8, '"classes"', {"classes": -1}),
        (V8, '"classes"', {"classes": 1e9}),
        (V8, '"points"', {"points": 33}),
        (V8, '"layout"', {"layout": "nchw"}),
        (V8, 'unknown key "strides"', {"strides": [8]}),
        (X, '"strides"', {"strides": []}),
        (X, '"strides"', {"strides": [0]}),
        (X, '"strides"', {"strides": [8.5]}),
        (X, '"strides"', {"strides": [8] * 33}),
        (X, '"strides"', {"strides": [1e12]}),
        (X, '"size"', {"size": [416]}),
        (X, '"size"', {"size": [416, 0]}),
        (X, 'unknown key "layout"', {"layout": "channels_last"}),
    ],
)
def test_every_wrong_key_is_named(spec: dict[str, Any], text: str, change: dict[str, Any]) -> None:
    assert_named(spec, change, text)


@pytest.mark.parametrize(
    "spec",
    [
        V8,
        {**V8, "classes": 80, "points": 17, "layout": "channels_last", "scores": "sigmoid"},
        X,
        {**X, "size": [416, 320], "strides": [8, 16], "scores": "sigmoid"},
    ],
)
def test_canonical_text(spec: dict[str, Any]) -> None:
    found = assert_canonical(spec)
    assert Decoder(spec).gives == "detections"
    assert found["max_detections"] == 100 and found["clip"] is True
