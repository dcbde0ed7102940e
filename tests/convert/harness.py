"""Runs imported graphs every way we can and compares with the source runtime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import reference_run
from foveal.convert import convert
from foveal.convert.parity import deviations
from foveal.graph import Graph
from foveal.optimize import optimize
from foveal.session import Session
from onnx import helper, numpy_helper

Array = np.ndarray
TOLERANCE = 1e-5  # relative to each output's range

ort.set_default_logger_severity(3)


def one_node(
    op: str, inputs: Sequence[Any], attrs: Mapping[str, Any] | None = None, opset: int = 17,
    outputs: int = 1, constant: Sequence[int] = (), domain: str = "",
) -> tuple[onnx.ModelProto, dict[str, Array]]:  # fmt: skip
    """A model of one node and the arrays to feed. `constant` lists inputs that are weights."""
    feeds: dict[str, Array] = {}
    weights, names = [], []
    for i, value in enumerate(inputs):
        if value is None:
            names.append("")
            continue
        array = np.asarray(value)
        names.append(f"x{i}")
        if i in constant:
            weights.append(numpy_helper.from_array(array, f"x{i}"))
        else:
            feeds[f"x{i}"] = array
    node = helper.make_node(
        op, names, [f"y{i}" for i in range(outputs)], name="node", domain=domain, **(attrs or {})
    )
    return model_of([node], feeds, [f"y{i}" for i in range(outputs)], weights, opset), feeds


def model_of(
    nodes: Sequence[onnx.NodeProto], feeds: Mapping[str, Array], outputs: Sequence[str],
    weights: Sequence[onnx.TensorProto] = (), opset: int = 17,
) -> onnx.ModelProto:  # fmt: skip
    infos = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
        for n, a in feeds.items()
    ]
    outs = [onnx.ValueInfoProto(name=n) for n in outputs]
    graph = helper.make_graph(list(nodes), "g", infos, outs, list(weights))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def expected(model: onnx.ModelProto, feeds: Mapping[str, Array]) -> dict[str, Array]:
    options = ort.SessionOptions()
    options.log_severity_level = 3
    # Its fusions would compare our arithmetic with another algorithm's.
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    names = [o.name for o in session.get_outputs()]
    return dict(zip(names, session.run(names, dict(feeds)), strict=True))


def check_graph(
    graph: Graph, feeds: Mapping[str, Array], want: Mapping[str, Array],
    tolerance: float = TOLERANCE, exact: bool = False,
) -> Graph:  # fmt: skip
    """The graph as imported and optimised, interpreted and on the CPU, all equal `want`."""
    better = graph.copy()
    optimize(better)
    for how, g in (("imported", graph), ("optimised", better)):
        results = {
            "interpreter": reference_run.run(g, dict(feeds)),
            "cpu": Session(g.to_model(), device="cpu", threads=1).run(dict(feeds)),
        }
        for runner, got in results.items():
            assert set(got) == set(want), f"{how}, {runner}: outputs {set(got)}"
            for name, a in want.items():
                assert got[name].dtype == a.dtype, f"{how}, {runner}: {name} is {got[name].dtype}"
            for row in deviations(want, got):
                bound = 0.0 if exact else tolerance
                assert row.relative <= bound, f"{how}, {runner}: {row}\n{g}"
    return better


def check_onnx(
    model: onnx.ModelProto, feeds: Mapping[str, Array], tolerance: float = TOLERANCE,
) -> Graph:  # fmt: skip
    """Compares a model with ONNX Runtime. Returns the optimised graph."""
    graph = convert(model.SerializeToString(), optimize=False)
    return check_graph(graph, feeds, expected(model, feeds), tolerance)
