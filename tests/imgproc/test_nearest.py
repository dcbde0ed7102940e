"""Nearest pixels of points that lie on the border of two: the same in every orientation."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import twin
from format_cases import build
from foveal.frame import Frame
from foveal.image import Pipeline

MAPS = {
    "half a pixel": [1, 0, 0.5, 0, 1, -0.5],
    "half a pixel, mirrored": [-1, 0, 9.5, 0, -1, 7.5],
    "quarter turn": [0, 1, 0.5, -1, 0, 8.5],
    "two pixels": [2, 0, -3, 0, 2, -2],
    "diagonal": [1, 1, -4, -1, 1, 3],
    "diagonal, mirrored": [1, -1, 0, -1, -1, 11],
}
BORDERS = [
    {"k": "replicate"},
    {"k": "constant", "v": [250, 3, 90]},
    {"k": "constant_hard", "v": [250, 3, 90]},
    {"k": "reflect101"},
]


def spec_of(matrix: list[float], **more: Any) -> dict[str, Any]:
    fit = {"k": "matrix", "m": [*matrix, 0, 0, 1]}
    return {"size": [9, 8], "fit": fit, "sample": {"k": "nearest"}, **more}


def run(spec: dict[str, Any], frame: Frame) -> np.ndarray:
    got, _ = Pipeline.from_json(json.dumps(spec)).compile(layout="nhwc")(frame)
    return got[0]


@pytest.mark.parametrize("border", BORDERS, ids=lambda b: b["k"])
@pytest.mark.parametrize("name", MAPS)
def test_ties_equal_the_twin_in_every_orientation(name: str, border: dict[str, Any]) -> None:
    spec = spec_of(MAPS[name], border=border)
    for rotation in (0, 90, 180, 270):
        for mirror in (False, True):
            for fmt in ("bgra", "nv12", "gray16"):
                frame, picture = build(fmt, 10, 7, rotation=rotation, mirror=mirror)
                want = twin.run(spec, picture)
                np.testing.assert_allclose(run(spec, frame), want, rtol=0, atol=1e-3)


@pytest.mark.parametrize("sampler", ["nearest", "bilinear"])
@pytest.mark.parametrize("border", BORDERS, ids=lambda b: b["k"])
@pytest.mark.parametrize("name", MAPS)
def test_it_does_not_matter_how_a_picture_lies(
    name: str, border: dict[str, Any], sampler: str
) -> None:
    pixels = np.random.default_rng(5).integers(0, 256, (8, 11, 3), np.uint8)
    spec = {**spec_of(MAPS[name], border=border), "sample": {"k": sampler}}
    want = run(spec, Frame.from_numpy(pixels))
    for rotation in (0, 90, 180, 270):
        for mirror in (False, True):
            lying = np.rot90(pixels[:, ::-1] if mirror else pixels, rotation // 90)
            frame = Frame.from_numpy(lying, rotation=rotation, mirror=mirror)
            np.testing.assert_allclose(run(spec, frame), want, rtol=0, atol=1e-3)


def test_a_point_just_before_the_border_counts_as_on_it() -> None:
    for rotation in (0, 90, 180, 270):
        frame, picture = build("rgb", 10, 10, rotation=rotation)
        for offset, beyond in ((-(2.0**-21), True), (-(2.0**-19), False), (2.0**-21, True)):
            spec = spec_of([1, 0, 2.5 + offset, 0, 1, 1.5 + offset], border={"k": "replicate"})
            spec["size"] = [4, 4]
            first = 3 if beyond else 2
            want = twin.upright(picture.data, rotation, False)[first - 1 :, first:][:4, :4]
            np.testing.assert_array_equal(run(spec, frame), want)
            np.testing.assert_array_equal(twin.run(spec, picture), want)
