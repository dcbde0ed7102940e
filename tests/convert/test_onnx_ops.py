"""Every ONNX operator the importer maps, one node at a time, against ONNX Runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import reference_run
from foveal.convert import convert
from harness import check_onnx, expected, model_of, one_node
from onnx import helper, numpy_helper

RNG = np.random.default_rng(7)


def f(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def i64(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def run(op: str, inputs: list[Any], attrs: dict[str, Any] | None = None, **kw: Any) -> Any:
    model, feeds = one_node(op, inputs, attrs, **kw)
    return check_onnx(model, feeds)


SPECIAL = np.array([-7.5, -3, -1.5, -0.5, -0.0, 0, 0.5, 1.5, 2.5, 3, 6, 9], np.float32)


@pytest.mark.parametrize(
    "op",
    [
        "Relu",
        "Sigmoid",
        "Tanh",
        "Exp",
        "Abs",
        "Neg",
        "Floor",
        "Ceil",
        "Round",
        "Erf",
        "Sin",
        "Cos",
        "Softplus",
        "Softsign",
        "HardSwish",
        "Sign",
        "Elu",
        "LeakyRelu",
        "Selu",
        "Celu",
        "ThresholdedRelu",
        "HardSigmoid",
        "Identity",
        "Tan",
    ],
)
def test_unary(op: str) -> None:
    run(op, [SPECIAL])


@pytest.mark.parametrize("op", ["Mish", "Gelu"])
def test_unary_of_later_opsets(op: str) -> None:
    run(op, [SPECIAL], opset=20)


def test_gelu_tanh() -> None:
    run("Gelu", [SPECIAL], {"approximate": "tanh"}, opset=20)


@pytest.mark.parametrize("op", ["Log", "Sqrt", "Reciprocal"])
def test_unary_positive(op: str) -> None:
    run(op, [np.abs(f(2, 3, 5)) + 0.1])


@pytest.mark.parametrize(
    ("op", "attrs"),
    [
        ("Elu", {"alpha": 0.5}),
        ("LeakyRelu", {"alpha": 0.3}),
        ("Celu", {"alpha": 2.0}),
        ("Selu", {"alpha": 1.5, "gamma": 2.0}),
        ("ThresholdedRelu", {"alpha": 0.25}),
        ("HardSigmoid", {"alpha": 0.3, "beta": 0.1}),
        ("HardSigmoid", {"alpha": 1 / 6, "beta": 0.0}),
    ],
)
def test_unary_attributes(op: str, attrs: dict[str, float]) -> None:
    run(op, [SPECIAL], attrs)


@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Div", "Max", "Min", "Sum", "Mean"])
@pytest.mark.parametrize("shapes", [((2, 3, 5), (2, 3, 5)), ((4, 1, 5), (3, 1)), ((1,), (2, 3))])
def test_binary(op: str, shapes: Any) -> None:
    run(op, [f(*shapes[0]), f(*shapes[1])])


@pytest.mark.parametrize("op", ["Max", "Min", "Sum", "Mean"])
def test_variadic(op: str) -> None:
    run(op, [f(2, 3), f(3), f(2, 1), f(1)])
    run(op, [f(2, 3)])


def test_pow_with_another_exponent_type() -> None:
    run("Pow", [np.abs(f(2, 3)) + 0.5, i64(2)], constant=[1])


@pytest.mark.parametrize("op", ["Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal"])
def test_compare(op: str) -> None:
    run(op, [SPECIAL, np.array(0.5, np.float32)], opset=16)


@pytest.mark.parametrize("op", ["And", "Or", "Xor"])
def test_logic(op: str) -> None:
    run(op, [np.array([True, True, False, False]), np.array([True, False, True, False])])


def test_not_and_where() -> None:
    mask = np.array([[True, False, True]])
    run("Not", [mask])
    run("Where", [mask, f(2, 3), f(1)])


@pytest.mark.parametrize("fmod", [0, 1])
def test_mod(fmod: int) -> None:
    if fmod:
        run("Mod", [SPECIAL, np.full(12, 2, np.float32)], {"fmod": 1})
    else:
        run("Mod", [np.arange(-6, 6, dtype=np.int32), np.full(12, 4, np.int32)])


def test_prelu() -> None:
    run("PRelu", [f(2, 3, 4, 5), f(3, 1, 1)])
    run("PRelu", [f(2, 3, 4, 5), f(1)], constant=[1])


def test_clip_forms() -> None:
    run("Clip", [SPECIAL], {"min": -1.0, "max": 2.0}, opset=7)
    run("Clip", [SPECIAL], {"max": 2.0}, opset=7)
    low, high = np.array(-1, np.float32), np.array(2, np.float32)
    run("Clip", [SPECIAL, low, high], constant=[1, 2])
    run("Clip", [SPECIAL, None, high], constant=[2])
    run("Clip", [SPECIAL, low], constant=[1])
    run("Clip", [SPECIAL, low, high])  # bounds computed at run time
    run("Clip", [np.arange(-4, 4, dtype=np.int32), np.array(-2, np.int32)], constant=[1])


@pytest.mark.parametrize("to", [1, 6, 7, 9])
def test_cast(to: int) -> None:
    run("Cast", [np.array([-1.5, -1, 0, 0.5, 3.7], np.float32)], {"to": to})


def test_cast_like() -> None:
    run("CastLike", [f(2, 3), i64(1)])


# ---- softmax, reductions, normalisation ----------------------------------------------------------


@pytest.mark.parametrize("op", ["Softmax", "LogSoftmax"])
@pytest.mark.parametrize(
    ("opset", "attrs"),
    [(13, {}), (13, {"axis": 1}), (11, {}), (11, {"axis": 2}), (11, {"axis": -1})],
)
def test_softmax(op: str, opset: int, attrs: dict[str, int]) -> None:
    run(op, [f(2, 3, 4, 5) * 4], attrs, opset=opset)


def test_softmax_over_trailing_ones() -> None:
    run("Softmax", [f(2, 5, 1, 1)], {"axis": 1}, opset=11)


REDUCE = ["Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "SumSquare", "LogSumExp", "LogSum"]


@pytest.mark.parametrize("op", REDUCE)
@pytest.mark.parametrize("axes", [None, [1], [-1, 0]])
@pytest.mark.parametrize("keep", [0, 1])
def test_reduce(op: str, axes: list[int] | None, keep: int) -> None:
    x = np.abs(f(2, 3, 5)) + 0.1
    attrs: dict[str, Any] = {"keepdims": keep}
    run("Reduce" + op, [x, None if axes is None else i64(*axes)], attrs, opset=18, constant=[1])
    if axes is not None:
        run("Reduce" + op, [x], attrs | {"axes": axes}, opset=12)


def test_reduce_of_no_axes() -> None:
    run("ReduceSum", [f(2, 3)], {"noop_with_empty_axes": 1}, opset=18)


@pytest.mark.parametrize("op", ["ArgMax", "ArgMin"])
@pytest.mark.parametrize("last", [0, 1])
def test_arg(op: str, last: int) -> None:
    x = np.array([[1, 3, 3, 2], [4, 4, 0, 0]], np.float32)
    run(op, [x], {"axis": 1, "keepdims": 0, "select_last_index": last})
    run(op, [x], {"axis": 0, "keepdims": 1})


def test_normalisations() -> None:
    x = f(2, 3, 4, 5)
    scale, bias = np.abs(f(3)) + 0.5, f(3)
    run("BatchNormalization", [x, scale, bias, f(3), np.abs(f(3)) + 0.2], constant=[1, 2, 3, 4])
    run("BatchNormalization", [f(4, 3), scale, bias, f(3), np.abs(f(3)) + 0.2], opset=9)
    run("InstanceNormalization", [x, scale, bias], {"epsilon": 1e-3})
    run("LayerNormalization", [x, f(5), f(5)])
    run("LayerNormalization", [x, f(4, 5)], {"axis": 2, "epsilon": 1e-2})
    run("LpNormalization", [x], {"axis": 1, "p": 2})
    run("LpNormalization", [x], {"axis": -1, "p": 1})


# ---- windows -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "attrs",
    [
        {},
        {"strides": [2, 1], "pads": [1, 0, 2, 1]},
        {"dilations": [2, 3]},
        {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
        {"auto_pad": "SAME_LOWER", "strides": [2, 3]},
        {"auto_pad": "VALID"},
    ],
)
@pytest.mark.parametrize("bias", [False, True])
def test_conv(attrs: dict[str, Any], bias: bool) -> None:
    run("Conv", [f(2, 3, 11, 10), f(5, 3, 3, 2), f(5) if bias else None], attrs, constant=[1, 2])


def test_conv_groups_and_one_dimension() -> None:
    run("Conv", [f(1, 6, 7, 5), f(9, 2, 3, 3), f(9)], {"group": 3}, constant=[1, 2])
    run("Conv", [f(1, 5, 7, 5), f(5, 1, 3, 3)], {"group": 5, "pads": [1] * 4}, constant=[1])
    run("Conv", [f(2, 3, 11), f(4, 3, 3), f(4)], {"strides": [2], "pads": [1, 0]}, constant=[1, 2])
    run("Conv", [f(2, 3, 11), f(4, 3, 4)], {"auto_pad": "SAME_UPPER", "strides": [2]}, constant=[1])


def test_conv_with_weights_fed_at_run_time() -> None:
    """Imported and typed; whether a backend runs it is the backend's own matter."""
    model, feeds = one_node("Conv", [f(1, 2, 6, 6), f(3, 2, 3, 3)])
    got = reference_run.run(convert(model.SerializeToString()), feeds)
    np.testing.assert_allclose(got["y0"], expected(model, feeds)["y0"], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "attrs",
    [
        {},
        {"strides": [2, 2]},
        {"strides": [2, 3], "pads": [1, 0, 1, 2], "output_padding": [1, 2]},
        {"dilations": [2, 1], "strides": [1, 2]},
        {"strides": [2, 2], "output_shape": [10, 8]},
        {"strides": [2, 2], "output_shape": [10, 9], "auto_pad": "SAME_UPPER"},
        {"strides": [2, 2], "auto_pad": "SAME_UPPER"},
        {"strides": [3, 2], "auto_pad": "SAME_LOWER"},
        {"group": 2},
    ],
)
def test_conv_transpose(attrs: dict[str, Any]) -> None:
    weights = [f(4, 3, 3, 3), f(3 * attrs.get("group", 1))]
    run("ConvTranspose", [f(1, 4, 5, 4), *weights], attrs, constant=[1, 2])


