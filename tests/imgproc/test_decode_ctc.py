"""CTC best path against a direct definition; bad specs, bad tensors; the wrong kind of run."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from decode_cases import NOT_FINITE, assert_canonical, assert_named, identity
from foveal.errors import ArgumentError, FovealError, NotFoundError, ShapeError
from foveal.image import Decoder, Symbols

SPEC: dict[str, Any] = {"decoder": 1, "kind": "ctc", "output": "o"}


def best_path(steps: np.ndarray, blank: int) -> tuple[list[int], list[float]]:
    """Of [T, C] probabilities: symbols and their scores, both at the first step of a repeat."""
    symbols, scores, before = [], [], blank
    for step in steps:
        best = int(step.argmax())
        if best not in (blank, before):
            symbols.append(best)
            scores.append(float(step[best]))
        before = best
    return symbols, scores


def steps_of(path: str, alphabet: str) -> np.ndarray:
    """A [1, T, C] output whose best path is the text."""
    out = np.full((1, len(path), len(alphabet)), 0.01, np.float32)
    for t, symbol in enumerate(path):
        out[0, t, alphabet.index(symbol)] = 0.5 + t / 100
    return out


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("__hh_e_ll_lloo_", "hello"),
        ("hello", "helo"),
        ("h_h", "hh"),
        ("_____", ""),
        ("_", ""),
        ("e", "e"),
    ],
)
def test_words(path: str, text: str) -> None:
    found = Decoder(SPEC).run({"o": steps_of(path, "_helo")})
    assert isinstance(found, Symbols)
    assert "".join("_helo"[i] for i in found.indices) == text
    assert found.indices.dtype == np.int32 and found.scores.dtype == np.float32


@pytest.mark.parametrize(("steps", "classes"), [(40, 6625), (1, 2), (7, 8), (500, 3), (1000, 33)])
@pytest.mark.parametrize("blank", [0, 1])
@pytest.mark.parametrize("activation", ["none", "softmax"])
@pytest.mark.parametrize("axis", [-1, -2])
def test_against_the_definition(
    steps: int, classes: int, blank: int, activation: str, axis: int
) -> None:
    rng = np.random.default_rng(steps)
    logits = rng.normal(0, 2, (steps, classes)).astype(np.float32)
    logits[rng.uniform(size=steps) < 0.4, blank] = 12
    logits[1:][rng.uniform(size=steps - 1) < 0.3] = logits[0]  # repeats
    e = np.exp(logits - logits.max(1, keepdims=True))
    probabilities = e / e.sum(1, keepdims=True)
    sent = logits if activation == "softmax" else probabilities
    sent = sent if axis == -1 else np.ascontiguousarray(sent.T)
    spec = {**SPEC, "blank": blank, "activation": activation, "axis": axis}
    found = Decoder(spec).run({"o": sent[None]}, identity(8, 8))  # a transform does no harm
    symbols, scores = best_path(probabilities, blank)
    np.testing.assert_array_equal(found.indices, symbols)
    np.testing.assert_allclose(found.scores, scores, rtol=1e-4)
    assert len(found) == len(symbols)


@pytest.mark.parametrize("value", NOT_FINITE)
@pytest.mark.parametrize("axis", [-1, -2])
def test_numbers_that_are_NOT_FINITE_are_never_reported(value: float, axis: int) -> None:
    steps = steps_of("a_b", "_ab")[0]
    steps[0, 1] = value
    steps = steps if axis == -1 else np.ascontiguousarray(steps.T)
    for activation in ("none", "softmax"):
        spec = {**SPEC, "axis": axis, "activation": activation}
        found = Decoder(spec).run({"o": steps})
        assert np.isfinite(found.scores).all()
        assert 2 in found.indices and (value < 0 or 1 not in found.indices)
        assert len(Decoder(spec).run({"o": np.full((9, 9), value, np.float32)})) == 0


def test_outputs_that_do_not_fit() -> None:
    with pytest.raises(NotFoundError, match="'o' is missing"):
        Decoder(SPEC).run({})
    for bad in (
        np.zeros((2, 5, 7), np.float32),
        np.zeros((0, 7), np.float32),
        np.zeros((5, 7), np.float64),
    ):
        with pytest.raises(ShapeError, match="'o'"):
            Decoder(SPEC).run({"o": bad})
    with pytest.raises(ShapeError, match=r"more than 7 \(the blank\)"):
        Decoder({**SPEC, "blank": 7}).run({"o": np.zeros((5, 7), np.float32)})
    with pytest.raises(ArgumentError, match="transform"):
        Decoder(SPEC).run({"o": np.zeros((5, 7), np.float32)}, "none")  # type: ignore[arg-type]


def test_only_what_a_decoder_gives_can_be_asked_of_it() -> None:
    t = identity(8, 8)._core
    outputs = {"o": np.zeros((5, 7), np.float32)}
    text = Decoder(SPEC)._core
    boxes = Decoder({"decoder": 1, "kind": "yolov8", "output": "o"})._core
    for run in (text.run, text.run_mask):
        with pytest.raises(FovealError, match="this decoder gives text") as caught:
            run(outputs, t)
        assert "fv_decoder_run_text" in str(caught.value)
    with pytest.raises(FovealError, match="this decoder gives detections"):
        boxes.run_text(outputs)
    with pytest.raises(FovealError, match="this decoder gives detections"):
        boxes.run_mask(outputs, t)


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ('"output" is missing', {"output": None}),
        ('"output"', {"output": []}),
        ('"blank"', {"blank": -1}),
        ('"blank"', {"blank": 1e9}),
        ('"axis"', {"axis": 0}),
        ('"axis"', {"axis": "last"}),
        ('"activation"', {"activation": "sigmoid"}),
        ('unknown key "min_score"', {"min_score": 0.5}),
    ],
)
def test_every_wrong_key_is_named(text: str, change: dict[str, Any]) -> None:
    assert_named(SPEC, change, text)


def test_canonical_text() -> None:
    found = assert_canonical(SPEC)
    assert (found["blank"], found["axis"], found["activation"]) == (0, -1, "none")
    decoder = Decoder({**SPEC, "axis": -2, "blank": 3})
    assert pickle.loads(pickle.dumps(decoder)).json() == decoder.json()
    assert decoder.gives == "text"
