"""Turned and projected regions of bytes, in whole numbers where taps lie inside the picture."""

from __future__ import annotations

import json
from typing import Any

import format_cases
import numpy as np
import pytest
import tolerance
import twin
from foveal.frame import Frame
from foveal.image import Pipeline
from imgproc_frames import make, noise

# A turn amid the picture, one over two edges, a mirror that shears, a quad in perspective.
ROIS: list[tuple[float, ...]] = [
    (101.3, 88.7, 120, 90, 25),
    (20.5, 30.25, 150, 110, -64.5),
    (110, 90, 97, 83, 179.25),
    (30, 21, 180, 40, 150, 160, 11, 120),
]
BYTES = [f for f in format_cases.FORMATS if not f.endswith(("16", "f32", "010"))]


def planned(spec: dict[str, Any], frame: Frame, roi: Any, **how: Any) -> tuple[Any, np.ndarray]:
    plan = Pipeline.from_json(json.dumps({**spec, "roi": "per_call"})).compile(layout="nhwc", **how)
    return plan, plan(frame, roi)[0][0]


@pytest.mark.parametrize("roi", ROIS)
@pytest.mark.parametrize("fmt", BYTES)
def test_every_format_of_bytes(fmt: str, roi: tuple[float, ...]) -> None:
    k = BYTES.index(fmt)
    made = format_cases.build(
        fmt, 211, 179, rotation=k % 4 * 90, mirror=k % 2 == 1, pad=k % 3, visible=(3, 5, 199, 167)
    )
    spec = {"size": [61, 53], "border": {"k": "constant", "v": 99}}
    plan, got = planned(spec, made[0], roi)
    assert "in whole numbers" in plan.explain()
    np.testing.assert_allclose(got, twin.run(spec, made[1], roi), rtol=0, atol=tolerance.of(plan))


@pytest.mark.parametrize("fmt", ["rgb16", "gray16", "p010", "rgbf32"])
def test_other_elements_are_floats(fmt: str) -> None:
    plan, _ = planned({"size": [61, 53]}, format_cases.build(fmt, 211, 179)[0], ROIS[0])
    assert "in whole numbers" not in plan.explain()


@pytest.mark.parametrize("pixel", [3, 4])
def test_pixels_far_apart(pixel: int) -> None:
    """Pixel strides beyond what is packed; planes end with their last component."""
    pixels = noise((90, 120, 3))
    wide = np.full((90, 120, pixel), 7, np.uint8)
    wide[..., :3] = pixels
    flat = wide.reshape(-1)[: wide.size - (pixel - 3)].copy()
    plane = np.lib.stride_tricks.as_strided(flat, (90, 120, 3), (120 * pixel, pixel, 1))
    frame = Frame(format="rgb", width=120, height=90, planes=[plane])
    for roi in ((60, 45, 70, 50, 31), (60, 45, 119, 100, 3)):
        spec = {"size": [40, 30]}
        plan, got = planned(spec, frame, roi)
        want = twin.run(spec, twin.Picture("rgb", pixels), roi)
        np.testing.assert_allclose(got, want, rtol=0, atol=tolerance.of(plan))


@pytest.mark.parametrize("value", [0, 1, 128, 255])
def test_flat_pictures_stay_flat(value: int) -> None:
    frame = Frame.from_numpy(np.full((179, 211, 3), value, np.uint8))
    for roi in (ROIS[0], *ROIS[2:]):  # those that stay inside
        _, got = planned({"size": [300, 200]}, frame, roi)
        np.testing.assert_array_equal(got, np.float32(value))


def test_wide_rows_and_threads() -> None:
    """Rows of several chunks, parts of them outside; the number of threads changes nothing."""
    frame, picture = make("nv12", 333, 257)
    spec = {"size": [700, 90], "border": {"k": "constant", "v": 5}}
    roi = (170, 120, 400, 60, 12)
    plan, one = planned(spec, frame, roi)
    _, two = planned(spec, frame, roi, threads=2)
    np.testing.assert_array_equal(one, two)
    want = twin.run(spec, picture, roi)
    np.testing.assert_allclose(one, want, rtol=0, atol=tolerance.of(plan))


def test_pictures_too_small_for_it() -> None:
    for width, height in ((1, 1), (5, 1), (2, 9), (6, 3), (7, 7)):
        for fmt in ("rgb", "nv12", "gray", "bgra"):
            frame, picture = make(fmt, width, height)
            for roi in (
                (width / 2, height / 2, 3, 2, 20),
                (width / 2, 0, width + 2, height + 1, -70),
            ):
                spec = {"size": [9, 11]}
                plan, got = planned(spec, frame, roi)
                want = twin.run(spec, picture, roi)
                np.testing.assert_allclose(got, want, rtol=0, atol=tolerance.of(plan))
