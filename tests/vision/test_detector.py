"""Real models on real photos: what they find, whatever form the picture comes in."""

import json
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import foveal as fv
import numpy as np
import pytest
from foveal.convert import convert
from foveal.errors import ArgumentError, FrameError, ModelError, NotFoundError, SpecError
from layouts import stored, yuv
from PIL import Image

FACE = (179, 82, 274, 177)  # the astronaut's, by hand


def iou(a, b):
    """Intersection over union of two boxes."""
    x = min(a[2], b[2]) - max(a[0], b[0])
    y = min(a[3], b[3]) - max(a[1], b[1])
    both = max(x, 0) * max(y, 0)
    area = sum((c[2] - c[0]) * (c[3] - c[1]) for c in (a, b))
    return both / (area - both)


def same(found, expected, pixels=0.05):
    """The same things at the same places; resampling twice is not involved, so hardly any slack."""
    assert [d.label for d in found] == [d.label for d in expected]
    for a, b in zip(found, expected, strict=True):
        assert abs(a.score - b.score) < 0.002
        np.testing.assert_allclose(a.box, b.box, atol=pixels)
        np.testing.assert_allclose(a.points, b.points, atol=pixels)


@pytest.mark.parametrize(
    ("model", "overlap", "score"),
    [("face", 0.7, 0.85), ("face-full-range", 0.5, 0.7), ("face-center", 0.5, 0.7)],
)
def test_the_astronauts_face(detector, photo, model, overlap, score):
    found = detector(model).detect(photo("astronaut"))
    assert [d.label for d in found] == ["face"]
    assert found[0].score > score
    assert iou(found[0].box, FACE) > overlap
    x0, y0, x1, y1 = found[0].box
    points = found[0].points
    assert len(points) == (5 if model == "face-center" else 6)
    margin = 0.25 * (x1 - x0)  # ears may lie just outside
    assert all(x0 - margin < x < x1 + margin and y0 < y < y1 for x, y in points)


@pytest.mark.parametrize(
    ("name", "label", "score"),
    [("astronaut", "Person", 0.5), ("chelsea", "Cat", 0.7), ("coffee", "Coffee cup", 0.4)],
)
def test_objects(detector, photo, name, label, score):
    picture = photo(name)
    best = [d for d in detector("objects").detect(picture) if d.label == label]
    assert best and best[0].score > score
    x0, y0, x1, y1 = best[0].box
    assert 0 <= x0 < x1 <= picture.shape[1] and 0 <= y0 < y1 <= picture.shape[0]


def test_a_size_that_follows_the_picture_or_its_region(photo):
    """The same detector on the whole picture, on regions of it and on the whole again."""
    spec = json.loads(fv.load("face-center").meta["pipeline"])
    del spec["fit"]
    size = {"k": "sides", "min": 256, "max": 640, "multiple": 32}
    detector = fv.vision.Detector("face-center", pipeline={**spec, "size": size})
    picture = photo("astronaut")
    for roi in (None, (100, 0, 400, 300), (150, 20, 310, 340), None):
        (found,) = detector.detect(picture, roi)
        assert iou(found.box, FACE) > 0.5, roi


@pytest.mark.parametrize("name", ["chelsea", "coffee"])
@pytest.mark.parametrize("model", ["face", "face-center"])
def test_no_face_where_none_is(detector, photo, model, name):
    confident = [d for d in detector(model).detect(photo(name)) if d.score > 0.85]
    assert confident == []


def test_every_form_gives_the_same(detector, photo, tmp_path):
    face, picture = detector("face"), photo("astronaut")
    path = tmp_path / "a.png"
    Image.fromarray(picture).save(path)
    expected = face.detect(picture)
    height, width = picture.shape[:2]
    frame = fv.Frame(format="rgb", width=width, height=height, planes=[picture.reshape(height, -1)])
    opaque = np.dstack([picture, np.full((height, width), 255, np.uint8)])
    forms = [path, str(path), Image.fromarray(picture), frame, opaque, Image.fromarray(opaque)]
    forms.append(np.asfortranarray(picture))
    for form in forms:
        same(face.detect(form), expected, 1e-4)
    assert face(picture) == expected
    assert face.detect([picture, path]) == [expected, expected]
    assert face.detect([]) == []


