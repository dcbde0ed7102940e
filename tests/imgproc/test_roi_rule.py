"""ROI rules against MediaPipe's calculators, written down from their definitions in normalised
coordinates (as MediaPipe counts: parts of the image, radians clockwise)."""

from __future__ import annotations

import json
import math
import pickle
from typing import Any

import numpy as np
import pytest
import tolerance
from foveal.errors import ArgumentError, SpecError
from foveal.frame import Frame
from foveal.image import Pipeline, RoiRule, RotatedRect

WIDTH, HEIGHT = 640, 360
IMAGE = np.array([WIDTH, HEIGHT], np.float64)


def normalize_radians(angle: float) -> float:
    return angle - 2 * math.pi * math.floor((angle + math.pi) / (2 * math.pi))


def rotation(start: np.ndarray, end: np.ndarray, target_degrees: float) -> float:
    """Of points in parts of the image."""
    dx, dy = (end - start) * IMAGE
    return normalize_radians(math.radians(target_degrees) - math.atan2(-dy, dx))


def transform_rect(rect: dict[str, float], spec: dict[str, Any]) -> RotatedRect:
    """RectTransformationCalculator: shift along the rect's axes, square, scale; then pixels."""
    w, h, a = rect["w"], rect["h"], rect["rotation"]
    shift_x, shift_y = spec.get("shift", [0, 0])
    x = rect["x"] + (WIDTH * w * shift_x * math.cos(a) - HEIGHT * h * shift_y * math.sin(a)) / WIDTH
    y = (
        rect["y"]
        + (WIDTH * w * shift_x * math.sin(a) + HEIGHT * h * shift_y * math.cos(a)) / HEIGHT
    )
    if spec.get("square", "none") != "none":
        side = {"long": max, "short": min}[spec["square"]](w * WIDTH, h * HEIGHT)
        w, h = side / WIDTH, side / HEIGHT
    scale_x, scale_y = np.broadcast_to(spec.get("scale", 1), 2)
    return RotatedRect(
        x * WIDTH, y * HEIGHT, w * scale_x * WIDTH, h * scale_y * HEIGHT, math.degrees(a)
    )


def mediapipe(spec: dict[str, Any], box: np.ndarray, points: np.ndarray) -> RotatedRect:
    """box and points in pixels; the calculators see them in parts of the image."""
    box, points = box.reshape(2, 2) / IMAGE, points[:, :2] / IMAGE
    turn = spec.get("rotation")
    a = 0.0
    if turn:
        start, end = points[turn["from"]].mean(0), points[turn["to"]].mean(0)
        a = rotation(start, end, turn["degrees"])
    if spec["hull"] == "circle":  # AlignmentPointsRectsCalculator
        size = 2 * math.dist(start * IMAGE, end * IMAGE)
        rect = {"x": start[0], "y": start[1], "w": size / WIDTH, "h": size / HEIGHT}
        return transform_rect({**rect, "rotation": a}, spec)
    chosen = points if spec.get("points", "all") == "all" else points[spec["points"]]
    if spec["hull"] == "points":  # HandLandmarksToRectCalculator
        center = (chosen.max(0) + chosen.min(0)) / 2
        x, y = ((chosen - center) * IMAGE).T
        back = normalize_radians(-a)
        px, py = x * math.cos(back) - y * math.sin(back), x * math.sin(back) + y * math.cos(back)
        cx, cy = (px.max() + px.min()) / 2, (py.max() + py.min()) / 2
        center_x = (cx * math.cos(a) - cy * math.sin(a) + WIDTH * center[0]) / WIDTH
        center_y = (cx * math.sin(a) + cy * math.cos(a) + HEIGHT * center[1]) / HEIGHT
        w, h = np.ptp(px) / WIDTH, np.ptp(py) / HEIGHT
        return transform_rect({"x": center_x, "y": center_y, "w": w, "h": h, "rotation": a}, spec)
    if spec["hull"] == "bounds":  # LandmarksToDetectionCalculator, then DetectionsToRects
        box = np.stack([chosen.min(0), chosen.max(0)])
    (x0, y0), (x1, y1) = box
    rect = {"x": (x0 + x1) / 2, "y": (y0 + y1) / 2, "w": x1 - x0, "h": y1 - y0, "rotation": a}
    return transform_rect(rect, spec)


