"""What all tasks have in common: pickling, tables of pictures, pictures from bytes, regions."""

import io
import json
import pickle
import subprocess
import sys

import foveal as fv
import numpy as np
import pytest
from foveal.errors import ArgumentError, FrameError, ModelError, NotFoundError, SpecError
from PIL import Image


def encoded(pixels, format="PNG"):
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, format)
    return file.getvalue()


class Table:
    """The little of a pandas DataFrame that a task touches."""

    def __init__(self, **columns):
        self.data = columns

    @property
    def columns(self):
        return list(self.data)

    def __getitem__(self, name):
        return self.data[name]

    def drop(self, columns):
        return Table(**{n: v for n, v in self.data.items() if n not in columns})

    def assign(self, **more):
        return Table(**self.data, **more)


def test_bytes_of_a_file(detector, photo):
    face, picture = detector("face"), photo("astronaut")
    data = encoded(picture)
    for form in (data, bytearray(data), memoryview(data), io.BytesIO(data)):
        assert face.detect(form) == face.detect(picture)


@pytest.mark.parametrize(
    ("data", "text"), [(b"", "an empty file"), (b"GIF", "3 bytes"), (None, "damaged")]
)
def test_bytes_that_are_no_picture(photo, data, text):
    whole = encoded(photo("astronaut"))
    with pytest.raises(FrameError, match=text):
        fv.vision.open_image(whole[:9000] if data is None else data)


def test_bytes_turned_by_exif(photo):
    file, exif = io.BytesIO(), Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(photo("chelsea")).save(file, "PNG", exif=exif)
    height, width = photo("chelsea").shape[:2]
    assert fv.vision.open_image(file.getvalue()).upright_size == (height, width)


def test_pickled_by_its_arguments(detector, photo):
    made = fv.vision.Detector("face", threads=1, min_score=0.6, labels=["somebody"])
    again = pickle.loads(pickle.dumps(made))
    assert type(again) is fv.vision.Detector and again.labels == ["somebody"]
    assert again.detect(photo("astronaut")) == made.detect(photo("astronaut"))
    assert json.loads(again._stage.decoder.json())["min_score"] == 0.6
    assert len(pickle.dumps(made)) < 1000, "by name, not by content"


def test_a_task_of_a_model_is_pickled_with_it(detector, photo):
    made = fv.vision.Detector(detector("face").model, threads=1)
    again = pickle.loads(pickle.dumps(made))
    assert again.detect(photo("astronaut")) == made.detect(photo("astronaut"))


def test_a_pickled_path_is_good_in_any_folder(detector, photo, tmp_path, monkeypatch):
    fv.graph.Graph.from_model(detector("face").model).save(tmp_path / "m.fvm")
    monkeypatch.chdir(tmp_path)
    data = pickle.dumps(fv.vision.Detector("m.fvm", threads=1))
    script = "import pickle, sys; print(pickle.load(sys.stdin.buffer).model.inputs[0].name)"
    done = subprocess.run([sys.executable, "-c", script], input=data, capture_output=True, cwd="/")
    assert done.stdout.split() == [b"input"], done.stderr.decode()


def test_tables(detector, photo, tmp_path):
    face = detector("face")
    pictures = [photo("astronaut"), photo("astronaut")[:200]]
    expected = [face.plain(face.detect(p)) for p in pictures]
    assert json.loads(json.dumps(expected)) == expected and expected[0][0]["label"] == "face"
    paths = []
    for i, picture in enumerate(pictures):
        paths.append(str(tmp_path / f"{i}.png"))
        Image.fromarray(picture).save(paths[-1])
    objects = np.empty(2, object)
    objects[:] = pictures
    for column in (pictures, objects, [encoded(p) for p in pictures], paths, np.array(paths)):
        for table in ({"image": column, "id": [7, 8]}, Table(image=column, id=[7, 8])):
            out = face(table)
            assert list(out["results"]) == expected and out["id"] == [7, 8]
            named = isinstance(column[0], str)
            assert ("image" in (out if isinstance(out, dict) else out.columns)) == named
    stack = np.stack([photo("astronaut")] * 3)
    assert list(face({"image": stack})["results"]) == [expected[0]] * 3
    assert list(face({"image": stack[:0]})["results"]) == []


