"""What the text reader does between its models, which are fakes: a finder that gives the quads that
a test put down, an orient model and a reader that say what they were shown."""

import json
import pickle
import random
from types import SimpleNamespace

import foveal as fv
import numpy as np
import pytest
from foveal.errors import ArgumentError, ModelError, SpecError
from foveal.vision import TextReader, base, text_reader

SPEC = {"task": 1, "kind": "text", "orient": "orient", "read": "read"}
LETTERS = ["", "a", "b", "c", " "]


def quad(x, y, width=60, height=20):
    return [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]


class FakeStage:
    """Stands for `Stage`; `world` holds quads, which of them stand on their head, and what each
    says with which score. It is keyed by the quads' top-left corner as found."""

    world: dict
    shown: list

    def __init__(self, model, *_, **__):
        self.model = model
        role = model if isinstance(model, str) else "find"
        self.name = role
        self.gives = {"find": "detections", "orient": "classes", "read": "text"}.get(role, role)
        self.labels = {"orient": ["0", "180"], "read": LETTERS}.get(role, ["text"])

    def label(self, index):
        return self.labels[index]

    def decode(self, frame, roi, timings):
        timings["inference"] += 1
        if self.gives == "detections":
            quads = np.array(list(self.world["quads"]), np.float32).reshape(-1, 4, 2)
            n = len(quads)
            return fv.image.Detections(np.zeros(n, np.int32), np.full(n, 0.9, np.float32),
                                       np.zeros((n, 4), np.float32), quads)  # fmt: skip
        corners = [tuple(c) for c in roi.corners]
        self.shown.append((self.gives, corners))
        if self.gives == "classes":
            turned = int(corners in self.world.get("upside_down", []))
            n = 0 if self.world.get("unsure") else 1
            labels, scores = np.full(n, turned, np.int32), np.full(n, 0.95, np.float32)
            return fv.image.Detections(labels, scores, np.zeros((n, 4)), np.zeros((n, 0, 2)))
        text, score = self.world.get("says", {}).get(corners[0], ("abc", 0.9))
        return SimpleNamespace(
            indices=np.array([LETTERS.index(c) for c in text], np.int32),
            scores=np.full(len(text), score, np.float32),
        )


@pytest.fixture
def made(monkeypatch):
    monkeypatch.setattr(base, "Stage", FakeStage)
    monkeypatch.setattr(text_reader, "Stage", FakeStage)
    monkeypatch.setattr(text_reader.task_spec, "companion", lambda name, *_: name)
    FakeStage.shown = []

    def make(world=None, **options):
        FakeStage.world = world or {"quads": [quad(10, 10)]}
        return TextReader(fv.load("face"), **{"spec": SPEC, **options})

    return make


PAGE = np.zeros((300, 300, 3), np.uint8)


def test_lines(made):
    world = {"quads": [quad(10, 50), quad(10, 10)], "says": {(10, 50): ("cab", 0.75)}}
    first, second = made(world).read(PAGE)
    assert (first.text, second.text) == ("abc", "cab")
    assert second.score == pytest.approx(0.75) and second.quad == tuple(quad(10, 50))
    assert second.box == (10, 50, 70, 70)
    assert made({"quads": []}).read(PAGE) == []
    assert len(made().read([PAGE] * 2)) == 2


def test_what_scores_too_little_is_dropped(made):
    says = {(10, 10): ("a", 0.49), (10, 40): ("", 1), (10, 70): ("  ", 1), (10, 100): ("b", 0.51)}
    world = {"quads": [quad(*at) for at in says], "says": says}
    assert [line.text for line in made(world).read(PAGE)] == ["b"]
    assert [line.text for line in made(world, min_score=0).read(PAGE)] == ["a", "b"]
    assert made(world, min_score=0.6).read(PAGE) == []


def test_tall_quads_are_turned(made):
    """As numpy.rot90 turns the crop: what was top-right becomes top-left."""
    a, b, c, d = quad(10, 10, 20, 60)
    (line,) = made({"quads": [[a, b, c, d]]}).read(PAGE)
    assert line.quad == (b, c, d, a)
    (line,) = made({"quads": [quad(10, 10, 20, 29)]}).read(PAGE)
    assert line.quad == tuple(quad(10, 10, 20, 29))
    crop = np.arange(6).reshape(3, 2)
    assert np.rot90(crop)[0, 0] == crop[0, 1]


