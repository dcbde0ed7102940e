"""The Python graph: building, editing, copying, printing, and the way to the core and back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import reference_run
from foveal.errors import FovealError, ModelError, ShapeError
from foveal.graph import Graph, op_table


def small() -> Graph:
    g = Graph("small")
    x = g.input("x", "float32", ("batch", 2, 4, 4))
    w = g.constant(np.arange(54, dtype=np.float32).reshape(3, 2, 3, 3) / 50, "w")
    y = g.add("conv2d", [x, w], {"pad": (1, 1, 1, 1), "stride": np.array([2, 2])}, name="conv")
    g.outputs = [g.add("relu", [y], name="out")]
    return g


FEED = {"x": np.random.default_rng(0).standard_normal((1, 2, 4, 4)).astype(np.float32)}


def test_types_are_inferred_when_a_node_is_added() -> None:
    g = small()
    conv = g.nodes[0]
    assert conv.output.shape == ("batch", 3, 2, 2)
    assert conv.output.dtype == "float32"
    assert conv.attr("stride") == [2, 2]
    assert conv.attr("dilation") == [1, 1]  # the default of the definition
    assert g.inputs[0].dims == [-1, 2, 4, 4]


def test_several_outputs() -> None:
    g = Graph()
    x = g.input("x", "float32", (2, 6))
    a, b = g.add("split", [x], {"axis": 1, "sizes": [2, 4]}, outputs=2)
    assert (a.shape, b.shape) == ((2, 2), (2, 4))


@pytest.mark.parametrize(
    ("op", "attrs", "error", "text"),
    [
        ("no_such_operator", {}, ModelError, "no_such_operator"),
        ("relu", {"alpha": 1}, ModelError, "no attribute 'alpha'"),
        ("softmax", {"axis": "x"}, ModelError, "'axis'"),
        ("softmax", {"axis": 7}, ShapeError, "softmax 'here'"),
    ],
)
def test_errors_name_the_node(op: str, attrs: dict, error: type, text: str) -> None:
    g = Graph()
    x = g.input("x", "float32", (2, 6))
    with pytest.raises(error, match=text):
        g.add(op, [x], attrs, name="here")


def test_a_refused_node_leaves_no_trace() -> None:
    g = Graph()
    x = g.input("x", "float32", (2, 6))
    with pytest.raises(FovealError):
        g.add("reshape", [x], {"shape": [5]})
    assert g.nodes == []
    assert not x.users


def test_inputs_and_constants_are_checked() -> None:
    g = Graph()
    g.input("x", "float32", (2,))
    with pytest.raises(ModelError, match="two values"):
        g.input("x", "float32", (2,))
    for wrong in (-5, 1 << 62):
        with pytest.raises(ModelError, match=f"dimension {wrong}"):
            g.input("y", "float32", (wrong,))
    with pytest.raises(ModelError, match="element type"):
        g.input("z", "complex64", (2,))
    with pytest.raises(ModelError, match="element type"):
        g.constant(np.array(["text"]))


def test_replacing_a_use_keeps_the_output_name() -> None:
    g = small()
    old = g.outputs[0]
    new = g.add("sigmoid", [g.nodes[0].output])
    assert g.replace_uses(old, new) == 1
    assert g.outputs == [new]
    assert new.name == "out"
    assert g.prune() == 1
    assert [n.op for n in g.nodes] == ["conv2d", "sigmoid"]


def test_an_input_cannot_take_over_an_output() -> None:
    g = Graph()
    x = g.input("x", "float32", (2,))
    g.outputs = [g.add("relu", [x], name="y")]
    assert g.replace_uses(g.outputs[0], x) == 0
    assert g.outputs[0].name == "y"


def test_sorting_restores_order_and_finds_cycles() -> None:
    g = small()
    g.nodes.reverse()
    g.toposort()
    assert [n.op for n in g.nodes] == ["conv2d", "relu"]
    g.set_input(g.nodes[0], 0, g.outputs[0])
    with pytest.raises(ModelError, match="cycle"):
        g.toposort()


def test_a_copy_is_independent() -> None:
    g = small()
    h = g.copy()
    h.nodes[0].attrs["pad"] = [0, 0, 0, 0]
    h.replace_uses(h.outputs[0], h.nodes[0].output)
    h.prune()
    assert g.nodes[0].attr("pad") == [1, 1, 1, 1]
    assert len(g.nodes) == 2
    assert h.nodes[0].output.graph is h
    assert h.nodes[0].input(1).data is g.nodes[0].input(1).data


def test_text() -> None:
    text = str(small())
    assert "%x: float32[batch, 2, 4, 4]" in text
    assert "const %w: float32[3, 2, 3, 3]" in text
    assert "= conv2d(%x, %w, pad=[1, 1, 1, 1], stride=[2, 2])" in text
    assert repr(small()) == "<Graph 'small': 2 nodes>"


def test_to_a_model_and_back() -> None:
    g = small()
    g.meta["labels"] = '["a"]'
    model = g.to_model()
    assert model.inputs[0].shape == ("batch", 2, 4, 4)
    assert model.meta["labels"] == '["a"]'
    back = Graph.from_model(model)
    assert back.meta["labels"] == '["a"]'
    assert back.inputs[0].shape == ("batch", 2, 4, 4)
    assert [v.name for v in back.outputs] == ["out"]
    want = reference_run.run(g, FEED)["out"]
    np.testing.assert_array_equal(reference_run.run(back, FEED)["out"], want)


def test_saving_again_gives_the_same_file(tmp_path: Path) -> None:
    g = small()
    g.save(tmp_path / "a.fvm")
    Graph.from_model(g.to_model()).save(tmp_path / "b.fvm")
    g.save(tmp_path / "c.fvm")
    assert (tmp_path / "a.fvm").read_bytes() == (tmp_path / "c.fvm").read_bytes()
    assert (tmp_path / "b.fvm").stat().st_size > 0


def test_the_table_of_operators_is_the_cores() -> None:
    assert {"conv2d", "matmul", "resize", "pool2d"} <= set(op_table())
    assert all({"name", "doc", "inputs", "outputs", "attrs"} <= set(e) for e in op_table().values())
