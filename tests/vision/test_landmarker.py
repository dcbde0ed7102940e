"""What the landmarker does between its models. They are fakes that see bright squares: a stage
whose landmarks are the corners of the brightest square in the region that it is shown."""

import json
import pickle

import foveal as fv
import numpy as np
import pytest
from foveal.errors import ArgumentError, ModelError, SpecError
from foveal.vision import Landmarker, base, regions

SIZE = 200
RULE = {"roi": 1, "hull": "box", "scale": [1.6, 1.6]}


def squares(*corners, side=20, size=SIZE):
    """A dark picture with bright squares, each a little darker than the one before."""
    picture = np.zeros((size, size, 3), np.uint8)
    for i, (x, y) in enumerate(corners):
        picture[y : y + side, x : x + side] = 250 - 20 * i
    return picture


def boxes_of(picture):
    """Boxes of the squares, brightest first."""
    grey = picture[..., 0]
    for value in sorted({int(v) for v in np.unique(grey)} - {0}, reverse=True):
        rows, columns = np.nonzero(grey == value)
        yield (float(columns.min()), float(rows.min()), columns.max() + 1.0, rows.max() + 1.0)


class FakeStage:
    """Stands for `Stage`: looks[i] is the region of call i."""

    gives, labels, points, name = "landmarks", ["square"], 4, "fake"

    def __init__(self, model, *_, min_score=None, **__):
        self.model = model
        self.looks = []

    def label(self, index):
        return self.labels[index]

    def decode(self, frame, roi, timings):
        timings["inference"] += 1.0
        self.looks.append(roi)
        x0, y0, x1, y1 = regions.hull(regions.region(roi))
        picture = fv.vision.upright_rgb(frame).copy()
        outside = np.ones(picture.shape[:2], bool)
        outside[max(0, round(y0)) : max(0, round(y1)), max(0, round(x0)) : max(0, round(x1))] = 0
        picture[outside] = 0
        found = list(boxes_of(picture))[:1]
        points = [[(a, b, 1, 1, 1), (c, b, 1, 1, 1), (c, d, 1, 0, 1), (a, d, 1, 1, 1)]
                  for a, b, c, d in found]  # fmt: skip
        return fv.image.Detections(
            np.zeros(len(found), np.int32),
            np.full(len(found), 0.9, np.float32),
            np.array(found, np.float32).reshape(-1, 4),
            np.array(points, np.float32).reshape(-1, 4, 5),
        )


class Finder(fv.vision.Detector):
    """Finds all squares and counts how often it was asked."""

    def __init__(self, misses=()):
        self.asked, self.misses = 0, misses

    def _one(self, frame, timings, roi=None):
        self.asked += 1
        timings["inference"] += 100.0
        found = list(boxes_of(fv.vision.upright_rgb(frame)))
        return [
            fv.vision.Detection("thing", 0.8, b) for b in found if self.asked not in self.misses
        ]


@pytest.fixture
def made(monkeypatch):
    monkeypatch.setattr(base, "Stage", FakeStage)

    def make(finder=None, spec=None, **options):
        spec = {"task": 1, "kind": "landmarks", "detection_roi": RULE, **(spec or {})}
        model = fv.load("face")
        return Landmarker(model, spec=spec, detector=finder or Finder(), **options)

    return make


def test_still_pictures(made):
    finder = Finder()
    task = made(finder, max_count=3)
    one, two = task.find(squares((20, 30), (120, 100)))
    assert one.box == (20, 30, 40, 50) and two.box == (120, 100, 140, 120)
    assert one.label == "square" and one.track is None
    np.testing.assert_array_equal(one.points[:, :2], [(20, 30), (40, 30), (40, 50), (20, 50)])
    assert one.points.shape == (4, 3) and one.points[:, 2].tolist() == [1] * 4
    assert one.visibility.tolist() == [1, 1, 0, 1]
    want = fv.image.RotatedRect(30, 40, 32, 32, 0)
    np.testing.assert_allclose(regions.numbers(one.roi), regions.numbers(want), atol=1e-4)
    assert task.timings["inference"] == 102 and finder.asked == 1
    assert len(task.find([squares((20, 30))] * 2)) == 2 and finder.asked == 3
    assert task.find(squares()) == []
    assert len(made(max_count=1).find(squares((20, 30), (120, 100)))) == 1


