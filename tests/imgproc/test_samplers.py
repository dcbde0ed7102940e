"""Filters (bicubic, area, Lanczos, antialias) equal the float64 twin; their plans at the edges."""

from __future__ import annotations

import itertools
import json
from typing import Any

import format_cases
import numpy as np
import pytest
import twin
from foveal.errors import ArgumentError, SpecError
from foveal.frame import Frame
from foveal.image import Bicubic, Bilinear, Pipeline
from imgproc_frames import FORMATS, make

EXACT = 0.1  # of 255: what profile "exact" promises
SAMPLERS: dict[str, dict[str, Any]] = {
    "triangle": {"k": "bilinear", "antialias": True},
    "cubic": {"k": "bicubic", "antialias": True},
    "cubic75": {"k": "bicubic", "a": -0.75, "antialias": True},
    "cubic_aliased": {"k": "bicubic", "a": -0.75},
    "lanczos": {"k": "lanczos3", "antialias": True},
    "lanczos_aliased": {"k": "lanczos3"},
    "area": {"k": "area"},
}
each_sampler = pytest.mark.parametrize("sampler", SAMPLERS.values(), ids=SAMPLERS)


def compare(
    spec: dict[str, Any],
    made: tuple[Frame, twin.Picture],
    roi: Any = None,
    tolerance: float = EXACT,
) -> float:
    """Runs both; returns the greatest difference."""
    frame, picture = made
    if roi is not None:
        spec = {**spec, "roi": "per_call"}
    plan = Pipeline.from_json(json.dumps(spec)).compile(layout="nhwc")
    got, transform = plan(frame, roi)
    want = twin.run(spec, picture, roi)
    np.testing.assert_allclose(got[0], want, rtol=0, atol=tolerance)
    # Nothing shrinks: antialias has nothing to do.
    plain = spec["sample"]["k"] == "bilinear" and np.abs(transform.matrix[:2, :2]).max() <= 1
    assert ("separable" in plan.explain()) != plain
    return float(np.abs(got[0] - want).max())


# Ratios that are no powers of two, down and up, primes, single pixels.
SIZES = [((131, 97), (57, 41)), ((37, 23), (61, 59)), ((64, 48), (32, 24)), ((1, 1), (7, 5))]
SIZES += [((97, 3), (13, 31)), ((2, 101), (5, 1)), ((211, 199), (3, 2)), ((300, 40), (1, 1))]


@each_sampler
@pytest.mark.parametrize(("source", "size"), SIZES)
def test_ratios(sampler: dict[str, Any], source: tuple[int, int], size: tuple[int, int]) -> None:
    compare({"size": list(size), "sample": sampler}, make("rgb", *source, row_pad=5))


@each_sampler
def test_large_non_dyadic_ratios(sampler: dict[str, Any]) -> None:
    made = make("gray", 1888, 1062)
    for size in ((312, 296), (600, 350)):
        compare({"size": list(size), "sample": sampler, "color": "GRAY"}, made)


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("mirror", [False, True])
def test_formats_and_orientations(fmt: str, rotation: int, mirror: bool) -> None:
    made = make(fmt, 75, 51, rotation=rotation, mirror=mirror, row_pad=3)
    k = FORMATS.index(fmt) + rotation // 90 + mirror
    names = [list(SAMPLERS)[(k + 3 * i) % len(SAMPLERS)] for i in range(3)]
    for name in {"triangle", *names}:
        compare({"size": [19, 31], "sample": SAMPLERS[name]}, made)


@pytest.mark.parametrize("fmt", format_cases.FORMATS)
@pytest.mark.parametrize("visible", [None, (3, 5, 61, 37)])
def test_every_format(fmt: str, visible: Any) -> None:
    """Elements of 10 and 16 bits and floats, chroma of every density, rectangles at odd places."""
    for rotation in (0, 90):
        made = format_cases.build(fmt, 75, 51, rotation=rotation, pad=3, visible=visible)
        for name in ("cubic75", "area"):
            compare({"size": [19, 31], "sample": SAMPLERS[name]}, made)


PATTERNS = {
    "ramp": lambda y, x: (3 * x + 2 * y) % 256,
    "steps": lambda y, x: 255 * (x > 60) + 0 * y,
    "impulse": lambda y, x: 255 * ((x == 60) & (y == 40)),
    "checkers": lambda y, x: 255 * ((x + y) % 2),
    "black": lambda y, x: 0 * x * y,
    "white": lambda y, x: 255 + 0 * x * y,
}


