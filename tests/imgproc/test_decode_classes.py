"""Classification outputs: top-k against numpy, the region's box, bad specs, bad tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from decode_cases import NOT_FINITE, assert_canonical, assert_named, identity
from foveal.errors import ArgumentError, NotFoundError, ShapeError
from foveal.frame import Frame
from foveal.image import Decoder, Letterbox, Pipeline, Rect, RotatedRect

SPEC: dict[str, Any] = {"decoder": 1, "kind": "classes", "output": "o"}


def activated(logits: np.ndarray, activation: str) -> np.ndarray:
    v = logits.astype(np.float64)
    if activation == "softmax":
        e = np.exp(v - v.max())
        return e / e.sum()
    return 1 / (1 + np.exp(-v)) if activation == "sigmoid" else v


@pytest.mark.parametrize("activation", ["softmax", "sigmoid", "none"])
@pytest.mark.parametrize(("count", "top"), [(1000, 5), (1001, 1), (3, 5), (1, 1), (17, 17)])
def test_against_numpy(activation: str, count: int, top: int) -> None:
    logits = np.random.default_rng(count).normal(0, 2, (1, count)).astype(np.float32)
    if activation == "none":
        logits = np.abs(logits)
    spec = {**SPEC, "activation": activation, "top": top}
    found = Decoder(spec).run({"o": logits}, identity(32, 24))
    want = activated(logits[0], activation)
    order = np.argsort(-want, kind="stable")[:top]
    np.testing.assert_array_equal(found.labels, order)
    np.testing.assert_allclose(found.scores, want[order], rtol=1e-5, atol=1e-7)
    assert found.boxes.tolist() == [[0, 0, 32, 24]] * min(count, top)
    assert found.points.shape == (min(count, top), 0, 2)


def test_ties_and_the_least_score() -> None:
    scores = np.array([0.25, 0.5, 0.25, 0.5, 0.1], np.float32)
    spec = {**SPEC, "activation": "none", "top": 3}
    t = identity(8, 8)
    assert Decoder(spec).run({"o": scores}, t).labels.tolist() == [1, 3, 0]
    assert Decoder({**spec, "min_score": 0.3}).run({"o": scores}, t).labels.tolist() == [1, 3]


def test_large_logits_do_not_overflow() -> None:
    found = Decoder(SPEC).run({"o": np.array([1e30, -1e30, 0], np.float32)}, identity(8, 8))
    assert found.labels[0] == 0 and found.scores.tolist() == [1, 0, 0]


def test_the_box_is_the_region() -> None:
    frame = Frame.from_numpy(np.zeros((100, 200), np.uint8))
    scores = {"o": np.zeros((1, 2), np.float32)}
    letterboxed = Pipeline(size=(64, 64), fit=Letterbox()).compile()(frame)[1]
    box = Decoder(SPEC).run(scores, letterboxed).boxes[0]
    np.testing.assert_allclose(box, [0, 0, 200, 100], atol=1e-4)  # the bars are not the picture
    plan = Pipeline(size=(32, 32), roi="per_call").compile()
    box = Decoder(SPEC).run(scores, plan(frame, Rect(20, 10, 60, 90))[1]).boxes[0]
    np.testing.assert_allclose(box, [20, 10, 60, 90], atol=1e-4)
    box = Decoder(SPEC).run(scores, plan(frame, RotatedRect(100, 50, 20, 20, 45))[1]).boxes[0]
    half = 10 * 2**0.5
    np.testing.assert_allclose(box, [100 - half, 50 - half, 100 + half, 50 + half], atol=1e-4)
    box = Decoder(SPEC).run(scores, plan(frame, Rect(150, -50, 250, 50))[1]).boxes[0]
    np.testing.assert_allclose(box, [150, 0, 200, 50], atol=1e-4)


@pytest.mark.parametrize("value", NOT_FINITE)
@pytest.mark.parametrize("activation", ["softmax", "sigmoid", "none"])
def test_numbers_that_are_NOT_FINITE_are_never_reported(value: float, activation: str) -> None:
    spec = {**SPEC, "activation": activation}
    mixed = np.array([0.5, value, 0.25], np.float32)
    found = Decoder(spec).run({"o": mixed}, identity(8, 8))
    assert np.isfinite(found.scores).all() and (found.scores <= 1).all()
    if np.isnan(value):
        assert 1 not in found.labels
    assert len(Decoder({**spec, "activation": "none"}).run({"o": mixed}, identity(8, 8))) == 2
    every = Decoder(spec).run({"o": np.full(9, value, np.float32)}, identity(8, 8))
    assert np.isfinite(every.scores).all()
    assert activation == "sigmoid" or len(every) == 0


def test_outputs_that_do_not_fit() -> None:
    t = identity(8, 8)
    with pytest.raises(NotFoundError, match="'o' is missing, got: p"):
        Decoder(SPEC).run({"p": np.zeros(3, np.float32)}, t)
    for bad in (np.zeros((2, 3), np.float32), np.zeros(0, np.float32), np.zeros(3, np.int32)):
        with pytest.raises(ShapeError, match="'o'"):
            Decoder(SPEC).run({"o": bad}, t)
    with pytest.raises(ArgumentError, match="transform"):
        Decoder(SPEC).run({"o": np.zeros(3, np.float32)})


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ('"output" is missing', {"output": None}),
        ('"output"', {"output": ""}),
        ('"activation"', {"activation": "relu"}),
        ('"top"', {"top": 0}),
        ('"top"', {"top": 1001}),
        ('"top"', {"top": "5"}),
        ('"min_score"', {"min_score": 2}),
        ('"min_score"', {"min_score": "low"}),
        ('unknown key "nms"', {"nms": {"k": "none"}}),
        ('unknown key "clip"', {"clip": True}),
    ],
)
def test_every_wrong_key_is_named(text: str, change: dict[str, Any]) -> None:
    assert_named(SPEC, change, text)


def test_canonical_text() -> None:
    found = assert_canonical(SPEC)
    assert (found["activation"], found["top"], found["min_score"]) == ("softmax", 5, 0)
    assert_canonical({**SPEC, "activation": "sigmoid", "top": 7, "min_score": 0.125})
    assert Decoder(SPEC).gives == "classes"
