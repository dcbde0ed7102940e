"""Tensors of Y, U and V against the float64 twin, from frames of every format."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import twin
from format_cases import FORMATS, YUVS, build
from foveal.errors import FrameError, SpecError
from foveal.frame import Frame
from foveal.image import Constant, Letterbox, Pipeline, Yuv

CODINGS = [f"{m}-{r}" for m in ("bt601", "bt709", "bt2020") for r in ("limited", "full")]
ONE_TAP, SAMPLED = 1e-3, 0.1  # of 255; the latter is what profile "exact" promises


def compare(spec: dict[str, Any], made: tuple[Frame, twin.Picture], roi: Any = None) -> np.ndarray:
    frame, picture = made
    spec = {"color": "YUV", **spec, **({} if roi is None else {"roi": "per_call"})}
    plan = Pipeline.from_json(json.dumps(spec)).compile(layout="nhwc")
    got, _ = plan(frame, roi)
    tolerance = ONE_TAP if "one tap" in plan.explain() else SAMPLED
    if spec.get("intermediate") == "u8":  # near a half, either neighbour is right
        spec["intermediate"] = "f32"
        tolerance += 0.5
        np.testing.assert_array_equal(got, np.rint(got))
    np.testing.assert_allclose(got[0], twin.run(spec, picture, roi), rtol=0, atol=tolerance)
    return got[0]


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("to", CODINGS)
def test_every_format_to_every_coding(fmt: str, to: str) -> None:
    for color in CODINGS if fmt in ("nv12", "i010") else ["bt709-full"]:
        made = build(fmt, 19, 13, color=color, pad=1)
        compare({"size": [19, 13], "yuv": {"to": to}}, made)
        compare({"size": [7, 11], "yuv": {"to": to}}, made)


@pytest.mark.parametrize("fmt", YUVS)
@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_a_frames_own_numbers_are_copied(fmt: str, rotation: int) -> None:
    for color in CODINGS:
        frame, picture = build(fmt, 12, 9, rotation=rotation, mirror=True, color=color)
        size = frame.upright_size
        codes = twin.upright(picture.data, rotation, True)
        deep = fmt in ("p010", "i010") and color.endswith("full")
        for to in ("frame", color):
            got = compare({"size": list(size), "yuv": {"to": to}}, (frame, picture))
            if not deep:
                np.testing.assert_array_equal(got, np.minimum(codes, 255))
    if fmt not in ("p010", "i010"):  # which matrix they are of does not matter
        frame, _ = build(fmt, 12, 9, rotation=rotation, mirror=True, color=None)
        got, _ = Pipeline(size=size, color="YUV").compile(layout="nhwc")(frame)
        np.testing.assert_array_equal(got[0], codes)


@pytest.mark.parametrize(("fmt", "to"), [("nv12", "frame"), ("rgb", "bt709-limited")])
@pytest.mark.parametrize(
    "spec",
    [
        {"fit": {"k": "letterbox"}},
        {"fit": {"k": "letterbox", "pad": [9, 8, 7]}},
        {"fit": {"k": "letterbox", "policy": "mediapipe"}, "border": {"k": "constant"}},
        {"fit": {"k": "cover"}, "sample": {"k": "nearest"}},
        {"fit": {"k": "matrix", "m": [0.9, 0.5, -3, -0.4, 1.1, 2, 0.01, 0, 1]}}
        | {"border": {"k": "constant", "v": [200, 90, 30]}},
        {"fit": {"k": "matrix", "m": [1, 0, -4.3, 0, 1, 2, 0, 0, 1]}}
        | {"border": {"k": "constant_hard"}},
        {"sample": {"k": "bilinear", "antialias": True}},
        {"sample": {"k": "area"}, "intermediate": "u8"},
        {"norm": {"scale": 1 / 255, "mean": [0, 0.5, 0.25], "std": [1, 2, 0.5]}},
        {"orient": "none"},
    ],
)
def test_through_every_plan(spec: dict[str, Any], fmt: str, to: str) -> None:
    chroma = {} if "area" in str(spec) or "true" in json.dumps(spec) else {"chroma": "linear"}
    if spec.get("border", {}).get("k") == "constant_hard":
        chroma = {}
    for yuv in ({}, {**chroma, "siting": "left"}):
        made = build(fmt, 31, 22, rotation=90, color="bt709-limited")
        compare({"size": [13, 17], "yuv": {"to": to, **yuv}, **spec}, made)


def test_extremes() -> None:
    levels = np.array([0, 255, 1, 128], np.uint8)
    cube = np.stack(np.meshgrid(levels, levels, levels), -1).reshape(8, 8, 3)
    picture = twin.Picture("rgb", cube.astype(np.float64))
    for to in CODINGS:
        got = compare({"size": [8, 8], "yuv": {"to": to}}, (Frame.from_numpy(cube), picture))
        white, black = got[(cube == 255).all(-1)], got[(cube == 0).all(-1)]
        top, bottom = (235, 16) if to.endswith("limited") else (255, 0)
        np.testing.assert_allclose(white, [[top, 128, 128]], atol=1e-3)
        np.testing.assert_allclose(black, [[bottom, 128, 128]], atol=1e-3)


def test_elements_and_layouts() -> None:
    frame, picture = build("rgb", 21, 14)
    spec = {"size": [9, 6], "color": "YUV", "yuv": {"to": "bt601-full"}}
    pipeline = Pipeline.from_json(json.dumps(spec))
    want = twin.run(spec, picture)
    got, _ = pipeline.compile(dtype="uint8", layout="nchw")(frame)
    assert np.abs(got[0].transpose(1, 2, 0) - want).max() <= 0.5 + SAMPLED
    # At the same size bytes are the floats rounded, too, from YUV frames with "fast" as well.
    for fmt in ("nv12", "i444", "bgra"):
        frame, _ = build(fmt, 21, 14)
        for profile in ("exact", "fast"):
            same = Pipeline(size=(21, 14), color="YUV", yuv=Yuv(to="bt709-full"), profile=profile)
            bytes_, _ = same.compile(dtype="uint8", layout="nhwc")(frame)
            floats, _ = same.compile(layout="nhwc")(frame)
            np.testing.assert_array_equal(bytes_, np.rint(floats).astype(np.uint8))


def test_specs() -> None:
    spec = Pipeline(size=(4, 4), color="YUV")
    assert spec.yuv == Yuv(to="frame") and Pipeline.from_json(spec.json()) == spec
    assert '"siting":"frame","to":"frame"}' in spec.json()
    spec = Pipeline(size=(4, 4), color="YUV", fit=Letterbox(), border=Constant((0, 128, 128)))
    assert spec.fit == Letterbox(pad=(114, 128, 128))
    assert '"to"' not in Pipeline(size=(4, 4)).json()
    with pytest.raises(SpecError, match='"to": expected nothing beside a color other than "YUV"'):
        Pipeline(size=(4, 4), yuv=Yuv(to="bt601-full"))
    with pytest.raises(SpecError, match=r'"to": expected .*bt2020-full'):
        Pipeline(size=(4, 4), color="YUV", yuv=Yuv(to="bt601"))
    for profile in ("cv2", "cv2_4"):
        cv2 = Pipeline(size=(4, 4), color="YUV", profile=profile, intermediate="u8")
        with pytest.raises(SpecError, match='does not define color "YUV"'):
            cv2.compile()


def test_frames_that_do_not_say_enough() -> None:
    own = Pipeline(size=(6, 4), color="YUV").compile()
    for fmt in ("rgb", "gray"):
        with pytest.raises(FrameError, match="expected a YUV format"):
            own(build(fmt, 6, 4)[0])
    with pytest.raises(FrameError, match="range: expected limited or full"):
        own(build("i010", 6, 4, color=None)[0])
    other = Pipeline(size=(6, 4), color="YUV", yuv=Yuv(to="bt709-full")).compile()
    with pytest.raises(FrameError, match="matrix: expected"):
        other(build("nv12", 6, 4, color=None)[0])
    said = Yuv(matrix="bt601", range="limited", to="bt709-full")
    got, _ = Pipeline(size=(6, 4), color="YUV", yuv=said).compile()(
        build("nv12", 6, 4, color=None)[0]
    )
    want, _ = other(build("nv12", 6, 4, color="bt601-limited")[0])
    np.testing.assert_array_equal(got, want)
