"""The zoo's pipelines and decoders, with each model run by its source runtime, on real photos."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from foveal import zoo
from foveal.frame import Frame
from foveal.image import Decoder, Detections, Pipeline
from PIL import Image

pytestmark = pytest.mark.network

FACE = (179, 82, 274, 177)


def iou(a: Any, b: Any) -> float:
    w = max(0.0, min(a[2], b[2]) - max(a[0], b[0]))
    h = max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
    both = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1])
    return float(w * h / (both - w * h))


Runner = Callable[[np.ndarray], dict[str, np.ndarray]]


@functools.cache
def runtime(name: str) -> tuple[Runner, str]:
    """The model in onnxruntime or LiteRT, and its input's layout."""
    path = str(zoo.get(name))
    if path.endswith(".onnx"):
        onnx = pytest.importorskip("onnx")
        ort = pytest.importorskip("onnxruntime")
        model = onnx.load(path)
        weights = {w.name for w in model.graph.initializer}  # old files list them as inputs
        for value in [*model.graph.input, *model.graph.output]:  # batch and size are free
            if value.name in weights:
                continue
            for axis in (0, 2, 3):
                value.type.tensor_type.shape.dim[axis].dim_param = f"{value.name}_{axis}"
        session = ort.InferenceSession(model.SerializeToString())
        names = [o.name for o in session.get_outputs()]
        feed = session.get_inputs()[0].name
        return lambda x: dict(zip(names, session.run(None, {feed: x}), strict=True)), "nchw"
    litert = pytest.importorskip("ai_edge_litert.interpreter")
    interpreter = litert.Interpreter(path)
    interpreter.allocate_tensors()

    def run(x: np.ndarray) -> dict[str, np.ndarray]:
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
        interpreter.invoke()
        return {
            d["name"]: interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()
        }

    return run, "nhwc"


def detect(name: str, frame: Frame) -> tuple[Detections, list[str]]:
    entry = zoo.find(name)
    run, layout = runtime(name)
    tensor, transform = Pipeline.from_json(json.dumps(entry.pipeline)).compile(layout=layout)(frame)
    return Decoder(entry.decoder).run(run(tensor), transform), zoo.labels(entry)


@pytest.mark.parametrize(
    ("name", "score", "overlap"),
    [("face", 0.85, 0.7), ("face-full-range", 0.7, 0.5), ("face-center", 0.5, 0.5)],
)
def test_one_face(name: str, score: float, overlap: float) -> None:
    found, labels = detect(name, Frame.from_file(zoo.photo("astronaut")))
    assert [labels[d.label] for d in found] == ["face"]
    assert found[0].score > score
    assert iou(found[0].box, FACE) > overlap
    x = found[0].points[:, 0]  # eyes, nose, mouth lie within the face
    assert len(x) in (5, 6)
    assert (x[:4] > FACE[0]).all() and (x[:4] < FACE[2]).all()
    for photo in ("chelsea", "coffee"):
        assert len(detect(name, Frame.from_file(zoo.photo(photo)))[0]) == 0


@pytest.mark.parametrize(
    ("photo", "label", "score"),
    [("astronaut", "Person", 0.4), ("chelsea", "Cat", 0.7), ("coffee", "Coffee cup", 0.4)],
)
def test_objects(photo: str, label: str, score: float) -> None:
    found, labels = detect("objects", Frame.from_file(zoo.photo(photo)))
    assert labels[found[0].label] == label
    assert found[0].score > score


def as_yuv(rgb: np.ndarray, fmt: str) -> list[np.ndarray]:
    """BT.601 limited planes of a picture of even size, chroma averaged over 2 x 2."""
    r, g, b = (rgb[..., i].astype(np.float64) for i in range(3))
    luma = 0.299 * r + 0.587 * g + 0.114 * b
    y = luma * 219 / 255 + 16
    u = (b - luma) / 1.772 * 224 / 255 + 128
    v = (r - luma) / 1.402 * 224 / 255 + 128
    h, w = luma.shape
    u, v = (c.reshape(h // 2, 2, w // 2, 2).mean((1, 3)) for c in (u, v))
    planes = [np.ascontiguousarray(np.rint(c).clip(0, 255), np.uint8) for c in (y, u, v)]
    if fmt == "i420":
        return planes
    pair = planes[1:] if fmt == "nv12" else planes[:0:-1]
    return [planes[0], np.ascontiguousarray(np.stack(pair, -1))]


@pytest.mark.parametrize("fmt", ["nv12", "nv21", "i420"])
@pytest.mark.parametrize(
    ("rotation", "mirror"), [(0, False), (90, False), (180, True), (270, True)]
)
def test_camera_frames_show_the_same_face(fmt: str, rotation: int, mirror: bool) -> None:
    rgb = np.asarray(Image.open(zoo.photo("astronaut")).convert("RGB"))
    want, _ = detect("face", Frame.from_numpy(rgb))
    sensor = np.rot90(rgb[:, ::-1] if mirror else rgb, rotation // 90)
    frame = Frame(
        format=fmt,
        width=sensor.shape[1],
        height=sensor.shape[0],
        planes=as_yuv(sensor, fmt),
        rotation=rotation,
        mirror=mirror,
    )
    found, _ = detect("face", frame)
    assert len(found) == 1
    np.testing.assert_allclose(found.boxes, want.boxes, atol=1.5)
    np.testing.assert_allclose(found.points, want.points, atol=1.5)
    np.testing.assert_allclose(found.scores, want.scores, atol=0.01)