@each_sampler
@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns(sampler: dict[str, Any], pattern: str) -> None:
    y, x = np.ogrid[:97, :131]
    pixels = PATTERNS[pattern](y, x).astype(np.uint8)
    picture = twin.Picture("gray", pixels[..., None])
    made = Frame.from_numpy(pixels), picture
    for size in ([57, 41], [13, 7], [200, 150]):
        compare({"size": size, "sample": sampler, "color": "GRAY"}, made)
        if pattern in ("black", "white"):  # weights add up to one
            plan = Pipeline.from_json(json.dumps({"size": size, "sample": sampler}))
            got, _ = plan.compile(dtype="uint8")(made[0])
            assert (got == pixels[0, 0]).all()


ROIS = [
    (3.3, 5.25, 40.1, 30.7),
    (0, 0, 61, 43),
    (50.5, 30.5, 51, 31),  # part of a pixel
    (-9.5, 4, 30, 60),  # over the edge
    (-50, -70, 200, 300),  # all of it and more
    (100, 100, 140, 120),  # all outside
    (30, 20, 28, 18, 90),
    (30, 20, 90, 70, 180),
]


@each_sampler
@pytest.mark.parametrize("roi", ROIS)
@pytest.mark.parametrize(
    "border",
    [{"k": "replicate"}, {"k": "constant", "v": [255, 0, 77]}],
    ids=["replicate", "constant"],
)
def test_roi(sampler: dict[str, Any], roi: tuple[float, ...], border: dict[str, Any]) -> None:
    spec = {"size": [23, 19], "border": border, "sample": sampler}
    compare(spec, make("nv12" if len(roi) == 5 else "rgb", 61, 43, row_pad=1), roi)


@pytest.mark.parametrize("policy", ["ultralytics", "yolox", "mediapipe", "paddleocr"])
@pytest.mark.parametrize("size", [[40, 40], [50, 20], [17, 53]])
def test_letterbox_and_cover(policy: str, size: list[int]) -> None:
    made = make("rgb", 167, 143, rotation=90, mirror=True)
    fit: dict[str, Any] = {"k": "letterbox", "policy": policy}
    if policy != "mediapipe":
        fit["pad"] = [1, 114, 250]
    border = {"k": "constant", "v": [9, 80, 200]}
    for sampler in SAMPLERS.values():
        compare({"size": size, "fit": fit, "border": border, "sample": sampler}, made)
        compare({"size": size, "fit": {"k": "cover"}, "sample": sampler}, made)


@pytest.mark.parametrize("grid", ["align_corners", "asymmetric"])
def test_grids(grid: str) -> None:
    for sampler in SAMPLERS.values():
        if sampler["k"] != "area":
            spec = {"size": [23, 31], "sample": {**sampler, "grid": grid}}
            compare(spec, make("rgb", 61, 43, rotation=180))


@each_sampler
def test_matrix(sampler: dict[str, Any]) -> None:
    for m in ([2.5, 0, -3, 0, 1.75, 8, 0, 0, 1], [0, 3.1, -2, -2.2, 0, 70, 0, 0, 1]):
        for border in ({"k": "replicate"}, {"k": "constant", "v": 40}):
            fit = {"k": "matrix", "m": m}
            spec = {"size": [31, 17], "fit": fit, "sample": sampler, "border": border}
            compare(spec, make("i420", 75, 51))


def test_a_pixel_may_cover_more_than_a_line_holds() -> None:
    for width, height in ((5000, 3), (3, 5000)):
        for rotation in (0, 90):
            made = make("nv12", width, height, rotation=rotation)
            for size in ([1, 1], [2, 3]):
                compare({"size": size, "sample": SAMPLERS["triangle"]}, made)
                compare({"size": size, "sample": SAMPLERS["area"]}, made)


def test_pixels_far_apart() -> None:
    """Pixel strides up to 64 bytes, and planes that end with their last pixel."""
    pixels = np.random.default_rng(3).integers(0, 256, (40, 64), dtype=np.uint8)
    for stride in (2, 5, 64):
        wide = np.zeros((40, 64 * stride), np.uint8)
        wide[:, ::stride] = pixels
        flat = wide.reshape(-1)[: wide.size - stride + 1].copy()
        plane = np.lib.stride_tricks.as_strided(flat, (40, 64), (64 * stride, stride))
        frame = Frame(format="gray", width=64, height=40, planes=[plane])
        picture = twin.Picture("gray", pixels[..., None])
        for size in ([9, 7], [64, 13]):
            compare({"size": size, "color": "GRAY", "sample": SAMPLERS["cubic"]}, (frame, picture))