def test_conv_transpose_one_dimension() -> None:
    run("ConvTranspose", [f(2, 3, 5), f(3, 2, 3)], {"strides": [2]}, constant=[1])


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool"])
@pytest.mark.parametrize(
    "attrs",
    [
        {"kernel_shape": [3, 2]},
        {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]},
        {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1},
        {"kernel_shape": [2, 3], "strides": [2, 2], "auto_pad": "SAME_UPPER"},
        {"kernel_shape": [2, 3], "strides": [2, 2], "auto_pad": "SAME_LOWER"},
    ],
)
def test_pool(op: str, attrs: dict[str, Any]) -> None:
    run(op, [f(2, 3, 8, 9)], attrs)


def test_more_pools() -> None:
    pads = {"kernel_shape": [3, 3], "pads": [1, 0, 1, 2]}
    run("AveragePool", [f(1, 3, 6, 7)], pads | {"count_include_pad": 1})
    run("MaxPool", [f(1, 3, 9, 9)], {"kernel_shape": [3, 3], "dilations": [2, 2]})
    run("MaxPool", [f(1, 3, 9)], {"kernel_shape": [3], "strides": [2]})
    run("GlobalAveragePool", [f(2, 5, 3, 7)])
    run("GlobalMaxPool", [f(2, 5, 3, 7)])
    run("GlobalAveragePool", [f(2, 5, 7)])


