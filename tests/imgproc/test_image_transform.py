"""Transforms: the exact inverse of what was applied, in every space."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import twin
from foveal.errors import ArgumentError, FrameError, SpecError
from foveal.frame import Frame
from foveal.image import (
    Cover,
    Letterbox,
    Matrix,
    Pipeline,
    Quad,
    Rect,
    RotatedRect,
    Stretch,
    Transform,
)
from imgproc_frames import make

FITS = [
    Stretch(),
    Letterbox(),
    Letterbox(policy="yolox"),
    Letterbox(policy="mediapipe"),
    Cover(),
    Matrix((1.3, 0.2, -3, -0.1, 1.1, 2, 0.001, 0.0004, 1)),
]
POINTS = np.random.default_rng(3).uniform(0, 200, (50, 2))


def transform(
    spec: Pipeline,
    width: int,
    height: int,
    roi: Any = None,
    rotation: int = 0,
    mirror: bool = False,
) -> Transform:
    frame, _ = make("gray", width, height, rotation=rotation, mirror=mirror)
    return spec.compile()(frame, roi)[1]


@pytest.mark.parametrize("fit", FITS, ids=str)
@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_round_trips(fit: Any, rotation: int) -> None:
    t = transform(Pipeline(size=(123, 77), fit=fit), 211, 157, rotation=rotation, mirror=True)
    there = t.points_to_frame(POINTS)
    np.testing.assert_allclose(t.points_from_frame(there), POINTS, rtol=0, atol=1e-9)
    sensor = t.points_to_sensor(there)
    np.testing.assert_allclose(t.points_from_sensor(sensor), there, rtol=0, atol=1e-9)
    np.testing.assert_allclose(t.matrix @ t.inverse, np.eye(3), rtol=0, atol=1e-9)
    boxes = np.concatenate([POINTS, POINTS + 20], -1)
    if not isinstance(fit, Matrix):  # axis-aligned: boxes keep their corners
        np.testing.assert_allclose(t.from_frame(t.to_frame(boxes)), boxes, rtol=0, atol=1e-9)
        np.testing.assert_allclose(t.from_sensor(t.to_sensor(boxes)), boxes, rtol=0, atol=1e-9)


@pytest.mark.parametrize("fit", FITS, ids=str)
def test_maps_are_the_twin_s(fit: Any) -> None:
    spec = Pipeline(size=(123, 77), fit=fit)
    t = transform(spec, 211, 157)
    want, area, _ = twin.geometry(
        {"size": [123, 77], "fit": {**fit.to_spec()}, "sample": {}}, 211, 157, None
    )
    np.testing.assert_allclose(t.matrix, want, rtol=0, atol=1e-9)
    if not isinstance(fit, (Matrix, Cover)) and fit != Letterbox(policy="mediapipe"):
        np.testing.assert_allclose(t.valid, area, rtol=0, atol=1e-9)


def test_sensor_space_follows_the_pixels() -> None:
    """A single bright pixel lands where the transform says, in all eight orientations."""
    for rotation in (0, 90, 180, 270):
        for mirror in (False, True):
            pixels = np.zeros((9, 14), np.uint8)
            pixels[2, 5] = 255
            frame = Frame.from_numpy(pixels, rotation=rotation, mirror=mirror)
            spec = Pipeline(size=frame.upright_size, color="GRAY")
            out, t = spec.compile()(frame)
            y, x = np.argwhere(out[0, 0] == 255)[0]
            upright = t.points_to_frame([x + 0.5, y + 0.5])
            np.testing.assert_array_equal(t.points_to_sensor(upright), [5.5, 2.5])
            box = t.to_sensor(t.to_frame([x, y, x + 1, y + 1]))
            np.testing.assert_array_equal(box, [5, 2, 6, 3])


@pytest.mark.parametrize("policy", ["ultralytics", "yolox"])
@pytest.mark.parametrize("size", [(96, 64), (64, 64), (37, 53), (128, 32)], ids=str)
def test_letterbox_arithmetic(policy: str, size: tuple[int, int]) -> None:
    """Sizes, bars and boxes of 10,000 shapes against the formulas of the two projects."""
    rng = np.random.default_rng(7)
    plan = Pipeline(size=size, color="GRAY", fit=Letterbox(policy=policy)).compile()
    black = np.zeros((400, 400), np.uint8)
    for _ in range(2500):
        w, h = (int(v) for v in rng.integers(2, 400, 2))
        gain = min(size[0] / w, size[1] / h)
        if policy == "ultralytics":
            nw, nh = max(round(w * gain), 1), max(round(h * gain), 1)  # 0: it fails
            left, top = round((size[0] - nw) / 2 - 0.1), round((size[1] - nh) / 2 - 0.1)
        else:
            nw, nh, left, top = max(int(w * gain), 1), max(int(h * gain), 1), 0, 0
        _, t = plan(Frame.from_numpy(black[:h, :w]))
        valid = [left, top, left + nw, top + nh]
        assert np.abs(t.valid - np.array(valid)).max() <= 1e-9
        assert np.abs(t.to_frame(t.valid) - np.array([0, 0, w, h])).max() <= 1e-9


def test_mediapipe_letterbox_is_exact() -> None:
    t = transform(Pipeline(size=(100, 100), fit=Letterbox(policy="mediapipe")), 300, 200)
    np.testing.assert_allclose(t.matrix, [[3, 0, 0], [0, 3, -50], [0, 0, 1]], atol=1e-12)
    np.testing.assert_allclose(t.valid, [0, 50 / 3, 100, 250 / 3], atol=1e-9)


def test_rois_map_their_corners() -> None:
    spec = Pipeline(size=(40, 30), roi="per_call")
    corners = [[0, 0], [40, 0], [40, 30], [0, 30]]
    quad = [[5, 4], [50, 9], [45, 37], [2, 30]]
    t = transform(spec, 60, 50, Quad(quad))
    np.testing.assert_allclose(t.points_to_frame(corners), quad, atol=1e-9)
    t = transform(spec, 60, 50, Rect(3.5, 4, 23, 44))
    np.testing.assert_allclose(t.points_to_frame(corners)[[0, 2]], [[3.5, 4], [23, 44]], atol=1e-9)
    # A quarter turn clockwise: the content's right edge ends at the bottom of the frame's region.
    t = transform(spec, 60, 50, RotatedRect(30, 20, 20, 10, 90))
    np.testing.assert_allclose(
        t.points_to_frame(corners), [[35, 10], [35, 30], [25, 30], [25, 10]], atol=1e-9
    )
    np.testing.assert_allclose(t.to_frame([0, 0, 40, 30]), [25, 10, 35, 30], atol=1e-9)


def test_serialised_transforms_are_the_same() -> None:
    spec = Pipeline(size=(40, 30), roi="per_call", fit=Letterbox())
    t = transform(spec, 60, 50, (30, 20, 25, 11, 33.3), rotation=270, mirror=True)
    again = Transform.from_json(t.json())
    assert again.json() == t.json()
    np.testing.assert_array_equal(again.points_to_sensor(POINTS), t.points_to_sensor(POINTS))
    np.testing.assert_array_equal(again.to_frame([1, 2, 3, 4]), t.to_frame([1, 2, 3, 4]))
    assert again.tensor_size == (40, 30) and again.frame_size == (50, 60)
    for bad in ("{}", "[]", "nonsense", t.json().replace("[40, 30]", "[40]")):
        with pytest.raises(SpecError):
            Transform.from_json(bad)


@pytest.mark.parametrize(
    "roi",
    [
        (0, 0, 0, 10),
        (10, 10, 5, 20),
        (0, 0, float("nan"), 5),
        (0, 0, float("inf"), 5),
        (0, 0, 1e9, 5),
        (5, 5, 0, 3, 10),
        (5, 5, -4, 3, 10),
        (5, 5, 4, 3, float("nan")),
        (0, 0, 10, 0, 20, 0, 30, 0),
        (5, 5, 5, 5, 5, 5, 5, 5),
        (0, 0, 10, 10, 10, 0, 0, 10),
    ],
)
def test_impossible_rois(roi: tuple[float, ...]) -> None:
    with pytest.raises(FrameError, match="roi"):
        transform(Pipeline(size=(40, 30), roi="per_call"), 60, 50, roi)


def test_roi_must_be_given_when_asked_for() -> None:
    with pytest.raises(ArgumentError, match="per_call"):
        transform(Pipeline(size=(4, 3), roi="per_call"), 60, 50)
    with pytest.raises(ArgumentError, match="full"):
        transform(Pipeline(size=(4, 3)), 60, 50, (0, 0, 1, 1))
    with pytest.raises(ArgumentError, match="3 numbers"):
        transform(Pipeline(size=(4, 3), roi="per_call"), 60, 50, (0, 0, 1))


@pytest.mark.parametrize(
    "m",
    [
        (0,) * 9,
        (1, 0, 0, 1, 0, 0, 0, 0, 1),
        (1, 0, 0, 0, 1, 0, 0, 0, 0),
        (1, 0, 0, 0, 1, 0, -1, 0, 1),
        (1e12, 0, 0, 0, 1, 0, 0, 0, 1),
        (1, 0, 0, 0, 1, 0, 1e300, 0, 1),
        (1e-300, 0, 0, 0, 1, 0, 0, 0, 1e-308),
    ],
)
def test_impossible_matrices(m: tuple[float, ...]) -> None:
    with pytest.raises((FrameError, SpecError)):
        transform(Pipeline(size=(40, 30), fit=Matrix(m)), 60, 50)


def test_wrong_shapes_of_coordinates() -> None:
    t = transform(Pipeline(size=(4, 3)), 60, 50)
    assert t.to_frame(np.zeros((0, 4))).shape == (0, 4)
    assert t.points_to_frame(np.zeros((2, 5, 2))).shape == (2, 5, 2)
    with pytest.raises(ArgumentError, match="4"):
        t.to_frame([1, 2, 3])
    with pytest.raises(ArgumentError, match="2"):
        t.points_to_frame([1, 2, 3])


def test_outputs_that_cannot_be_written() -> None:
    frame, _ = make("gray", 20, 20)
    plan = Pipeline(size=(4, 3)).compile()
    for bad in (
        None,
        np.zeros((1, 3, 3, 5), np.float32),
        np.zeros((1, 3, 3, 4), np.float64),
        np.zeros((1, 3, 4, 3), np.float32).swapaxes(2, 3),
        np.zeros((1, 3, 3, 8), np.float32)[..., ::2],
    ):
        with pytest.raises(ValueError, match="out"):
            plan.run(frame, out=bad)
    frozen = np.zeros(plan.shape, np.float32)
    frozen.flags.writeable = False
    with pytest.raises(ArgumentError, match="writable"):
        plan.run(frame, out=frozen)
    with pytest.raises(ArgumentError, match="Frame"):
        plan.run(np.zeros((3, 3), np.uint8), out=np.zeros(plan.shape, np.float32))  # type: ignore[arg-type]