def test_lines_that_stand_on_their_head(made):
    a, b, c, d = quad(10, 10)
    world = {"quads": [[a, b, c, d]], "upside_down": [[a, b, c, d]]}
    (line,) = made(world).read(PAGE)
    assert line.quad == (c, d, a, b)
    assert [gives for gives, _ in FakeStage.shown] == ["classes", "text"]
    (line,) = made({**world, "unsure": True}).read(PAGE)
    assert line.quad == (a, b, c, d)
    (line,) = made(world, spec={**SPEC, "orient": None}).read(PAGE)
    assert line.quad == (a, b, c, d)
    a, b, c, d = quad(10, 10, 20, 60)
    world = {"quads": [[a, b, c, d]], "upside_down": [[b, c, d, a]]}
    (line,) = made(world).read(PAGE)
    assert line.quad == (d, a, b, c)


def test_reading_order(made):
    rows = [[(10, 10), (90, 14), (180, 7)], [(20, 40)], [(5, 70), (100, 66)]]
    order = [at for row in rows for at in row]
    for seed in range(5):
        mixed = random.Random(seed).sample(order, len(order))
        found = made({"quads": [quad(*at) for at in mixed]}).read(PAGE)
        assert [line.quad[0] for line in found] == order


def test_a_recogniser_alone_reads_the_whole_picture(made, monkeypatch):
    monkeypatch.setattr(FakeStage, "world", {})
    reader = made()
    reader._stage = FakeStage("read")
    (line,) = reader.read(PAGE)
    assert line.text == "abc" and line.box == (0, 0, 300, 300)
    (line,) = reader.read(PAGE, roi=(50, 60, 40, 20, 90))
    np.testing.assert_allclose(line.quad, [(60, 40), (60, 80), (40, 80), (40, 40)], atol=1e-4)
    (line,) = reader.read(PAGE, roi=quad(1, 2))
    assert line.quad == tuple(quad(1, 2))


def test_plain_tables_and_drawing(made):
    reader = made()
    (plain,) = reader.plain(reader.read(PAGE))
    assert json.loads(json.dumps(plain)) == plain and plain["text"] == "abc"
    assert reader({"image": np.stack([PAGE] * 2)})["results"][1] == [plain]
    assert np.any(np.asarray(reader.draw(PAGE)) != PAGE)
    for corners in ([(0, 0)] * 4, [(float("nan"), 0)] * 4, [(-9, -9), (1e9, 0), (1e9, 9), (-9, 9)]):
        line = fv.vision.TextLine("a\nb\ud800", 0.9, corners, (0, 0, 1, 1))
        if np.isfinite(corners).all():
            reader.draw(PAGE, [line])
        else:
            with pytest.raises(ArgumentError, match="finite"):
                reader.draw(PAGE, [line])
    line = fv.vision.TextLine("Größe 文", 0.9, tuple(quad(20, 60)), (20, 60, 80, 80))
    assert np.any(np.asarray(reader.draw(PAGE, [line])) != PAGE)
    with pytest.raises(ArgumentError, match="draw"):
        reader.draw(PAGE, ["abc"])


def test_pickled(made):
    again = pickle.loads(pickle.dumps(made(min_score=0.7)))
    assert again.read(PAGE)[0].text == "abc" and again._min_score == 0.7


@pytest.mark.parametrize(
    ("spec", "error", "text"),
    [
        ({"task": 1, "kind": "text"}, ModelError, "nothing says what reads"),
        ({**SPEC, "read": "orient"}, ModelError, "gives text, this one gives classes"),
        ({**SPEC, "orient": "read"}, ModelError, "gives classes, this one gives text"),
        ({**SPEC, "tall": "x"}, SpecError, "tall"),
        ({**SPEC, "min_score": 2}, SpecError, "min_score"),
        ({**SPEC, "kind": "landmarks"}, SpecError, "kind"),
        ({**SPEC, "what": 2}, SpecError, "what"),
    ],
    ids=str,
)
def test_bad_specs(made, spec, error, text):
    with pytest.raises(error, match=text):
        made(spec=spec).read(PAGE)


def test_bad_arguments(made):
    for score, error in (("a", ArgumentError), (True, ArgumentError), (1.5, SpecError)):
        with pytest.raises(error, match="min_score"):
            made(min_score=score)
    reader = made()
    reader._stage.decode = lambda *_: fv.image.Detections(
        np.zeros(1, np.int32), np.ones(1), np.zeros((1, 4)), np.zeros((1, 6, 2))
    )
    with pytest.raises(ModelError, match="6 points"):
        reader.read(PAGE)