def test_matmul_and_gemm() -> None:
    run("MatMul", [f(2, 1, 3, 4), f(5, 4, 2)])
    run("MatMul", [f(4), f(4, 3)])
    run("MatMul", [f(2, 3, 4), f(4)])
    run("Gemm", [f(3, 4), f(4, 5)])
    run("Gemm", [f(3, 4), f(5, 4), f(5)], {"transB": 1}, constant=[1, 2])
    attrs = {"alpha": 0.5, "beta": 2.0, "transA": 1, "transB": 1}
    run("Gemm", [f(4, 3), f(5, 4), f(3, 1)], attrs, constant=[1, 2])


# ---- resize ------------------------------------------------------------------------------------

GRIDS = ["half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"]


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("scale", [(2.0, 2.0), (1.5, 0.6), (3.0, 1.0)])
def test_resize_linear(grid: str, scale: tuple[float, float]) -> None:
    scales = np.array([1, 1, *scale], np.float32)
    attrs = {"mode": "linear", "coordinate_transformation_mode": grid}
    run("Resize", [f(2, 3, 5, 6), None, scales], attrs, opset=13, constant=[2])


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("rounding", ["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"])
def test_resize_nearest(grid: str, rounding: str) -> None:
    attrs = {"mode": "nearest", "coordinate_transformation_mode": grid, "nearest_mode": rounding}
    for size in ((10, 12), (3, 9), (1, 6)):
        run("Resize", [f(1, 2, 5, 6), None, None, i64(1, 2, *size)], attrs, constant=[3])


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("rounding", ["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"])
def test_resize_nearest_at_ties(grid: str, rounding: str) -> None:
    """Where a coordinate is a whole or half number but for rounding, ONNX Runtime's decision."""
    attrs = {"mode": "nearest", "coordinate_transformation_mode": grid, "nearest_mode": rounding}
    for n, out in ((6, 8), (3, 4), (7, 3), (30, 65), (50, 65), (14, 39), (46, 56), (91, 28)):
        x = np.arange(n, dtype=np.float32).reshape(1, 1, 1, n)
        run("Resize", [x, None, None, i64(1, 1, 1, out)], attrs, constant=[3])
        run("Resize", [x[0], None, None, i64(1, 1, out)], attrs, constant=[3])
        scales = np.array([1, 1, 1, out / n], np.float32)
        run("Resize", [x, None, scales], attrs, constant=[2])


