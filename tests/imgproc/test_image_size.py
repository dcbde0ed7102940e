"""Tensors whose size follows the region: Sides and Strip, for frames and every kind of ROI."""

from __future__ import annotations

import json
import math
from typing import Any

import foveal
import lerp_twin
import numpy as np
import pytest
import tolerance
import twin
from foveal import _core
from foveal.errors import ArgumentError, FrameError, ShapeError
from foveal.frame import Frame
from foveal.image import Norm, Pipeline, Quad, Rect, RotatedRect, Sides, Strip, Transform
from imgproc_frames import make, noise

SIDES = [(1, 40, 1), (20, 40, 1), (20, 60, 8), (32, 33, 32), (1, 16384, 1), (500, 700, 7)]
STRIPS = [(48, (320, 3200), 1), (1, (1, 1), 1), (7, (14, 70), 7), (48, (48, 16384), 16)]


def gray(width: int, height: int, **turned: Any) -> Frame:
    return Frame.from_numpy(np.zeros((height, width), np.uint8), **turned)


def text_spec(policy: str = "paddleocr") -> dict[str, Any]:
    """What a reader of text lines sees."""
    return {
        "size": {"k": "strip", "height": 48, "width": [320, 3200]},
        "roi": "per_call",
        "fit": {"k": "letterbox", "policy": policy, "pad": 127.5},
    }


def test_sizes_are_the_twin_s() -> None:
    rng = np.random.default_rng(5)
    for least, most, multiple in SIDES:
        spec = Pipeline(size=Sides(least, most, multiple))
        rule = {"k": "sides", "min": least, "max": most, "multiple": multiple}
        for _ in range(60):
            w, h = (int(v) for v in np.exp(rng.uniform(0, 6, 2)))
            got = spec.size_for(gray(w, h))
            assert list(got) == twin.tensor_size(rule, w, h)
            assert max(got) <= most and min(got) >= multiple
            assert not any(side % multiple for side in got)
            assert spec.compile(size=got).size == got
    for height, width, multiple in STRIPS:
        spec = Pipeline(size=Strip(height, width, multiple))
        rule = {"k": "strip", "height": height, "width": list(width), "multiple": multiple}
        for _ in range(60):
            w, h = (int(v) for v in np.exp(rng.uniform(0, 6, 2)))
            got = spec.size_for(gray(w, h))
            assert list(got) == twin.tensor_size(rule, w, h)
            assert spec.compile(size=got).size == got


def test_sides_by_hand() -> None:
    spec = Pipeline(size=Sides(736, 2000, 32))
    for frame, want in [
        ((1000, 800), (992, 800)),  # nothing to scale: only rounded
        ((640, 368), (1280, 736)),  # the short side is too short
        ((4000, 1000), (1984, 512)),  # the long side is too long: 2000, 500
        ((100, 1), (1984, 32)),  # both: the long side wins
        ((1, 1), (736, 736)),
    ]:
        assert spec.size_for(gray(*frame)) == want
        assert spec.size_for(gray(*frame, rotation=90)) == want[::-1]
    assert Pipeline(size=Sides(736, 2000, 32), orient="none").size_for(
        gray(640, 368, rotation=90)
    ) == (1280, 736)


def test_a_fixed_size_is_its_own() -> None:
    assert Pipeline(size=(31, 17)).size_for(gray(5, 9)) == (31, 17)
    spec = Pipeline(size=(31, 17), roi="per_call")
    assert spec.size_for(gray(5, 9), Rect(0, 0, 2, 9)) == (31, 17)


def test_strips_follow_the_region_not_the_frame() -> None:
    spec = Pipeline.from_json(json.dumps(text_spec()))
    frame = gray(900, 700)
    for degrees in (0, 17.3, 90, 133.7, 270):
        for w, h, want in [(400, 48, 400), (100, 30, 320), (333.3, 24, 667), (800, 10, 3200)]:
            roi = RotatedRect(450, 350, w, h, degrees)
            assert spec.size_for(frame, roi) == (want, 48)
            a = math.radians(degrees)
            x, y = np.array([math.cos(a), math.sin(a)]), np.array([-math.sin(a), math.cos(a)])
            corners = [
                np.array([450, 350]) + i * w / 2 * x + j * h / 2 * y
                for i, j in [(-1, -1), (1, -1), (1, 1), (-1, 1)]
            ]
            assert spec.size_for(frame, Quad(corners)) == (want, 48)
    # Sides of a quad that differ: the longer of either pair, as PaddleOCR crops.
    assert spec.size_for(frame, (0, 0, 900, 0, 880, 50, 0, 40)) == (
        math.ceil(48 * 900 / math.hypot(20, 50)),
        48,
    )


