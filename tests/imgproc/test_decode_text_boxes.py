"""Text regions of a probability map: a twin that tries every angle, OpenCV, bad input."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from decode_cases import NOT_FINITE, assert_canonical, assert_named, identity, stretched
from foveal.errors import NotFoundError, ShapeError
from foveal.image import Decoder, Detections

SPEC: dict[str, Any] = {"decoder": 1, "kind": "text_boxes", "output": "o"}


def bitmap(score: np.ndarray, threshold: float, dilate: bool) -> np.ndarray:
    """A pixel is set when it, or with dilate its left, upper or upper left neighbour, is above."""
    above = score > threshold
    if not dilate:
        return above
    padded = np.pad(above, ((1, 0), (1, 0)))
    return padded[1:, 1:] | padded[:-1, 1:] | padded[1:, :-1] | padded[:-1, :-1]


def regions(mask: np.ndarray) -> list[np.ndarray]:
    """[n, 2] x, y of the pixels of each 8-connected region."""
    left = {(int(y), int(x)) for y, x in np.argwhere(mask)}
    found = []
    while left:
        ahead = [left.pop()]
        region = []
        while ahead:
            y, x = ahead.pop()
            region.append((x, y))
            near = {(y + dy, x + dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1)} & left
            left -= near
            ahead += near
        found.append(np.array(region, np.float64))
    return found


def least_rectangle(points: np.ndarray) -> tuple[np.ndarray, float, float]:
    """Corners, width and height, of all rectangles along a line through two of the points."""
    best: tuple[float, Any] = (math.inf, None)
    offsets = points[:, None] - points[None]
    directions = offsets.reshape(-1, 2)[np.abs(offsets).sum(-1).ravel() > 0]
    angles = np.unique(np.round(np.arctan2(directions[:, 1], directions[:, 0]) % (np.pi / 2), 12))
    for angle in [0.0, *angles]:
        u = np.array([math.cos(angle), math.sin(angle)])
        v = np.array([-u[1], u[0]])
        a, b = points @ u, points @ v
        area = np.ptp(a) * np.ptp(b)
        if area < best[0] - 1e-9:
            ends = [(a.min(), b.min()), (a.max(), b.min()), (a.max(), b.max()), (a.min(), b.max())]
            best = (area, (np.array([s * u + t * v for s, t in ends]), np.ptp(a), np.ptp(b)))
    corners, width, height = best[1]
    return corners, width, height


def ordered(corners: np.ndarray) -> np.ndarray:
    """Clockwise from the top-left: the two left ones by y, and the two right ones."""
    c = corners[np.argsort(corners[:, 0], kind="stable")]
    left, right = (pair[np.argsort(pair[:, 1])] for pair in (c[:2], c[2:]))
    return np.array([left[0], right[0], right[1], left[1]])


def mean_inside(score: np.ndarray, corners: np.ndarray) -> float:
    """Of the pixels whose centre is in the rectangle, rim included."""
    y, x = np.mgrid[: score.shape[0], : score.shape[1]]
    inside = np.ones(score.shape, bool)
    center = corners.mean(0)
    for a, b in zip(corners, np.roll(corners, -1, 0), strict=True):
        n = np.array([a[1] - b[1], b[0] - a[0]]) / max(math.dist(a, b), 1e-12)
        sign = math.copysign(1, n @ (center - a))
        inside &= sign * (n[0] * (x - a[0]) + n[1] * (y - a[1])) >= -1e-6
    return float(score[inside].astype(np.float64).mean()) if inside.any() else 0.0


def twin(score: np.ndarray, **spec: Any) -> tuple[np.ndarray, np.ndarray]:
    """Quads [n, 4, 2] and scores, best first."""
    s = {"threshold": 0.3, "min_score": 0.5, "unclip": 1.6, "min_side": 3, "dilate": True, **spec}
    found = []
    for pixels in regions(bitmap(score, s["threshold"], s["dilate"])):
        if len(pixels) < 2:
            continue
        corners, w, h = least_rectangle(pixels)
        mean = mean_inside(score, corners)
        if min(w, h) < s["min_side"] or mean < s["min_score"]:
            continue
        d = s["unclip"] * w * h / (2 * (w + h))
        if min(w, h) + 2 * d < s["min_side"] + 2:
            continue
        center = corners.mean(0)
        u = (corners[1] - corners[0]) / w
        v = (corners[3] - corners[0]) / h
        half = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
        grown = [center + p * (w / 2 + d) * u + q * (h / 2 + d) * v for p, q in half]
        found.append((mean, ordered(np.array(grown)) + (0 if s["dilate"] else 0.5)))
    found.sort(key=lambda f: -f[0])
    return np.array([q for _, q in found]).reshape(-1, 4, 2), np.array([m for m, _ in found])


def turned(shape: tuple[int, int], cx: float, cy: float, w: float, h: float, angle: float) -> Any:
    """Where the centres of pixels lie in a turned rectangle."""
    y, x = np.mgrid[: shape[0], : shape[1]]
    c, s = math.cos(angle), math.sin(angle)
    a, b = (x - cx) * c + (y - cy) * s, -(x - cx) * s + (y - cy) * c
    return (np.abs(a) <= w / 2) & (np.abs(b) <= h / 2)


def page(seed: int, shape: tuple[int, int] = (96, 128)) -> np.ndarray:
    """Turned, noisy bars that mostly do not touch."""
    rng = np.random.default_rng(seed)
    score = rng.uniform(0, 0.25, shape)
    for i in range(6):
        cx, cy = 22 + 40 * (i % 3) + rng.uniform(-3, 3), 24 + 46 * (i // 3) + rng.uniform(-3, 3)
        where = turned(shape, cx, cy, rng.uniform(8, 30), rng.uniform(3, 9), rng.uniform(-1.4, 1.4))
        score = np.where(where, rng.uniform(0.4, 1, shape), score)
    return score.astype(np.float32)


def check(found: Detections, quads: np.ndarray, scores: np.ndarray) -> None:
    assert len(found) == len(quads)
    np.testing.assert_allclose(found.scores, scores, atol=1e-5)
    np.testing.assert_allclose(found.points, quads, atol=2e-3)
    assert (found.labels == 0).all()
    np.testing.assert_allclose(found.boxes[:, :2], found.points.min(1), atol=1e-5)
    np.testing.assert_allclose(found.boxes[:, 2:], found.points.max(1), atol=1e-5)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("dilate", [True, False])
def test_against_the_twin(seed: int, dilate: bool) -> None:
    score = page(seed)
    own = {"dilate": dilate, "min_score": 0.35, "min_side": 2.5, "unclip": 1.1}
    found = Decoder({**SPEC, "clip": False, **own}).run({"o": score[None, None]}, identity(128, 96))
    quads, scores = twin(score, **own)
    assert len(quads) >= 4
    check(found, quads, scores)


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (40, 1), (5, 7), (33, 31)])
def test_odd_shapes(shape: tuple[int, int]) -> None:
    score = np.full(shape, 0.9, np.float32)
    found = Decoder({**SPEC, "clip": False}).run({"o": score}, identity(shape[1], shape[0]))
    check(found, *twin(score))
    assert len(found) == (min(shape) > 3)


def test_touching_regions_are_one_and_every_winding_shape_is_found() -> None:
    score = np.zeros((64, 64), np.float32)
    score[4:12, 4:12] = 0.9
    score[12:20, 12:20] = 0.9  # touches at a corner
    score[30:60, 30:34] = score[56:60, 30:60] = score[30:60, 56:60] = 0.9  # a U
    own = {"min_score": 0.2, "dilate": False, "unclip": 0.0}
    found = Decoder({**SPEC, **own}).run({"o": score}, identity(64, 64))
    check(found, *twin(score, **own))
    assert len(found) == 2


def test_a_plain_bar() -> None:
    score = np.zeros((40, 100), np.float32)
    score[10:20, 20:80] = 0.8
    found = Decoder(SPEC).run({"o": score}, identity(100, 40))
    # 60 x 10 pixels; the dilation gives hull sides of 60 and 10.
    d = 1.6 * 600 / 140
    x0, y0, x1, y1 = 20 - d, 10 - d, 80 + d, 20 + d
    np.testing.assert_allclose(found.points, [[[x0, y0], [x1, y0], [x1, y1], [x0, y1]]], atol=1e-4)
    # The mean counts the dilated rim, where the map is 0.
    np.testing.assert_allclose(found.scores, [0.8 * 600 / 671], atol=1e-6)


@pytest.mark.parametrize("degrees", range(-80, 81, 10))
def test_corners_go_clockwise_from_the_top_left(degrees: int) -> None:
    score = np.zeros((120, 120), np.float32)
    score[turned((120, 120), 60, 60, 60, 10, math.radians(degrees))] = 0.9
    (quad,) = Decoder(SPEC).run({"o": score}, identity(120, 120)).points
    along = max((quad[1] - quad[0], quad[3] - quad[0]), key=lambda side: np.linalg.norm(side))
    angle = math.atan2(along[1], along[0])
    assert abs(math.remainder(angle - math.radians(degrees), math.pi)) < 0.03
    edges = np.roll(quad, -1, 0) - quad
    cross = edges[:, 0] * np.roll(edges[:, 1], -1) - edges[:, 1] * np.roll(edges[:, 0], -1)
    assert (cross > 0).all()  # clockwise with y down
    assert max(quad[0, 0], quad[3, 0]) <= min(quad[1, 0], quad[2, 0])
    assert quad[0, 1] <= quad[3, 1] and quad[1, 1] <= quad[2, 1]


def test_quads_reach_the_frame_and_are_cut_at_its_edges() -> None:
    score = np.zeros((48, 96), np.float32)
    score[8:16, 0:40] = 0.9
    t = stretched(96, 48, (96, 192), rotation=90)  # upright 192 x 96
    raw = Decoder({**SPEC, "clip": False}).run({"o": score}, t)
    d = 1.6 * 320 / 96
    want = [(-d, 8 - d), (40 + d, 8 - d), (40 + d, 16 + d), (-d, 16 + d)]
    np.testing.assert_allclose(raw.points, [np.array(want) * 2], atol=1e-4)
    cut = Decoder(SPEC).run({"o": score}, t)
    np.testing.assert_allclose(cut.points, np.clip(raw.points, 0, [192, 96]), atol=1e-4)
    np.testing.assert_allclose(cut.boxes, np.clip(raw.boxes, 0, [192, 96, 192, 96]), atol=1e-4)


def test_a_map_smaller_than_the_tensor() -> None:
    score = np.zeros((20, 30), np.float32)
    score[5:11, 5:20] = 0.9
    small = Decoder(SPEC).run({"o": score}, identity(30, 20))
    large = Decoder(SPEC).run({"o": score}, identity(120, 80))
    np.testing.assert_allclose(large.points, small.points * 4, atol=1e-4)


def test_what_is_left_out() -> None:
    score = np.zeros((60, 60), np.float32)
    score[5:15, 5:25] = 0.9
    score[30:32, 5:25] = 0.9  # with dilation 2 across
    score[40:50, 30:50] = 0.4
    t = identity(60, 60)
    assert len(Decoder(SPEC).run({"o": score}, t)) == 1
    assert len(Decoder({**SPEC, "min_score": 0.3}).run({"o": score}, t)) == 2
    thin = {**SPEC, "min_side": 1, "min_score": 0.3}
    assert len(Decoder(thin).run({"o": score}, t)) == 3
    best = Decoder({**thin, "max_detections": 1}).run({"o": score}, t)
    assert len(best) == 1 and best.scores[0] > 0.7
    assert len(Decoder({**thin, "threshold": 0.95}).run({"o": score}, t)) == 0


def test_a_board_of_dots_is_bounded() -> None:
    score = np.zeros((512, 512), np.float32)
    score[::4, ::4] = 0.9
    score[300:310, 100:200] = 0.9
    spec = {**SPEC, "min_side": 1, "min_score": 0, "unclip": 9, "max_detections": 100000}
    found = Decoder(spec).run({"o": score}, identity(512, 512))
    assert len(found) == 4096  # the largest
    assert (found.boxes[:, 2] - found.boxes[:, 0]).max() > 90
    concentric = np.zeros((512, 512), np.float32)
    for i in range(0, 512, 4):
        concentric[i, i:] = concentric[i:, i] = 0.9
    assert len(Decoder(spec).run({"o": concentric}, identity(512, 512))) > 100


@pytest.mark.parametrize("value", NOT_FINITE)
def test_numbers_that_are_NOT_FINITE_are_never_reported(value: float) -> None:
    t = identity(64, 48)
    score = np.full((48, 64), value, np.float32)
    assert len(Decoder({**SPEC, "min_score": 0}).run({"o": score}, t)) == 0
    score = np.zeros((48, 64), np.float32)
    score[5:15, 5:25] = score[30:40, 30:60] = 0.9
    score[8, 8] = value
    found = Decoder(SPEC).run({"o": score}, t)
    assert len(found) == 1 and found.boxes[0, 0] > 20  # the mean of the other is no number


def test_outputs_that_do_not_fit() -> None:
    t = identity(64, 48)
    with pytest.raises(NotFoundError, match="'o' is missing"):
        Decoder(SPEC).run({}, t)
    for bad in (
        np.zeros((2, 1, 48, 64), np.float32),
        np.zeros((0, 64), np.float32),
        np.zeros((48, 64), np.uint8),
        np.zeros((1, 16385), np.float32),
    ):
        with pytest.raises(ShapeError, match="'o'"):
            Decoder(SPEC).run({"o": bad}, t)


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ('"output" is missing', {"output": None}),
        ('"threshold"', {"threshold": 1.5}),
        ('"threshold"', {"threshold": "high"}),
        ('"min_score"', {"min_score": -1}),
        ('"unclip"', {"unclip": -0.5}),
        ('"unclip"', {"unclip": 1e9}),
        ('"min_side"', {"min_side": 0}),
        ('"max_detections"', {"max_detections": 0}),
        ('"dilate"', {"dilate": 1}),
        ('"clip"', {"clip": "yes"}),
        ('unknown key "score_mode"', {"score_mode": "fast"}),
    ],
)
def test_every_wrong_key_is_named(text: str, change: dict[str, Any]) -> None:
    assert_named(SPEC, change, text)


def test_canonical_text() -> None:
    found = assert_canonical(SPEC)
    want = {"threshold": 0.3, "min_score": 0.5, "unclip": 1.6, "min_side": 3, "dilate": True}
    want |= {"max_detections": 1000, "nms": {"k": "none"}}
    assert {k: found[k] for k in want} == want
    assert_canonical({**SPEC, "unclip": 2, "dilate": False, "threshold": 0.25})
    assert Decoder(SPEC).gives == "detections"


def overlap(cv2: Any, a: np.ndarray, b: np.ndarray) -> float:
    common = float(cv2.intersectConvexConvex(a.astype(np.float32), b.astype(np.float32))[0])
    areas = [float(cv2.contourArea(q.astype(np.float32))) for q in (a, b)]
    return common / (sum(areas) - common)


@pytest.mark.parametrize("seed", range(6))
def test_rectangles_are_those_of_opencv(seed: int) -> None:
    """Contours and least rectangles of another implementation, without growing."""
    cv2 = pytest.importorskip("cv2")
    score = page(seed + 100, (192, 256))
    found = Decoder({**SPEC, "unclip": 0, "min_score": 0, "clip": False}).run(
        {"o": score}, identity(256, 192)
    )
    mask = cv2.dilate((score > 0.3).astype(np.uint8), np.ones((2, 2), np.uint8))
    contours, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    rects = [(c, cv2.minAreaRect(c)) for c in contours]
    kept = [(c, cv2.boxPoints(r)) for c, r in rects if min(r[1]) >= 5]
    assert len(kept) >= 3 and len(found) == len(kept)
    for contour, quad in kept:
        best = max(found.points, key=lambda q: overlap(cv2, q, quad))
        # Of rectangles of the same area either may be taken.
        assert overlap(cv2, best, quad) > 0.75
        assert abs(float(cv2.contourArea(best)) / float(cv2.contourArea(quad)) - 1) < 1e-3
        outside = [cv2.pointPolygonTest(best, tuple(map(float, p[0])), True) for p in contour]
        assert min(outside) > -1e-3
