"""Borders constant_hard and reflect101 of the real profiles equal the twin, tap by tap."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from foveal.frame import Frame
from foveal.image import ConstantHard, Pipeline, Replicate
from imgproc_frames import make
from test_image_pipeline import ROIS, compare

BORDERS = [{"k": "constant_hard", "v": [255, 0, 77]}, {"k": "reflect101"}]
MAPS = [
    [1.3, 0.2, -3.03, -0.1, 1.1, 2.01, 0, 0, 1],
    [2.1, 0, -91.53, 0, 1.53, -63.07, 0, 0, 1],  # several pictures away
    [0, 4.51, 0.57, -5.23, 0, 25.09, 0, 0, 1],
    [1.3, 0.2, 1.03, -0.1, 1.1, 2.01, 0.01, 0.004, 1],
]


@pytest.mark.parametrize("border", BORDERS, ids=["constant_hard", "reflect101"])
@pytest.mark.parametrize("kind", ["bilinear", "nearest"])
@pytest.mark.parametrize("fmt", ["rgb", "gray", "nv12", "i420"])
def test_regions_and_maps(fmt: str, kind: str, border: dict[str, Any]) -> None:
    spec = {"size": [23, 19], "border": border, "sample": {"k": kind}}
    for roi in ROIS:
        compare(spec, make(fmt, 61, 43, row_pad=1), roi)
    for size in ((40, 30), (1, 1), (5, 1), (2, 3)):
        for m in MAPS:
            compare({**spec, "fit": {"k": "matrix", "m": m}}, make(fmt, *size, rotation=90))


@pytest.mark.parametrize("border", BORDERS, ids=["constant_hard", "reflect101"])
def test_a_region_inside_sees_no_border(border: dict[str, Any]) -> None:
    compare({"size": [23, 19], "border": border}, make("rgb", 61, 43))
    compare({"size": [99, 87], "border": border}, make("nv21", 61, 43))


def shifted(border: dict[str, Any]) -> list[float]:
    """0, 10, 20, 30 seen from -1.5 on, in steps of half a pixel."""
    spec = {
        "size": [9, 1],
        "color": "GRAY",
        "fit": {"k": "matrix", "m": [0.5, 0, -1.25, 0, 1, 0, 0, 0, 1]},
        "border": border,
    }
    image = np.array([[0, 10, 20, 30]], np.uint8)
    plan = Pipeline.from_json(json.dumps(spec)).compile()
    values: list[float] = plan(Frame.from_numpy(image))[0].ravel().tolist()
    return values


def test_borders_in_numbers() -> None:
    # Sampled at x = -1, -0.5, 0, 0.5 ...: the first pixel's centre is at 0.5.
    assert shifted({"k": "replicate"}) == [0, 0, 0, 0, 5, 10, 15, 20, 25]
    assert shifted({"k": "constant", "v": 100}) == [100, 100, 50, 0, 5, 10, 15, 20, 25]
    assert shifted({"k": "constant_hard", "v": 100}) == [100, 100, 0, 0, 5, 10, 15, 20, 25]
    assert shifted({"k": "reflect101"}) == [15, 10, 5, 0, 5, 10, 15, 20, 25]


def mediapipe_gl(image: np.ndarray, roi: tuple[float, ...], size: tuple[int, int]) -> np.ndarray:
    """MediaPipe's ImageToTensor on a GPU: work item (i, j) reads the texture at the region's
    ((i, j) + 0.5) / size, linearly between texels' centres, clamped to its edge. float64."""
    height, width = image.shape[:2]
    cx, cy, w, h, degrees = roi
    u, v = np.meshgrid(*((np.arange(n) + 0.5) / n - 0.5 for n in size))
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    x = (cx + c * w * u - s * h * v) / width  # texture coordinates
    y = (cy + s * w * u + c * h * v) / height
    texel = np.stack([y * height, x * width]) - 0.5
    low = np.floor(texel).astype(int)
    part = (texel - low)[..., None]
    rows = [np.clip(low[0] + i, 0, height - 1) for i in (0, 1)]
    columns = [np.clip(low[1] + i, 0, width - 1) for i in (0, 1)]
    top, below = (
        image[r, columns[0]] * (1 - part[1]) + image[r, columns[1]] * part[1] for r in rows
    )
    seen = top * (1 - part[0]) + below * part[0]
    outside = (x < 0) | (x > 1) | (y < 0) | (y > 1)
    return np.dstack([seen, outside])


@pytest.mark.parametrize("border", ["replicate", "zero"])
@pytest.mark.parametrize("degrees", [0, 13.7, 90, -121.5, 180])
def test_rotated_regions_are_those_of_mediapipe(border: str, degrees: float) -> None:
    """Of its GL path; its zero border tests the sampled point itself."""
    rng = np.random.default_rng(1)
    image = rng.integers(0, 256, (97, 131, 3), np.uint8)
    for roi in ((60.3, 45.1, 57, 41, degrees), (120.2, 11.4, 83.5, 61.25, degrees)):
        spec = Pipeline(
            size=(48, 35),
            roi="per_call",
            border=Replicate() if border == "replicate" else ConstantHard(0),
        )
        got, _ = spec.compile(layout="nhwc")(Frame.from_numpy(image), roi)
        want = mediapipe_gl(image, roi, (48, 35))
        if border == "zero":
            want[..., :3] *= 1 - want[..., 3:]
        assert np.abs(got[0] - want[..., :3]).max() <= 1
