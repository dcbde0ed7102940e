"""Every task on real models and photos: against the model's own runtime fed with the same tensor,
against rapidocr, and against what can be seen in the photos."""

import dataclasses
import difflib
import functools

import foveal as fv
import numpy as np
import pytest
from foveal.errors import ArgumentError
from foveal.vision import regions
from PIL import Image


@functools.cache
def made(name):
    return fv.vision.task(name, threads=2)


def litert(name, stage, frame, roi):
    """Outputs of ai-edge-litert by name, for what our pipeline makes of the region."""
    interpreter = pytest.importorskip("ai_edge_litert.interpreter")
    peer = interpreter.Interpreter(model_path=str(fv.zoo.get(name)), num_threads=1)
    peer.allocate_tensors()
    (info,) = peer.get_input_details()
    spec = fv.image.Pipeline.from_json(stage.pipeline.json().replace('"full"', '"per_call"'))
    plan = spec.compile(dtype="float32", layout="nhwc", shape=info["shape"].tolist())
    tensor, transform = plan(frame, roi)
    peer.set_tensor(info["index"], tensor)
    peer.invoke()
    outputs = {d["name"]: peer.get_tensor(d["index"]) for d in peer.get_output_details()}
    return outputs, transform


@pytest.mark.parametrize(
    ("name", "output", "points", "roi"),
    [
        ("face-mesh", "conv2d_20", 468, None),
        ("iris", ("output_eyes_contours_and_brows", "output_iris"), 76, None),
        ("pose", "Identity", 39, None),
        ("hands", "Identity", 21, fv.image.RotatedRect(230, 300, 200, 200, 25)),
        ("face-mesh", "conv2d_20", 468, fv.image.RotatedRect(226, 130, 180, 180, -15)),
    ],
)
def test_landmarks_are_those_of_the_models_own_runtime(photo, name, output, points, roi):
    picture = photo("astronaut")
    task = made(name) if roi is None else fv.vision.Landmarker(name, min_score=0, threads=2)
    results = task.find(picture, roi)
    assert len(results) == (2 if name == "iris" else 1)
    frame = fv.vision.open_image(picture)
    for found in results:
        outputs, transform = litert(name, task._stage, frame, found.roi)
        names = [output] if isinstance(output, str) else output
        values = np.concatenate([outputs[o].ravel() for o in names]).reshape(points, -1)
        want = transform.points_to_frame(values[:, :2])
        assert np.abs(found.points[:, :2] - want).max() < 0.002 * 512
        side = regions.numbers(found.roi)[2]
        depth = values[:, 2] * side / transform.tensor_size[0]
        np.testing.assert_allclose(found.points[:, 2], depth, atol=0.01 * side)


def test_where_a_face_is(photo, detector):
    """Two ways to the same eyes: the detector's points, and the irises behind the mesh."""
    (face,) = detector("face").detect(photo("astronaut"))
    (mesh,) = made("face-mesh").find(photo("astronaut"))
    assert mesh.score > 0.9 and mesh.track is None
    # 33..133 and 362..263 are the corners of the eyes, 1 is the tip of the nose.
    eyes = [(mesh.points[a, :2] + mesh.points[b, :2]) / 2 for a, b in ((33, 133), (362, 263))]
    irises = [iris.points[71, :2] for iris in made("iris").find(photo("astronaut"))]
    width = face.box[2] - face.box[0]
    for known, eye, iris in zip(face.points[:2], eyes, irises, strict=True):
        assert np.hypot(*(eye - known)) < 0.08 * width
        assert np.hypot(*(iris - eye)) < 0.06 * width
    assert np.hypot(*(mesh.points[1, :2] - face.points[2])) < 0.1 * width


def test_a_person(photo):
    (pose,) = made("pose").find(photo("astronaut"))
    names = made("pose").names
    at = dict(zip(names, pose.points[:, :2], strict=True))
    assert 210 < at["nose"][0] < 245 and 110 < at["nose"][1] < 150
    assert at["right shoulder"][0] < at["nose"][0] < at["left shoulder"][0]
    assert at["nose"][1] < min(at["left shoulder"][1], at["right shoulder"][1])
    visible = dict(zip(names, pose.visibility, strict=True))
    assert visible["nose"] > 0.9 > 0.5 > visible["left ankle"]


def test_a_face_is_followed_through_a_video(photo):
    """The photo moves and turns a little from frame to frame; its landmarks move with it."""
    picture = Image.fromarray(photo("astronaut"))
    task = fv.vision.Landmarker("face-mesh", threads=2, tracking=True, smooth=False)
    (start,) = task.find(picture)
    asked = []
    task.detector._one = lambda *arguments: asked.append(arguments) or []
    for i in range(1, 12):
        dx, dy, angle = 5 * i, 3 * i, np.radians(2 * i)
        c, s = np.cos(angle), np.sin(angle)
        back = (c, s, 226 - c * (226 + dx) - s * (130 + dy),
                -s, c, 130 + s * (226 + dx) - c * (130 + dy))  # fmt: skip
        frame = picture.transform(
            (512, 512), Image.Transform.AFFINE, back, Image.Resampling.BILINEAR
        )
        (found,) = task.find(frame)
        centred = start.points[:, :2] - (226, 130)
        want = centred @ np.array([[c, s], [-s, c]]) + (226 + dx, 130 + dy)
        assert found.track == 0 and np.abs(found.points[:, :2] - want).mean() < 2.0
    assert not asked
    assert task.find(np.zeros((512, 512, 3), np.uint8)) == [] and len(asked) == 1


