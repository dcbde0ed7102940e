"""foveal.ops: functions generated from the operator definitions, and their stubs."""

from __future__ import annotations

import ast
import importlib.util
import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from foveal import ops
from foveal.errors import ArgumentError
from foveal.graph import Graph, op_table

X = np.array([[-1.0, 2.0], [3.0, -4.0]], np.float32)


def test_on_arrays_it_runs() -> None:
    np.testing.assert_array_equal(ops.relu(X), [[0, 2], [3, 0]])
    np.testing.assert_allclose(ops.matmul(X, X, transpose_b=1), X @ X.T)
    np.testing.assert_array_equal(ops.concat(X, X, axis=1), np.concatenate([X, X], 1))


def test_several_results() -> None:
    a, b = ops.split(X, axis=1, sizes=(1, 1))
    np.testing.assert_array_equal(a, X[:, :1])
    np.testing.assert_array_equal(b, X[:, 1:])


def test_on_values_it_adds_nodes() -> None:
    g = Graph()
    x = g.input("x", "float32", (2, 2))
    y = ops.add(ops.relu(x, name="r"), np.float32(1))
    assert [n.op for n in g.nodes] == ["relu", "add"]
    assert g.nodes[0].name == "r"
    assert g.nodes[1].input(1).data == 1
    assert y.shape == (2, 2)
    h = Graph()
    with pytest.raises(ArgumentError, match="different graphs"):
        ops.add(x, h.input("x", "float32", (2, 2)))


def test_signatures_and_docs_come_from_the_definitions() -> None:
    signature = inspect.signature(ops.conv2d)
    assert list(signature.parameters)[:4] == ["x", "weight", "bias", "stride"]
    assert signature.parameters["stride"].default == (1, 1)
    assert "stride:" in (ops.conv2d.__doc__ or "")
    assert ops.not_.__name__ == "not"
    with pytest.raises(ArgumentError, match="conv2d"):
        ops.conv2d(X, X, strides=(2, 2))


def gen_stubs() -> Any:
    path = Path(__file__).parents[2] / "platforms" / "python" / "gen_stubs.py"
    spec = importlib.util.spec_from_file_location("gen_stubs", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_stubs_are_valid_and_cover_every_function() -> None:
    generator = gen_stubs()
    entries = [e for e in op_table().values() if e["name"] not in generator.OWN]
    tree = ast.parse(generator.HEADER + "\n".join(generator.stub(e) for e in entries))
    names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert names == set(ops.__all__)