def test_given_region_and_whole_frame(made, monkeypatch):
    finder = Finder()
    task = made(finder, tracking=True)
    (found,) = task.find(squares((20, 30), (120, 100)), roi=(100, 90, 160, 150))
    assert found.box == (120, 100, 140, 120) and found.track is None and finder.asked == 0
    assert found.roi == fv.image.Rect(100, 90, 160, 150)
    assert task.find(squares((20, 30)), roi=(100, 100, 160, 160)) == []
    alone = Landmarker(task.model, spec={"task": 1, "kind": "landmarks"})
    (found,) = alone.find(squares((20, 30)))
    assert found.roi == fv.image.Rect(0, 0, SIZE, SIZE) and alone.detector is None


def test_a_moving_thing_is_followed(made):
    finder = Finder()
    task = made(finder, {"tracking_roi": RULE}, tracking=True)
    for i in range(20):
        (found,) = task.find(squares((20 + 3 * i, 30 + 2 * i)))
        assert found.track == 0 and found.box == (20 + 3 * i, 30 + 2 * i, 40 + 3 * i, 50 + 2 * i)
        cx, cy = regions.numbers(found.roi)[:2]
        last = max(0, i - 1)
        assert abs(cx - (30 + 3 * last)) < 1e-3 and abs(cy - (40 + 2 * last)) < 1e-3
    assert finder.asked == 1


def test_a_lost_thing_is_looked_for(made):
    finder = Finder(misses=(3,))
    task = made(finder, {"tracking_roi": RULE}, tracking=True)
    assert task.find(squares((20, 30)))[0].track == 0
    assert task.find(squares()) == [] and finder.asked == 2
    assert task.find(squares((100, 100))) == [] and finder.asked == 3
    (found,) = task.find(squares((100, 100)))
    assert found.track == 1 and finder.asked == 4
    (found,) = task.find(squares((20, 120)))  # jumped out of its region: found again, elsewhere
    assert found.track == 2 and finder.asked == 5


def test_several_things_keep_their_numbers(made):
    finder = Finder()
    task = made(finder, {"tracking_roi": RULE, "max": 3}, tracking=True)
    seen = []
    for i in range(10):
        left, right = (20 + 3 * i, 30), (150 - 3 * i, 120)
        corners = [left, right] if i % 2 else [right, left]  # the brightest changes
        seen.append({f.track: f.box[:2] for f in task.find(squares(*corners))})
        assert seen[-1] == {0: right, 1: left}
    assert finder.asked == 10, "it looks for the third one"
    both = task.find(squares((123, 120), (47, 30), (90, 70)))
    assert sorted(f.track for f in both) == [0, 1, 2]
    task.find(squares((123, 120), (47, 30), (90, 70)))
    assert finder.asked == 11, "all that there can be are followed"


def test_two_tracks_never_share_a_thing(made):
    task = made(spec={"tracking_roi": {**RULE, "scale": [4, 4]}, "max": 2}, tracking=True)
    assert len(task.find(squares((60, 60), (100, 60)))) == 2
    assert len(task.find(squares((80, 60)))) == 1


def test_without_a_tracking_rule_the_detector_sees_every_frame(made):
    finder = Finder()
    task = made(finder, tracking=True)
    found = [task.find(squares((20 + 4 * i, 30))) for i in range(5)]
    assert [f.track for (f,) in found] == [0] * 5 and finder.asked == 5


def test_reset(made):
    finder = Finder()
    task = made(finder, {"tracking_roi": RULE}, tracking=True)
    task.find(squares((20, 30)), timestamp=5.0)
    task.find(squares((22, 30)), timestamp=5.1)
    with pytest.raises(ArgumentError, match="more than the last"):
        task.find(squares((22, 30)), timestamp=5.1)
    assert task.find(squares((24, 30)), timestamp=5.2)[0].track == 0
    task.reset()
    assert task.find(squares((24, 30)), timestamp=0.0)[0].track == 0 and finder.asked == 2
    task.find(squares((150, 150)), timestamp=1.0)
    task.reset()
    assert task.find(squares((150, 150)))[0].track == 0


def test_tracking_can_be_switched(made):
    finder = Finder()
    task = made(finder, {"tracking_roi": RULE})
    assert task.find(squares((20, 30)))[0].track is None
    task.tracking = True
    assert [task.find(squares((20 + i, 30)))[0].track for i in range(3)] == [0] * 3
    assert finder.asked == 2
    inner = made(finder, {"tracking_roi": RULE})
    task._detector = inner
    task.tracking = False
    task.tracking = True
    assert inner.tracking and task._tracks == []


