"""The numpy references themselves, against ONNX Runtime wherever ONNX has the same operator."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from foveal.conformance.kit import Case, compare, load_tables, reference

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")
helper, TP = onnx.helper, onnx.TensorProto

OPSET = 20
Step = tuple[str, list[str], list[str], dict[str, Any]]  # op, inputs, outputs, attributes
Extra = dict[str, np.ndarray]  # inputs that our operators have as attributes
Mapping = Callable[..., "tuple[list[Step], Extra] | None"]


def i64(values: Any) -> np.ndarray:
    return np.asarray(values, np.int64)


def same(name: str, rename: dict[str, str] | None = None, **fixed: Any) -> Mapping:
    """The ONNX operator has the same inputs and attributes, apart from their names."""

    def build(names: list[str], outs: list[str], attrs: dict[str, Any], arrays: list[Any]) -> Any:
        out = {(rename or {}).get(k, k): v for k, v in attrs.items()}
        return [(name, names, outs, {**fixed, **out})], {}

    return build


def attrs_as_inputs(name: str, order: list[tuple[str, Any]], keep: dict[str, str]) -> Mapping:
    """Attributes in `order` become int64 inputs behind ours; those in `keep` stay attributes."""

    def build(names: list[str], outs: list[str], attrs: dict[str, Any], arrays: list[Any]) -> Any:
        extra = {k: i64(attrs.get(k, default)) for k, default in order}
        kept = {keep[k]: v for k, v in attrs.items() if k in keep}
        return [(name, names + list(extra), outs, kept)], extra

    return build


def conv(name: str) -> Mapping:
    def build(names: list[str], outs: list[str], attrs: dict[str, Any], arrays: list[Any]) -> Any:
        rename = {
            "stride": "strides",
            "pad": "pads",
            "dilation": "dilations",
            "output_pad": "output_padding",
        }
        return [(name, names, outs, {rename.get(k, k): v for k, v in attrs.items()})], {}

    return build


def matmul(names: list[str], outs: list[str], attrs: dict[str, Any], arrays: list[Any]) -> Any:
    steps: list[Step] = []
    sides = names[:2]
    for i, side in enumerate(("transpose_a", "transpose_b")):
        if attrs.get(side):
            rank = arrays[i].ndim
            perm = [*range(rank - 2), rank - 1, rank - 2]
            steps.append(("Transpose", [sides[i]], [side], {"perm": perm}))
            sides[i] = side
    bias = len(names) > 2
    steps.append(("MatMul", sides, ["product"] if bias else outs, {}))
    if bias:
        steps.append(("Add", ["product", names[2]], outs, {}))
    return steps, {}


def pool(names: list[str], outs: list[str], attrs: dict[str, Any], arrays: list[Any]) -> Any:
    average = attrs.get("mode") == "average"
    out = {
        "kernel_shape": attrs["kernel"],
        "strides": attrs.get("stride", (1, 1)),
        "pads": attrs.get("pad", (0, 0, 0, 0)),
        "dilations": attrs.get("dilation", (1, 1)),
        "ceil_mode": attrs.get("ceil", 0),
    }
    if average:
        out["count_include_pad"] = attrs.get("count_pad", 0)
    return [("AveragePool" if average else "MaxPool", names, outs, out)], {}


def resize(names: list[str], outs: list[str], attrs: dict[str, Any], arrays: list[Any]) -> Any:
    if attrs.get("size") and attrs.get("scale"):
        return None  # ONNX takes one of them
    out = {
        "mode": {"nearest": "nearest", "bilinear": "linear"}[attrs.get("mode", "nearest")],
        "coordinate_transformation_mode": attrs.get("grid", "half_pixel"),
        "nearest_mode": attrs.get("rounding", "round_prefer_floor"),
    }
    if attrs.get("size"):
        extra = {"sizes": i64([*arrays[0].shape[:2], *attrs["size"]])}
        return [("Resize", [names[0], "", "", "sizes"], outs, out)], extra
    extra = {"scales": np.float32([1, 1, *attrs["scale"]])}
    return [("Resize", [names[0], "", "scales"], outs, out)], extra


def clip(names: list[str], outs: list[str], attrs: dict[str, Any], arrays: list[Any]) -> Any:
    extra = {
        k: np.asarray(attrs.get(k, d), np.float32) for k, d in (("min", -np.inf), ("max", np.inf))
    }
    return [("Clip", [*names, "min", "max"], outs, {})], extra


def cast(names: list[str], outs: list[str], attrs: dict[str, Any], arrays: list[Any]) -> Any:
    to = helper.np_dtype_to_tensor_dtype(np.dtype(attrs.get("dtype", "float32")))
    return [("Cast", names, outs, {"to": to})], {}


def pad(names: list[str], outs: list[str], attrs: dict[str, Any], arrays: list[Any]) -> Any:
    value = arrays[0].dtype.type(attrs.get("value", 0))
    extra = {"pads": i64(attrs["pads"]), "value": np.asarray(value)}
    if min(attrs["pads"]) < 0 and attrs.get("mode", "constant") != "constant":
        return None  # ONNX Runtime reflects before it crops
    return [
        ("Pad", [*names, "pads", "value"], outs, {"mode": attrs.get("mode", "constant")})
    ], extra


def squeeze(names: list[str], outs: list[str], attrs: dict[str, Any], arrays: list[Any]) -> Any:
    if not attrs.get("axes"):
        return [("Squeeze", names, outs, {})], {}
    return [("Squeeze", [*names, "axes"], outs, {})], {"axes": i64(attrs["axes"])}


def reduce(name: str) -> Mapping:
    def build(names: list[str], outs: list[str], attrs: dict[str, Any], arrays: list[Any]) -> Any:
        keep = {"keepdims": attrs.get("keepdims", 1)}
        if not attrs.get("axes"):
            return [(name, names, outs, keep)], {}
        return [(name, [*names, "axes"], outs, keep)], {"axes": i64(attrs["axes"])}

    return build


def layer_norm(names: list[str], outs: list[str], attrs: dict[str, Any], arrays: list[Any]) -> Any:
    axis = attrs.get("axis", -1)
    extra: Extra = {}
    if not names[1:] or not names[1]:
        extra["one"] = np.ones(arrays[0].shape[axis % arrays[0].ndim :], np.float32)
        names = [names[0], "one", *names[2:]]
    return [("LayerNormalization", names, outs, attrs)], extra


def composed(*steps: tuple[str, list[str], list[str]]) -> Mapping:
    """An ONNX spelling in several operators; x and y are input and output."""

    def build(names: list[str], outs: list[str], attrs: dict[str, Any], arrays: list[Any]) -> Any:
        bind = dict(zip(["x", "b"], names, strict=False)) | {"y": outs[0]}
        return [
            (op, [bind.get(i, i) for i in a], [bind.get(o, o) for o in b], {}) for op, a, b in steps
        ], {}

    return build


MAP: dict[str, Mapping] = {
    "conv2d": conv("Conv"),
    "conv_transpose2d": conv("ConvTranspose"),
    "matmul": matmul,
    "pool2d": pool,
    "resize": resize,
    "clip": clip,
    "cast": cast,
    "pad": pad,
    "squeeze": squeeze,
    "layer_norm": layer_norm,
    "argmax": same("ArgMax", {"select_last": "select_last_index"}),
    "argmin": same("ArgMin", {"select_last": "select_last_index"}),
    "batch_norm": same("BatchNormalization"),
    "instance_norm": same("InstanceNormalization"),
    "softmax": same("Softmax"),
    "log_softmax": same("LogSoftmax"),
    "concat": same("Concat"),
    "split": attrs_as_inputs("Split", [("sizes", ())], {"axis": "axis"}),
    "slice": attrs_as_inputs("Slice", [("begin", ()), ("end", ()), ("axes", ()), ("step", ())], {}),
    "transpose": same("Transpose"),
    "reshape": attrs_as_inputs("Reshape", [("shape", ())], {}),
    "unsqueeze": attrs_as_inputs("Unsqueeze", [("axes", ())], {}),
    "flatten": same("Flatten"),
    "expand": attrs_as_inputs("Expand", [("shape", ())], {}),
    "tile": attrs_as_inputs("Tile", [("repeats", ())], {}),
    "gather": same("Gather"),
    "depth_to_space": lambda n, o, a, x: (
        [("DepthToSpace", n, o, {"blocksize": a["block"], "mode": a.get("mode", "dcr").upper()})],
        {},
    ),
    "space_to_depth": same("SpaceToDepth", {"block": "blocksize"}),
    "prelu": same("PRelu"),
    "where": same("Where"),
    "hardsigmoid": same("HardSigmoid"),
    "leaky_relu": same("LeakyRelu"),
    "elu": same("Elu"),
    "gelu_tanh": same("Gelu", approximate="tanh"),
    "less_equal": same("LessOrEqual"),
    "greater_equal": same("GreaterOrEqual"),
    "not_equal": composed(("Equal", ["x", "b"], ["e"]), ("Not", ["e"], ["y"])),
    "square": composed(("Mul", ["x", "x"], ["y"])),
    "silu": composed(("Sigmoid", ["x"], ["s"]), ("Mul", ["x", "s"], ["y"])),
    "rsqrt": composed(("Sqrt", ["x"], ["s"]), ("Reciprocal", ["s"], ["y"])),
    "squared_difference": composed(("Sub", ["x", "b"], ["d"]), ("Mul", ["d", "d"], ["y"])),
    "hardswish": same("HardSwish"),
}
MAP |= {
    f"reduce_{k}": reduce(f"Reduce{v}")
    for k, v in {
        "mean": "Mean", "sum": "Sum", "max": "Max", "min": "Min", "prod": "Prod", "l1": "L1",
        "l2": "L2", "sum_square": "SumSquare", "log_sum_exp": "LogSumExp",
    }.items()
}  # fmt: skip
MAP |= {
    op: same(op.capitalize())
    for op in [
        "relu",
        "sigmoid",
        "tanh",
        "exp",
        "log",
        "sqrt",
        "abs",
        "neg",
        "floor",
        "ceil",
        "round",
        "erf",
        "sin",
        "cos",
        "reciprocal",
        "softplus",
        "softsign",
        "gelu",
        "mish",
        "sign",
        "not",
        "add",
        "sub",
        "mul",
        "div",
        "max",
        "min",
        "pow",
        "equal",
        "less",
        "greater",
        "and",
        "or",
        "xor",
    ]
}
NOT_IN_ONNX = {
    "l2_normalize": "ONNX has no epsilon; checked by its definition below",
    "raster": "ours; checked through the operators that decompose into it",
    "mod": "Mod takes no floats without fmod; checked against Python's % below",
}
# Where the two disagree by design: op, what to skip, why.
SKIP: dict[str, tuple[Callable[[Case, list[Any]], bool], str]] = {
    "cast": (
        lambda c, x: (
            c.net.nodes[0].attrs.get("dtype") in ("int8", "bool") and x[0].dtype.kind == "f"
        ),
        "out of range or NaN",
    ),
    "pool2d": (
        lambda c, x: (
            bool(c.net.nodes[0].attrs.get("ceil")) and bool(c.net.nodes[0].attrs.get("count_pad"))
        ),
        "ONNX Runtime counts positions beyond the padding",
    ),
}


def run_onnx(case: Case) -> list[np.ndarray] | None:
    node = case.net.nodes[0]
    feeds = case.net.feeds(case.seed)
    names = ["" if i is None else f"v{i}" for i in node.inputs]
    while names and not names[-1]:
        names.pop()
    arrays = [None if i is None else feeds[i] for i in node.inputs]
    outs = [f"v{i}" for i in node.outputs]
    built = MAP[node.op](names, outs, dict(node.attrs), arrays)
    if built is None:
        return None
    steps, extra = built
    given = {f"v{i}": a for i, a in feeds.items()} | extra
    used = {n for _, ins, _, _ in steps for n in ins}
    graph = helper.make_graph(
        [helper.make_node(op, ins, out, **attrs) for op, ins, out, attrs in steps],
        "one",
        [
            helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
            for n, a in given.items()
            if n in used
        ],
        [helper.make_tensor_value_info(o, TP.UNDEFINED, None) for o in outs],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9)
    for o in model.graph.output:
        o.ClearField("type")
    inferred = onnx.shape_inference.infer_shapes(model)
    options = ort.SessionOptions()
    options.log_severity_level = 4
    session = ort.InferenceSession(inferred.SerializeToString(), options, ["CPUExecutionProvider"])
    return session.run(outs, {n: a for n, a in given.items() if n in used})


@functools.cache
def suites() -> dict[str, list[Case]]:
    return {s.op: s.cases for s in load_tables() if s.is_op}


@pytest.mark.parametrize("op", sorted(suites()))
def test_reference_equals_onnxruntime(op: str) -> None:
    if op in NOT_IN_ONNX:
        pytest.skip(NOT_IN_ONNX[op])
    checked, refused = 0, set()
    for case in suites()[op]:
        feeds = case.net.feeds(case.seed)
        node = case.net.nodes[0]
        arrays = [None if i is None else feeds[i] for i in node.inputs]
        if op in SKIP and SKIP[op][0](case, arrays):
            continue
        try:
            got = run_onnx(case)
        except Exception as e:  # ONNX Runtime lacks a kernel for this type, or ONNX the type
            unknown_type = "NOT_IMPLEMENTED" in str(e) or "NotImplemented" in type(e).__name__
            assert unknown_type or "Type Error: Type 'tensor(" in str(e), (case.id, e)
            refused.add(str(e))
            continue
        if got is None:
            continue
        want = case.expected(feeds)
        for g, w in zip(got, want, strict=True):
            # ONNX Runtime's own float32 error is part of the difference here.
            problem = compare(np.asarray(g), w, max(case.tol, 2e-5 if w.dtype.kind == "f" else 0))
            assert problem is None, f"{op} {case.id}: {problem}"
        checked += 1
    assert checked >= len(suites()[op]) // 2, refused


def test_every_table_is_checked() -> None:
    assert set(suites()) == set(MAP) | set(NOT_IN_ONNX)


def test_l2_normalize_gives_unit_vectors() -> None:
    x = np.random.default_rng(0).normal(size=(4, 7)).astype(np.float32)
    y = reference("l2_normalize")(x, axis=1)
    assert np.allclose(np.linalg.norm(y, axis=1), 1)
    assert np.allclose(y * np.linalg.norm(x, axis=1, keepdims=True), x, atol=1e-6)


def test_mod_is_the_remainder_of_python() -> None:
    values = [7, -7, 6, -1, 0, 5]
    for b in (3, -3, 4):
        ints = reference("mod")(np.array(values, np.int32), np.array(b, np.int32))
        assert ints.tolist() == [v % b for v in values]
        floats = reference("mod")(np.array(values, np.float32), np.array(b + 0.5, np.float32))
        assert np.allclose(floats, [v % (b + 0.5) for v in values])