RULES: dict[str, dict[str, Any]] = {
    "face box": {"hull": "box", "rotation": {"from": [0], "to": [1], "degrees": 0}}
    | {"square": "long", "scale": 1.5},
    "face landmarks": {"hull": "bounds", "rotation": {"from": [3], "to": [7], "degrees": 0}}
    | {"square": "long", "scale": [1.5, 1.5]},
    "eye": {"hull": "bounds", "points": [3, 7], "square": "long", "scale": 2.3}
    | {"rotation": {"from": [3], "to": [7], "degrees": 0}},
    "palm": {"hull": "box", "rotation": {"from": [0], "to": [2], "degrees": 90}}
    | {"square": "long", "scale": [2.6, 2.6], "shift": [0, -0.5]},
    # The mean of the neighbours of the middle finger, averaged with it.
    "hand landmarks": {"hull": "points", "points": [0, 1, 2, 3, 5, 6, 9, 10, 13, 14, 17, 18]}
    | {"rotation": {"from": [0], "to": [5, 9, 9, 13], "degrees": 90}}
    | {"square": "long", "scale": [2, 2], "shift": [0, -0.1]},
    "pose": {"hull": "circle", "rotation": {"from": [0], "to": [1], "degrees": 90}}
    | {"square": "long", "scale": 1.25},
    "oblong": {"hull": "points", "rotation": {"from": [2, 4], "to": [8], "degrees": -33.5}}
    | {"scale": [0.7, 3], "shift": [0.25, -2]},
    "short": {"hull": "box", "square": "short", "shift": [1, 1]},
    "plain": {"hull": "box"},
}


def close(got: RotatedRect, want: RotatedRect, atol: float = 2e-3) -> None:
    np.testing.assert_allclose(
        [got.cx, got.cy, got.width, got.height],
        [want.cx, want.cy, want.width, want.height],
        rtol=1e-6,
        atol=atol,
    )
    turn = (got.degrees - want.degrees + 180) % 360 - 180
    assert abs(turn) < 1e-3
    assert -180 <= got.degrees < 180


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("values", [2, 3, 5])
def test_regions_are_mediapipe_s(name: str, values: int) -> None:
    rng = np.random.default_rng(3)
    rule = RoiRule({"roi": 1, **RULES[name]})
    for _ in range(100):
        points = rng.uniform(-50, 700, (21, values)).astype(np.float32)
        box = np.sort(rng.uniform(-50, 700, (2, 2)).astype(np.float32), 0).ravel()
        close(rule.apply(box, points), mediapipe(RULES[name], box, points))


@pytest.mark.parametrize("name", RULES)
def test_a_mirrored_region_is_the_same_one_with_left_and_right_exchanged(name: str) -> None:
    rng = np.random.default_rng(4)
    plain, mirrored = RoiRule(RULES[name]), RoiRule({**RULES[name], "mirror": True})
    frame = Frame.from_numpy(rng.integers(0, 256, (HEIGHT, WIDTH, 3), np.uint8))
    plan = Pipeline(size=(31, 23), roi="per_call").compile(layout="nhwc")
    for _ in range(20):
        points = rng.uniform(100, 260, (21, 2)).astype(np.float32)
        box = np.sort(rng.uniform(50, 300, (2, 2)).astype(np.float32), 0).ravel()
        (a, t), (b, u) = (plan(frame, rule.apply(box, points)) for rule in (plain, mirrored))
        np.testing.assert_allclose(b[:, :, ::-1], a, atol=2 * tolerance.of(plan))
        seen = rng.uniform(0, 23, (50, 2))
        np.testing.assert_allclose(
            u.points_to_frame(seen), t.points_to_frame([31, 0] + seen * [-1, 1]), atol=1e-4
        )


def test_a_rule_by_hand() -> None:
    # A hand that points right is turned by 90 clockwise in the picture: from it the region's "up"
    # is the picture's right.
    rule = RoiRule({"hull": "box", "rotation": {"from": [0], "to": [1], "degrees": 90}})
    for to, degrees in [((2, 1), 90), ((1, 0), 0), ((0, 1), -90), ((1, 2), -180), ((2, 0), 45)]:
        roi = rule.apply([10, 20, 30, 60], [[1, 1], to])
        close(roi, RotatedRect(20, 40, 20, 40, degrees), 1e-9)
    # The shift goes along the region's own axes, in parts of its own sides, before the square.
    rule = RoiRule(
        {"hull": "box", "rotation": {"from": [0], "to": [1], "degrees": 90}}
        | {"shift": [0, -0.5], "square": "long", "scale": [2, 3]}
    )
    close(rule.apply([10, 20, 30, 60], [[1, 1], [2, 1]]), RotatedRect(40, 40, 80, 120, 90), 1e-9)
    # Quarter turns are exact: such regions need no interpolation across the axes.
    assert rule.apply([10, 20, 30, 60], [[1, 1], [2, 1]]).degrees == 90