@pytest.mark.parametrize("policy", ["paddleocr", "yolox"])
@pytest.mark.parametrize("rotation", [0, 90])
def test_a_line_of_text_fills_the_height(policy: str, rotation: int) -> None:
    """Hundreds of turned regions: full height, top-left, and the rest of 320 is bars."""
    rng = np.random.default_rng(11)
    spec = Pipeline.from_json(json.dumps(text_spec(policy)))
    frame = gray(900, 700, rotation=rotation)
    for _ in range(200):
        w, h = rng.uniform(8, 400), rng.uniform(8, 60)
        roi = RotatedRect(450, 350, w, h, rng.uniform(-180, 180))
        size = spec.size_for(frame, roi)
        _, t = spec.compile(size=size)(frame, roi)
        shown = 48 * w / h
        wide = math.ceil(shown - 1e-6) if policy == "paddleocr" else math.floor(shown + 1e-6)
        assert size == (max(math.ceil(shown - 1e-6), 320), 48)
        np.testing.assert_allclose(t.valid, [0, 0, max(wide, 1), 48], rtol=0, atol=1e-9)
        a = math.radians(roi.degrees)
        middle = t.points_to_frame([t.valid[2] / 2, 24])
        np.testing.assert_allclose(middle, [450, 350], rtol=0, atol=1e-6)
        corner = t.points_to_frame([0, 0])
        want = [
            450 - w / 2 * math.cos(a) + h / 2 * math.sin(a),
            350 - w / 2 * math.sin(a) - h / 2 * math.cos(a),
        ]
        np.testing.assert_allclose(corner, want, rtol=0, atol=1e-6)


@pytest.mark.parametrize("policy", ["paddleocr", "yolox"])
@pytest.mark.parametrize(
    "roi",
    [(3, 4, 58, 40), (30, 20, 50, 9, 33.3), (5, 4, 50, 9, 45, 17, 2, 12), (30, 20, 5, 30, -90)],
)
@pytest.mark.parametrize("fmt", ["rgb", "nv12"])
def test_pictures_are_the_twin_s(policy: str, roi: Any, fmt: str) -> None:
    spec = {
        "size": {"k": "strip", "height": 12, "width": [20, 60]},
        "roi": "per_call",
        "fit": {"k": "letterbox", "policy": policy, "pad": 127.5},
    }
    frame, picture = make(fmt, 43, 61, rotation=90, mirror=True)
    pipeline = Pipeline.from_json(json.dumps(spec))
    plan = pipeline.compile(size=pipeline.size_for(frame, roi), layout="nhwc")
    got, transform = plan(frame, roi)
    assert transform.tensor_size == plan.size
    assert Transform.from_json(transform.json()).json() == transform.json()
    want = lerp_twin.expected(plan, spec, picture, roi)
    np.testing.assert_allclose(got[0], want, rtol=0, atol=tolerance.of(plan))


def test_a_whole_frame_is_the_twin_s() -> None:
    spec = {"size": {"k": "sides", "min": 24, "max": 60, "multiple": 4}, "norm": {"scale": 0.5}}
    pipeline = Pipeline.from_json(json.dumps(spec))
    for size in [(37, 23), (5, 90), (1, 1), (61, 44)]:
        frame, picture = make("bgra", *size, rotation=270)
        plan = pipeline.compile(size=pipeline.size_for(frame), layout="nhwc")
        got, _ = plan(frame)
        want = lerp_twin.expected(plan, spec, picture)
        np.testing.assert_allclose(got[0], want, rtol=0, atol=1e-3)


def model(dims: list[int]) -> foveal.Model:
    g = _core.GraphBuilder()
    x = g.add_value("x", "float32", dims, ["" if d >= 0 else f"d{i}" for i, d in enumerate(dims)])
    y = g.add_value("y", "", [], [])
    g.add_node("abs", "n", [x], [y])
    g.set_io([x], [y])
    g.verify()
    return g.model()


