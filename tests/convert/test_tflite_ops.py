"""Every TFLite operator the importer maps, one at a time, against LiteRT."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from foveal.convert import convert
from foveal.errors import UnsupportedOpError
from harness import check_graph
from tflite_builder import one_operator

RNG = np.random.default_rng(11)
SPECIAL = np.array([[-7.5, -3, -1.5, -0.5, -0.0, 0, 0.5, 1.5, 2.5, 3, 6, 9]], np.float32)


def f(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def i32(*values: Any) -> np.ndarray:
    return np.array(values, np.int32)


def expected(data: bytes, feeds: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """LiteRT's own answer from its reference kernels."""
    run = Interpreter(
        model_content=data,
        num_threads=1,
        experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
    )
    run.allocate_tensors()
    for d in run.get_input_details():
        run.set_tensor(d["index"], feeds[d["name"]])
    run.invoke()
    return {d["name"]: np.array(run.get_tensor(d["index"])) for d in run.get_output_details()}


def check(
    op: str, inputs: list[Any], shape: Any, options: Any = None, dtype: str = "float32",
    constant: Any = (), **kw: Any,
) -> Any:  # fmt: skip
    """`shape`: of the output, or a list of shapes."""
    shapes = shape if isinstance(shape, list) else [shape]
    outs = [(dtype, s) for s in shapes]
    data, feeds = one_operator(op, inputs, outputs=outs, options=options, constant=constant, **kw)
    want = expected(data, feeds)
    assert [a.shape for a in want.values()] == [tuple(s) for s in shapes]
    return check_graph(convert(data, optimize=False), feeds, want)


@pytest.mark.parametrize(
    "op",
    [
        "LOGISTIC",
        "RELU",
        "TANH",
        "EXP",
        "ABS",
        "NEG",
        "FLOOR",
        "CEIL",
        "ROUND",
        "SIN",
        "COS",
        "SQUARE",
        "HARD_SWISH",
        "RELU6",
        "RELU_N1_TO_1",
        "RELU_0_TO_1",
        "ELU",
        "SIGN",
        "ZEROS_LIKE",
    ],
)
def test_unary(op: str) -> None:
    x = SPECIAL[:, SPECIAL[0] % 1 != 0.5] if op == "ROUND" else SPECIAL
    check(op, [x], x.shape)


@pytest.mark.parametrize("op", ["LOG", "SQRT", "RSQRT"])
def test_unary_positive(op: str) -> None:
    check(op, [np.abs(f(2, 3)) + 0.1], (2, 3))


def test_gelu() -> None:
    check("GELU", [SPECIAL], SPECIAL.shape, {0: ("bool", False)})
    # LiteRT's tanh in this kernel is only good to 4e-4: compared with the formula instead.
    x = SPECIAL.astype(np.float64)
    want = 0.5 * x * (1 + np.tanh((2 / np.pi) ** 0.5 * (x + 0.044715 * x**3)))
    options = {0: ("bool", True)}
    data, feeds = one_operator("GELU", [SPECIAL], [("float32", x.shape)], options)
    check_graph(convert(data, optimize=False), feeds, {"y0": want.astype(np.float32)})


def test_leaky_relu_and_prelu() -> None:
    check("LEAKY_RELU", [SPECIAL], SPECIAL.shape, {0: ("f32", 0.3)})
    check("PRELU", [f(1, 4, 5, 3), f(1, 1, 3)], (1, 4, 5, 3), constant=[1])
    check("PRELU", [f(1, 4, 5, 3), np.full((1, 1, 3), 0.2, np.float32)], (1, 4, 5, 3), constant=[1])


@pytest.mark.parametrize("op", ["ADD", "SUB", "MUL", "DIV"])
@pytest.mark.parametrize("activation", [0, 1, 2, 3])
def test_arithmetic_with_fused_activation(op: str, activation: int) -> None:
    check(op, [f(2, 3, 4), f(3, 1)], (2, 3, 4), {0: ("i8", activation)})


@pytest.mark.parametrize(
    "op", ["MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE", "FLOOR_MOD", "FLOOR_DIV"]
)
def test_binary(op: str) -> None:
    check(op, [f(2, 3, 4), np.abs(f(2, 3, 4)) + 0.5], (2, 3, 4))


