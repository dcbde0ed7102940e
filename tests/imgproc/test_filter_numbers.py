"""What filters compute with: whole numbers where bytes are exact enough so, otherwise floats."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import twin
from foveal.frame import Frame
from foveal.image import Bilinear, Pipeline
from imgproc_frames import make
from test_samplers import compare, each_sampler


def whole(spec: Any, frame: Frame, **tensor: Any) -> bool:
    plan = (Pipeline.from_json(json.dumps(spec)) if isinstance(spec, dict) else spec).compile(
        **tensor
    )
    plan(frame)
    text = plan.explain()
    return "whole numbers" in text


@each_sampler
@pytest.mark.parametrize("profile", ["exact", "fast"])
@pytest.mark.parametrize("rotation", [0, 90])
def test_bytes_are_whole_numbers(sampler: dict[str, Any], profile: str, rotation: int) -> None:
    # Conversion of YUV triples errors; filters with lobes begin with more of them.
    lobes = sampler["k"] in ("bicubic", "lanczos3")
    for fmt in ("rgb", "bgra", "gray", "nv12", "i420"):
        frame, _ = make(fmt, 201, 143, rotation=rotation)
        floats = profile == "exact" and lobes and fmt in ("nv12", "i420")
        for size in ([57, 41], [301, 207]):
            assert whole({"size": size, "sample": sampler, "profile": profile}, frame) != floats


def test_what_must_be_floats() -> None:
    frame, _ = make("rgb", 201, 143)
    size = (57, 41)
    triangle = Bilinear(antialias=True)
    assert not whole(Pipeline(size=size, sample=triangle, profile="torch"), frame)
    deep = Frame.from_numpy(np.zeros((143, 201), np.uint16))
    assert not whole(Pipeline(size=size, sample=triangle, color="GRAY"), deep)
    # Thousands of weights of 16 bits add up to more than a tenth of a level.
    long = Frame.from_numpy(np.zeros((8, 4000), np.uint8))
    assert not whole(Pipeline(size=(2, 2), sample=triangle, color="GRAY"), long)


def extremes(height: int, width: int, channels: int) -> np.ndarray:
    """Only 0 and 255: what shows errors of weights best."""
    rng = np.random.default_rng(height)
    return 255 * rng.integers(0, 2, (height, width, channels), dtype=np.uint8)


@each_sampler
@pytest.mark.parametrize("size", [[57, 41], [13, 7], [3, 2], [500, 301]])
def test_extremes(sampler: dict[str, Any], size: list[int]) -> None:
    for rotation in (0, 90):
        pixels = extremes(211, 307, 3)
        frame = Frame.from_numpy(pixels, rotation=rotation)
        compare({"size": size, "sample": sampler}, (frame, twin.Picture("rgb", pixels, rotation)))


@each_sampler
def test_every_number_of_taps(sampler: dict[str, Any]) -> None:
    """From a few taps to hundreds; where whole numbers end, floats go on."""
    pixels = extremes(31, 1999, 1)
    made = Frame.from_numpy(pixels[..., 0]), twin.Picture("gray", pixels)
    used = set()
    for width in (1999, 997, 301, 103, 41, 17, 7, 3):
        spec = {"size": [width, 5], "sample": sampler, "color": "GRAY"}
        compare(spec, made)
        used.add(whole(spec, made[0]))
    assert True in used


@each_sampler
@pytest.mark.parametrize("level", [1, 128, 255])
def test_flat_pictures_stay_what_they_are(sampler: dict[str, Any], level: int) -> None:
    """To the bit: weights of whole numbers add up to one."""
    frame = Frame.from_numpy(np.full((97, 131), level, np.uint8))
    for size in ([57, 41], [13, 7], [200, 150]):
        spec = {"size": size, "sample": sampler, "color": "GRAY"}
        assert whole(spec, frame)
        got, _ = Pipeline.from_json(json.dumps(spec)).compile()(frame)
        assert (got == level).all()


@each_sampler
@pytest.mark.parametrize("rotation", [0, 90])
def test_floats_that_are_no_levels(sampler: dict[str, Any], rotation: int) -> None:
    """Below 0 and above 1 are clamped before they are weighted; what is no number is 0."""
    rng = np.random.default_rng(7)
    pixels = rng.random((53, 67, 3)).astype(np.float32)
    odd = np.array([np.nan, np.inf, -np.inf, -0.5, 1.5, -np.nan], np.float32)
    at = rng.integers(0, pixels.size, 600)
    pixels.reshape(-1)[at] = odd[rng.integers(0, len(odd), 600)]
    levels = np.clip(np.nan_to_num(pixels, nan=0.0), 0, 1) * 255
    frame = Frame.from_numpy(pixels, rotation=rotation)
    for size in ([19, 23], [90, 80]):
        compare(
            {"size": size, "sample": sampler},
            (frame, twin.Picture("rgb", levels, rotation)),
            tolerance=1e-3,
        )


@pytest.mark.parametrize("fmt", ["rgb", "bgra", "gray", "nv12", "i420"])
@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_antialias_of_what_does_not_shrink_is_none(fmt: str, rotation: int) -> None:
    frame, _ = make(fmt, 61, 43, rotation=rotation, mirror=rotation == 180)
    width, height = frame.upright_size
    for size in ((width, height), (width + 1, height), (3 * width, 2 * height)):
        for dtype in ("float32", "uint8"):
            got = [
                Pipeline(size=size, sample=Bilinear(antialias)).compile(dtype=dtype)(frame)[0]
                for antialias in (True, False)
            ]
            np.testing.assert_array_equal(*got)
    shrinks = Pipeline(size=(width - 1, 2 * height), sample=Bilinear(antialias=True)).compile()
    shrinks(frame)
    assert "separable" in shrinks.explain()