CROPS = [("torchvision", 50), ("huggingface", 41), ("torchvision", [60, 44])]


@pytest.mark.parametrize(("policy", "resize"), CROPS)
def test_crop(policy: str, resize: Any) -> None:
    fit = {"k": "crop", "policy": policy, "resize": resize}
    for sampler in SAMPLERS.values():
        compare({"size": [40, 37], "fit": fit, "sample": sampler}, make("rgb", 167, 143))


@pytest.mark.parametrize("rotation", [0, 90])
def test_threads_change_no_byte(rotation: int) -> None:
    frame, _ = make("nv21", 333, 257, rotation=rotation)
    for sampler in SAMPLERS.values():
        spec = Pipeline.from_json(json.dumps({"size": [150, 101], "sample": sampler}))
        one, _ = spec.compile()(frame)
        two, _ = spec.compile(threads=2)(frame)
        np.testing.assert_array_equal(one, two)


def test_tables_follow_the_frame() -> None:
    """One plan, frames of many sizes and formats in turn: the same as plans of their own."""
    spec = Pipeline(size=(40, 30), sample=Bicubic(antialias=True))
    shared = spec.compile()
    made = [make(f, 60 + 31 * i, 90 - 9 * i, rotation=i % 4 * 90)[0] for i, f in enumerate(FORMATS)]
    want = [spec.compile()(frame)[0] for frame in made]
    for i in [*range(len(made)), *reversed(range(len(made)))]:
        np.testing.assert_array_equal(shared(made[i])[0], want[i])


def test_layouts_and_types_hold_the_same() -> None:
    frame, _ = make("bgr", 131, 97)
    spec = Pipeline(size=(57, 41), sample=Bilinear(antialias=True), intermediate="u8")
    nhwc, _ = spec.compile(layout="nhwc")(frame)
    nchw, _ = spec.compile(layout="nchw")(frame)
    u8, _ = spec.compile(layout="nhwc", dtype="uint8")(frame)
    np.testing.assert_array_equal(nhwc[0].transpose(2, 0, 1), nchw[0])
    np.testing.assert_array_equal(nhwc, u8)


REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("-0.5 or -0.75, got -0.6", {"sample": {"k": "bicubic", "a": -0.6}}),
    ("nearest", {"profile": "torch", "sample": {"k": "nearest"}}),
    ("area", {"profile": "torch", "sample": {"k": "area"}}),
    ("lanczos3", {"profile": "torch", "sample": {"k": "lanczos3", "antialias": True}}),
    ("a = -0.5", {"profile": "torch", "sample": {"k": "bicubic"}}),
    ("a = -0.5", {"profile": "torch", "sample": {"k": "bicubic", "antialias": True, "a": -0.75}}),
    (
        "half_pixel",
        {"profile": "torch", "sample": {"k": "bilinear", "antialias": True, "grid": "asymmetric"}},
    ),
]


@pytest.mark.parametrize(("match", "parts"), REFUSED)
def test_what_is_not_defined_is_refused(match: str, parts: dict[str, Any]) -> None:
    with pytest.raises(SpecError, match=match):
        Pipeline.from_json(json.dumps({"size": [8, 6], **parts})).compile()


def test_filters_of_absurd_size_are_refused() -> None:
    frame, _ = make("rgb", 40, 30)
    for sampler in SAMPLERS.values():
        if sampler["k"] == "area" or sampler.get("antialias"):
            spec = {"size": [16000, 2], "sample": sampler}
            spec["fit"] = {"k": "matrix", "m": [5000, 0, 0, 0, 1, 0, 0, 0, 1]}
            with pytest.raises(ArgumentError, match="smaller region"):
                Pipeline.from_json(json.dumps(spec)).compile()(frame)


def test_twin_filters_are_what_they_say() -> None:
    """The twin by hand: a box over whole pixels, a triangle at 2:1, flat pictures."""
    area, _ = twin.filter_axis({"k": "area"}, 2.5, 0, range(2), 5, True)
    np.testing.assert_allclose(area, [[0.4, 0.4, 0.2, 0, 0], [0, 0, 0.2, 0.4, 0.4]])
    half, _ = twin.filter_axis({"k": "bilinear", "antialias": True}, 2, 0, range(1, 2), 6, True)
    np.testing.assert_allclose(half, [[0, 0.125, 0.375, 0.375, 0.125, 0]])
    for sampler, scale in itertools.product(SAMPLERS.values(), (0.4, 1, 3.7)):
        clamped, _ = twin.filter_axis(sampler, scale, 0.3, range(9), 11, False)
        np.testing.assert_allclose(clamped.sum(1), 1)
