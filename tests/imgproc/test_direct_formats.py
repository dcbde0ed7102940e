"""Bytes to bytes at the same size, of every format that has such rows: the float pipeline, rounded,
bit for bit; and nothing outside of the visible part matters."""

from __future__ import annotations

import numpy as np
import pytest
import twin
from format_cases import GRAYS, PACKED, YUVS, build
from foveal.image import Letterbox, Norm, Pipeline
from test_image_direct import ORIENTATIONS, WIDTHS, check

BYTES = ("rgb", "bgr", "rgba", "bgra", "gray", "gray_alpha")
WORDS = ("rgb16", "bgr16", "gray16", "rgbf32", "bgrf32", "grayf32")
EIGHT = tuple(name for name in YUVS if name not in ("p010", "i010"))
RGB = (*BYTES, *YUVS)  # formats with rows of bytes to RGB and BGR
GRAY = (*BYTES, *EIGHT)  # to GRAY


def test_all_formats_are_listed() -> None:
    assert {*RGB, *WORDS} == {*PACKED, *GRAYS, *YUVS}


@pytest.mark.parametrize(
    ("fmt", "color"), [(f, c) for f in RGB for c in ("RGB", "BGR")] + [(f, "GRAY") for f in GRAY]
)
def test_every_width(fmt: str, color: str) -> None:
    for width in (*WIDTHS, 255, 256, 511, 513):
        frame, picture = build(fmt, width, 3, seed=width, pad=width % 3, color="bt709-limited")
        got = check(frame, size=(width, 3), color=color)
        want = twin.run({"size": [width, 3], "color": color}, picture)
        clear = np.abs(want % 1 - 0.5) > 1e-3
        np.testing.assert_array_equal(got[clear], np.rint(want)[clear])


@pytest.mark.parametrize(("rotation", "mirror"), ORIENTATIONS)
@pytest.mark.parametrize("fmt", RGB)
def test_every_orientation(fmt: str, rotation: int, mirror: bool) -> None:
    """Pictures narrower and wider than a tile of 64 pixels, and than a row of 4096."""
    lie = {"rotation": rotation, "mirror": mirror, "color": "bt709-limited"}
    for width, height in ((1, 1), (7, 5), (64, 63), (65, 130), (4101, 2)):
        frame, picture = build(fmt, width, height, seed=width, pad=width % 3, **lie)
        for color in ("RGB", "GRAY") if fmt in GRAY else ("BGR",):
            got = check(frame, size=frame.upright_size, color=color)
            want = twin.run({"size": list(frame.upright_size), "color": color}, picture)
            clear = np.abs(want % 1 - 0.5) > 1e-3
            np.testing.assert_array_equal(got[clear], np.rint(want)[clear])
    part, _ = build(fmt, 150, 140, visible=(3, 5, 131, 133), **lie)
    for roi in ((1, 0, 66, 65), (0, 2, 70, 131), (5, 7, 6, 90)):
        check(part, roi, size=(roi[2] - roi[0], roi[3] - roi[1]))
    across, down = part.upright_size
    for size in ((across + 20, down), (across, down + 21)):
        check(part, size=size, fit=Letterbox(pad=(1, 200, 30)))


@pytest.mark.parametrize("fmt", RGB)
def test_crops_and_visible_parts_at_odd_places(fmt: str) -> None:
    for x, y, width in ((0, 0, 33), (1, 0, 40), (3, 1, 17), (2, 3, 530), (5, 2, 1)):
        whole = width + x + 9, 12
        frame, _ = build(fmt, *whole)
        for color in ("RGB", "GRAY") if fmt in GRAY else ("BGR",):
            check(frame, (x, y, x + width, y + 7), size=(width, 7), color=color)
        part, picture = build(fmt, *whole, visible=(x, y, width, 7))
        got = check(part, size=(width, 7))
        want = twin.run({"size": [width, 7]}, picture)
        clear = np.abs(want % 1 - 0.5) > 1e-3
        np.testing.assert_array_equal(got[clear], np.rint(want)[clear])


@pytest.mark.parametrize("fmt", ["yuyv", "i444", "p010", "i010"])
@pytest.mark.parametrize("color", ["bt601", "bt709", "bt2020"])
@pytest.mark.parametrize("range_", ["limited", "full"])
def test_matrices(fmt: str, color: str, range_: str) -> None:
    frame, _ = build(fmt, 259, 6, color=f"{color}-{range_}")
    for out in ("RGB", "BGR"):
        check(frame, size=(259, 6), color=out)
    if fmt in GRAY:
        check(frame, size=(259, 6), color="GRAY")


@pytest.mark.parametrize("fmt", EIGHT)
def test_fast_profile_stays_within_one(fmt: str) -> None:
    for width in (*WIDTHS, 513):
        frame, _ = build(fmt, width, 4, seed=width)
        spec = Pipeline(size=(width, 4), profile="fast")
        fast, _ = spec.compile(dtype="uint8", layout="nhwc")(frame)
        exact = check(frame, size=(width, 4))
        assert np.abs(fast[0].astype(int) - exact).max() <= 1
    plan = Pipeline(size=(513, 4), profile="fast").compile(dtype="uint8", layout="nhwc")
    plan(frame)
    assert ("fixed point" in plan.explain()) == (fmt != "i444")


@pytest.mark.parametrize("fmt", WORDS)
def test_what_goes_through_floats(fmt: str) -> None:
    check(build(fmt, 20, 10)[0], direct=False, size=(20, 10))


def test_gray_tensors_that_are_no_bytes_of_the_picture() -> None:
    frame, _ = build("rgb", 20, 10)
    for fmt in ("p010", "gray16"):
        check(build(fmt, 20, 10)[0], direct=False, size=(20, 10), color="GRAY")
    half = Pipeline(size=(20, 10), color="GRAY", norm=Norm(0.5)).compile(dtype="uint8")
    got, _ = half(frame)
    assert "bytes to bytes" not in half.explain() and got.max() <= 128
