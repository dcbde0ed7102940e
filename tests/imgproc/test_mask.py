"""Mask decoders against a float64 twin, and back from every region to the upright frame."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import twin
from foveal.errors import NotFoundError, ShapeError, SpecError
from foveal.frame import Frame
from foveal.image import Cover, Decoder, Letterbox, Pipeline, Stretch, Transform

TOLERANCE = 1e-4

FITS = [
    Stretch(),
    Letterbox(),
    Letterbox(policy="yolox"),
    Letterbox(policy="mediapipe"),
    Cover(),
]
ROIS: list[tuple[float, ...] | None] = [
    None,
    (10, 5, 40, 35),
    (-20, -10, 30, 100),
    (30, 20, 28, 18, 33),
    (30, 20, 90, 70, -135.5),
    (30, 20, 28, 18, 90),
    (5, 4, 50, 9, 45, 37, 2, 30),
]


def see(
    size: tuple[int, int],
    roi: Any = None,
    fit: Any = None,
    sensor: tuple[int, int] = (61, 43),
    **t: Any,
) -> Transform:
    frame = Frame.from_numpy(np.zeros(sensor[::-1], np.uint8), **t)
    spec = Pipeline(size=size, fit=fit or Stretch(), roi="full" if roi is None else "per_call")
    return spec.compile()(frame, roi)[1]


def activate(values: np.ndarray, channel: int, activation: str) -> np.ndarray:
    """values [h, w, c] -> [h, w]."""
    values = values.astype(np.float64)
    if activation == "sigmoid":
        values = 1 / (1 + np.exp(-values))
    if activation == "softmax":
        values = np.exp(values - values.max(-1, keepdims=True))
        values = values / values.sum(-1, keepdims=True)
    return np.clip(values[..., channel], 0, 1)


def check(got: np.ndarray, mask: np.ndarray, t: Transform) -> None:
    assert got.dtype == np.float32 and got.shape == t.frame_size[::-1]
    np.testing.assert_allclose(got, twin.mask(mask, t), rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("fit", FITS, ids=str)
@pytest.mark.parametrize("roi", ROIS, ids=str)
@pytest.mark.parametrize("shape", [(32, 40), (5, 7), (97, 61), (1, 1)])
def test_masks_are_the_twin_s(fit: Any, roi: Any, shape: tuple[int, int]) -> None:
    t = see((40, 32), roi, fit)
    mask = np.random.default_rng(1).random(shape, np.float32)
    got = Decoder({"kind": "mask", "output": "m"}).run({"m": mask[None, ..., None]}, t)
    check(got, mask, t)
    assert got.any()


@pytest.mark.parametrize("layout", ["nhwc", "nchw"])
@pytest.mark.parametrize("activation", ["none", "sigmoid", "softmax"])
@pytest.mark.parametrize("channel", [0, 2])
def test_channels_and_activations(layout: str, activation: str, channel: int) -> None:
    t = see((40, 32), (30, 20, 28, 18, 33))
    values = np.random.default_rng(2).normal(0, 4, (9, 11, 3)).astype(np.float32)
    tensor = values if layout == "nhwc" else values.transpose(2, 0, 1)
    spec = {"kind": "mask", "output": "m", "channel": channel, "activation": activation}
    got = Decoder({**spec, "layout": layout}).run({"m": tensor[None].copy()}, t)
    check(got, activate(values, channel, activation), t)


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("mirror", [False, True])
@pytest.mark.parametrize("roi", ROIS, ids=str)
def test_a_picture_comes_back_upright(rotation: int, mirror: bool, roi: Any) -> None:
    """What the network saw, as its mask, is the picture again where the region shows it."""
    y, x = np.mgrid[0:50, 0:70]
    smooth = (127 + 60 * np.sin(x / 11) + 60 * np.cos(y / 9)).astype(np.uint8)
    frame = Frame.from_numpy(smooth, rotation=rotation, mirror=mirror)
    spec = Pipeline(size=(160, 120), color="GRAY", roi="full" if roi is None else "per_call")
    tensor, t = spec.compile()(frame, roi)
    got = Decoder({"kind": "mask", "output": "m", "layout": "nchw"}).run({"m": tensor / 255}, t)
    picture = twin.upright(smooth, rotation, mirror) / 255
    assert got.shape == picture.shape
    width, height = t.frame_size
    columns, rows = np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5)
    u, v = np.moveaxis(t.points_from_frame(np.stack([columns, rows], -1)), -1, 0)
    shown = (u >= 0) & (u < 160) & (v >= 0) & (v < 120)
    deep = (u > 8) & (u < 152) & (v > 8) & (v < 112)
    assert deep.any()
    np.testing.assert_allclose(got[deep], picture[deep], rtol=0, atol=0.02)
    np.testing.assert_array_equal(got[~shown], 0)


def test_bars_are_not_blended_in() -> None:
    t = see((64, 64), None, Letterbox(), (320, 240))  # 64 x 48, bars above and below
    mask = np.ones((64, 64), np.float32)
    mask[:8] = mask[56:] = 0  # what the network says about the bars
    got = Decoder({"kind": "mask", "output": "m"}).run({"m": mask[None, ..., None]}, t)
    np.testing.assert_array_equal(got, np.ones((240, 320)))


@pytest.mark.parametrize("activation", ["none", "sigmoid", "softmax"])
def test_nonsense_in_the_tensor_is_nothing_in_the_mask(activation: str) -> None:
    t = see((40, 32), (30, 20, 28, 18, 33))
    values = np.random.default_rng(2).normal(0, 1, (32, 40, 2)).astype(np.float32)
    values[::3, ::2, 0] = np.nan
    values[1::3, ::2, 0] = np.inf
    values[2::3, ::2, 1] = -np.inf
    values[::5, 1::2] = 3e38
    got = Decoder({"kind": "mask", "output": "m", "activation": activation}).run(
        {"m": values[None]}, t
    )
    assert np.isfinite(got).all() and got.min() >= 0 and got.max() <= 1


def test_hostile_transforms_stay_inside_the_mask() -> None:
    text = json.loads(see((40, 32), (30, 20, 28, 18, 33)).json())
    mask = {"m": np.ones((1, 4, 5, 1), np.float32)}
    decoder = Decoder({"kind": "mask", "output": "m"})
    for key, value in [
        ("from_frame", [1e300] * 9),
        ("from_frame", [1e308, -1e308, 1e308, 1e308, -1e308, 1e308, 0, 0, 1]),
        ("from_frame", [0] * 9),
        ("from_frame", [1, 0, 0, 0, 1, 0, 0, 0, -1]),
        ("from_frame", [1, 0, 0, 0, 1, 0, 0, 0, 0]),
        ("from_frame", [5e-324] * 9),
        ("from_frame", [-1, 0, 5, 0, -1, 5, 0, 0, 1]),
        ("valid", [-1e308, -1e308, 1e308, 1e308]),
        ("valid", [50, 50, -50, -50]),
    ]:
        got = decoder.run(mask, Transform.from_json(json.dumps({**text, key: value})))
        assert got.shape == (43, 61) and set(np.unique(got)) <= {0, 1}


@pytest.mark.parametrize(
    ("outputs", "error", "match"),
    [
        ({}, NotFoundError, "'m' is missing"),
        ({"m": np.zeros((1, 4, 5, 2), np.float64)}, ShapeError, "float32"),
        ({"m": np.zeros((4, 5), np.float32)}, ShapeError, "shape"),
        ({"m": np.zeros((2, 4, 5, 2), np.float32)}, ShapeError, "shape"),
        ({"m": np.zeros((1, 0, 5, 2), np.float32)}, ShapeError, "shape"),
        ({"m": np.zeros((1, 4, 5, 1), np.float32)}, ShapeError, "more than 1 channels"),
        ({"m": np.zeros((1, 1, 16385, 2), np.float32)}, ShapeError, "16384"),
    ],
)
def test_outputs_that_do_not_fit(outputs: Any, error: Any, match: str) -> None:
    with pytest.raises(error, match=match):
        Decoder({"kind": "mask", "output": "m", "channel": 1}).run(outputs, see((8, 8)))


def test_softmax_needs_something_to_choose_from() -> None:
    decoder = Decoder({"kind": "mask", "output": "m", "activation": "softmax"})
    with pytest.raises(ShapeError, match="more than 1 channels"):
        decoder.run({"m": np.zeros((1, 4, 5, 1), np.float32)}, see((8, 8)))


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ({}, '"output" is missing'),
        ({"output": ""}, '"output"'),
        ({"output": 1}, '"output"'),
        ({"output": "m", "channel": -1}, '"channel"'),
        ({"output": "m", "channel": 0.5}, '"channel"'),
        ({"output": "m", "activation": "relu"}, '"activation"'),
        ({"output": "m", "layout": "chw"}, '"layout"'),
        ({"output": "m", "min_score": 0.5}, 'unknown key "min_score"'),
    ],
)
def test_every_wrong_key_is_named(spec: dict[str, Any], text: str) -> None:
    with pytest.raises(SpecError) as caught:
        Decoder(json.dumps({"kind": "mask", **spec}))
    assert text in str(caught.value)


def test_the_text_is_canonical() -> None:
    decoder = Decoder({"kind": "mask", "output": "m"})
    assert decoder.gives == "mask"
    assert decoder.json() == (
        '{"decoder":1,"kind":"mask","output":"m","channel":0,"activation":"none","layout":"nhwc"}'
    )
    assert Decoder.from_json(decoder.json()).json() == decoder.json()