@pytest.mark.parametrize(
    ("table", "text"),
    [
        ({}, 'a column "image", got none'),
        ({"picture": []}, "got picture"),
        ({"image": 3}, "a list or an array"),
        ({"image": b"abc"}, "a list or an array"),
        ({"image": [], "id": [1]}, "different lengths"),
        ({"image": np.zeros((1, 2, 2, 3), np.float64)}, "expected uint8"),
    ],
)
def test_bad_tables(detector, table, text):
    with pytest.raises(ArgumentError, match=text):
        detector("face")(table)


def test_iterators_are_lists(detector, photo):
    face = detector("face")
    assert face(iter([photo("astronaut")] * 2)) == [face(photo("astronaut"))] * 2


def test_regions(detector, photo):
    """A region is looked at as the picture that it cuts out, wherever it lies."""
    face, picture = detector("face"), photo("astronaut")
    cut = face.detect(np.ascontiguousarray(picture[30:330, 100:400]))
    for roi in (fv.image.Rect(100, 30, 400, 330), (100, 30, 400, 330)):
        (found,) = face.detect(picture, roi)
        np.testing.assert_allclose(found.box, np.add(cut[0].box, (100, 30, 100, 30)), atol=0.05)
        assert abs(found.score - cut[0].score) < 1e-3
    assert face.detect(picture, fv.image.Rect(300, 300, 500, 500)) == []
    assert face.detect(picture, (0, 0, 512, 512)) == face.detect(picture)


@pytest.mark.parametrize("roi", ["abc", (1, 2), (0, 0, float("nan"), 3), (5, 5, 5, 5), object()])
def test_bad_regions(detector, photo, roi):
    with pytest.raises((ArgumentError, FrameError, SpecError)):
        detector("face").detect(photo("astronaut"), roi)


def test_the_task_of_a_model(detector, photo):
    made = fv.vision.task("face", threads=1, min_score=0.6)
    assert type(made) is fv.vision.Detector is fv.vision.task_class("face")
    assert made.detect(photo("astronaut")) == detector("face").detect(photo("astronaut"))
    model = detector("face").model
    spec = {"task": 1, "kind": "landmarks"}
    assert fv.vision.task_class(model, spec=spec) is fv.vision.Landmarker
    assert fv.vision.task_class(model, spec='{"task": 1, "kind": "mask"}') is fv.vision.Segmenter
    with pytest.raises(ModelError, match="gives detections"):
        fv.vision.task(model, spec=spec)
    for bad in ("{", "[]", {"task": 1, "kind": "sound"}, {"task": 1, "kind": ["mask"]}, {"a": {1}}):
        with pytest.raises(SpecError, match="task spec"):
            fv.vision.task(model, spec=bad)
    plain = fv.graph.Graph.from_model(model)
    plain.meta.clear()
    with pytest.raises(ModelError, match="carries no pipeline"):
        fv.vision.task(plain.to_model())
    with pytest.raises(ModelError, match="carries no decoder"):
        fv.vision.task(plain.to_model(), pipeline=model.meta["pipeline"])
    given = {key: model.meta[key] for key in ("pipeline", "decoder")}
    assert type(fv.vision.task(plain.to_model(), **given)) is fv.vision.Detector


@pytest.mark.parametrize(
    ("bad", "error"), [(None, ArgumentError), ("nothere.png", NotFoundError), (b"junk", FrameError)]
)
def test_errors_say_which_picture_of_several(photo, bad, error):
    task, good = fv.vision.Detector("face", threads=1), photo("astronaut")
    for pictures in ([good, good, bad], {"image": [good, good, bad]}):
        with pytest.raises(error, match="picture 2: "):
            task(pictures)
    with pytest.raises(error) as alone:
        task(bad)
    assert "picture 0" not in str(alone.value)