def test_the_hull_of_points_is_tight_in_the_region_s_axes() -> None:
    rng = np.random.default_rng(8)
    rule = RoiRule({"hull": "points", "rotation": {"from": [0], "to": [1], "degrees": 0}})
    spec = Pipeline(size=(100, 100), roi="per_call")
    frame = Frame.from_numpy(np.zeros((HEIGHT, WIDTH), np.uint8), rotation=90, mirror=True)
    for _ in range(50):
        points = rng.uniform(0, 300, (9, 2)).astype(np.float32)
        _, t = spec.compile()(frame, rule.apply(points=points))
        own = t.points_from_frame(points)
        np.testing.assert_allclose([own.min(0), own.max(0)], [[0, 0], [100, 100]], atol=1e-4)
        assert own[1, 0] > own[0, 0]
        np.testing.assert_allclose(own[1, 1], own[0, 1], atol=1e-3)  # from -> to lies level
        np.testing.assert_allclose(t.points_to_frame(own), points, atol=1e-6)


def test_what_a_rule_does_not_use_may_be_anything() -> None:
    points = np.full((9, 3), np.nan)
    points[[1, 4]] = [[3, 4, np.nan], [13, 24, np.inf]]
    rule = RoiRule({"hull": "points", "points": [1, 4]})
    close(rule.apply([np.nan] * 4, points), RotatedRect(8, 14, 10, 20, 0), 1e-9)
    assert RoiRule({"hull": "box"}).apply([0, 0, 2, 4], points).height == 4
    # Points that coincide have no direction: no turn.
    rule = RoiRule({"hull": "box", "rotation": {"from": [0], "to": [1], "degrees": 90}})
    assert rule.apply([0, 0, 2, 4], [[5, 5], [5, 5]]).degrees == 0
    # A line has no area, its square has.
    line = [[5, 5], [9, 5]]
    rule = RoiRule({"hull": "points", "square": "long"})
    close(rule.apply(points=line), RotatedRect(7, 5, 4, 4, 0), 1e-9)


NAN, INF = float("nan"), float("inf")
TURNED = {"hull": "box", "rotation": {"from": [0], "to": [1, 2], "degrees": 0}}


