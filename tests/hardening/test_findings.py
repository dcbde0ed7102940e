"""What fuzzing found, each as a test of its whole kind."""

from __future__ import annotations

import io
import time
from typing import Any

import foveal
import numpy as np
import pytest
from foveal import Model, Session
from foveal.convert import convert
from foveal.errors import ArgumentError, ModelError
from foveal.graph import Graph
from harness import one_node

BIG = [2**63, -(2**63) - 1, 2**64, 10**30]


@pytest.mark.parametrize("number", BIG)
def test_attributes_beyond_64_bits(number: int) -> None:
    graph = Graph()
    x = graph.input("x", "float32", [2, 3])
    with pytest.raises(ArgumentError, match="attribute 'repeats': expected integers of 64"):
        graph.add("tile", [x], {"repeats": [1, number]})
    with pytest.raises(ArgumentError, match="attribute 'axis'"):
        graph.add("softmax", [x], {"axis": number})


def test_model_files_with_numbers_beyond_64_bits() -> None:
    x, big = np.ones((2, 3), np.float32), np.array([1, 2**64 - 1], np.uint64)
    files = [
        one_node("Tile", [x, big], constant=[1]),
        one_node("Expand", [x, big], constant=[1]),
        one_node("Reshape", [x, big], constant=[1]),
        one_node("Slice", [x, np.zeros(2, np.int64), big], constant=[1, 2]),
        one_node("Pad", [x, np.concatenate([big, big])], constant=[1]),
        one_node("Unsqueeze", [x, big], constant=[1]),
        one_node("ReduceSum", [x, big], constant=[1]),
    ]
    for model, _ in files:
        with pytest.raises(ModelError):
            convert(model.SerializeToString()).build()


@pytest.mark.parametrize(
    ("x", "kernel", "stride"),
    [
        ((1, 1), (1000, 1000), (1, 1)),
        ((2, 1), (1, 600_000), (1, 1)),
        ((1, 2), (999, 997), (50, 60)),
    ],
)
def test_work_of_kernels_far_larger_than_the_image(
    x: tuple[int, int], kernel: tuple[int, int], stride: tuple[int, int]
) -> None:
    """A million multiplications: all taps for all outputs would be a million times as many."""
    weight = np.arange(kernel[0] * kernel[1], dtype=np.float32).reshape(1, 1, *kernel)
    pixels = np.arange(1, x[0] * x[1] + 1, dtype=np.float32).reshape(1, 1, *x)
    graph = Graph()
    y = graph.add(
        "conv_transpose2d",
        [graph.input("x", "float32", pixels.shape), graph.constant(weight)],
        {"stride": list(stride)},
    )
    graph.outputs.append(y)
    session = Session(graph.to_model(), device="cpu", threads=1)
    started = time.process_time()
    (got,) = session.run({"x": pixels}).values()
    assert time.process_time() - started < 20
    want = np.zeros((1, 1, *y.dims[2:]), np.float32)
    for (_, _, i, j), pixel in np.ndenumerate(pixels):
        rows, cols = i * stride[0], j * stride[1]
        want[0, 0, rows : rows + kernel[0], cols : cols + kernel[1]] += pixel * weight[0, 0]
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("path", ["a\0b", b"a\0b", "\ud800", None, 1, 2.5, []])
def test_what_is_no_name_of_a_file(path: Any) -> None:
    graph = Graph()
    graph.outputs.append(graph.add("relu", [graph.input("x", "float32", [2, 3])]))
    session = Session(graph.to_model(), profile=True)
    for use in (graph.save, session.profile, Model.open, foveal.load):
        with pytest.raises(ArgumentError, match=r"name of a file|expected a path"):
            use(path)


@pytest.mark.parametrize("data", ["text", None, 5, bytearray(b"FOVEALM1")])
def test_what_are_no_bytes(data: Any) -> None:
    with pytest.raises(ArgumentError, match="expected the bytes of a"):
        Model.from_bytes(data)


def test_files_that_were_closed() -> None:
    file = io.BytesIO(b"x")
    file.close()
    with pytest.raises(ArgumentError, match="cannot be read: I/O operation on closed file"):
        foveal.Frame.from_file(file)
