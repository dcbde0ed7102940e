"""Models whose input is quantised: a pipeline takes scale and zero point from the model."""

import foveal as fv
import numpy as np
import pytest
from foveal.errors import ModelError
from foveal.frame import Frame
from foveal.graph import Graph
from foveal.image import Decoder, Pipeline
from foveal.optimize import optimize


def quantized(name, dtype, scale, zero_point):
    """A zoo model that takes whole numbers: its first step makes floats of them."""
    inner = Graph.from_model(fv.load(name))
    graph = inner.copy()
    (old,) = graph.inputs
    graph.inputs = []
    graph.rename(old, "real")
    new = graph.input("image", dtype, old.shape)
    new.quantization = scale, zero_point
    real = graph.add("cast", [new], {"dtype": "float32"})
    real = graph.add("sub", [real, graph.constant(np.float32(zero_point))])
    real = graph.add("mul", [real, graph.constant(np.float32(scale))])
    graph.replace_uses(old, real)
    graph.toposort()
    return graph


@pytest.mark.parametrize(
    ("dtype", "scale", "zero_point"), [("int8", 0.0079, 3), ("uint8", 0.0085, 120)]
)
def test_a_detector_needs_nothing_else(photo, tmp_path, dtype, scale, zero_point):
    quantized("face", dtype, scale, zero_point).save(tmp_path / "face.fvm")
    model = fv.load(tmp_path / "face.fvm")
    (info,) = model.inputs
    assert (info.dtype, info.quantization) == (dtype, (scale, zero_point))
    found = fv.vision.Detector(model).detect(photo("astronaut"))

    session = fv.Session(model)
    assert session.inputs[0].quantization == (scale, zero_point)
    pipeline = Pipeline.from_json(model.meta["pipeline"])
    frame = Frame.from_numpy(photo("astronaut"))
    by_hand = pipeline.compile(
        dtype=dtype, shape=info.shape, quantize=(scale, zero_point), layout="auto"
    )
    tensor, transform = by_hand(frame)
    want = Decoder.from_json(model.meta["decoder"]).run(session.run({"image": tensor}), transform)
    assert len(found) == 1
    np.testing.assert_array_equal(found[0].box, want.boxes[0])
    np.testing.assert_array_equal(found[0].points, want.points[0])

    plan = pipeline.compile(session.inputs[0])
    plan.run(frame)
    np.testing.assert_array_equal(session.input_view("image"), tensor)
    assert f"round(y / {scale:.9g}) + {zero_point}" in plan.explain()
    # And what it stands for is what the float model sees, to half a step.
    wanted, _ = pipeline.compile(shape=info.shape)(frame)
    low, high = np.iinfo(dtype).min - zero_point, np.iinfo(dtype).max - zero_point
    real = (tensor.astype(np.float64) - zero_point) * scale
    inside = (wanted > low * scale) & (wanted < high * scale)
    assert inside.mean() > 0.9
    assert np.abs(real - wanted)[inside].max() <= scale / 2 + 1e-6


def test_what_the_caller_says_comes_first(photo):
    model = quantized("face", "int8", 0.01, 5).to_model()
    pipeline = Pipeline.from_json(model.meta["pipeline"])
    frame = Frame.from_numpy(photo("astronaut"))
    (info,) = model.inputs
    own, _ = pipeline.compile(info)(frame)
    other, _ = pipeline.compile(info, quantize=(0.02, 0))(frame)
    want, _ = pipeline.compile(dtype="int8", shape=info.shape, quantize=(0.02, 0))(frame)
    np.testing.assert_array_equal(other, want)
    assert (own != other).any()
    # Another element type has nothing to do with it.
    floats, _ = pipeline.compile(info, dtype="float32")(frame)
    np.testing.assert_array_equal(floats, pipeline.compile(shape=info.shape)(frame)[0])


def test_it_survives_copies_and_optimisation(tmp_path):
    graph = quantized("face", "uint8", 0.25, 7)
    assert graph.copy().inputs[0].quantization == (0.25, 7)
    back = Graph.from_model(graph.to_model())
    optimize(back)
    back.save(tmp_path / "again.fvm")
    again = fv.load(tmp_path / "again.fvm")
    assert again.inputs[0].quantization == (0.25, 7)
    assert fv.load("face").inputs[0].quantization is None


@pytest.mark.parametrize(
    ("dtype", "quantization", "what"),
    [
        ("float32", (0.5, 0), "expected uint8, int8 or int16"),
        ("int8", (0.5, 128), "zero point: expected -128 to 127"),
        ("uint8", (-1.0, 0), "scale: expected a finite number above 0"),
        ("uint8", (float("nan"), 0), "scale: expected a finite number above 0"),
    ],
)
def test_what_makes_no_sense_is_refused(dtype, quantization, what):
    graph = Graph()
    x = graph.input("x", dtype, (1, 4))
    x.quantization = quantization
    graph.outputs = [graph.add("reshape", [x], {"shape": [4]})]
    with pytest.raises(ModelError, match=what):
        graph.build()
