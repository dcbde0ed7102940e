"""convert(): picking an importer, options, and what it says about models it cannot take."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnx
import pytest
from foveal import convert as package
from foveal import hookimpl, plugins
from foveal.convert import convert, importers
from foveal.convert.parity import compare, deviations, table
from foveal.errors import ArgumentError, ModelError, NotFoundError, UnsupportedOpError
from foveal.graph import Graph
from foveal.session import Session
from harness import check_graph, expected, model_of, one_node
from onnx import TensorProto, helper, numpy_helper
from tflite_builder import one_operator

RELU, RELU_FEEDS = one_node("Relu", [np.array([[-1.0, 2.0, -3.0]], np.float32)])


def test_formats_are_found_in_the_folder() -> None:
    assert {"onnx", "tflite"} <= set(importers())


def test_content_decides_before_the_suffix(tmp_path: Path) -> None:
    data, _ = one_operator("RELU", [np.ones((1, 3), np.float32)], [("float32", (1, 3))])
    path = tmp_path / "wrongly_named.onnx"
    path.write_bytes(data)
    source = json.loads(convert(path).meta["source"])
    assert source["format"] == "tflite"
    assert len(source["sha256"]) == 64


def test_meta_and_passes() -> None:
    graph = convert(RELU.SerializeToString(), meta={"labels": "[]"}, passes=["dead_code"])
    assert graph.meta["labels"] == "[]"
    with pytest.raises(ArgumentError, match="no pass called nonsense"):
        convert(RELU.SerializeToString(), passes=["nonsense"])


def test_input_shapes() -> None:
    data = RELU.SerializeToString()
    graph = convert(data, input_shapes={"x0": ("batch", 5)})
    assert graph.inputs[0].shape == ("batch", 5)
    assert graph.outputs[0].shape == ("batch", 5)
    with pytest.raises(ModelError, match="rank 2"):
        convert(data, input_shapes={"x0": (1, 2, 3)})
    with pytest.raises(ModelError, match=r"\['x0'\]"):
        convert(data, input_shapes={"typo": (1, 3)})


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "empty"),
        (b"hello, this is text\n" * 9, "not a model"),
        (b"\x89PNG\r\n\x1a\n" * 9, "not a"),
    ],
)
def test_files_that_are_no_models(tmp_path: Path, content: bytes, text: str) -> None:
    path = tmp_path / "file.bin"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=text) as e:
        convert(path)
    assert "file.bin" in str(e.value)


@pytest.mark.parametrize("suffix", [".onnx", ".tflite"])
def test_text_under_a_models_name(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"model{suffix}"
    path.write_text("This is not a model at all.\n" * 20)
    with pytest.raises(ModelError):
        convert(path)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="nowhere"):
        convert(tmp_path / "nowhere.onnx")


def test_everything_unsupported_is_listed_at_once() -> None:
    x = np.ones((1, 2, 4, 4), np.float32)
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("Fourier", ["a"], ["b"], name="first", domain="my.ops"),
        helper.make_node("NonMaxSuppression", ["a", "a"], ["c"], name="nms"),
        helper.make_node("MaxPool", ["a"], ["d", "i"], name="pool", kernel_shape=[2, 2]),
        helper.make_node("Relu", ["a"], ["e"], name="odd", flavour=3),
        helper.make_node("Fourier", ["b"], ["f"], name="second", domain="my.ops"),
    ]
    model = model_of(nodes, {"x": x}, ["f"])
    with pytest.raises(UnsupportedOpError) as e:
        convert(model.SerializeToString())
    text = str(e.value)
    assert "my.ops.Fourier: unknown operator (2 nodes: 'first', 'second')" in text
    assert "NonMaxSuppression: unknown operator (1 node: 'nms')" in text
    assert "MaxPool: its second output is used (1 node: 'pool')" in text
    assert "Relu: unknown attribute flavour (1 node: 'odd')" in text
    assert e.value.hint


def test_unsupported_tflite_operators_are_listed_too() -> None:
    data, _ = one_operator("TOPK_V2", [np.ones((1, 3), np.float32)], [("float32", (1, 3))])
    with pytest.raises(UnsupportedOpError, match="TOPK_V2: unknown operator"):
        convert(data)


@pytest.mark.parametrize(
    ("op", "quantization", "what"),
    [
        ("DEQUANTIZE", {}, "int8 values without scale and zero point"),
        ("DEQUANTIZE", {0: ((0.5, 0.25, 1), (0, 1, 2))}, "quantised int8 values of 3 scales"),
        ("RESHAPE", {0: ((0.5,), (0,))}, "quantised int8 values"),
        ("DEQUANTIZE", {0: ((0.5,), (0,)), 1: ((0.5,), (0,))}, "quantised int8 values"),
    ],
)
def test_quantised_tflite_is_refused_with_the_reason(op: str, quantization: Any, what: str) -> None:
    made = [("int8" if 1 in quantization or op == "RESHAPE" else "float32", (1, 3))]
    data, _ = one_operator(op, [np.ones((1, 3), np.int8)], made, quantization=quantization)
    with pytest.raises(UnsupportedOpError, match=what):
        convert(data)


def test_opset_out_of_range() -> None:
    model, _ = one_node("Relu", [np.ones(3, np.float32)], opset=6)
    with pytest.raises(UnsupportedOpError, match="version 6 of the operator set"):
        convert(model.SerializeToString())


def test_half_precision_and_bfloat16_weights() -> None:
    half = np.array([0.5, -2.0, 1.25], np.float16)
    stored = TensorProto(name="w", data_type=TensorProto.BFLOAT16, dims=[3])
    stored.raw_data = (half.astype(np.float32).view(np.uint32) >> 16).astype("<u2").tobytes()
    nodes = [helper.make_node("Add", ["x", "w"], ["y"])]
    model = model_of(nodes, {"x": np.zeros(3, np.float32)}, ["y"])
    model.graph.initializer.append(stored)
    weight = next(v for v in convert(model.SerializeToString()).values() if v.data is not None)
    np.testing.assert_array_equal(weight.data, half.astype(np.float32))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64, np.uint8, np.bool_])
@pytest.mark.parametrize("raw", [False, True])
def test_weights_in_every_encoding(dtype: type, raw: bool) -> None:
    values = np.array([0, 1, 1, 0, 1]).astype(dtype)
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    data = values.tobytes() if raw else values.tolist()
    tensor = helper.make_tensor("w", kind, [5], data, raw=raw)
    model = model_of([helper.make_node("Identity", ["w"], ["y"])], {}, ["y"], [tensor])
    graph = convert(model.SerializeToString())
    constant = graph.nodes[0].input(0)
    assert constant.dtype == np.dtype(dtype).name
    np.testing.assert_array_equal(constant.data, values)


def external(folder: Path, location: str, size: int) -> Path:
    tensor = TensorProto(name="w", data_type=1, dims=[4], data_location=1)
    for key, value in (("location", location), ("offset", "4"), ("length", str(size))):
        tensor.external_data.add(key=key, value=value)
    nodes = [helper.make_node("Add", ["x", "w"], ["y"])]
    model = model_of(nodes, {"x": np.zeros(4, np.float32)}, ["y"])
    model.graph.initializer.append(tensor)
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def test_external_weights_stay_inside_the_models_folder(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    content = b"\0\0\0\0" + np.arange(4, dtype="<f4").tobytes()
    (folder / "w.bin").write_bytes(content)
    (tmp_path / "secret.bin").write_bytes(content)
    (folder / "link.bin").symlink_to(tmp_path / "secret.bin")
    graph = convert(external(folder, "w.bin", 16))
    np.testing.assert_array_equal(graph.nodes[0].input(1).data, [0, 1, 2, 3])
    for location in ("../secret.bin", str(tmp_path / "secret.bin"), "link.bin", "none.bin", ""):
        with pytest.raises(ModelError, match="no file beside the model"):
            convert(external(folder, location, 16))
    with pytest.raises(ModelError, match="needs 16 bytes"):
        convert(external(folder, "w.bin", 400))
    data = external(folder, "w.bin", 16).read_bytes()
    with pytest.raises(ModelError, match="pass the model's path"):
        convert(data)


def many_external(folder: Path, count: int, *, constants: bool, step: int = 0) -> Path:
    """A model of `count` tensors of 400 bytes, all out of one file of 400 bytes and `step` each."""
    (folder / "w.bin").write_bytes(np.arange(100, dtype="<f4").tobytes() + bytes(step * count))
    nodes, weights = [], []
    for i in range(count):
        t = TensorProto(name=f"w{i}", data_type=1, dims=[100], data_location=1)
        t.external_data.add(key="location", value="w.bin")
        t.external_data.add(key="offset", value=str(i * step))
        if constants:
            nodes.append(helper.make_node("Constant", [], [f"w{i}"], value=t))
        else:
            weights.append(t)
    nodes.append(helper.make_node("Sum", ["x", *(f"w{i}" for i in range(count))], ["y"]))
    path = folder / "model.onnx"
    feeds = {"x": np.zeros(100, np.float32)}
    path.write_bytes(model_of(nodes, feeds, ["y"], weights).SerializeToString())
    return path


@pytest.mark.parametrize("constants", [False, True], ids=["initializers", "constants"])
def test_external_weights_may_share_bytes_but_not_without_end(
    tmp_path: Path, constants: bool
) -> None:
    graph = convert(many_external(tmp_path, 16, constants=constants))
    assert sum(np.array_equal(v.data, np.arange(100)) for v in graph.values()) >= 1
    with pytest.raises(ModelError, match=r"take more than 16 times the bytes of 'w\.bin'"):
        convert(many_external(tmp_path, 17, constants=constants))
    # Regions that overlap count as well as the same one again.
    with pytest.raises(ModelError, match="take more than 16 times"):
        convert(many_external(tmp_path, 40, constants=constants, step=4))


def test_outputs_that_alias() -> None:
    """An output that is an input, a constant, or another output keeps its own name."""
    x = np.array([1.0, -2.0], np.float32)
    nodes = [
        helper.make_node("Identity", ["x"], ["same"]),
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("Identity", ["a"], ["b"]),
        helper.make_node("Identity", ["w"], ["c"]),
    ]
    weight = numpy_helper.from_array(np.array([3.0], np.float32), "w")
    model = model_of(nodes, {"x": x}, ["same", "a", "b", "c"], [weight])
    graph = convert(model.SerializeToString(), optimize=False)
    check_graph(graph, {"x": x}, expected(model, {"x": x}))


@pytest.mark.parametrize("outputs", [["x"], ["y", "x"], ["x", "y", "z"]])
def test_an_input_that_is_an_output_keeps_its_name(outputs: list[str]) -> None:
    feeds = {"x": np.array([[-1, 0, 2]], np.float32)}
    nodes = [
        helper.make_node("Relu", ["x"], ["y"]),
        helper.make_node("Identity", ["x"], ["z"]),
    ]
    model = model_of(nodes, feeds, outputs)
    graph = convert(model.SerializeToString(), optimize=False)
    graph = check_graph(graph, feeds, expected(model, feeds))
    assert [v.name for v in graph.inputs] == ["x"]
    assert [v.name for v in graph.outputs] == outputs
    session = Session(graph.to_model())
    assert [t.name for t in session.inputs] == ["x"]
    assert [t.name for t in session.outputs] == outputs


def test_a_tflite_input_that_is_an_output_keeps_its_name() -> None:
    x = np.array([[-1, 0, 2]], np.float32)
    data, feeds = one_operator("RELU", [x], [("float32", (1, 3))], passed_on=[0])
    graph = check_graph(convert(data, optimize=False), feeds, {"y0": np.maximum(x, 0), "x0": x})
    assert [v.name for v in graph.inputs] == ["x0"]
    assert [v.name for v in graph.outputs] == ["y0", "x0"]


@pytest.mark.parametrize("sizes", [[1, -3, 4], [-2, 3, 4], [1, 3, -(2**40)]])
def test_negative_sizes_of_inputs_are_refused(sizes: list[int]) -> None:
    model = model_of(
        [helper.make_node("Relu", ["x"], ["y"])], {"x": np.zeros((1, 3, 4), np.float32)}, ["y"]
    )
    dims = model.graph.input[0].type.tensor_type.shape.dim
    del dims[:]
    for size in sizes:
        dims.add().dim_value = size
    with pytest.raises(ModelError, match=f"input 'x' has the dimension {min(sizes)}"):
        convert(model.SerializeToString())


def test_nodes_out_of_order_or_named_twice() -> None:
    x = {"x": np.ones(2, np.float32)}
    late = [helper.make_node("Relu", ["a"], ["y"]), helper.make_node("Relu", ["x"], ["a"])]
    with pytest.raises(ModelError, match="nothing before it makes"):
        convert(model_of(late, x, ["y"]).SerializeToString())
    twice = [helper.make_node("Relu", ["x"], ["y"]), helper.make_node("Abs", ["x"], ["y"])]
    with pytest.raises(ModelError, match="named 'y'"):
        convert(model_of(twice, x, ["y"]).SerializeToString())


def test_wrong_shapes_name_the_node() -> None:
    nodes = [helper.make_node("MatMul", ["x", "x"], ["y"], name="product")]
    model = model_of(nodes, {"x": np.ones((2, 3), np.float32)}, ["y"])
    with pytest.raises(ModelError, match="MatMul 'product'"):
        convert(model.SerializeToString())


def test_importers_of_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(source: bytes, options: package.ConvertOptions) -> Graph:
        g = Graph()
        x = g.input("x", "float32", options.shape("x", (2,)))
        g.outputs = [g.add("relu", [x], name="y")]
        return g

    extra = SimpleNamespace(
        NAME="mine", SUFFIXES=(".mine",), sniff=lambda head: head.startswith(b"MINE"), load=load
    )
    monkeypatch.setattr(package, "_plugin_importers", lambda: [extra])
    importers.cache_clear()
    try:
        graph = convert(b"MINE...", input_shapes={"x": (7,)})
    finally:
        importers.cache_clear()
    assert graph.outputs[0].shape == (7,)


def test_importers_come_through_the_plugin_hook() -> None:
    class Extension:
        @hookimpl
        def foveal_importers(self) -> list[object]:
            return [SimpleNamespace(SUFFIXES=(".toy",), sniff=lambda head: False, load=None)]

    extension = Extension()
    plugins.manager.register(extension)
    importers.cache_clear()
    try:
        assert "toy" in importers()
    finally:
        plugins.manager.unregister(extension)
        importers.cache_clear()


def test_parity_table(tmp_path: Path) -> None:
    path = tmp_path / "relu.onnx"
    onnx.save(RELU, path)
    rows = compare(path)
    assert [(r.output, r.shape, r.largest) for r in rows] == [("y0", (1, 3), 0.0)]
    assert table(rows).splitlines()[1].split() == ["y0", "1x3", "0", "0"]


def test_deviations_of_special_values() -> None:
    a = np.array([0.0, 10.0, np.nan, np.inf])
    assert deviations({"y": a}, {"y": a})[0].largest == 0
    b = np.array([0.1, 10.0, np.nan, np.inf])
    row = deviations({"y": a}, {"y": b})[0]
    assert row.largest == pytest.approx(0.1)
    assert row.relative == pytest.approx(0.01)
    c = np.array([0.0, 10.0, 1.0, np.inf])
    assert deviations({"y": a}, {"y": c})[0].relative == float("inf")
    with pytest.raises(ArgumentError, match="shape"):
        deviations({"y": a}, {"y": a[:2]})