def test_grey(detector, photo):
    grey = np.asarray(Image.fromarray(photo("astronaut")).convert("L"))
    for form in (grey, Image.fromarray(grey), grey[..., None], np.dstack([grey] * 3)):
        (found,) = detector("face").detect(form)
        assert found.score > 0.8 and iou(found.box, FACE) > 0.7
    deep = Image.fromarray(grey.astype(np.uint16) << 8)
    same(detector("face").detect(deep), detector("face").detect(grey))


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("name", ["astronaut", "chelsea"])
def test_exif_rotation(detector, photo, tmp_path, orientation, name):
    picture = photo(name)
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = tmp_path / "turned.png"
    Image.fromarray(stored(picture, orientation)).save(path, exif=exif)
    model = detector("face" if name == "astronaut" else "objects")
    same(model.detect(path), model.detect(picture))
    frame = fv.vision.open_image(path)
    assert frame.upright_size == (picture.shape[1], picture.shape[0])
    np.testing.assert_array_equal(fv.vision.upright_rgb(frame), picture)


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("format", ["nv12", "nv21", "i420"])
def test_camera_frames(detector, photo, format, rotation):
    picture = photo("astronaut")
    sensor = np.rot90(picture, rotation // 90)  # counter-clockwise: undone by `rotation`
    frame = fv.Frame(
        format=format,
        width=sensor.shape[1],
        height=sensor.shape[0],
        planes=yuv(sensor, format, pad=24),
        rotation=rotation,
        color="bt601-limited",
    )
    (found,) = detector("face").detect(frame)
    (expected,) = detector("face").detect(picture)
    assert abs(found.score - expected.score) < 0.02
    assert iou(found.box, expected.box) > 0.95
    np.testing.assert_allclose(found.points, expected.points, atol=2)


@pytest.mark.parametrize("format", ["nv12", "nv21", "i420"])
def test_mirrored_camera_frame_of_odd_size(detector, photo, format):
    picture = photo("chelsea")  # 451 wide
    sensor = np.rot90(picture[:, ::-1], 1)  # rotation, then mirror, make it upright
    frame = fv.Frame(
        format=format,
        width=sensor.shape[1],
        height=sensor.shape[0],
        planes=yuv(sensor, format),
        rotation=90,
        mirror=True,
        color="bt601-limited",
    )
    found = detector("objects").detect(frame)
    expected = detector("objects").detect(picture)
    assert found[0].label == "Cat" and found[0].score > 0.7
    assert iou(found[0].box, expected[0].box) > 0.95


def test_draw(detector, photo):
    picture = photo("astronaut")
    before = picture.copy()
    drawn = detector("face").draw(picture)
    np.testing.assert_array_equal(picture, before)
    assert drawn.mode == "RGB" and drawn.size == (512, 512)
    changed = np.any(np.asarray(drawn) != picture, axis=-1)
    assert 200 < changed.sum() < 20000
    assert not changed[300:].any() and not changed[:, 320:].any()
    green = np.all(np.asarray(drawn) == (0x00, 0xFF, 0x5A), axis=-1)
    assert green.sum() > changed.sum() / 2 and not np.all(picture == (0, 255, 90), axis=-1).any()
    untouched = detector("face").draw(picture, [])
    np.testing.assert_array_equal(np.asarray(untouched), picture)


@pytest.mark.parametrize("side", [64, 512, 2048])
def test_drawing_follows_the_size_of_the_picture(side):
    canvas = np.full((side, side, 3), 255, np.uint8)
    box, eye = (side * 0.25, side * 0.5, side * 0.75, side * 0.9), (side * 0.5, side * 0.7)
    fv.image.draw(canvas, [fv.vision.Detection("a", 1.0, box, (eye,))], ["a", "b"])
    row = np.any(canvas[int(side * 0.8)] != 255, axis=-1)
    assert abs(row[: side // 2].sum() - max(2, round(side / 180))) <= 1
    column = np.any(canvas[int(side * 0.55) : int(side * 0.85), side // 2] != 255, axis=-1)
    assert max(4, side / 90) <= column.sum() <= max(8, side / 40)


def test_every_label_has_its_colour():
    names = [f"n{i}" for i in range(8)]
    seen = []
    for i, name in enumerate(names):
        canvas = np.zeros((64, 64, 3), np.uint8)
        fv.image.draw(canvas, [fv.vision.Detection(name, 1.0, (8, 32, 56, 60))], names)
        by_number = np.zeros_like(canvas)
        numbered = SimpleNamespace(label=i, score=1.0, box=(8, 32, 56, 60), points=())
        fv.image.draw(by_number, [numbered], names)
        np.testing.assert_array_equal(canvas, by_number)
        red, green, blue = (int(v) for v in canvas[50, 8])
        assert max(red, green, blue) == 255 and min(red, green, blue) < 100, "vivid"
        seen.append((red, green, blue))
    apart = [sum(abs(p - q) for p, q in zip(a, b, strict=True)) for a in seen for b in seen]
    assert sorted(apart)[8] > 100, "no two alike"


def test_timings_and_min_score(detector, photo):
    face = detector("face")
    face.detect(photo("astronaut"))
    assert set(face.timings) == {"preprocess", "inference", "decode"}
    assert all(0 < ms < 10_000 for ms in face.timings.values())
    strict = fv.vision.Detector(face.model, min_score=np.float32(0.999))  # numpy's numbers, too
    assert strict.detect(photo("astronaut")) == []
    loose = fv.vision.Detector("objects", min_score=0.1).detect(photo("coffee"))
    assert len(loose) > len(detector("objects").detect(photo("coffee")))
    assert [d.score for d in loose] == sorted((d.score for d in loose), reverse=True)


def test_detectors_share_a_model_between_threads(detector, photo):
    model, picture = detector("face").model, photo("astronaut")
    expected = detector("face").detect(picture)
    with ThreadPoolExecutor(4) as pool:
        detectors = [fv.vision.Detector(model, threads=1) for _ in range(4)]
        jobs = [pool.submit(d.detect, picture) for d in detectors for _ in range(8)]
        assert all(job.result() == expected for job in jobs)


def test_spec_can_be_given(detector, photo):
    model = detector("face").model
    given = fv.vision.Detector(
        model,
        pipeline=model.meta["pipeline"],
        decoder=model.meta["decoder"],
        labels=["somebody"],
    )
    assert given.detect(photo("astronaut"))[0].label == "somebody"
    assert fv.vision.Detector(model, labels=[]).detect(photo("astronaut"))[0].label == "class 0"


def test_one_detector_in_many_threads(detector, photo):
    """Every caller gets the answer for its own picture."""
    whole, one = photo("astronaut"), fv.vision.Detector(detector("face").model, threads=1)
    pictures = [np.ascontiguousarray(whole[: 512 - 7 * k, : 512 - 50 * k]) for k in range(4)]
    expected = [one.detect(picture) for picture in pictures]
    assert len({str(found) for found in expected}) == len(pictures)
    with ThreadPoolExecutor(4) as pool:
        jobs = [(k % 4, pool.submit(one.detect, pictures[k % 4])) for k in range(200)]
        wrong = sum(job.result() != expected[k] for k, job in jobs)
        lists = [pool.submit(one.detect, pictures) for _ in range(20)]
        assert all(job.result() == expected for job in lists)
    assert wrong == 0


def forms(spec, read):
    """A spec in every form that a detector takes."""
    return [read(spec), spec, json.loads(spec)]


def test_specs_in_every_form(detector, photo):
    model, picture = detector("face").model, photo("astronaut")
    expected = detector("face").detect(picture)
    for given in forms(model.meta["pipeline"], fv.image.Pipeline.from_json):
        assert fv.vision.Detector(model, pipeline=given).detect(picture) == expected
    for given in forms(model.meta["decoder"], fv.image.Decoder.from_json):
        assert fv.vision.Detector(model, decoder=given).detect(picture) == expected
        assert fv.vision.Detector(model, decoder=given, min_score=0.999).detect(picture) == []


NO_PATHS = [None, 3, True, [], "", "a\0b", "\ud800"]


@pytest.mark.parametrize(
    "arguments",
    [
        *({"model": value} for value in NO_PATHS),
        *({"min_score": value} for value in ("a", [0.5], True)),
        *({"labels": value} for value in ("abc", b"abc", [1, 2], 3, {"a": 1})),
        *({"device": value} for value in (3, None, "", [], ["cpu", 3], ["cpu", ""])),
        *({"threads": value} for value in (None, "x", 1.5, -1, 2**40)),
        *({"pipeline": value} for value in (3, [], b"{}", fv.image.Decoder)),
        *({"decoder": value} for value in (3, [], b"{}", fv.image.Pipeline(size=(8, 8)))),
    ],
    ids=str,
)
def test_arguments_of_the_wrong_type(arguments):
    with pytest.raises(ArgumentError) as error:
        fv.vision.Detector(**{"model": "face", **arguments})
    assert not isinstance(error.value.__cause__, (TypeError, AttributeError))


@pytest.mark.parametrize("value", [3, [1], [None], "abc", object()])
def test_draw_refuses_what_is_no_detection(detector, photo, value):
    with pytest.raises(ArgumentError, match="draw"):
        detector("face").draw(photo("astronaut"), value)


@pytest.mark.parametrize("spec", ["x", "{", '{"size": 3}', {"size": {1}}])
def test_damaged_specs(detector, spec):
    model = detector("face").model
    for arguments in ({"pipeline": spec}, {"decoder": spec}, {"decoder": spec, "min_score": 0.5}):
        with pytest.raises(SpecError):
            fv.vision.Detector(model, **arguments)


def test_damaged_labels(detector):
    graph = convert(fv.zoo.get("face"), meta={**detector("face").model.meta, "labels": "{"})
    with pytest.raises(ModelError, match="labels"):
        fv.vision.Detector(graph.to_model())


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan")])
def test_bad_min_score(detector, value):
    with pytest.raises(SpecError, match="min_score"):
        fv.vision.Detector(detector("face").model, min_score=value)


def test_model_without_metadata(detector):
    graph = convert(fv.zoo.get("face"))
    with pytest.raises(ModelError, match="carries no pipeline") as error:
        fv.vision.Detector(graph.to_model())
    assert "pipeline=" in error.value.hint
    with pytest.raises(ModelError, match="carries no decoder"):
        fv.vision.Detector(graph.to_model(), pipeline=detector("face").model.meta["pipeline"])


@pytest.mark.parametrize(
    ("picture", "error", "text"),
    [
        (np.zeros((4, 4, 3), np.float64), ArgumentError, "expected uint8"),
        (np.zeros((4, 4, 5), np.uint8), ArgumentError, "[4, 4, 5]"),
        (np.zeros((1, 4, 4, 3), np.uint8), ArgumentError, "[1, 4, 4, 3]"),
        (np.zeros((0, 4, 3), np.uint8), FrameError, "4x0"),
        (np.zeros((4, 0), np.uint8), FrameError, "0x4"),
        (7, ArgumentError, "got int"),
        (None, ArgumentError, "got NoneType"),
    ],
)
def test_what_is_no_picture(detector, picture, error, text):
    with pytest.raises(error) as raised:
        detector("face").detect(picture)
    assert text in str(raised.value)


def test_short_plane_is_refused(photo):
    planes = yuv(photo("astronaut"), "nv12")
    for broken in ([planes[0][:-1], planes[1]], [planes[0], planes[1][:-1]], planes[:1]):
        with pytest.raises(FrameError):
            frame = fv.Frame(
                format="nv12", width=512, height=512, planes=broken, color="bt601-limited"
            )
            fv.vision.upright_rgb(frame)


@pytest.mark.parametrize(
    ("data", "error", "text"),
    [
        (b"", FrameError, "an empty file"),
        (b"just text\n", FrameError, "10 bytes"),
        (bytes(range(128, 160)), FrameError, "32 bytes"),
        (None, NotFoundError, "there is no picture"),
    ],
)
def test_files_that_are_no_pictures(tmp_path, data, error, text):
    path = tmp_path / "a.png"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(error, match=text):
        fv.vision.open_image(path)


def test_damaged_picture(tmp_path, photo):
    path = tmp_path / "a.png"
    Image.fromarray(photo("coffee")).save(path)
    path.write_bytes(path.read_bytes()[:20_000])
    with pytest.raises(FrameError, match="damaged"):
        fv.vision.open_image(path)
    with pytest.raises(FrameError, match="folder"):
        fv.vision.open_image(tmp_path)
    with pytest.raises(NotFoundError) as error:
        fv.vision.open_image("astronaut")
    assert "foveal zoo get astronaut" in error.value.hint