@pytest.mark.parametrize(
    ("spec", "box", "points", "match"),
    [
        ({"hull": "box"}, None, None, "got none"),
        ({"hull": "box"}, [0, 0, NAN, 4], None, "box: expected finite"),
        ({"hull": "box"}, [0, 0, INF, 4], None, "box: expected finite"),
        ({"hull": "box"}, [0, 0, 1e300, 4], None, "box: expected finite"),
        ({"hull": "box"}, [0, 0, 2e6, 4], None, "box: expected finite"),
        ({"hull": "box"}, [0, 0, 0, 4], None, "no area: 0 x 4"),
        ({"hull": "box"}, [5, 0, 3, 4], None, "no area: -2 x 4"),
        ({"hull": "box", "square": "short"}, [0, 0, 0, 4], None, "no area"),
        ({"hull": "box", "scale": 1000}, [0, 0, 2000, 4], None, "beyond"),
        ({"hull": "box", "shift": [1000, 0]}, [0, 0, 2000, 4], None, "beyond"),
        ({"hull": "box"}, [0, 0, 1], None, "box: expected 4"),
        ({"hull": "box"}, [[0, 0, 1, 1]], None, "box: expected 4"),
        ({"hull": "box"}, "abcd", None, "box: expected numbers"),
        ({"hull": "box"}, [0, 0, 1, None], None, "box"),
        ({"hull": "points"}, None, None, "got none"),
        ({"hull": "points"}, None, np.zeros((0, 2)), "got none"),
        ({"hull": "points"}, None, [[1, 1]], "no area"),
        ({"hull": "points"}, None, [[1, 1], [1, 1]], "no area"),
        ({"hull": "points"}, None, [[1, 1], [2, NAN]], "point 1: expected finite"),
        ({"hull": "points"}, None, [[1, 1], [2, 2e6]], "point 1: expected finite"),
        ({"hull": "points", "points": [2]}, None, [[1, 1], [2, 2]], "point 2: there are 2"),
        ({"hull": "bounds", "points": [65535]}, None, [[1, 1], [2, 2]], "point 65535: there are 2"),
        ({"hull": "points"}, None, [1, 2], r"n, 2 or more"),
        ({"hull": "points"}, None, [[1], [2]], r"n, 2 or more"),
        ({"hull": "points"}, None, [[[1, 2]]], r"n, 2 or more"),
        ({"hull": "points"}, None, [[1, 2], [3]], "expected numbers"),
        (TURNED, [0, 0, 4, 4], None, "point 0: there are 0"),
        (TURNED, [0, 0, 4, 4], [[0, 0], [1, 1]], "point 2: there are 2"),
        (TURNED, [0, 0, 4, 4], [[0, 0], [1, 1], [INF, 3]], "point 2: expected finite"),
        ({**TURNED, "hull": "circle"}, None, [[3, 3], [2, 3], [4, 3]], "no area"),
    ],
)
def test_what_makes_no_region(spec: Any, box: Any, points: Any, match: str) -> None:
    with pytest.raises(ArgumentError, match=match):
        RoiRule(spec).apply(box, points)


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ({}, '"hull" is missing'),
        ({"hull": "oval"}, '"hull"'),
        ({"hull": 1}, '"hull"'),
        ({"hull": "box", "roi": 2}, '"roi"'),
        ({"hull": "box", "size": 2}, 'unknown key "size"'),
        ({"hull": "box", "points": [1]}, '"points": expected nothing'),
        ({"hull": "circle", "points": "all"}, '"points": expected nothing'),
        ({"hull": "points", "points": []}, '"points"'),
        ({"hull": "points", "points": 3}, '"points"'),
        ({"hull": "points", "points": "some"}, '"points"'),
        ({"hull": "points", "points": [1.5]}, '"points"'),
        ({"hull": "points", "points": [-1]}, '"points"'),
        ({"hull": "points", "points": [65536]}, '"points"'),
        ({"hull": "points", "points": ["a"]}, '"points"'),
        ({"hull": "circle"}, '"rotation"'),
        ({"hull": "box", "rotation": 90}, "rotation: expected an object"),
        ({"hull": "box", "rotation": {"from": [0], "to": [1]}}, '"degrees" is missing'),
        ({"hull": "box", "rotation": {"from": [0], "degrees": 0}}, '"to" is missing'),
        ({"hull": "box", "rotation": {"to": [0], "degrees": 0}}, '"from" is missing'),
        ({"hull": "box", "rotation": {"from": [], "to": [1], "degrees": 0}}, '"from"'),
        ({"hull": "box", "rotation": {"from": [0], "to": [-1], "degrees": 0}}, '"to"'),
        ({"hull": "box", "rotation": {"from": [0], "to": [1], "degrees": 361}}, '"degrees"'),
        ({"hull": "box", "rotation": {"from": [0], "to": [1], "degrees": "up"}}, '"degrees"'),
        ({"hull": "box", "rotation": {**TURNED["rotation"], "at": 1}}, 'unknown key "at"'),  # type: ignore[dict-item]
        ({"hull": "box", "square": True}, '"square"'),
        ({"hull": "box", "square": "wide"}, '"square"'),
        ({"hull": "box", "scale": 0}, '"scale"'),
        ({"hull": "box", "scale": [1, -1]}, '"scale"'),
        ({"hull": "box", "scale": [1, 2, 3]}, '"scale"'),
        ({"hull": "box", "scale": 1e9}, '"scale"'),
        ({"hull": "box", "shift": 1}, '"shift"'),
        ({"hull": "box", "shift": [0]}, '"shift"'),
        ({"hull": "box", "shift": [0, -1e9]}, '"shift"'),
        ([], "expected an object"),
    ],
)
def test_every_wrong_key_is_named(spec: Any, text: str) -> None:
    with pytest.raises(SpecError) as caught:
        RoiRule(json.dumps(spec))
    assert text in str(caught.value)


def test_rules_are_canonical() -> None:
    rule = RoiRule(
        {"hull": "points", "rotation": {"from": (0,), "to": np.array([1]), "degrees": 90}}
    )
    assert rule.json() == (
        '{"roi":1,"hull":"points","points":"all","rotation":{"from":[0],"to":[1],"degrees":90},'
        '"square":"none","scale":[1,1],"shift":[0,0],"mirror":false}'
    )
    assert RoiRule({"hull": "box", "scale": 2}).json() == (
        '{"roi":1,"hull":"box","square":"none","scale":[2,2],"shift":[0,0],"mirror":false}'
    )
    for spec in RULES.values():
        once = RoiRule(spec).json()
        assert RoiRule.from_json(once).json() == once
        assert pickle.loads(pickle.dumps(RoiRule(spec))).json() == once
    assert "points" in repr(rule)
    for bad in (5, None, b"{}", ["{}"], "{", "\ud800", {"hull": object()}, {"hull": NAN}):
        with pytest.raises(SpecError, match="roi rule"):
            RoiRule(bad)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="roi rule"):
        RoiRule.from_json({"hull": "box"})  # type: ignore[arg-type]
