"""Landmark decoders: tensors of every kind of network, back to points of the upright frame."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from foveal.errors import FovealError, NotFoundError, ShapeError, SpecError
from foveal.frame import Frame
from foveal.image import Decoder, Letterbox, Pipeline, Quad, Rect, RotatedRect, Transform

MESH = {"kind": "landmarks", "landmarks": "mesh", "points": 468, "presence": "flag"}
IRIS = {"kind": "landmarks", "landmarks": ["eye", "iris"], "points": 76}
HAND = {"kind": "landmarks", "landmarks": "hand", "points": 21, "presence": "flag"} | {
    "presence_activation": "none",
    "label": "right",
}
POSE = {"kind": "landmarks", "landmarks": "pose", "points": 39, "values": 5, "presence": "flag"} | {
    "presence_activation": "none"
}
ROIS = [
    Rect(40, 20, 160, 200),
    RotatedRect(110, 120, 90, 90, 33),
    RotatedRect(30, 220, 200, 120, -140),
]


def see(size: tuple[int, int], roi: Any = None, fit: Any = None, **turned: Any) -> Transform:
    """The transform of a region of a 320x240 sensor."""
    frame = Frame.from_numpy(np.zeros((240, 320), np.uint8), **turned)
    spec = Pipeline(
        size=size,
        roi="full" if roi is None else "per_call",
        **({} if fit is None else {"fit": fit}),
    )
    return spec.compile()(frame, roi)[1]


def sigmoid(v: Any) -> Any:
    return 1 / (1 + np.exp(-np.asarray(v, np.float64)))


@pytest.mark.parametrize("roi", ROIS, ids=str)
@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("mirror", [False, True])
def test_points_of_a_region_come_back(roi: Any, rotation: int, mirror: bool) -> None:
    t = see((192, 192), roi, rotation=rotation, mirror=mirror)
    rng = np.random.default_rng(2)
    frame_points = rng.uniform(0, 240, (468, 2))  # inside and outside of the region
    z = rng.uniform(-40, 40, 468)
    tensor = np.concatenate([t.points_from_frame(frame_points), z[:, None]], 1)
    flat = tensor.astype(np.float32).reshape(1, 1, 1, 1404)
    found = Decoder(MESH).run({"mesh": flat, "flag": np.full((1, 1, 1, 1), 2, np.float32)}, t)
    assert len(found) == 1 and found.points.shape == (1, 468, 5)
    np.testing.assert_allclose(found.points[0, :, :2], frame_points, rtol=0, atol=2e-4)
    width = roi.x1 - roi.x0 if isinstance(roi, Rect) else roi.width
    np.testing.assert_allclose(found.points[0, :, 2], z * width / 192, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(found.points[0, :, 3:], 1)
    hull = [*frame_points.min(0), *frame_points.max(0)]
    np.testing.assert_allclose(found.boxes[0], hull, rtol=0, atol=2e-4)
    np.testing.assert_allclose(found.scores, [sigmoid(2)], rtol=1e-6)
    assert found.labels.tolist() == [0]


def test_letterboxed_points_leave_the_bars() -> None:
    t = see((64, 64), None, Letterbox(policy="yolox"))  # 64 x 48 of it show the frame
    spec = {"kind": "landmarks", "landmarks": "a", "points": 2, "values": 2}
    found = Decoder(spec).run({"a": np.array([[0, 0, 64, 48]], np.float32)}, t)
    np.testing.assert_allclose(found.points[0, :, :3], [[0, 0, 0], [320, 240, 0]], atol=1e-4)
    assert found.scores.tolist() == [1]


def test_depth_in_a_quad_follows_its_width() -> None:
    t = see((100, 50), Quad([[10, 10], [210, 10], [210, 60], [10, 60]]))
    spec = {"kind": "landmarks", "landmarks": "a", "points": 1}
    found = Decoder(spec).run({"a": np.array([50, 25, 7], np.float32)}, t)
    np.testing.assert_allclose(found.points[0, 0], [110, 35, 14, 1, 1], rtol=1e-5)


def test_several_tensors_are_one_list() -> None:
    t = see((64, 64), RotatedRect(100, 100, 32, 32, 0))
    rng = np.random.default_rng(4)
    eye, iris = rng.uniform(0, 64, (71, 3)), rng.uniform(0, 64, (5, 3))
    outputs = {
        "iris": iris.astype(np.float32).reshape(1, 15),
        "eye": eye.astype(np.float32).reshape(1, 71, 3),
        "other": np.zeros((3, 3), np.float32),
    }
    found = Decoder(IRIS).run(outputs, t)
    want = np.concatenate([eye, iris]) * 0.5
    want[:, :2] += 84
    np.testing.assert_allclose(found.points[0, :, :3], want, rtol=0, atol=1e-4)


@pytest.mark.parametrize("side", [0.0, 0.2, 0.5, 0.51, 1.0])
def test_handedness_is_the_label(side: float) -> None:
    t = see((224, 224), RotatedRect(100, 100, 50, 50, 20))
    outputs = {
        "hand": np.zeros((1, 63), np.float32),
        "flag": np.array([[0.75]], np.float32),
        "right": np.array([[side]], np.float32),
    }
    found = Decoder(HAND).run(outputs, t)
    assert found.labels.tolist() == [1 if side > 0.5 else 0]
    assert found.scores.tolist() == [0.75]


def test_visibility_and_presence_are_logits_unless_said() -> None:
    t = see((256, 256), RotatedRect(128, 128, 256, 256, 0))
    pose = np.random.default_rng(6).uniform(-8, 8, (39, 5)).astype(np.float32)
    outputs = {"pose": pose.reshape(1, 195), "flag": np.ones((1, 1), np.float32)}
    found = Decoder(POSE).run(outputs, t)
    np.testing.assert_allclose(found.points[0, :, :3], pose[:, :3], atol=1e-4)
    np.testing.assert_allclose(found.points[0, :, 3:], sigmoid(pose[:, 3:]), rtol=1e-6)
    found = Decoder({**POSE, "visibility_activation": "none"}).run(outputs, t)
    np.testing.assert_allclose(found.points[0, :, 3:], np.clip(pose[:, 3:], 0, 1))


def test_normalised_coordinates_have_a_scale() -> None:
    t = see((100, 50), Rect(10, 20, 210, 120))
    spec = {"kind": "landmarks", "landmarks": "a", "points": 2, "scale": [100, 50]}
    found = Decoder(spec).run({"a": np.array([0, 0, 0, 1, 1, 0.5], np.float32)}, t)
    np.testing.assert_allclose(found.points[0, :, :3], [[10, 20, 0], [210, 120, 100]], rtol=1e-6)


@pytest.mark.parametrize(
    ("logit", "kept"), [(0, True), (1e-3, True), (-1e-3, False), (-1e30, False), (1e30, True)]
)
def test_absent_things_are_no_result(logit: float, kept: bool) -> None:
    t = see((192, 192), ROIS[1])
    outputs = {"mesh": np.ones(1404, np.float32), "flag": np.float32(logit)[None]}
    found = Decoder(MESH).run(outputs, t)
    assert len(found) == kept
    assert found.points.shape == (int(kept), 468, 5)
    assert len(Decoder({**MESH, "min_score": 0}).run(outputs, t)) == 1


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 3e38])
@pytest.mark.parametrize("where", ["x", "y", "z", "flag", "visibility", "right"])
def test_values_that_are_not_finite_are_never_reported(value: float, where: str) -> None:
    t = see((8, 8), RotatedRect(100, 100, 800, 800, 30))
    spec = {"kind": "landmarks", "landmarks": "a", "points": 4, "values": 5, "presence": "flag"}
    spec |= {"label": "right", "min_score": 0}
    points = np.ones((4, 5), np.float32)
    outputs = {
        "a": points,
        "flag": np.ones(1, np.float32),
        "right": np.zeros(1, np.float32),
    }
    if where in ("flag", "right"):
        outputs[where][0] = value
    else:
        points[2, ["x", "y", "z", "visibility"].index(where)] = value
    found = Decoder(spec).run(outputs, t)
    for part in (found.points, found.boxes, found.scores):
        assert np.isfinite(part).all()
    said = where in ("visibility", "flag") and not math.isnan(value)  # a logit may be infinite
    said = said or (where == "right" and math.isfinite(value))
    assert len(found) == said


def test_points_beyond_the_horizon_are_no_result() -> None:
    t = see((100, 100), Quad([[100, 100], [120, 100], [200, 200], [20, 200]]))
    spec = {"kind": "landmarks", "landmarks": "a", "points": 1, "values": 2}
    assert len(Decoder(spec).run({"a": np.array([50, 50], np.float32)}, t)) == 1
    assert len(Decoder(spec).run({"a": np.array([50, 1e5], np.float32)}, t)) == 0


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({"eye": None}, NotFoundError, "'eye' is missing"),
        ({"eye": np.zeros(212, np.float32)}, ShapeError, "'eye': expected 3 values per point"),
        ({"eye": np.zeros(210, np.float32)}, ShapeError, "expected 76 points of 3 values, got 75"),
        ({"iris": np.zeros((2, 15), np.float32)}, ShapeError, "76 points of 3 values, got 81"),
        ({"iris": np.zeros(15, np.float64)}, ShapeError, "'iris': expected float32"),
        ({"iris": np.zeros((0, 3), np.float32)}, ShapeError, "iris"),
        ({"flag": np.zeros(2, np.float32)}, ShapeError, "'flag'"),
        ({"flag": np.zeros((1, 0), np.float32)}, ShapeError, "'flag'"),
        ({"flag": None}, NotFoundError, "'flag' is missing"),
    ],
)
def test_outputs_that_do_not_fit(change: dict[str, Any], error: Any, match: str) -> None:
    outputs: dict[str, Any] = {"eye": np.zeros(213, np.float32), "iris": np.zeros(15, np.float32)}
    outputs |= {"flag": np.zeros(1, np.float32)} | change
    with pytest.raises(error, match=match):
        Decoder({**IRIS, "presence": "flag"}).run(
            {k: v for k, v in outputs.items() if v is not None}, see((64, 64))
        )


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"landmarks": None}, '"landmarks"'),
        ({"landmarks": ""}, '"landmarks"'),
        ({"landmarks": []}, '"landmarks"'),
        ({"landmarks": ["a", ""]}, '"landmarks"'),
        ({"landmarks": ["a"] * 17}, '"landmarks"'),
        ({"landmarks": ["a", 3]}, '"landmarks"'),
        ({"points": 0}, '"points"'),
        ({"points": 1e9}, '"points"'),
        ({"points": None}, '"points"'),
        ({"values": 1}, '"values"'),
        ({"values": 6}, '"values"'),
        ({"scale": 0}, '"scale"'),
        ({"scale": [1, -1]}, '"scale"'),
        ({"scale": [1, 2, 3]}, '"scale"'),
        ({"presence": 1}, '"presence"'),
        ({"presence_activation": "softmax"}, '"presence_activation"'),
        ({"visibility_activation": True}, '"visibility_activation"'),
        ({"label": []}, '"label"'),
        ({"min_score": 1.5}, '"min_score"'),
        ({"nms": {"k": "none"}}, 'unknown key "nms"'),
        ({"clip": True}, 'unknown key "clip"'),
    ],
)
def test_every_wrong_key_is_named(change: dict[str, Any], text: str) -> None:
    with pytest.raises(SpecError) as caught:
        Decoder(json.dumps({**MESH, **change}))
    assert text in str(caught.value)
    for key in ("landmarks", "points"):
        with pytest.raises(SpecError, match=f'"{key}" is missing'):
            Decoder({k: v for k, v in MESH.items() if k != key})


def test_the_text_is_canonical() -> None:
    assert Decoder(HAND).json() == (
        '{"decoder":1,"kind":"landmarks","landmarks":["hand"],"points":21,"values":3,'
        '"scale":[1,1],"visibility_activation":"sigmoid","presence":"flag",'
        '"presence_activation":"none","label":"right","min_score":0.5}'
    )
    for spec in (MESH, IRIS, HAND, POSE):
        decoder = Decoder(spec)
        assert decoder.gives == "landmarks"
        assert Decoder.from_json(decoder.json()).json() == decoder.json()


def test_a_mask_is_not_what_it_gives() -> None:
    with pytest.raises(FovealError, match="landmarks"):
        Decoder(MESH)._core.run_mask({}, see((8, 8))._core)