def test_smoothing(made):
    """Two things, each with its own filter; what is reported is smooth, what is followed is not."""
    smooth = {"min_cutoff": 0.5, "beta": 0.1}
    task = made(spec={"tracking_roi": RULE, "max": 2, "smooth": smooth}, tracking=True)
    raw = made(spec={"tracking_roi": RULE, "max": 2, "smooth": smooth}, tracking=True, smooth=False)
    filters = {0: fv.vision.smooth.OneEuro(0.5, 0.1), 1: fv.vision.smooth.OneEuro(0.5, 0.1)}
    for i in range(8):
        picture = squares((20 + 4 * i, 30), (150, 120 - 2 * i))
        found = task.find(picture, timestamp=0.1 * i)
        plain = {f.track: f for f in raw.find(picture, timestamp=0.1 * i)}
        assert len(found) == 2
        for f in found:
            exact = plain[f.track]
            assert f.roi == exact.roi
            want = filters[f.track](exact.points.astype(float), 0.1 * i, 32.0)
            np.testing.assert_allclose(f.points, want, rtol=1e-4)
            np.testing.assert_allclose(f.box[:2], want[:, :2].min(0), rtol=1e-4)
    assert abs(found[0].points[0, 0] - 48) > 3, "behind what moves"


def test_frames_of_videos_say_the_time(made):
    """As if it was given; where a frame's own does not grow, 1/30 s later than the last one."""
    smooth = {"min_cutoff": 0.5, "beta": 0.1}
    spec = {"tracking_roi": RULE, "smooth": smooth}
    one, other = made(spec=spec, tracking=True), made(spec=spec, tracking=True)
    own = [None, 0.5, 0.6, 0.6, None, 0.1, 7.0, 0.0]
    told = [0, 0.5, 0.6, 0.6 + 1 / 30, 0.6 + 2 / 30, 0.6 + 3 / 30, 7.0, 7.0 + 1 / 30]
    for i, (stamp, timestamp) in enumerate(zip(own, told, strict=True)):
        pixels = squares((20 + 3 * i, 30))
        (found,) = one.find(fv.Frame.from_numpy(pixels).stamped(i, stamp))
        (want,) = other.find(pixels, timestamp=timestamp)
        np.testing.assert_allclose(found.points, want.points, rtol=1e-6)
        assert found.track == want.track == 0


def test_a_frame_that_fails_changes_nothing(made):
    task = made(spec={"tracking_roi": RULE}, tracking=True)
    task.find(squares((20, 30)))
    with pytest.raises(ArgumentError):
        task.find(3)
    assert task.find(squares((23, 30)))[0].track == 0 and len(task._stage.looks) == 2


def test_landmarker_behind_a_landmarker(made):
    """Two regions of one thing, as the eyes of a face."""
    halves = [{**RULE, "shift": [s, 0], "scale": [0.6, 1.4]} for s in (-0.5, 0.5)]
    outer = made(max_count=1)
    inner = made(outer, {"detection_roi": halves, "max": 2})
    inner.find(squares((60, 60)))
    places = [regions.numbers(look)[:2] for look in inner._stage.looks]
    np.testing.assert_allclose(places, [(60, 70), (80, 70)], atol=1e-3)


def test_boxes_are_cut_at_the_pictures_edges_regions_are_not(made, monkeypatch):
    class Leaning(FakeStage):
        """Its landmarks lie 30 pixels to the left of what it sees."""

        def decode(self, frame, roi, timings):
            found = super().decode(frame, roi, timings)
            found.boxes[:, ::2] -= 30
            found.points[..., 0] -= 30
            return found

    monkeypatch.setattr(base, "Stage", Leaning)
    outer = made(tracking=True)
    (found,) = outer.find(squares((20, 190)))
    assert found.box == (0, 190, 10, 200) and found.points[:, 0].min() == -10
    (out,) = outer.find(squares((5, 30)))
    assert out.box == (0, 30, 0, 50) and out.points[:, 0].max() == -5
    assert "0,30 .. 0,50" in str(out)
    monkeypatch.setattr(base, "Stage", FakeStage)
    inner = made(outer)
    inner.find(squares((20, 60)))
    np.testing.assert_allclose(regions.numbers(inner._stage.looks[0])[:3], (0, 70, 32), atol=1e-3)


def test_a_poses_box_stays_in_the_picture(photo):
    picture = photo("astronaut")
    (found,) = fv.vision.task("pose").find(picture)
    x0, y0, x1, y1 = found.box
    assert 0 <= x0 < x1 <= 512 and 0 <= y0 < y1 <= 512
    assert found.points[:, 1].max() > 512 and y1 == 512  # the hips lie below the picture