def test_pow_and_add_n() -> None:
    check("POW", [np.abs(f(2, 3)) + 0.1, f(2, 3)], (2, 3))
    check("ADD_N", [f(2, 3), f(2, 3), f(2, 3)], (2, 3))


@pytest.mark.parametrize(
    "op", ["EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"]
)
def test_compare(op: str) -> None:
    check(op, [SPECIAL, np.full((1, 1), 0.5, np.float32)], SPECIAL.shape, dtype="bool")


def test_logic_and_select() -> None:
    a, b = np.array([True, True, False]), np.array([True, False, False])
    check("LOGICAL_AND", [a, b], (3,), dtype="bool")
    check("LOGICAL_OR", [a, b], (3,), dtype="bool")
    check("LOGICAL_NOT", [a], (3,), dtype="bool")
    check("SELECT", [a, f(3), f(3)], (3,))
    check("SELECT", [a, f(3, 2), f(3, 2)], (3, 2))
    check("SELECT_V2", [a, f(2, 3), f(1, 3)], (2, 3))


# ---- windows -----------------------------------------------------------------------------------


@pytest.mark.parametrize("padding", [0, 1])
@pytest.mark.parametrize(
    ("stride", "dilation"),
    [((1, 1), (1, 1)), ((2, 2), (1, 1)), ((2, 3), (1, 1)), ((1, 1), (2, 1)), ((1, 1), (1, 3))],
)
def test_conv(padding: int, stride: tuple[int, int], dilation: tuple[int, int]) -> None:
    reach = [(k - 1) * d + 1 for k, d in zip((3, 2), dilation, strict=True)]
    out = [
        -(-n // s) if padding == 0 else (n - r) // s + 1
        for n, s, r in zip((9, 8), stride, reach, strict=True)
    ]
    options = {
        0: ("i8", padding), 1: ("i32", stride[1]), 2: ("i32", stride[0]), 3: ("i8", 1),
        4: ("i32", dilation[1]), 5: ("i32", dilation[0]),
    }  # fmt: skip
    weights = [f(5, 3, 2, 3), f(5)]
    check("CONV_2D", [f(1, 9, 8, 3), *weights], (1, *out, 5), options, constant=[1, 2])


@pytest.mark.parametrize("multiplier", [1, 3])
def test_depthwise(multiplier: int) -> None:
    options = {0: ("i8", 0), 1: ("i32", 2), 2: ("i32", 2), 3: ("i32", multiplier), 4: ("i8", 3)}
    weights = [f(1, 3, 3, 5 * multiplier), f(5 * multiplier)]
    shape = (1, 4, 5, 5 * multiplier)
    check("DEPTHWISE_CONV_2D", [f(1, 7, 9, 5), *weights], shape, options, constant=[1, 2])


@pytest.mark.parametrize(("padding", "size"), [(0, (8, 10)), (1, (9, 11)), (0, (7, 9))])
def test_transpose_conv(padding: int, size: tuple[int, int]) -> None:
    options = {0: ("i8", padding), 1: ("i32", 2), 2: ("i32", 2)}
    inputs = [i32(1, *size, 4), f(4, 3, 3, 2), f(1, 4, 5, 2)]
    check("TRANSPOSE_CONV", inputs, (1, *size, 4), options, constant=[0, 1])


@pytest.mark.parametrize("padding", [1, 2])
@pytest.mark.parametrize("stride", [(1, 1), (2, 2), (3, 2), (1, 4)])
@pytest.mark.parametrize("kernel", [(2, 2), (3, 3), (1, 3)])
@pytest.mark.parametrize("outputs", [1, 4])
def test_transpose_conv_bias(
    padding: int, stride: tuple[int, int], kernel: tuple[int, int], outputs: int
) -> None:
    """MediaPipe's own operator, against its definition: every input pixel spreads its taps.

    LiteRT knows the operator only through a delegate that refuses most of these cases.
    """
    x, w, bias = f(1, 4, 5, 2), f(outputs, *kernel, 2), f(outputs)
    reach = [(n - 1) * s + k for n, s, k in zip(x.shape[1:3], stride, kernel, strict=True)]
    full = np.zeros((*reach, outputs), np.float64)
    for row in range(4):
        for column in range(5):
            top, left = row * stride[0], column * stride[1]
            taps = np.einsum("ohwi,i->hwo", w.astype(np.float64), x[0, row, column])
            full[top : top + kernel[0], left : left + kernel[1]] += taps
    size = [n * s for n, s in zip(x.shape[1:3], stride, strict=True)] if padding == 1 else reach
    want = np.zeros((*size, outputs))
    begin = [max(r - s, 0) // 2 for r, s in zip(reach, size, strict=True)]
    part = full[begin[0] :, begin[1] :][: size[0], : size[1]]
    want[: part.shape[0], : part.shape[1]] = part
    data, feeds = one_operator(
        "CUSTOM", [x, w, bias], outputs=[("float32", (1, *size, outputs))], constant=[1, 2],
        custom=("Convolution2DTransposeBias", i32(padding, stride[1], stride[0]).tobytes()),
    )  # fmt: skip
    if padding == 2 and (kernel[0] < stride[0] or kernel[1] < stride[1]):
        with pytest.raises(UnsupportedOpError, match="a stride above the window"):
            convert(data)
        return
    expect = {"y0": (want + bias)[None].astype(np.float32)}
    check_graph(convert(data, optimize=False), feeds, expect)


@pytest.mark.parametrize(
    "options",
    [b"", b"\1\0\0\0\2\0\0\0", i32(0, 2, 2).tobytes(), i32(1, 0, 2).tobytes(),
     i32(1, 2, -1).tobytes()],
)  # fmt: skip
def test_transpose_conv_bias_with_bad_options(options: bytes) -> None:
    data, _ = one_operator(
        "CUSTOM", [f(1, 4, 5, 2), f(1, 2, 2, 2), f(1)], outputs=[("float32", (1, 8, 10, 1))],
        constant=[1, 2], custom=("Convolution2DTransposeBias", options),
    )  # fmt: skip
    with pytest.raises(UnsupportedOpError, match="Convolution2DTransposeBias"):
        convert(data)


def test_custom_operator_that_is_unknown() -> None:
    data, _ = one_operator(
        "CUSTOM", [f(1, 4)], outputs=[("float32", (1, 4))], custom=("Frobnicate", b"")
    )
    with pytest.raises(UnsupportedOpError, match="custom operator Frobnicate: unknown operator"):
        convert(data)


@pytest.mark.parametrize("op", ["MAX_POOL_2D", "AVERAGE_POOL_2D"])
@pytest.mark.parametrize("padding", [0, 1])
def test_pool(op: str, padding: int) -> None:
    options = {0: ("i8", padding), 1: ("i32", 2), 2: ("i32", 2), 3: ("i32", 3), 4: ("i32", 2)}
    check(op, [f(2, 7, 8, 3)], (2, 4 - padding, 4 - padding, 3), options)


def test_fully_connected() -> None:
    x, weights = f(2, 3, 4), [f(5, 4), f(5)]
    check("FULLY_CONNECTED", [x, *weights], (6, 5), {0: ("i8", 1)}, constant=[1, 2])
    keep = {0: ("i8", 0), 2: ("bool", True)}
    check("FULLY_CONNECTED", [x, *weights], (2, 3, 5), keep, constant=[1, 2])
    check("FULLY_CONNECTED", [f(2, 12), f(5, 12), None], (2, 5), {0: ("i8", 0)}, constant=[1])


def test_batch_matmul() -> None:
    check("BATCH_MATMUL", [f(2, 3, 4), f(2, 4, 5)], (2, 3, 5), {0: ("bool", False)})
    both = {0: ("bool", True), 1: ("bool", True)}
    check("BATCH_MATMUL", [f(2, 4, 3), f(2, 5, 4)], (2, 3, 5), both)


@pytest.mark.parametrize(("corners", "half"), [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("size", [(8, 12), (3, 4), (5, 9)])
def test_resize(corners: bool, half: bool, size: tuple[int, int]) -> None:
    x, shape = f(1, 5, 6, 3), (1, *size, 3)
    options = {2: ("bool", corners), 3: ("bool", half)}
    check("RESIZE_BILINEAR", [x, i32(*size)], shape, options, constant=[1])
    options = {0: ("bool", corners), 1: ("bool", half)}
    check("RESIZE_NEAREST_NEIGHBOR", [x, i32(*size)], shape, options, constant=[1])


def test_depth_and_space() -> None:
    check("DEPTH_TO_SPACE", [f(1, 2, 3, 12)], (1, 4, 6, 3), {0: ("i32", 2)})
    check("SPACE_TO_DEPTH", [f(1, 4, 6, 3)], (1, 2, 3, 12), {0: ("i32", 2)})
    pads = [i32(2, 2), np.array([[1, 1], [0, 1]], np.int32)]
    check("SPACE_TO_BATCH_ND", [f(1, 4, 5, 3), *pads], (4, 3, 3, 3), constant=[1, 2])
    check("BATCH_TO_SPACE_ND", [f(4, 3, 3, 2), *pads], (1, 4, 5, 2), constant=[1, 2])


# ---- softmax and reductions ----------------------------------------------------------------------


def test_softmax_and_norm() -> None:
    check("SOFTMAX", [f(2, 3, 5)], (2, 3, 5), {0: ("f32", 1.0)})
    check("SOFTMAX", [f(2, 5)], (2, 5), {0: ("f32", 2.5)})
    check("LOG_SOFTMAX", [f(2, 5)], (2, 5))
    check("L2_NORMALIZATION", [f(2, 3, 3, 5)], (2, 3, 3, 5), {0: ("i8", 0)})


@pytest.mark.parametrize("op", ["MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD"])
@pytest.mark.parametrize("keep", [False, True])
def test_reduce(op: str, keep: bool) -> None:
    shape = (2, 1, 1, 5) if keep else (2, 5)
    check(op, [f(2, 3, 4, 5), i32(1, 2)], shape, {0: ("bool", keep)}, constant=[1])


@pytest.mark.parametrize("op", ["ARG_MAX", "ARG_MIN"])
def test_arg(op: str) -> None:
    for dtype, code in (("int64", 4), ("int32", 2)):
        options = {0: ("i8", code)}
        check(op, [f(2, 3, 4), i32(-1)], (2, 3), options, dtype=dtype, constant=[1])


# ---- moving elements ---------------------------------------------------------------------------


def test_shapes() -> None:
    check("RESHAPE", [f(2, 6), i32(3, -1)], (3, 4), constant=[1])
    check("RESHAPE", [f(2, 6)], (4, 3), {0: ("array", i32(4, 3))})
    check("SQUEEZE", [f(1, 3, 1)], (3, 1), {0: ("array", i32(0))})
    check("EXPAND_DIMS", [f(2, 3), i32(1)], (2, 1, 3), constant=[1])
    check("TRANSPOSE", [f(2, 3, 4), i32(2, 0, 1)], (4, 2, 3), constant=[1])


def test_cut_and_join() -> None:
    check("CONCATENATION", [f(2, 3), f(2, 1)], (2, 4), {0: ("i32", -1)})
    check("PACK", [f(2, 3), f(2, 3)], (2, 2, 3), {0: ("i32", 2), 1: ("i32", 1)})
    check("UNPACK", [f(2, 3)], [(2,)] * 3, {0: ("i32", 3), 1: ("i32", 1)})
    check("SPLIT", [i32(1), f(2, 6)], [(2, 3)] * 2, {0: ("i32", 2)}, constant=[0])
    sizes = [i32(1, -1), i32(1)]
    check("SPLIT_V", [f(2, 6), *sizes], [(2, 1), (2, 5)], {0: ("i32", 2)}, constant=[1, 2])
    check("SLICE", [f(4, 5), i32(1, 2), i32(2, -1)], (2, 3), constant=[1, 2])
    check("REVERSE_V2", [f(4, 5), i32(1)], (4, 5), constant=[1])


@pytest.mark.parametrize(
    ("begin", "end", "step", "masks", "shape"),
    [
        ((1, 0), (4, 5), (2, 1), (0, 0, 0), (2, 5)),
        ((1, 1), (0, 3), (1, 1), (0, 1, 0), (3, 2)),  # end of axis 0 masked
        ((0, -1), (4, -6), (1, -2), (0, 0, 0), (4, 3)),
        ((2, 0), (0, 0), (-1, 1), (1, 3, 0), (4, 5)),  # begin and both ends masked
        ((-1, 0), (0, 5), (1, 1), (0, 2, 1), (5,)),  # axis 0 dropped
        ((2, 3), (3, 4), (1, 1), (0, 0, 3), ()),
    ],
)
def test_strided_slice(begin: Any, end: Any, step: Any, masks: Any, shape: Any) -> None:
    options = {0: ("i32", masks[0]), 1: ("i32", masks[1]), 4: ("i32", masks[2])}
    inputs = [f(4, 5), i32(*begin), i32(*end), i32(*step)]
    check("STRIDED_SLICE", inputs, shape, options, constant=[1, 2, 3])


def test_pad_repeat_and_pick() -> None:
    pads = np.array([[0, 0], [1, 2]], np.int32)
    check("PAD", [f(2, 3), pads], (2, 6), constant=[1])
    check("PADV2", [f(2, 3), pads, np.array([1.5], np.float32)], (2, 6), constant=[1, 2])
    check("MIRROR_PAD", [f(2, 3), pads], (2, 6), {0: ("i8", 0)}, constant=[1])
    check("TILE", [f(2, 3), i32(2, 1)], (4, 3), constant=[1])
    check("BROADCAST_TO", [f(1, 3), i32(4, 3)], (4, 3), constant=[1], version=2)
    check("GATHER", [f(3, 4), i32(2, 0)], (3, 2), {0: ("i32", 1)}, constant=[1])


def test_cast() -> None:
    options = {0: ("i8", 0), 1: ("i8", 2)}
    check("CAST", [np.array([-1.5, 0.2, 3.7], np.float32)], (3,), options, dtype="int32")


# ---- weights stored smaller --------------------------------------------------------------------


def test_half_precision_weights_are_unpacked() -> None:
    data, _ = one_operator(
        "DEQUANTIZE", [f(3, 4).astype(np.float16)], [("float32", (3, 4))], constant=[0]
    )
    graph = convert(data)
    assert [n.op for n in graph.nodes] == ["reshape"]  # a view, so that the output has its name
    weights = graph.nodes[0].input(0).data
    assert weights is not None and weights.dtype == np.float32


@pytest.mark.parametrize("constant", [[], [0]])
@pytest.mark.parametrize(("dtype", "zero_point"), [("int8", -7), ("uint8", 131)])
def test_dequantize(dtype: str, zero_point: int, constant: list[int]) -> None:
    numbers = np.arange(np.iinfo(dtype).min, np.iinfo(dtype).max + 1).astype(dtype).reshape(2, 128)
    quantization = {0: ((0.0173,), (zero_point,))}
    graph = check("DEQUANTIZE", [numbers], (2, 128), constant=constant, quantization=quantization)
    if not constant:
        scale = float(np.float32(0.0173))
        assert graph.inputs[0].quantization == (scale, zero_point)


def sparse_table(order: list[int], blocks: list[int], dims: list[Any]) -> Any:
    metas = []
    for d in dims:
        if isinstance(d, int):
            metas.append({0: ("i8", 0), 1: ("i32", d)})
        else:
            segments, indices = ({0: ("array", i32(*v))} for v in d)
            metas.append({
                0: ("i8", 1), 2: ("u8", 1), 3: ("table", segments), 4: ("u8", 1),
                5: ("table", indices),
            })  # fmt: skip
    table = {0: ("array", i32(*order)), 2: ("tables", metas)}
    if blocks:
        table[1] = ("array", i32(*blocks))
    return table


def test_sparse_rows() -> None:
    dense = np.array([[0, 1, 0, 2], [0, 0, 0, 0], [3, 0, 0, 4]], np.float32)
    table = sparse_table([0, 1], [], [3, ([0, 2, 2, 4], [1, 3, 0, 3])])
    stored = np.array([1, 2, 3, 4], np.float32)
    data, _ = one_operator(
        "DENSIFY", [stored], [("float32", (3, 4))], constant=[0], sparsity={0: table},
        shapes={0: (3, 4)},
    )  # fmt: skip
    np.testing.assert_array_equal(convert(data).nodes[0].input(0).data, dense)


def test_sparse_blocks() -> None:
    # 4x4 in blocks of 2x2: block row 0 has block column 1, block row 1 has block column 0.
    dense = np.zeros((4, 4), np.float32)
    dense[0:2, 2:4] = [[1, 2], [3, 4]]
    dense[2:4, 0:2] = [[5, 6], [7, 8]]
    table = sparse_table([0, 1, 2, 3], [0, 1], [2, ([0, 1, 2], [1, 0]), 2, 2])
    stored = np.arange(1, 9, dtype=np.float32)
    data, _ = one_operator(
        "DENSIFY", [stored], [("float32", (4, 4))], constant=[0], sparsity={0: table},
        shapes={0: (4, 4)},
    )  # fmt: skip
    np.testing.assert_array_equal(convert(data).nodes[0].input(0).data, dense)
