"""What fuzzing found, each as a test of its whole kind."""

from __future__ import annotations

import numpy as np
import pytest
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