def test_both_irises_are_seen_as_left_ones(photo):
    """The model knows left eyes: it sees the right one mirrored."""
    picture = photo("astronaut")
    task = fv.vision.task("iris")
    mirrored = np.ascontiguousarray(picture[:, ::-1])
    left, right = task.find(picture)
    middle = (left.points[:, 0].mean() + right.points[:, 0].mean()) / 2
    for eye in (left, right):  # the same landmark is the outer corner of either
        corner, other = np.abs(eye.points[[0, 8], 0] - middle)
        assert corner > 1.5 * other
    # Of the mirrored region of the mirrored picture: the same landmarks.
    for eye in (left, right):
        corners = regions.corners(eye.roi)
        roi = fv.image.Quad(tuple((512 - x, y) for x, y in corners))
        (seen,) = task.find(mirrored, roi)
        np.testing.assert_allclose(512 - seen.points[:, 0], eye.points[:, 0], atol=1e-3)
        np.testing.assert_allclose(seen.points[:, 1:], eye.points[:, 1:], atol=1e-3)
    # With the face found anew, to 1 % of the picture.
    for eye, seen in zip((right, left), task.find(mirrored), strict=True):
        iris = seen.points[71:, :2].mean(0) * [-1, 1] + [512, 0]
        np.testing.assert_allclose(iris, eye.points[71:, :2].mean(0), atol=5)


def test_pickled(made):
    task = made(spec={"tracking_roi": RULE}, max_count=2, tracking=True)
    task._arguments["detector"] = None  # a Finder is of this test
    again = pickle.loads(pickle.dumps(task))
    assert again.max_count == 2 and again.tracking and again._tracking_rule is not None


def test_plain_and_tables(made):
    task = made()
    (plain,) = task.plain(task.find(squares((20, 30))))
    assert json.loads(json.dumps(plain)) == plain
    assert plain["points"][2] == [40, 50, 1] and plain["roi"] == [30, 40, 32, 32, 0]
    out = task({"image": [squares((20, 30)), squares()]})
    assert list(out["results"]) == [[plain], []]


@pytest.mark.parametrize("timestamp", [float("nan"), "a", True, [1]])
def test_bad_timestamps(made, timestamp):
    with pytest.raises(ArgumentError, match="timestamp"):
        made(tracking=True).find(squares(), timestamp=timestamp)
    with pytest.raises(ArgumentError, match="timestamp"):
        made(tracking=True).find([squares()], timestamp=1.0)


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("{", "not JSON"),
        ("[]", '"task": 1'),
        ({"task": 2, "kind": "landmarks"}, '"task": 1'),
        ({"task": 1, "kind": "text"}, "kind"),
        ({"extra": 1}, "extra"),
        ({"max": 0}, "max"),
        ({"max": "a"}, "max"),
        ({"min_presence": float("nan")}, "min_presence"),
        ({"edges": [[0, 1, 2]]}, "edges"),
        ({"edges": [[-1, 2]]}, "edges"),
        ({"names": [1]}, "names"),
        ({"smooth": 1}, "smooth"),
        ({"smooth": {"beta": -1}}, "smooth.beta"),
        ({"smooth": {"gamma": 1}}, "smooth.gamma"),
        ({"detector": 3}, "detector"),
        ({"tracking_roi": [1]}, "tracking_roi"),
        ({"tracking_roi": {"roi": 1, "hull": "oval"}}, "hull"),
        ({"tracking_roi": {"roi": 1, "hull": "points", "points": [9]}}, "tracking_roi"),
    ],
    ids=str,
)
def test_bad_specs(made, spec, text):
    whole = spec if isinstance(spec, str) else {"task": 1, "kind": "landmarks", **spec}
    with pytest.raises(SpecError, match=text):
        Landmarker(fv.load("face"), spec=whole)


def test_bad_arguments(made):
    for count in (0, 1001, "a", 1.5, True):
        with pytest.raises(ArgumentError, match="max_count"):
            made(max_count=count)
    model = fv.load("face")
    lost = Landmarker(model, spec={"task": 1, "kind": "landmarks", "detector": "none.fvm"})
    with pytest.raises(ModelError, match=r"none\.fvm"):
        lost.find(squares())
    with pytest.raises(ArgumentError, match="draw"):
        lost.draw(squares(), [3])


def test_a_detector_of_another_kind(made, monkeypatch):
    task = made()
    task._arguments["detector"] = "face"
    monkeypatch.setattr(fv.vision.make, "task", lambda *_, **__: fv.vision.Segmenter.__new__(
        fv.vision.Segmenter))  # fmt: skip
    with pytest.raises(ModelError, match="gives mask"):
        task.find(squares())


def test_drawing(made):
    task = made(spec={"edges": [[0, 1], [1, 3], [2, 3], [0, 99]]})
    picture = squares((60, 60), side=60)
    drawn = np.asarray(task.draw(picture))
    changed = np.any(drawn != picture, axis=-1)
    assert changed[60, 90] and changed[90, 90], "the edges 0-1 and 1-3"
    assert not changed[120, 90], "landmark 2 is hidden"
    assert not changed[125:].any()
