"""Profile "torch" against stored results of torch (see make_torch_vectors.py)."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch_twin
import twin
from format_cases import build
from foveal.frame import Frame
from foveal.image import (
    Bicubic,
    Bilinear,
    Constant,
    Crop,
    Letterbox,
    Pipeline,
    Rect,
    Replicate,
)
from make_torch_vectors import CASES, CORNERS, FILE, MODES, picture, places


@pytest.mark.parametrize("case", range(len(CASES)))
@pytest.mark.parametrize(("mode", "antialias"), MODES)
@pytest.mark.parametrize("turned", [False, True])
def test_float_is_torchs(case: int, mode: str, antialias: bool, turned: bool) -> None:
    """Within 1e-3 of 255, placement in float32 included; a frame may lie on its side."""
    _, size = CASES[case]
    spec = Pipeline(size=size, color="GRAY", sample=sampler(mode, antialias), profile="torch")
    pixels = picture(case)
    frame = Frame.from_numpy(pixels)
    if turned:  # upright after a clockwise quarter turn
        frame = Frame.from_numpy(np.ascontiguousarray(np.rot90(pixels)), rotation=90)
    got, _ = spec.compile()(frame)
    with np.load(FILE) as kept:
        want = np.clip(kept[f"{case}_{mode}_{antialias}_f32"], 0, 255)  # overshoot is clamped here
    np.testing.assert_allclose(got.ravel()[places(case)], want, rtol=0, atol=1e-3)


@pytest.mark.parametrize("case", range(len(CASES)))
@pytest.mark.parametrize("mode", CORNERS)
def test_aligned_corners_are_torchs(case: int, mode: str) -> None:
    grid = "align_corners"
    sample = Bilinear(grid=grid) if mode == "bilinear" else Bicubic(a=-0.75, grid=grid)
    spec = Pipeline(size=CASES[case][1], color="GRAY", sample=sample, profile="torch")
    frame = Frame.from_numpy(picture(case))
    got, _ = spec.compile()(frame)
    whole, _ = replace(spec, intermediate="u8").compile(dtype="uint8")(frame)
    with np.load(FILE) as kept:
        want = np.clip(kept[f"{case}_{mode}_corners_f32"], 0, 255)
        levels = kept[f"{case}_{mode}_corners_u8"]
    np.testing.assert_allclose(got.ravel()[places(case)], want, rtol=0, atol=1e-3)
    np.testing.assert_array_equal(whole.ravel()[places(case)], levels)


def sampler(mode: str, antialias: bool) -> Bilinear | Bicubic:
    if mode == "bilinear":
        return Bilinear(antialias)
    return Bicubic(a=-0.5 if antialias else -0.75, antialias=antialias)


def pipeline(size: tuple[int, int], mode: str, antialias: bool, **parts: Any) -> Pipeline:
    return Pipeline(
        size=size, sample=sampler(mode, antialias), profile="torch", intermediate="u8", **parts
    )


@pytest.mark.parametrize("case", range(len(CASES)))
@pytest.mark.parametrize(("mode", "antialias"), MODES)
def test_bytes_are_torchs(case: int, mode: str, antialias: bool) -> None:
    spec = pipeline(CASES[case][1], mode, antialias, color="GRAY")
    got, _ = spec.compile(dtype="uint8")(Frame.from_numpy(picture(case)))
    with np.load(FILE) as kept:
        want = kept[f"{case}_{mode}_{antialias}_u8"]
    np.testing.assert_array_equal(got.ravel()[places(case)], want)
    whole = torch_twin.resize(picture(case)[..., None], CASES[case][1], mode, antialias)
    np.testing.assert_array_equal(whole.ravel()[places(case)], want)


def noise(height: int, width: int) -> np.ndarray:
    """With a half of it black and white, so that cubic filters overshoot."""
    rng = np.random.default_rng(width)
    pixels = rng.integers(0, 256, (height, width, 3), dtype=np.uint8)
    pixels[:, ::2] = 255 * (pixels[:, ::2] > 127)
    return pixels


SIZES = [((1, 1), (5, 3)), ((131, 97), (57, 41)), ((64, 64), (64, 31)), ((37, 23), (61, 59))]
SIZES += [((600, 7), (11, 5)), ((5, 4), (9, 3)), ((257, 263), (97, 101))]


@pytest.mark.parametrize(("mode", "antialias"), MODES)
@pytest.mark.parametrize(("source", "size"), SIZES)
def test_pictures(
    mode: str, antialias: bool, source: tuple[int, int], size: tuple[int, int]
) -> None:
    """Of three components, padded rows, in every orientation, for one thread and for two."""
    pixels = noise(*source[::-1])
    wide = np.zeros((source[1], source[0] * 3 + 5), np.uint8)
    wide[:, :-5] = pixels.reshape(source[1], -1)
    for rotation, mirror in itertools.product((0, 90, 180, 270), (False, True)):
        frame = Frame(
            format="rgb", width=source[0], height=source[1], planes=[wide], rotation=rotation,
            mirror=mirror,
        )  # fmt: skip
        upright = twin.upright(pixels, rotation, mirror)
        want = torch_twin.resize(upright, size, mode, antialias)
        for threads in (1, 2):
            plan = pipeline(size, mode, antialias).compile(
                dtype="uint8", layout="nhwc", threads=threads
            )
            got, _ = plan(frame)
            np.testing.assert_array_equal(got[0], want)
    assert "torch" in plan.explain()


@pytest.mark.parametrize(("mode", "antialias"), MODES)
def test_crops_and_bars(mode: str, antialias: bool) -> None:
    """Resized whole, then cut: also weights that only pixels outside of the crop have count."""
    pixels = noise(143, 167)
    frame = Frame.from_numpy(pixels)
    got, _ = pipeline((40, 37), mode, antialias, fit=Crop(50)).compile(
        dtype="uint8", layout="nhwc"
    )(frame)
    whole = torch_twin.resize(pixels, (58, 50), mode, antialias)
    np.testing.assert_array_equal(got[0], whole[6:43, 9:49])
    got, _ = pipeline((60, 60), mode, antialias, fit=Letterbox(7)).compile(
        dtype="uint8", layout="nhwc"
    )(frame)
    whole = np.full((60, 60, 3), 7, np.uint8)
    whole[4:55] = torch_twin.resize(pixels, (60, 51), mode, antialias)
    np.testing.assert_array_equal(got[0], whole)


@pytest.mark.parametrize("fmt", ["nv12", "i420", "yuyv", "bgra", "rgb16", "gray"])
@pytest.mark.parametrize("color", ["RGB", "GRAY"])
def test_other_frames_become_bytes_first(fmt: str, color: str) -> None:
    """As a picture that was converted before torch saw it; packed bytes are made gray behind."""
    frame, picture_ = build(fmt, 75, 51, pad=3)
    spec = {"size": [75, 51], "color": "RGB" if fmt == "bgra" else color, "intermediate": "u8"}
    converted = twin.run(spec, picture_).astype(np.uint8)
    want = torch_twin.resize(converted, (31, 19), "bicubic", True).astype(np.float64)
    if fmt == "bgra" and color == "GRAY":
        want = want @ np.array([[0.299], [0.587], [0.114]])
    plan = pipeline((31, 19), "bicubic", True, color=color).compile(layout="nhwc")
    got, _ = plan(frame)
    np.testing.assert_array_equal(got, np.rint(got))
    # A level of the conversion that lies near a half may be either.
    np.testing.assert_allclose(got[0], want, rtol=0, atol=1)
    assert (got[0] != np.rint(want)).mean() < 0.01


def test_regions_beyond_the_frame() -> None:
    """Tap by tap, as with every filter: the edge, or a colour, which torch knows nothing of."""
    pixels = noise(40, 50)
    for border in (Constant(200), Replicate()):
        spec = pipeline((20, 20), "bilinear", True, roi="per_call", border=border)
        floats = replace(spec, intermediate="f32")
        roi = Rect(-10, -8, 60, 48)
        got, _ = spec.compile()(Frame.from_numpy(pixels), roi)
        want, _ = floats.compile()(Frame.from_numpy(pixels), roi)
        np.testing.assert_allclose(got, want, rtol=0, atol=1.1)