def test_resize_forms() -> None:
    scales = np.array([1, 1, 2, 3], np.float32)
    run("Resize", [f(1, 2, 3, 4), scales], {"mode": "nearest"}, opset=10, constant=[1])
    run("Resize", [f(1, 2, 3, 4), scales], {"mode": "linear"}, opset=10, constant=[1])
    run("Upsample", [f(1, 2, 3, 4)], {"scales": [1.0, 1.0, 2.0, 2.0]}, opset=7)
    run("Upsample", [f(1, 2, 3, 4), scales], {"mode": "linear"}, opset=9, constant=[1])
    attrs = {"mode": "nearest", "axes": [2, 3]}
    run("Resize", [f(1, 2, 3, 4), None, None, i64(6, 5)], attrs, opset=18, constant=[3])
    run("Resize", [f(1, 2, 5), None, np.array([1, 1, 2], np.float32)], opset=13, constant=[2])


@pytest.mark.parametrize("scale", [2.6, 0.3, 0.7, 1.1, 1.7, 2.3, 3.3])
@pytest.mark.parametrize("grid", GRIDS)
def test_resize_size_is_rounded_down_in_float32(scale: float, grid: str) -> None:
    """10 by 2.6 is 26: the product is a float32, where 2.6 is a little less than 2.6."""
    scales = np.array([1, 1, scale, scale], np.float32)
    attrs = {"mode": "linear", "coordinate_transformation_mode": grid}
    run("Resize", [f(1, 1, 10, 30), None, scales], attrs, constant=[2])
    run("Resize", [f(1, 1, 10), None, scales[:3]], attrs, constant=[2])


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_depth_to_space(mode: str) -> None:
    run("DepthToSpace", [f(2, 12, 3, 2)], {"blocksize": 2, "mode": mode})


def test_space_to_depth() -> None:
    run("SpaceToDepth", [f(2, 3, 4, 6)], {"blocksize": 2})


# ---- moving elements ---------------------------------------------------------------------------


def test_concat_and_split() -> None:
    run("Concat", [f(2, 3), f(2, 1), f(2, 4)], {"axis": -1})
    run("Split", [f(2, 6)], {"axis": 1}, opset=12, outputs=3)
    run("Split", [f(2, 6)], {"axis": 1, "split": [1, 5]}, opset=12, outputs=2)
    run("Split", [f(2, 6), i64(2, 4)], {"axis": 1}, outputs=2, constant=[1])
    run("Split", [f(2, 7)], {"axis": 1, "num_outputs": 3}, opset=18, outputs=3)


