"""What a small file can make an importer compute: bounded by the file's size, whatever it says."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from foveal.convert import convert
from foveal.errors import FovealError, ModelError
from foveal.graph import Graph
from foveal.optimize._evaluate import evaluate
from foveal.optimize._fold import SMALL_LIMIT
from foveal.session import Session
from harness import model_of, one_node
from onnx import helper, numpy_helper
from test_tflite_ops import sparse_table
from tflite_builder import one_operator

LIMIT = 400 << 20  # bytes: a few arrays of SMALL_LIMIT elements; the files could ask for anything
ONE, TWO = np.ones((1, 1), np.float32), np.ones((2, 2), np.float32)


def i64(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def i32(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def onnx(op: str, inputs: list[Any], attrs: dict[str, Any] | None = None) -> bytes:
    constant = range(len(inputs))
    return bytes(one_node(op, inputs, attrs, constant=constant)[0].SerializeToString())


def tflite(op: str, inputs: list[Any], shape: tuple[int, ...], dtype: str = "float32") -> bytes:
    return one_operator(op, inputs, [(dtype, shape)], constant=range(len(inputs)))[0]


def fed(
    op: str, shape: list[int], weights: list[Any], attrs: dict[str, Any] | None = None
) -> bytes:
    """A node whose first input is fed and has this shape."""
    node = helper.make_node(
        op, ["x", *(f"w{i}" for i in range(len(weights)))], ["y"], **attrs or {}
    )
    info = helper.make_tensor_value_info("x", 1, shape)
    inits = [numpy_helper.from_array(w, f"w{i}") for i, w in enumerate(weights)]
    model = model_of([node], {}, ["y"], inits)
    model.graph.input.append(info)
    return bytes(model.SerializeToString())


def chain(count: int) -> bytes:
    """Many constants, each of a size that is allowed, all used."""
    size = numpy_helper.from_array(i64(SMALL_LIMIT), "size")
    nodes = [helper.make_node("ConstantOfShape", ["size"], [f"c{i}"]) for i in range(count)]
    nodes += [helper.make_node("Sum", [f"c{i}" for i in range(count)], ["y"])]
    return bytes(model_of(nodes, {}, ["y"], [size]).SerializeToString())


def dense_levels() -> bytes:
    """A sparse tensor of more positions than the file has values."""
    shape = (8,) * 7 + (2,)
    return one_operator(
        "DENSIFY", [np.ones(64, np.float32)], [("float32", shape)], constant=[0],
        sparsity={0: sparse_table([*range(8)], [], [*shape])}, shapes={0: shape},
    )[0]  # fmt: skip


HUGE, MOST, ZERO = 1 << 28, 1 << 24, np.float32(0)
FILES = {
    # What is empty in the end, but not on the way.
    "tile, nothing": onnx("Tile", [ONE, i64(HUGE, 0)]),
    "tile, nothing first": onnx("Tile", [ONE, i64(0, HUGE)]),
    "tflite tile, nothing": tflite("TILE", [ONE, i32(HUGE, 0)], (HUGE, 0)),
    "pad, cut again": onnx("Pad", [TWO, i64(HUGE, -2, 0, 0)]),
    "pad, cut on the same axis": onnx("Pad", [np.ones(4, np.float32), i64(HUGE, -3)]),
    "edge, cut again": onnx("Pad", [TWO, i64(HUGE, -1, 0, -1)], {"mode": "edge"}),
    # What is large.
    "tile": onnx("Tile", [ONE, i64(MOST, 1)]),
    "tflite tile": tflite("TILE", [ONE, i32(MOST, 1)], (MOST, 1)),
    "pad": onnx("Pad", [ONE, i64(MOST - 1, 0, 0, 0)]),
    "tflite pad": tflite("PADV2", [ONE, i32(MOST - 1, 0, 0, 0).reshape(2, 2), ZERO], (MOST, 1)),
    "expand": onnx("Expand", [ONE, i64(MOST, 1)]),
    "tflite expand": tflite("BROADCAST_TO", [ONE, i32(MOST, 1)], (MOST, 1)),
    "fill": onnx("ConstantOfShape", [i64(MOST)]),
    "tflite fill": tflite("FILL", [i32(MOST), np.float32(1)], (MOST,)),
    "range": onnx("Range", [i64(0).reshape(()), i64(MOST).reshape(()), i64(1).reshape(())]),
    "tflite range": tflite("RANGE", [np.int32(0), np.int32(MOST), np.int32(1)], (MOST,), "int32"),
    "one of many": onnx("OneHot", [i64(0), i64(MOST), np.array([0, 1], np.float32)]),
    "triangle": fed("Trilu", [1, 1 << 12, 1 << 12], []),
    "sums": fed("CumSum", [1, 1 << 12], [i64(1)]),
    "band": fed("LRN", [1, 1 << 12, 1, 1], [], {"size": 3}),
    "groups": fed("GroupNormalization", [1, MOST, 1], [TWO[0], TWO[0]], {"num_groups": 2}),
    "gather": onnx("Gather", [np.ones((1, 1 << 12), np.float32), np.zeros(1 << 12, np.int64)]),
    "add": onnx("Add", [np.ones((1 << 12, 1), np.float32), np.ones((1, 1 << 12), np.float32)]),
    "many": chain(40),
    "dense levels": dense_levels(),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_memory_is_bounded(name: str) -> None:
    """The peak while importing and optimising, numpy's arrays included."""
    tracemalloc.start()
    try:
        convert(FILES[name])
    except FovealError as e:
        assert str(e)
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < LIMIT


