"""Bilinear sampling of bytes in whole numbers: within its bounds of the exact picture, exact where
it says so, equal to its definition at the extremes."""

from __future__ import annotations

import json
from typing import Any

import format_cases
import lerp_twin
import numpy as np
import pytest
import twin
from foveal.frame import Frame
from foveal.image import Nearest, Norm, Pipeline
from imgproc_frames import FORMATS, YUV, make, noise

SIZES = [((131, 97), (57, 41)), ((37, 23), (61, 59)), ((97, 3), (37, 31)), ((2, 101), (5, 1))]


def sampled(spec: dict[str, Any], frame: Frame) -> tuple[np.ndarray, str]:
    """[H, W, C] and what the plan says of itself."""
    plan = Pipeline.from_json(json.dumps(spec)).compile(layout="nhwc")
    got, _ = plan(frame)
    return got[0], plan.explain()


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize(("source", "size"), SIZES)
@pytest.mark.parametrize("profile", ["exact", "fast"])
def test_within_its_bounds(
    fmt: str, source: tuple[int, int], size: tuple[int, int], profile: str
) -> None:
    frame, picture = make(fmt, *source, color="bt2020-limited", row_pad=3)
    got, said = sampled({"size": list(size), "profile": profile}, frame)
    assert "whole numbers" in said
    exact = twin.run({"size": list(size)}, picture)
    most = lerp_twin.COLOUR if fmt in YUV else lerp_twin.COMPONENT
    error = np.abs(got - exact).max()
    assert error <= most
    assert error > 0 or size[1] == 1  # or it would not be in whole numbers


@pytest.mark.parametrize("color", ["bt601-full", "bt709-limited", "bt2020-full"])
def test_extremes(color: str) -> None:
    """0 and 255 only, weights next to 0 and 1."""
    rng = np.random.default_rng(3)
    for shift in (0.25, 2**-14, 2**-15.5, 2**-16.5, 1 - 2**-15, 1 - 2**-16.5, 1 - 2**-20):
        m = [1.37, 0, shift - 0.685, 0, 0.71, shift - 0.355, 0, 0, 1]
        spec: dict[str, Any] = {"size": [23, 17], "fit": {"k": "matrix", "m": m}}
        for border in ({"k": "replicate"}, {"k": "constant", "v": [9, 120, 250]}):
            y, uv = (rng.integers(0, 2, s).astype(np.uint8) * 255 for s in ((13, 34), (7, 17, 2)))
            frame = Frame(format="nv12", width=34, height=13, planes=[y, uv], color=color)
            full = np.repeat(np.repeat(uv, 2, 0), 2, 1)[:13, :34]
            picture = twin.Picture("yuv", np.dstack([y, full]), color=color)
            got, said = sampled({**spec, "border": border}, frame)
            assert "whole numbers" in said
            want = twin.run({**spec, "border": border}, picture, sampler=lerp_twin.sampler)
            np.testing.assert_allclose(got, want, rtol=0, atol=1e-3)


@pytest.mark.parametrize("size", [(57, 41), (200, 133), (37, 97)])
def test_one_colour_stays_that_colour(size: tuple[int, int]) -> None:
    for level in (0, 1, 127, 200, 255):
        frame = Frame.from_numpy(np.full((97, 131, 3), level, np.uint8))
        got, said = sampled({"size": list(size)}, frame)
        assert "whole numbers" in said
        np.testing.assert_array_equal(got, np.full((*size[::-1], 3), level, np.float32))


def test_halves_are_exact() -> None:
    pixels = noise((48, 64, 3))
    got, said = sampled({"size": [32, 24]}, Frame.from_numpy(pixels))
    assert "whole numbers" in said
    np.testing.assert_array_equal(got, pixels.reshape(24, 2, 32, 2, 3).mean((1, 3)))


def test_black_is_no_negative_zero() -> None:
    spec = Pipeline(size=(7, 5), norm=Norm(scale=1 / 255))
    got, _ = spec.compile(dtype="float16")(Frame.from_numpy(np.zeros((9, 11, 3), np.uint8)))
    assert not got.view(np.uint16).any()


def test_what_is_sampled_in_floats() -> None:
    for fmt in ("rgb16", "rgbf32", "p010"):
        _, said = sampled({"size": [7, 5]}, format_cases.build(fmt, 19, 12)[0])
        assert "rows first" in said and "whole numbers" not in said
        turned, _ = format_cases.build(fmt, 19, 12, rotation=90)
        assert "taps (axis-aligned), quarter turn, chunks" in sampled({"size": [7, 5]}, turned)[1]
    bytes_ = make("rgb", 19, 12)[0]
    for spec in (
        {"size": [19, 12]},
        {"size": [7, 5], "sample": Nearest().to_spec()},
    ):
        assert "whole numbers" not in sampled(spec, bytes_)[1]


@pytest.mark.parametrize("fmt", FORMATS)
def test_quarter_turns_and_large_reductions(fmt: str) -> None:
    """Blocks of columns, and taps that are picked one by one."""
    for source, size, name in (
        ((97, 211), [191, 83], "rows first (axis-aligned), quarter turn"),
        ((301, 1789), [131, 7], "taps (axis-aligned), quarter turn"),
        ((1789, 301), [7, 131], "taps (axis-aligned), straight"),
    ):
        rotation = 90 if "turn" in name else 0
        made = make(fmt, *(source if rotation == 0 else source[::-1]), rotation=rotation, row_pad=1)
        got, said = sampled({"size": size}, made[0])
        assert f"{name}, in whole numbers" in said
        want = twin.run({"size": size}, made[1], sampler=lerp_twin.sampler)
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-3)


@pytest.mark.parametrize("fmt", ["yuyv", "uyvy", "i444", "nv16", "yv12", "gray_alpha"])
def test_pixels_with_gaps_and_planes_of_their_own(fmt: str) -> None:
    made = format_cases.build(fmt, 61, 23, pad=2)
    for size in ([23, 11], [97, 31]):
        got, said = sampled({"size": size}, made[0])
        assert "whole numbers" in said
        want = twin.run({"size": size}, made[1], sampler=lerp_twin.sampler)
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-3)