def test_slice() -> None:
    x = f(4, 5, 6)
    run("Slice", [x], {"starts": [1, 0], "ends": [3, -1], "axes": [0, 2]}, opset=9)
    run("Slice", [x, i64(0, 1), i64(4, 1000)], constant=[1, 2])
    full = [x, i64(-1, 4), i64(-1000, 0), i64(0, -1), i64(-1, -2)]
    run("Slice", full, constant=[1, 2, 3, 4])


def test_pad() -> None:
    x = f(2, 3, 4)
    run("Pad", [x], {"pads": [0, 1, 2, 0, 0, 1], "value": 1.5}, opset=10)
    run("Pad", [x, i64(0, 1, 2, 0, 0, 1), np.array(-2, np.float32)], constant=[1, 2])
    run("Pad", [x, i64(0, 1, 1, 0, 1, 2)], {"mode": "reflect"}, constant=[1])
    run("Pad", [x, i64(0, 1, 1, 0, 1, 2)], {"mode": "edge"}, constant=[1])
    run("Pad", [x, i64(0, -1, 1, 0, 0, -2)], constant=[1])
    run("Pad", [x, i64(1, 2), None, i64(-1)], opset=18, constant=[1, 3])


def test_views() -> None:
    x = f(2, 3, 4)
    run("Transpose", [x])
    run("Transpose", [x], {"perm": [1, 2, 0]})
    run("Reshape", [x, i64(0, -1)], constant=[1])
    run("Flatten", [x], {"axis": 2})
    run("Flatten", [x], {"axis": -1})
    run("Flatten", [x], {"axis": 0})
    run("Squeeze", [f(1, 3, 1)], {"axes": [0]}, opset=12)
    run("Squeeze", [f(1, 3, 1)])
    run("Squeeze", [f(1, 3, 1), i64(-1)], constant=[1])
    run("Unsqueeze", [x], {"axes": [0, 2]}, opset=12)
    run("Unsqueeze", [x, i64(-1)], constant=[1])


def test_repeat_and_pick() -> None:
    run("Expand", [f(3, 1), i64(2, 1, 4)], constant=[1])
    run("Tile", [f(2, 3), i64(2, 1)], constant=[1])
    run("Gather", [f(3, 4), i64(2, 0, -1)], constant=[1])
    run("Gather", [f(3, 4), np.array([[1, 3], [0, -4]], np.int64)], {"axis": 1}, constant=[1])
    run("Gather", [f(3, 4), np.array(1, np.int64)], constant=[1])
    run("Dropout", [f(3, 4)], {"ratio": 0.3}, opset=7)
    run("Dropout", [f(3, 4), np.array(0.3, np.float32)], constant=[1])


# ---- written with several operators ------------------------------------------------------------


def test_group_normalization() -> None:
    x = f(2, 6, 4, 5)
    attrs = {"num_groups": 3, "epsilon": 1e-3}
    run("GroupNormalization", [x, f(6), f(6)], attrs, opset=21, constant=[1, 2])
    run("GroupNormalization", [f(2, 6, 4), f(6), f(6)], attrs, opset=21)


def test_local_response() -> None:
    for size in (1, 3, 5):
        attrs = {"size": size, "alpha": 0.3, "beta": 0.6, "bias": 1.5}
        run("LRN", [f(2, 6, 3, 4) * 3], attrs)


@pytest.mark.parametrize("upper", [0, 1])
@pytest.mark.parametrize("k", [None, -1, 2])
def test_trilu(upper: int, k: int | None) -> None:
    diagonal = None if k is None else np.array(k, np.int64)
    run("Trilu", [f(2, 4, 5), diagonal], {"upper": upper}, constant=[1])