def bilinear(values, transform, width, height):
    """A mask of the tensor's size as it lies over the frame, by its definition."""
    x, y = np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5)
    at = transform.points_from_frame(np.stack([x, y], -1)) - 0.5
    h, w = values.shape
    x, y = at[..., 0].clip(0, w - 1), at[..., 1].clip(0, h - 1)
    i, j = np.minimum(x.astype(int), w - 2), np.minimum(y.astype(int), h - 2)
    u, v = x - i, y - j
    top = values[j, i] * (1 - u) + values[j, i + 1] * u
    return top * (1 - v) + (values[j + 1, i] * (1 - u) + values[j + 1, i + 1] * u) * v


def test_mask_is_that_of_the_models_own_runtime(photo):
    picture = np.ascontiguousarray(photo("astronaut")[:, 30:430])
    task = made("selfie")
    mask = task.segment(picture)
    assert mask.values.shape == (512, 400) and mask.values.dtype == np.float32
    frame = fv.vision.open_image(picture)
    outputs, transform = litert("selfie", task._stage, frame, (0, 0, 400, 512))
    want = bilinear(outputs["activation_10"][0, ..., 0].astype(float), transform, 400, 512)
    assert np.abs(mask.values - want).max() < 0.02
    inside, known = mask.values >= 0.5, want >= 0.5
    assert (inside & known).sum() / (inside | known).sum() > 0.98
    assert mask.values[130, 196] > 0.9 and mask.values[20, 20] < 0.1
    part = task.segment(picture, roi=(50, 0, 350, 400)).values
    assert not part[:, :49].any() and not part[401:].any() and part[130, 196] > 0.9


def test_a_mask_has_no_score():
    for make in (fv.vision.Segmenter, fv.vision.task):
        with pytest.raises(ArgumentError, match="no score"):
            make("selfie", min_score=0.5)


def box_iou(a, b):
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    both = max(width, 0) * max(height, 0)
    return both / (sum((c[2] - c[0]) * (c[3] - c[1]) for c in (a, b)) - both)


@functools.cache
def page_lines():
    return tuple(made("text").read(fv.zoo.photo("page")))


def test_text_is_that_of_rapidocr():
    rapidocr = pytest.importorskip("rapidocr_onnxruntime")
    with Image.open(fv.zoo.photo("page")) as page:
        known, _ = rapidocr.RapidOCR()(np.asarray(page.convert("RGB"))[..., ::-1])
    found = page_lines()
    for quad, text, _ in known:
        at = np.array(quad)
        box = (*at.min(0), *at.max(0))
        best = max(found, key=lambda line: box_iou(line.box, box))
        assert box_iou(best.box, box) > 0.7, text
    ours, theirs = ("\n".join(lines) for lines in ([f.text for f in found], [k[1] for k in known]))
    same = difflib.SequenceMatcher(None, ours, theirs, autojunk=False).get_matching_blocks()
    assert sum(block.size for block in same) >= 0.9 * len(theirs)
    assert abs(len(found) - len(known)) <= 1
    assert "segmentation" in ours


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_turned_pages_say_the_same(turns):
    """Tall quads are turned, and the orient model finds those that stand on their head."""
    with Image.open(fv.zoo.photo("page")) as page:
        pixels = np.asarray(page.convert("RGB"))
    turned = made("text").read(np.ascontiguousarray(np.rot90(pixels, turns)))
    said = " ".join(line.text for line in turned)
    for word in ("segmentation", "markers", "histogram"):
        assert word in said


def test_padded_widths_read_the_same():
    """Tensors whose width is rounded to 32 against those that are exactly as wide as their line."""
    exact = fv.vision.TextReader("text", threads=2)
    reader = exact._other("read", "text")
    strip = reader.pipeline.size
    assert strip.multiple > 1
    one = dataclasses.replace(strip, multiple=1)
    reader.pipeline = dataclasses.replace(reader.pipeline, size=one)
    lines = exact.read(fv.zoo.photo("page"))
    assert [line.text for line in lines] == [line.text for line in page_lines()]
    for line, padded in zip(lines, page_lines(), strict=True):
        assert abs(line.score - padded.score) < 0.02
    plans = made("text")._other("read", "text")._plans
    assert all(width % strip.multiple == 0 for (width, _), _ in plans)
    assert any(width % strip.multiple for (width, _), _ in reader._plans)


@pytest.mark.parametrize("name", ["face-mesh", "iris", "selfie", "text", "pose", "objects"])
def test_drawing_leaves_the_picture_recognisable(photo, name):
    task = made(name)
    picture = photo("page" if name == "text" else "astronaut")
    drawn = np.asarray(task.draw(picture)).astype(int)
    assert drawn.shape == picture.shape
    changed = np.any(drawn != picture, axis=-1).mean()
    assert (0 if name == "objects" else 0.0005) <= changed < 0.9


def test_vision_task_makes_the_right_ones():
    kinds = {
        "face": "Detector",
        "face-mesh": "Landmarker",
        "hands": "Landmarker",
        "selfie": "Segmenter",
        "text": "TextReader",
        "text-read": "TextReader",
        "text-orient": "Classifier",
    }
    assert {name: fv.vision.task_class(name).__name__ for name in kinds} == kinds
