"""Masks and rotated boxes of a transform, back to the frame."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
import twin
from foveal.errors import ArgumentError
from foveal.image import Crop, Decoder, Letterbox, Transform
from test_mask import FITS, ROIS, TOLERANCE, see


@pytest.mark.parametrize("fit", [*FITS, Crop(48)], ids=str)
@pytest.mark.parametrize("roi", ROIS, ids=str)
def test_bilinear_is_the_twin_s(fit: Any, roi: Any) -> None:
    for turned in ({}, {"rotation": 90, "mirror": True}, {"rotation": 180}):
        t = see((40, 32), roi, fit, **turned)
        for shape in ((7, 9), (32, 40), (1, 1)):
            mask = np.random.default_rng(2).random(shape, np.float32) * 6 - 3
            got = t.mask_to_frame(mask)
            assert got.dtype == np.float32 and got.shape == t.frame_size[::-1]
            np.testing.assert_allclose(got, twin.mask(mask, t), rtol=0, atol=6 * TOLERANCE)


@pytest.mark.parametrize("fit", FITS, ids=str)
@pytest.mark.parametrize("roi", ROIS, ids=str)
def test_nearest_is_the_pixel_that_holds_the_point(fit: Any, roi: Any) -> None:
    t = see((40, 32), roi, fit)
    mask = np.arange(1, 7 * 9 + 1, dtype=np.float32).reshape(7, 9)
    got = t.mask_to_frame(mask, "nearest")
    width, height = t.frame_size
    m, (x0, y0, x1, y1) = t.inverse, t.valid
    for y in range(height):
        for x in range(width):
            u, v, w = m @ [x + 0.5, y + 0.5, 1]
            u, v = u / w, v / w
            if w <= 0 or not (x0 <= u < x1 and y0 <= v < y1):
                assert got[y, x] == 0
                continue
            at = [u * 9 / 40, v * 7 / 32]
            if any(abs(p - round(p)) < 1e-5 for p in at):
                continue  # between two pixels
            for i, (n, size, lo, hi) in enumerate(((9, 40, x0, x1), (7, 32, y0, y1))):
                centres = [j for j in range(n) if lo <= (j + 0.5) * size / n < hi]
                at[i] = min(max(math.floor(at[i]), centres[0]), centres[-1])
            assert got[y, x] == mask[int(at[1]), int(at[0])], (x, y)


def test_decoders_give_the_same() -> None:
    mask = np.random.default_rng(3).random((33, 21), np.float32)
    for roi in ROIS:
        t = see((40, 32), roi)
        got = Decoder({"kind": "mask", "output": "m"}).run({"m": mask[None, ..., None]}, t)
        np.testing.assert_array_equal(t.mask_to_frame(mask), got)


def test_long_rows_have_no_seams() -> None:
    """More than one chunk of a row; every column of a ramp is a little more than the one before."""
    t = see((640, 640), (1000, 500, 1800, 900, 7.5), sensor=(1920, 1080))
    ramp = np.repeat(np.linspace(0, 1, 64, dtype=np.float32)[None], 64, 0)
    got = t.mask_to_frame(ramp)[500]
    inside = got[150:1850]
    assert (np.diff(inside) > 0).all()
    np.testing.assert_allclose(t.mask_to_frame(ramp), twin.mask(ramp, t), rtol=0, atol=TOLERANCE)


def test_values_that_are_not_finite_count_as_0() -> None:
    mask = np.array([[np.nan, np.inf], [-np.inf, 1]], np.float32)
    clean = np.array([[0, 0], [0, 1]], np.float32)
    for roi in ROIS:
        t = see((40, 32), roi)
        for mode in ("bilinear", "nearest"):
            np.testing.assert_array_equal(t.mask_to_frame(mask, mode), t.mask_to_frame(clean, mode))


@pytest.mark.parametrize(
    "mask", [np.zeros(4), np.zeros((0, 4)), np.zeros((2, 2, 2)), "x", None, np.zeros((1, 16385))]
)
def test_masks_that_are_none(mask: Any) -> None:
    with pytest.raises(ArgumentError):
        see((40, 32)).mask_to_frame(mask)


def test_modes_that_are_none() -> None:
    with pytest.raises(ArgumentError, match="cubic"):
        see((40, 32)).mask_to_frame(np.zeros((2, 2)), "cubic")


def test_hostile_transforms() -> None:
    text = json.loads(see((40, 32), (30, 20, 28, 18, 33)).json())
    ones = np.ones((4, 5), np.float32)
    for key, value in [
        ("from_frame", [1e300] * 9),
        ("from_frame", [1e308, -1e308, 1e308, 1e308, -1e308, 1e308, 0, 0, 1]),
        ("from_frame", [1e308, -1e308, 1e308, 1e308, -1e308, 1e308, 1e308, -1e308, 1]),
        ("from_frame", [0] * 9),
        ("from_frame", [1, 0, 0, 0, 1, 0, 0, 0, -1]),
        ("from_frame", [5e-324] * 9),
        ("from_frame", [1, 0, 0, 0, 1, 0, 1e-300, 0, 1]),
        ("valid", [-1e308, -1e308, 1e308, 1e308]),
        ("valid", [50, 50, -50, -50]),
    ]:
        t = Transform.from_json(json.dumps({**text, key: value}))
        for mode in ("bilinear", "nearest"):
            assert set(np.unique(t.mask_to_frame(ones, mode))) <= {0, 1}
    for size in ([-5, 5], [0, 0], [2**31 - 1, 2**31 - 1]):
        t = Transform.from_json(json.dumps({**text, "frame_size": size}))
        with pytest.raises(ArgumentError):
            t.mask_to_frame(ones)


def test_rotated_boxes() -> None:
    t = see((40, 32), fit=Letterbox())
    boxes = np.array([[20, 16, 10, 6, 30], [5, 5, 4, 2, 0]], np.float64)
    got = t.rotated_to_frame(boxes)
    assert got.shape == (2, 4, 2)
    for (x, y, w, h, degrees), corners in zip(boxes, got, strict=True):
        turn = math.radians(degrees)
        for (sx, sy), corner in zip(((-1, -1), (1, -1), (1, 1), (-1, 1)), corners, strict=True):
            own = complex(sx * w / 2, sy * h / 2) * complex(math.cos(turn), math.sin(turn))
            want = t.points_to_frame([x + own.real, y + own.imag])
            np.testing.assert_allclose(corner, want, atol=1e-9)
    np.testing.assert_allclose(
        t.rotated_to_frame(boxes[1])[[0, 2]].ravel(), t.to_frame([3, 4, 7, 6])
    )
    assert t.rotated_to_frame(np.zeros((0, 5))).shape == (0, 4, 2)
    for wrong in (np.zeros(4), 5, "x", [[1, 2]]):
        with pytest.raises(ArgumentError):
            t.rotated_to_frame(wrong)  # type: ignore[arg-type]