def test_others() -> None:
    run("MeanVarianceNormalization", [f(2, 3, 4, 5)], opset=13)
    run("MeanVarianceNormalization", [f(2, 3, 4, 5)], {"axes": [1, 3]}, opset=13)
    run("Shrink", [SPECIAL], {"lambd": 1.5, "bias": 0.5})
    run("IsNaN", [np.array([1.0, np.nan, np.inf], np.float32)])


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ik", [(3, 4), (4, 5)]),
        ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]),
        ("bhqd,bhkd->bhqk", [(2, 3, 4, 5), (2, 3, 6, 5)]),
        ("nchw,kc->nkhw", [(2, 3, 4, 5), (6, 3)]),
        ("ijk,jkl", [(2, 3, 4), (3, 4, 5)]),
        ("i,j->ji", [(3,), (4,)]),
        ("ij,ij->", [(3, 4), (3, 4)]),
        ("ijk,l->ik", [(2, 3, 4), (5,)]),
        ("ijk->kj", [(2, 3, 4)]),
        ("ij->ji", [(3, 4)]),
    ],
)
def test_einsum(equation: str, shapes: list[tuple[int, ...]]) -> None:
    run("Einsum", [f(*s) for s in shapes], {"equation": equation})


@pytest.mark.parametrize(
    "attrs", [{}, {"exclusive": 1}, {"reverse": 1}, {"exclusive": 1, "reverse": 1}]
)
def test_cumsum(attrs: dict[str, int]) -> None:
    for axis in (0, -1):
        run("CumSum", [f(3, 4, 5), np.array(axis, np.int64)], attrs, constant=[1])


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_one_hot(axis: int) -> None:
    indices = np.array([[0, 2], [-1, 5]], np.int64)
    inputs = [indices, np.array(4, np.int64), np.array([-1.0, 3.0], np.float32)]
    run("OneHot", inputs, {"axis": axis}, constant=[1, 2])


@pytest.mark.parametrize(
    ("dtype", "scale", "zero_point", "attrs"),
    [
        ("uint8", np.float32(0.0173), np.uint8(131), {}),
        ("int8", np.float32(0.25), None, {}),
        ("int16", np.array([0.5], np.float32), np.array([-3], np.int16), {}),
        ("int8", f(3), np.array([1, -2, 3], np.int8), {}),
        ("uint8", np.abs(f(5)), np.array([1, 2, 3, 4, 255], np.uint8), {"axis": -1}),
    ],
)
def test_dequantize(dtype: str, scale: Any, zero_point: Any, attrs: dict[str, int]) -> None:
    numbers = RNG.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, (2, 3, 5), dtype)
    inputs = [numbers, scale] if zero_point is None else [numbers, scale, zero_point]
    graph = run("DequantizeLinear", inputs, attrs, constant=[1, 2], opset=21)
    want = None
    if np.size(scale) == 1:
        want = float(np.reshape(scale, ())), int(np.reshape(zero_point or 0, ()))
    assert graph.inputs[0].quantization == want


@pytest.mark.parametrize(
    ("readers", "want"),
    [
        ([(0.5, 3), (0.5, 3)], (0.5, 3)),
        ([(0.5, 3), (0.25, 3)], None),
        ([(0.5, 3), (0.5, 4)], None),
        ([(0.5, 3), (0.25, 3), (0.5, 3)], None),
        ([(0.25, 3), (0.5, 3), (0.5, 3)], None),
        ([(0.5, 3), ([0.5, 0.25, 1.0], [3, 3, 3])], None),
        ([([0.5, 0.25, 1.0], [3, 3, 3]), (0.5, 3)], None),
    ],
)
def test_input_dequantised_several_times(
    readers: list[Any], want: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Every reader gets its own numbers; the input says what they stand for if all agree."""
    nodes, weights = [], []
    for i, (scale, zero_point) in enumerate(readers):
        weights.append(numpy_helper.from_array(np.array(scale, np.float32), f"s{i}"))
        weights.append(numpy_helper.from_array(np.array(zero_point, np.uint8), f"z{i}"))
        nodes.append(helper.make_node("DequantizeLinear", ["x", f"s{i}", f"z{i}"], [f"y{i}"]))
    x = RNG.integers(0, 256, (2, 3, 5), np.uint8)
    outputs = [f"y{i}" for i in range(len(readers))]
    graph = check_onnx(model_of(nodes, {"x": x}, outputs, weights), {"x": x})
    assert graph.inputs[0].quantization == want
    assert ("read with several scales" in caplog.text) == (want is None)


@pytest.mark.parametrize("op", ["Relu", "Neg", "Abs", "Sign"])
@pytest.mark.parametrize("dtype", ["int8", "int32"])
def test_unary_of_integers(op: str, dtype: str) -> None:
    run(op, [np.array([[-128, -5, -1], [0, 1, 127]], dtype)], opset=14)