def test_what_files_do_describe_is_still_folded() -> None:
    """Masks and grids of positions of a small file; more, where the file is larger."""
    for data in (
        onnx("Expand", [ONE, i64(1 << 11, 1 << 11)]),
        onnx("Tile", [ONE, i64(1024, 1024)]),
    ):
        graph = convert(data)
        assert [n.op for n in graph.nodes] == ["reshape"]  # a view, for the output's name
    weights = np.ones((SMALL_LIMIT, 2), np.float32)
    graph = convert(onnx("Transpose", [weights], {"perm": [1, 0]}))
    assert [n.op for n in graph.nodes] == ["reshape"]


def test_weights_that_many_tensors_share() -> None:
    """A tensor is a few bytes; what it refers to can be the whole file."""
    weights = np.ones((64, 64), np.float32)

    def file(count: int) -> bytes:
        data, _ = one_operator(
            "CONCATENATION", [weights] * count, [("float32", (64 * count, 64))],
            constant=range(count), options={0: ("i32", 0)}, one_buffer=True,
        )  # fmt: skip
        return data

    convert(file(4))
    with pytest.raises(ModelError, match="16 times the file's size"):
        convert(file(64))


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect"])
@pytest.mark.parametrize("pads", [[1, -2, 2, 1], [-3, 2, 2, -4], [-1, 0, 3, -5], [2, -1, -2, 2]])
def test_padding_folds_to_what_it_computes(mode: str, pads: list[int]) -> None:
    x = np.arange(42, dtype=np.float32).reshape(6, 7)
    graph = Graph()
    attrs = {"pads": pads, "mode": mode, "value": 5.0 if mode == "constant" else 0.0}
    y = graph.add("pad", [graph.input("x", "float32", x.shape)], attrs)
    graph.outputs = [y]
    (result,) = Session(graph.to_model(), device="cpu", threads=1).run({"x": x}).values()
    assert y.producer is not None
    folded = evaluate("pad", [x], y.producer.attr)
    assert folded is not None
    np.testing.assert_array_equal(folded[0], result)


def test_tiles_of_nothing() -> None:
    for repeats in ([0, 3], [3, 0], [0, 0]):
        graph = Graph()
        y = graph.add("tile", [graph.input("x", "float32", [2, 3])], {"repeats": repeats})
        assert y.producer is not None
        folded = evaluate("tile", [np.ones((2, 3), np.float32)], y.producer.attr)
        assert folded is not None and list(folded[0].shape) == y.dims
