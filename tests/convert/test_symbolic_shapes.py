"""Graphs that compute shapes, with fixed and with symbolic input sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from foveal.convert import convert
from foveal.errors import UnsupportedOpError
from harness import check_graph, expected
from onnx import TensorProto, helper, numpy_helper


def model(nodes: list[Any], shape: list[Any], weights: dict[str, Any] | None = None) -> Any:
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [onnx.ValueInfoProto(name="y")],
        [numpy_helper.from_array(np.asarray(v), k) for k, v in (weights or {}).items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def n(kind: str, inputs: str, output: str, **attrs: Any) -> Any:
    return helper.make_node(kind, inputs.split(), [output], **attrs)


I64 = np.int64


def flatten_by_shape() -> Any:
    """x.view(x.size(0), -1)"""
    nodes = [
        n("Shape", "x", "s"),
        n("Gather", "s zero", "b", axis=0),
        n("Unsqueeze", "b axis", "b1"),
        n("Concat", "b1 rest", "shape", axis=0),
        n("Reshape", "x shape", "y"),
    ]
    weights = {"zero": np.array(0, I64), "axis": np.array([0], I64), "rest": np.array([-1], I64)}
    return nodes, weights


def heads_by_shape() -> Any:
    """x.view(b, 2, c // 2, h * w) of a convolution's output, then an attention-like product"""
    nodes = [
        n("Relu", "x", "r"),
        n("Shape", "r", "s"),
        n("Slice", "s zero one", "b"),
        n("Slice", "s two four", "hw"),
        n("Gather", "hw i0", "h"),
        n("Gather", "hw i1", "w"),
        n("Mul", "h w", "area"),
        n("Unsqueeze", "area zero", "area1"),
        n("Concat", "b parts area1", "shape", axis=0),
        n("Reshape", "r shape", "y"),
    ]
    weights = {
        "zero": np.array([0], I64), "one": np.array([1], I64), "two": np.array([2], I64),
        "four": np.array([4], I64), "i0": np.array(0, I64), "i1": np.array(1, I64),
        "parts": np.array([2, 3], I64),
    }  # fmt: skip
    return nodes, weights


def resize_to_double() -> Any:
    """F.interpolate(x, size=(2 * h, 2 * w))"""
    nodes = [
        n("Shape", "x", "s"),
        n("Slice", "s zero two", "nc"),
        n("Slice", "s two four", "hw"),
        n("Mul", "hw double", "hw2"),
        n("Concat", "nc hw2", "sizes", axis=0),
        helper.make_node("Resize", ["x", "", "", "sizes"], ["y"], mode="nearest",
                         coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
    ]  # fmt: skip
    weights = {
        "zero": np.array([0], I64), "two": np.array([2], I64), "four": np.array([4], I64),
        "double": np.array([2, 2], I64),
    }  # fmt: skip
    return nodes, weights


CASES = [flatten_by_shape, heads_by_shape, resize_to_double]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("shape", [[2, 6, 4, 5], ["batch", 6, "height", "width"]])
def test_shape_arithmetic(case: Any, shape: list[Any]) -> None:
    nodes, weights = case()
    m = model(nodes, shape, weights)
    feeds = {"x": np.random.default_rng(0).standard_normal((2, 6, 4, 5)).astype(np.float32)}
    graph = convert(m.SerializeToString(), optimize=False)
    assert not any(v.data is not None and v.data.dtype == object for v in graph.values())
    check_graph(graph, feeds, expected(m, feeds))


def test_names_of_dimensions_reach_the_outputs() -> None:
    nodes = [n("Conv", "x w", "c", pads=[1, 1, 1, 1]), n("Relu", "c", "r"), n("Add", "r r", "y")]
    m = model(nodes, ["batch", 2, "h", "w"], {"w": np.zeros((4, 2, 3, 3), np.float32)})
    graph = convert(m.SerializeToString())
    assert graph.outputs[0].shape == ("batch", 4, -1, -1)


def test_a_size_as_an_output_is_refused() -> None:
    m = model([n("Shape", "x", "y")], ["batch", 6])
    with pytest.raises(UnsupportedOpError, match="output: a size"):
        convert(m.SerializeToString())


def test_a_size_that_cannot_be_expressed_is_refused_with_what_to_do() -> None:
    nodes = [n("Shape", "x", "s"), n("Cast", "s", "f", to=1), n("ReduceSum", "f", "y")]
    m = model(nodes, ["batch", 6])
    with pytest.raises(UnsupportedOpError, match="only known when the model runs") as e:
        convert(m.SerializeToString())
    assert "input_shapes" in e.value.hint
    fixed = convert(m.SerializeToString(), input_shapes={"x": (2, 6)})
    value = fixed.outputs[0].producer.input(0).data
    assert value is not None and value.reshape(()) == 8
