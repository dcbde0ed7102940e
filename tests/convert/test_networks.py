"""Whole networks: what the passes leave of them, symbolic sizes, saving.

That they compute the same as their source runtime is tested in tests/models.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import zoo_arch
from foveal.convert import convert
from foveal.convert.parity import deviations, random_feeds
from foveal.graph import Graph
from foveal.session import Session
from harness import expected

BOUND = 1e-4  # relative to the output's range

# What is left of each architecture once batch norms, spelled activations and dead code are gone.
LEFT = {
    "mobilenet_v1": {"conv2d": 27, "clip": 27},
    "mobilenet_v2": {"conv2d": 52, "clip": 35, "add": 10},
    "mobilenet_v3_small": {"conv2d": 52, "hardswish": 19, "hardsigmoid": 9, "relu": 14},
    "squeezenet1_1": {"conv2d": 26, "concat": 8, "pool2d": 3},
    "resnet18": {"conv2d": 20, "add": 8, "relu": 17},
    "resnet50": {"conv2d": 53, "add": 16, "relu": 49},
    "yolov8n": {"conv2d": 64, "silu": 57, "resize": 2, "concat": 16},
}


def run(graph: Graph, feeds: Any, threads: int = 1) -> dict[str, np.ndarray]:
    return Session(graph.to_model(), device="cpu", threads=threads).run(feeds)


def agree(want: Any, got: Any) -> None:
    for row in deviations(want, got):
        assert row.relative <= BOUND, row


def counts(graph: Graph) -> Counter[str]:
    return Counter(n.op for n in graph.nodes)


@pytest.mark.parametrize("name", zoo_arch.ARCHITECTURES)
def test_architecture(name: str) -> None:
    left = counts(convert(zoo_arch.build(name, size=96).SerializeToString()))
    assert {op: left[op] for op in LEFT[name]} == LEFT[name]
    assert "batch_norm" not in left


@pytest.mark.parametrize("dims", [("batch", 3, "height", "width")])
def test_architecture_with_symbolic_sizes(dims: Any) -> None:
    model = zoo_arch.build("mobilenet_v3_small", size=96)
    del model.graph.value_info[:]
    graph = convert(model.SerializeToString(), input_shapes={"input": dims})
    assert graph.outputs[0].shape == ("batch", 1000)
    for d in model.graph.input[0].type.tensor_type.shape.dim:
        d.Clear()
    for size in ((1, 3, 96, 64), (2, 3, 70, 81)):
        x = np.random.default_rng(0).standard_normal(size).astype(np.float32)
        agree(expected(model, {"input": x}), run(graph, {"input": x}))


# ---- models of the zoo ---------------------------------------------------------------------------

# Transposes that remain: one behind the input, one per head that reshapes.
ZOO = {"face": 5, "face-full-range": 2, "face-center": 0, "objects": 11}


@pytest.mark.network
@pytest.mark.parametrize("name", ZOO)
def test_zoo_model(name: str) -> None:
    from foveal import zoo

    path = Path(zoo.get(name))
    shapes = dict(zoo.find(name).input_shapes)
    assert counts(convert(path, input_shapes=shapes))["transpose"] == ZOO[name]


def test_saved_networks_are_the_same(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    onnx.save(zoo_arch.build("squeezenet1_1", size=64), path)
    graph = convert(path)
    graph.save(tmp_path / "net.fvm")
    from foveal._core import Model

    again = Graph.from_model(Model.open(str(tmp_path / "net.fvm")))
    feeds = random_feeds(graph.inputs)
    np.testing.assert_array_equal(run(graph, feeds)["output"], run(again, feeds)["output"])
