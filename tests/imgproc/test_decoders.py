"""Decoders against direct numpy definitions; bad outputs and bad numbers."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from foveal.errors import NotFoundError, ShapeError, SpecError
from foveal.frame import Frame
from foveal.image import Decoder, Letterbox, Pipeline, Transform

FACE: dict[str, Any] = {
    "decoder": 1,
    "kind": "ssd",
    "boxes": "b",
    "scores": "s",
    "anchors": {
        "size": [128, 128],
        "strides": [8, 16, 16, 16],
        "min_scale": 0.1484375,
        "max_scale": 0.75,
        "fixed_anchor_size": True,
    },
    "coding": "mediapipe",
    "points": 6,
    "min_score": 0.5,
    "nms": {"k": "weighted", "iou": 0.3, "per_class": False},
}
OBJECTS: dict[str, Any] = {
    "decoder": 1,
    "kind": "ssd",
    "boxes": "b",
    "scores": "s",
    "anchors": {
        "size": [300, 300],
        "strides": [16, 32, 64, 128, 256, 512],
        "min_scale": 0.2,
        "max_scale": 0.95,
        "aspect_ratios": [1.0, 2.0, 0.5, 3.0, 0.3333],
        "reduce_boxes_in_lowest_layer": True,
    },
    "coding": "tf",
    "clip_logit": 0,
    "background": 0,
    "min_score": 0.4,
    "nms": {"k": "hard", "iou": 0.5, "per_class": True},
}
CENTER: dict[str, Any] = {
    "decoder": 1,
    "kind": "centerface",
    "heatmap": "h",
    "scale": "s",
    "offset": "o",
    "landmarks": "l",
    "min_score": 0.5,
    "nms": {"k": "hard", "iou": 0.3, "per_class": False},
}


def anchors(spec: dict[str, Any]) -> np.ndarray:
    """[n, 4] centre x, y, width, height in 0..1: layers of one stride share a grid."""
    a = {
        "aspect_ratios": [1.0],
        "interpolated_scale_aspect_ratio": 1.0,
        "fixed_anchor_size": False,
        "reduce_boxes_in_lowest_layer": False,
        **spec["anchors"],
    }
    strides = a["strides"]
    n = len(strides)
    lo, hi = a["min_scale"], a["max_scale"]
    scales = [(lo + hi) / 2] if n == 1 else [lo + (hi - lo) * i / (n - 1) for i in range(n)]
    scales.append(1.0)
    out = []
    for stride in dict.fromkeys(strides):
        shapes = []
        for i in (i for i, s in enumerate(strides) if s == stride):
            if i == 0 and a["reduce_boxes_in_lowest_layer"]:
                shapes += [(0.1, 1.0), (scales[0], 2.0), (scales[0], 0.5)]
                continue
            shapes += [(scales[i], r) for r in a["aspect_ratios"]]
            if a["interpolated_scale_aspect_ratio"] > 0:
                between = math.sqrt(scales[i] * scales[i + 1])
                shapes.append((between, a["interpolated_scale_aspect_ratio"]))
        w, h = (math.ceil(s / stride) for s in a["size"])
        for y in range(h):
            for x in range(w):
                for scale, ratio in shapes:
                    size = (scale * ratio**0.5, scale / ratio**0.5)
                    if a["fixed_anchor_size"]:
                        size = (1, 1)
                    out.append([(x + 0.5) / w, (y + 0.5) / h, *size])
    return np.array(out)


def identity(size: int) -> Transform:
    return Pipeline(size=(size, size)).compile()(
        Frame.from_numpy(np.zeros((size, size), np.uint8))
    )[1]


def logit(p: float) -> float:
    return math.log(p / (1 - p))


def test_anchor_counts() -> None:
    assert anchors(FACE).shape == (896, 4)
    assert anchors(OBJECTS).shape == (1917, 4)
    for count, spec in ((896, FACE), (1917, OBJECTS)):
        with pytest.raises(ShapeError, match=f"{count}"):
            Decoder(spec).run({"b": np.zeros((1, 5, 4), np.float32)}, identity(128))


@pytest.mark.parametrize("index", [0, 1, 511, 512, 513, 700, 895])
def test_mediapipe_coding(index: int) -> None:
    boxes = np.random.default_rng(index).normal(0, 30, (1, 896, 16)).astype(np.float32)
    scores = np.full((1, 896, 1), -20, np.float32)
    scores[0, index] = logit(0.75)
    found = Decoder({**FACE, "clip": False}).run({"b": boxes, "s": scores}, identity(128))
    x, y, w, h = anchors(FACE)[index]
    v = boxes[0, index].astype(np.float64) / 128
    cx, cy, bw, bh = v[0] * w + x, v[1] * h + y, v[2] * w, v[3] * h
    want = np.array([cx - bw / 2, cy - bh / 2, cx + bw / 2, cy + bh / 2]) * 128
    box = [
        min(want[0], want[2]),
        min(want[1], want[3]),
        max(want[0], want[2]),
        max(want[1], want[3]),
    ]
    np.testing.assert_allclose(found.boxes[0], box, rtol=0, atol=1e-3)
    points = (v[4:].reshape(6, 2) * [w, h] + [x, y]) * 128
    np.testing.assert_allclose(found.points[0], points, rtol=0, atol=1e-3)
    np.testing.assert_allclose(found.scores, [0.75], atol=1e-6)
    assert found[0].label == 0 and len(found) == 1


@pytest.mark.parametrize("index", [0, 1, 2, 1082, 1083, 1088, 1500, 1911, 1916])
def test_tf_coding(index: int) -> None:
    boxes = np.random.default_rng(index).normal(0, 2, (1, 1917, 4)).astype(np.float32)
    scores = np.full((1, 1917, 24), -20, np.float32)
    scores[0, :, 0] = 20  # background is never reported
    scores[0, index, 7] = logit(0.6)
    found = Decoder({**OBJECTS, "clip": False}).run({"b": boxes, "s": scores}, identity(300))
    x, y, w, h = anchors(OBJECTS)[index]
    ty, tx, th, tw = boxes[0, index].astype(np.float64) / [10, 10, 5, 5]
    cx, cy, bw, bh = tx * w + x, ty * h + y, math.exp(tw) * w, math.exp(th) * h
    want = np.array([cx - bw / 2, cy - bh / 2, cx + bw / 2, cy + bh / 2]) * 300
    np.testing.assert_allclose(found.boxes, [want], rtol=1e-5, atol=1e-3)
    assert found.labels.tolist() == [7]
    np.testing.assert_allclose(found.scores, [0.6], atol=1e-6)
    assert found.points.shape == (1, 0, 2)


def test_boxes_come_back_through_the_letterbox_and_the_rotation() -> None:
    frame = Frame.from_numpy(np.zeros((300, 500), np.uint8), rotation=90)  # upright 300 x 500
    spec = Pipeline(size=(128, 128), fit=Letterbox(policy="mediapipe"))
    _, t = spec.compile()(frame)
    boxes = np.zeros((896, 16), np.float32)
    scores = np.full((896, 1), -20, np.float32)
    index = 8 * 16 * 2 + 8 * 2  # cell (8, 8) of 16 x 16: centre at 8.5/16
    boxes[index, :4] = [0, 0, 32, 64]
    scores[index] = 3
    found = Decoder(FACE).run({"b": boxes, "s": scores}, t)
    per_pixel = 500 / 128
    cx, cy = 150 + (68 - 64) * per_pixel, 68 * per_pixel
    want = [cx - 16 * per_pixel, cy - 32 * per_pixel, cx + 16 * per_pixel, cy + 32 * per_pixel]
    np.testing.assert_allclose(found.boxes[0], want, atol=1e-3)


def test_clip_cuts_at_the_frame() -> None:
    boxes = np.zeros((896, 16), np.float32)
    boxes[0, :4] = [0, 0, 60, 60]
    boxes[895, :4] = [300, 300, 20, 20]  # nothing of it inside
    scores = np.full((896, 1), -20, np.float32)
    scores[[0, 895]] = 3
    t = identity(128)
    assert Decoder(FACE).run({"b": boxes, "s": scores}, t).boxes.tolist() == [[0, 0, 34, 34]]
    raw = Decoder({**FACE, "clip": False}).run({"b": boxes, "s": scores}, t).boxes
    assert [-26, -26, 34, 34] in raw.tolist() and len(raw) == 2


def test_centerface() -> None:
    rng = np.random.default_rng(0)
    heat = np.full((1, 1, 16, 24), 0.01, np.float32)
    heat[0, 0, 5, 9], heat[0, 0, 14, 2] = 0.9, 0.7
    scale = rng.normal(1, 0.3, (1, 2, 16, 24)).astype(np.float32)
    offset = rng.uniform(0, 1, (1, 2, 16, 24)).astype(np.float32)
    marks = rng.uniform(0, 1, (1, 10, 16, 24)).astype(np.float32)
    plan = Pipeline(size=(96, 64)).compile()
    _, t = plan(Frame.from_numpy(np.zeros((64, 96), np.uint8)))
    found = Decoder(CENTER).run({"h": heat, "s": scale, "o": offset, "l": marks}, t)
    np.testing.assert_allclose(found.scores, [0.9, 0.7], atol=1e-7)
    for i, (y, x) in enumerate([(5, 9), (14, 2)]):
        h, w = np.exp(scale[0, :, y, x].astype(np.float64)) * 4
        x0 = np.clip((x + offset[0, 1, y, x] + 0.5) * 4 - w / 2, 0, 96)
        y0 = np.clip((y + offset[0, 0, y, x] + 0.5) * 4 - h / 2, 0, 64)
        want = [x0, y0, min(x0 + w, 96), min(y0 + h, 64)]
        np.testing.assert_allclose(found.boxes[i], want, atol=1e-4)
        lm = marks[0, :, y, x].reshape(5, 2)
        np.testing.assert_allclose(
            found.points[i], np.stack([lm[:, 1] * w + x0, lm[:, 0] * h + y0], -1), atol=1e-4
        )
    bare = {k: v for k, v in CENTER.items() if k != "landmarks"}
    assert Decoder(bare).run({"h": heat, "s": scale, "o": offset}, t).points.shape == (2, 0, 2)


def iou(a: np.ndarray, b: np.ndarray) -> float:
    w = min(a[2], b[2]) - max(a[0], b[0])
    h = min(a[3], b[3]) - max(a[1], b[1])
    if w <= 0 or h <= 0:
        return 0.0
    both = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1])
    return w * h / (both - w * h)


@pytest.mark.parametrize("kind", ["hard", "weighted", "none"])
@pytest.mark.parametrize("per_class", [False, True])
def test_nms(kind: str, per_class: bool) -> None:
    rng = np.random.default_rng(11)
    n, classes = 1917, 24
    boxes = np.zeros((n, 4), np.float32)
    boxes[:] = rng.normal(0, 1, (n, 4))
    scores = np.full((n, classes), -20, np.float32)
    hot = rng.choice(n, 60, replace=False)
    scores[hot, rng.integers(1, 3, 60)] = rng.uniform(0, 4, 60)
    nms: dict[str, Any] = {"k": kind}
    if kind != "none":
        nms |= {"iou": 0.4, "per_class": per_class}
    spec = {**OBJECTS, "clip": False, "max_detections": 1000, "min_score": 0.5}
    every = Decoder({**spec, "nms": {"k": "none"}}).run({"b": boxes, "s": scores}, identity(300))
    assert len(every) == 60 and (np.diff(every.scores) <= 0).all()
    found = Decoder({**spec, "nms": nms}).run({"b": boxes, "s": scores}, identity(300))

    left = list(range(60)) if kind != "none" else []
    want = [] if kind != "none" else list(every.boxes)
    while left:
        best = left[0]
        group = [
            i
            for i in left
            if i == best
            or (
                iou(every.boxes[best], every.boxes[i]) > 0.4
                and (not per_class or every.labels[i] == every.labels[best])
            )
        ]
        left = [i for i in left if i not in group]
        weights = every.scores[group].astype(np.float64)
        blend = (every.boxes[group] * weights[:, None]).sum(0) / weights.sum()
        want.append(every.boxes[best] if kind == "hard" else blend)
    np.testing.assert_allclose(found.boxes, want, rtol=1e-5, atol=1e-3)
    top = Decoder({**spec, "nms": nms, "max_detections": 3}).run(
        {"b": boxes, "s": scores}, identity(300)
    )
    np.testing.assert_array_equal(top.boxes, found.boxes[:3])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_are_never_reported(value: float) -> None:
    t = identity(128)
    boxes, scores = np.full((896, 16), value, np.float32), np.full((896, 1), 5, np.float32)
    assert len(Decoder(FACE).run({"b": boxes, "s": scores}, t)) == 0
    scores[:] = value
    found = Decoder(FACE).run({"b": np.ones((896, 16), np.float32), "s": scores}, t)
    assert np.isfinite(found.scores).all() and (found.scores <= 1).all()
    if np.isnan(value):
        assert len(found) == 0
    maps = {
        k: np.full((1, c, 32, 32), value, np.float32)
        for k, c in zip("hsol", (1, 2, 2, 10), strict=True)
    }
    assert len(Decoder(CENTER).run(maps, t)) == 0
    huge = np.zeros((1917, 4), np.float32)
    huge[:] = 1e4  # exp overflows
    logits = np.full((1917, 24), 9, np.float32)
    assert len(Decoder(OBJECTS).run({"b": huge, "s": logits}, identity(300))) == 0


def test_outputs_that_do_not_fit() -> None:
    t = identity(128)
    good = {"b": np.zeros((1, 896, 16), np.float32), "s": np.full((1, 896, 1), -9, np.float32)}
    assert len(Decoder(FACE).run(good, t)) == 0
    with pytest.raises(NotFoundError, match="'s' is missing, got: b"):
        Decoder(FACE).run({"b": good["b"]}, t)
    for bad in (
        np.zeros((1, 896, 15), np.float32),
        np.zeros((2, 896, 16), np.float32),
        np.zeros((896 * 16,), np.float32),
        np.zeros((1, 895, 16), np.float32),
        np.zeros((1, 896, 16), np.float64),
        np.zeros((1, 896, 16), np.complex64),
    ):
        with pytest.raises(ShapeError, match="'b'"):
            Decoder(FACE).run({**good, "b": bad}, t)
    with pytest.raises(ShapeError, match="'h'"):
        Decoder(CENTER).run({"h": np.zeros((1, 1, 8, 8), np.float32)}, t)


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ('unknown key "labels"', {"labels": []}),
        ('"kind"', {"kind": "yolo"}),
        ('"decoder"', {"decoder": 2}),
        ('"min_score"', {"min_score": 1.5}),
        ('"max_detections"', {"max_detections": 0}),
        ('"clip"', {"clip": 1}),
        ('nms: key "k"', {"nms": {"k": "soft"}}),
        ('nms: key "iou"', {"nms": {"k": "hard", "iou": 2}}),
        ('nms: unknown key "iou"', {"nms": {"k": "none", "iou": 0.5}}),
        ('"boxes"', {"boxes": 1}),
        ('"coding"', {"coding": "yolo"}),
        ('"scale"', {"scale": [1, 2, 3]}),
        ('"scale"', {"scale": [1, 2, 3, 0]}),
        ('"points"', {"points": 99}),
        ('"points"', {"points": 6, "coding": "tf"}),
        ('"activation"', {"activation": "softmax"}),
        ('anchors: key "strides"', {"anchors": {"size": [8, 8], "strides": []}}),
        ('anchors: key "strides"', {"anchors": {"size": [8, 8], "strides": [0]}}),
        ('anchors: key "size"', {"anchors": {"size": [0, 8], "strides": [1]}}),
        ('"strides" is missing', {"anchors": {"size": [8, 8]}}),
        ("more than", {"anchors": {"size": [16384, 16384], "strides": [1]}}),
        (
            'anchors: unknown key "layers"',
            {"anchors": {"size": [8, 8], "strides": [1], "layers": 1}},
        ),
    ],
)
def test_every_wrong_key_is_named(text: str, change: dict[str, Any]) -> None:
    with pytest.raises(SpecError) as caught:
        Decoder({**FACE, **change})
    assert text in str(caught.value)


@pytest.mark.parametrize("spec", [FACE, OBJECTS, CENTER])
def test_round_trip(spec: dict[str, Any]) -> None:
    text = Decoder(spec).json()
    assert Decoder.from_json(text).json() == text
    assert json.loads(text)["kind"] == spec["kind"]
    with pytest.raises(SpecError):
        Decoder.from_json(text[:-1])