def test_where_a_plan_gets_its_size() -> None:
    spec = Pipeline(size=Sides(1, 64, 8), norm=Norm(1 / 255))
    assert spec.compile(size=(24, 16)).shape == (1, 3, 16, 24)
    assert spec.compile(shape=(1, 3, 16, 24)).size == (24, 16)
    assert spec.compile(shape=(1, 16, 24, 3)).size == (24, 16)
    assert spec.compile(shape=(None, "c", 16, 24), layout="nchw").shape == (1, 3, 16, 24)
    assert spec.compile(shape=(1, 3, "h", "w"), size=np.array([24, 16])).size == (24, 16)
    assert spec.compile(size=(24, 16), layout="nc4hw4").shape == (1, 1, 16, 24, 4)
    assert Pipeline(size=(24, 16)).compile(size=(24, 16)).size == (24, 16)
    assert repr(spec.compile(size=(24, 16))) == "Plan(24x16 RGB, float32 (1, 3, 16, 24))"
    assert spec.compile(model([1, 3, 16, 24]).inputs[0]).size == (24, 16)
    frame = Frame.from_numpy(noise((33, 41, 3)))
    session = foveal.Session(model([1, 3, -1, -1]))
    for size in [(24, 16), (8, 64), spec.size_for(frame)]:  # one session, pictures of any size
        plan = spec.compile(session, size=size)
        plan.run(frame)
        np.testing.assert_array_equal(session.run()["y"], plan(frame)[0])
        assert session.input_view("x").shape == (1, 3, size[1], size[0])


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ({}, ArgumentError, r"depends on the frame.*no shape"),
        ({"shape": (1, 3, None, 24)}, ArgumentError, "leaves it open"),
        ({"shape": (1, 3, "h", "w"), "layout": "nchw"}, ArgumentError, "leaves it open"),
        ({"shape": (1, 3, 3)}, ShapeError, "4 dimensions"),
        ({"shape": (1, 3, 3), "layout": "nchw"}, ArgumentError, "leaves it open"),
        ({"size": (24, 17)}, ShapeError, "multiples of 8 up to 64, got 24x17"),
        ({"size": (72, 16)}, ShapeError, "multiples of 8 up to 64, got 72x16"),
        ({"shape": (1, 3, 16, 2**40)}, ShapeError, "up to 64"),
        ({"shape": (1, 3, 16, 0)}, ShapeError, "up to 64"),
        ({"shape": (1, 3, 16, 24), "size": (16, 24)}, ShapeError, "expected"),
        ({"shape": (1, 3, 8, 3)}, ArgumentError, "NCHW or NHWC"),
        ({"size": 24}, ArgumentError, "size: expected"),
        ({"size": (24,)}, ArgumentError, "size: expected"),
        ({"size": (24, 0)}, ArgumentError, "size: expected"),
        ({"size": (24, 16.5)}, ArgumentError, "size: expected"),
        ({"size": (24, True)}, ArgumentError, "size: expected"),
        ({"size": "ab"}, ArgumentError, "size: expected"),
        ({"size": (24, 2**40)}, ArgumentError, "size: expected"),
    ],
)
def test_sizes_that_no_plan_can_have(arguments: Any, error: Any, match: str) -> None:
    with pytest.raises(error, match=match):
        Pipeline(size=Sides(1, 64, 8)).compile(**arguments)


def test_refusals_name_the_rule() -> None:
    spec = Pipeline(size=Strip(48, (320, 3200), 4))
    for size in [(322, 48), (316, 48), (3204, 48), (400, 47)]:
        with pytest.raises(
            ShapeError, match=r"height of 48 and a width in 320..3200.*multiple of 4"
        ):
            spec.compile(size=size)
    with pytest.raises(ShapeError, match=r"\(24, 16\), got \(16, 24\)"):
        Pipeline(size=(24, 16)).compile(size=(16, 24))


def test_size_for_takes_what_run_takes() -> None:
    spec = Pipeline.from_json(json.dumps(text_spec()))
    with pytest.raises(ArgumentError, match="per_call"):
        spec.size_for(gray(9, 9))
    with pytest.raises(ArgumentError, match="full"):
        Pipeline(size=(4, 4)).size_for(gray(9, 9), (0, 0, 1, 1))
    with pytest.raises(ArgumentError, match="size_for: expected a Frame"):
        spec.size_for(np.zeros((3, 3)))  # type: ignore[arg-type]
    for roi in [(0, 0, float("nan"), 5), (0, 0, 0, 5), (5, 5, 5, 5, 5, 5, 5, 5), (0, 0, 1e9, 5)]:
        with pytest.raises(FrameError, match="roi"):
            spec.size_for(gray(9, 9), roi)
    assert spec.size_for(gray(9, 9), (0, 0, 1e6, 1e-3)) == (3200, 48)
