"""ONNX operators that work element by element, reductions and normalisations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from foveal.convert._onnx.context import OPS, OnnxNode, op
from foveal.convert._onnx.proto import dtype_name
from foveal.convert.emit import Unsupported
from foveal.graph import Value

_UNARY = {
    "Relu": "relu", "Sigmoid": "sigmoid", "Tanh": "tanh", "Exp": "exp", "Log": "log",
    "Sqrt": "sqrt", "Abs": "abs", "Neg": "neg", "Floor": "floor", "Ceil": "ceil",
    "Round": "round", "Erf": "erf", "Sin": "sin", "Cos": "cos", "Reciprocal": "reciprocal",
    "Softplus": "softplus", "Softsign": "softsign", "HardSwish": "hardswish", "Mish": "mish",
    "Sign": "sign", "Not": "not",
}  # fmt: skip
_BINARY = {
    "Add": "add", "Sub": "sub", "Mul": "mul", "Div": "div", "Less": "less",
    "LessOrEqual": "less_equal", "Greater": "greater", "GreaterOrEqual": "greater_equal",
    "Equal": "equal", "And": "and", "Or": "or", "Xor": "xor",
}  # fmt: skip


def _plain(name: str, arity: int) -> Any:
    def mapping(n: OnnxNode) -> Value:
        return n.e.op(name, *(n.x(i) for i in range(arity)))

    return mapping


for _onnx, _ours in _UNARY.items():
    OPS[_onnx] = _plain(_ours, 1)
for _onnx, _ours in _BINARY.items():
    OPS[_onnx] = _plain(_ours, 2)


@op("Identity", "Dropout")
def _identity(n: OnnxNode) -> Value:
    n.ignore("ratio", "seed", "is_test", 1)
    if n.type == "Dropout":
        n.only_first_output()
        training = n.opt(2)
        if training is not None and (training.data is None or bool(np.any(training.data))):
            raise Unsupported("training_mode is on")
    return n.x()


@op("Tan")
def _tan(n: OnnxNode) -> Value:
    return n.e.op("div", n.e.op("sin", n.x()), n.e.op("cos", n.x()))


@op("Pow")
def _pow(n: OnnxNode) -> Value:
    base, exponent = n.x(0), n.x(1)
    if exponent.dtype != base.dtype:
        exponent = n.e.op("cast", exponent, dtype=base.dtype)
    return n.e.op("pow", base, exponent)


@op("Mod")
def _mod(n: OnnxNode) -> Value:
    a, b = n.x(0), n.x(1)
    if not n.i("fmod"):
        return n.e.op("mod", a, b)
    # C's fmod: the result has the sign of a.
    if not a.dtype.startswith("float"):
        raise Unsupported("fmod=1 of integers")
    quotient = n.e.op("div", a, b)
    whole = n.e.op("mul", n.e.op("sign", quotient), n.e.op("floor", n.e.op("abs", quotient)))
    return n.e.op("sub", a, n.e.op("mul", whole, b))


@op("Sum", "Max", "Min", "Mean")
def _variadic(n: OnnxNode) -> Value:
    values = [n.x(i) for i in range(len(n.inputs))]
    if not values:
        raise Unsupported("it has no input")
    name = {"Sum": "add", "Max": "max", "Min": "min", "Mean": "add"}[n.type]
    total = n.e.add_list(name, values)
    if n.type == "Mean" and len(values) > 1:
        total = n.e.op("mul", total, n.scalar(1 / len(values), total))
    return total


@op("Clip")
def _clip(n: OnnxNode) -> Value:
    x = n.x()
    if n.opset < 11:
        low: float | None = n.f("min", -math.inf)
        high: float | None = n.f("max", math.inf)
    else:
        bounds = [n.opt(1), n.opt(2)]
        if any(b is not None and b.data is None for b in bounds) or not x.dtype.startswith("float"):
            for name, bound in zip(("max", "min"), bounds, strict=True):
                if bound is not None:
                    x = n.e.op(name, x, bound)
            return x
        low, high = (None if b is None else _item(b.data) for b in bounds)
    attrs: dict[str, Any] = {}
    if low is not None and low > -math.inf:
        attrs["min"] = low
    if high is not None and high < math.inf:
        attrs["max"] = high
    y: Value = n.e.op("clip", x, **attrs)
    return y


def _item(a: np.ndarray | None) -> float:
    if a is None or a.size != 1:
        raise Unsupported("its bounds are not scalars")
    return float(a.reshape(()))


@op("LeakyRelu")
def _leaky(n: OnnxNode) -> Value:
    return n.e.op("leaky_relu", n.x(), alpha=n.f("alpha", 0.01))


@op("Elu")
def _elu(n: OnnxNode) -> Value:
    return n.e.op("elu", n.x(), alpha=n.f("alpha", 1.0))


@op("Selu")
def _selu(n: OnnxNode) -> Value:
    y = n.e.op("elu", n.x(), alpha=n.f("alpha", 1.6732632423543772))
    return n.e.op("mul", y, n.scalar(n.f("gamma", 1.0507009873554805), y))


@op("Celu")
def _celu(n: OnnxNode) -> Value:
    # max(0, x) + min(0, a * (exp(x / a) - 1)) = a * elu(x / a) for a > 0
    a = n.f("alpha", 1.0)
    if a <= 0:
        raise Unsupported(f"attribute alpha={a}")
    y = n.e.op("elu", n.e.op("mul", n.x(), n.scalar(1 / a, n.x())), alpha=1.0)
    return n.e.op("mul", y, n.scalar(a, y))


@op("ThresholdedRelu")
def _thresholded(n: OnnxNode) -> Value:
    x = n.x()
    keep = n.e.op("greater", x, n.scalar(n.f("alpha", 1.0), x))
    return n.e.op("where", keep, x, n.scalar(0, x))


@op("HardSigmoid")
def _hardsigmoid(n: OnnxNode) -> Value:
    alpha, beta = n.f("alpha", 0.2), n.f("beta", 0.5)
    return n.e.op("hardsigmoid", n.x(), alpha=alpha, beta=beta)


@op("Gelu")
def _gelu(n: OnnxNode) -> Value:
    mode = n.require("approximate", n.s("approximate", "none"), ("none", "tanh"))
    return n.e.op("gelu" if mode == "none" else "gelu_tanh", n.x())


@op("PRelu")
def _prelu(n: OnnxNode) -> Value:
    return n.e.op("prelu", n.x(0), n.x(1))


@op("Where")
def _where(n: OnnxNode) -> Value:
    return n.e.op("where", n.x(0), n.x(1), n.x(2))


@op("Cast", "CastLike")
def _cast(n: OnnxNode) -> Value:
    n.ignore("saturate", "round_mode")
    dtype = n.x(1).dtype if n.type == "CastLike" else dtype_name(n.i("to"))
    return n.x() if n.x().dtype == dtype else n.e.op("cast", n.x(), dtype=dtype)


@op("DequantizeLinear")
def _dequantize(n: OnnxNode) -> Value:
    x, scale, zero_point = n.x(0), n.x(1), n.opt(2)
    scales = n.array(1, "scale")
    zeros = np.zeros_like(scales) if zero_point is None else n.array(2, "zero point")
    axis = n.i("axis", 1)
    n.require("block_size", n.i("block_size"), (0,))
    n.require("output_dtype", n.i("output_dtype"), (0, 1))
    if x.dtype not in ("int8", "uint8", "int16") or scale.dtype != "float32":
        raise Unsupported(f"{x.dtype} values with a scale of {scale.dtype}")
    if scales.size != zeros.size or scales.size < 1:
        raise Unsupported(f"{scales.size} scales and {zeros.size} zero points")
    shape = [1] * x.rank
    if scales.size > 1:  # one for each channel
        if not -x.rank <= axis < x.rank:
            raise Unsupported(f"axis {axis} is outside rank {x.rank}")
        shape[axis] = scales.size
    if x in n.e.graph.inputs:
        one = (float(scales.item()), int(zeros.item())) if scales.size == 1 else None
        n.e.describe_input(x, one)
    scale = n.e.op("reshape", scale, shape=shape)
    if zero_point is not None:
        zero_point = n.e.op("reshape", zero_point, shape=shape)
    return n.e.dequantize(x, scale, zero_point)


# ---- softmax -----------------------------------------------------------------------------


@op("Softmax", "LogSoftmax")
def _softmax(n: OnnxNode) -> Value:
    x = n.x()
    name = "softmax" if n.type == "Softmax" else "log_softmax"
    if n.opset >= 13:
        return n.e.op(name, x, axis=n.axis(-1, x.rank))
    axis = n.axis(1 if x.rank > 1 else 0, x.rank)
    if all(d == 1 for d in x.shape[axis + 1 :]):
        return n.e.op(name, x, axis=axis)
    # Before opset 13 everything from `axis` on counts as one axis.
    tail = x.dims[axis:]
    if any(d < 0 for d in tail):
        raise Unsupported("softmax over several axes of unknown size (opset < 13)")
    flat = n.e.op("reshape", x, shape=[0] * axis + [math.prod(tail)])
    return n.e.op("reshape", n.e.op(name, flat, axis=axis), shape=[0] * axis + tail)


# ---- reductions --------------------------------------------------------------------------

_REDUCE = {
    "ReduceSum": "reduce_sum", "ReduceMean": "reduce_mean", "ReduceMax": "reduce_max",
    "ReduceMin": "reduce_min", "ReduceProd": "reduce_prod", "ReduceL1": "reduce_l1",
    "ReduceL2": "reduce_l2", "ReduceSumSquare": "reduce_sum_square",
    "ReduceLogSumExp": "reduce_log_sum_exp", "ReduceLogSum": "reduce_sum",
}  # fmt: skip


@op(*_REDUCE)
def _reduce(n: OnnxNode) -> Value:
    x = n.x()
    axes = n.ints_from("axes", 1, 13 if n.type == "ReduceSum" else 18)
    keep = n.i("keepdims", 1)
    if not axes and n.i("noop_with_empty_axes"):
        if n.type in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd"):
            return x
        raise Unsupported("noop_with_empty_axes=1 without axes")
    y = n.e.op(_REDUCE[n.type], x, axes=axes or [], keepdims=keep)
    return n.e.op("log", y) if n.type == "ReduceLogSum" else y


@op("ArgMax", "ArgMin")
def _arg(n: OnnxNode) -> Value:
    axis = n.axis(0, n.x().rank)
    return n.e.op(
        n.type.lower(),
        n.x(),
        axis=axis,
        keepdims=n.i("keepdims", 1),
        select_last=n.i("select_last_index"),
    )


# ---- normalisation -----------------------------------------------------------------------


@op("BatchNormalization")
def _batch_norm(n: OnnxNode) -> Value:
    n.ignore("momentum")
    n.require("training_mode", n.i("training_mode"), (0,))
    n.require("spatial", n.i("spatial", 1), (1,))
    n.only_first_output()
    values = [n.x(i) for i in range(5)]
    return n.e.op("batch_norm", *values, epsilon=n.f("epsilon", 1e-5))


@op("InstanceNormalization")
def _instance_norm(n: OnnxNode) -> Value:
    return n.e.op("instance_norm", n.x(0), n.x(1), n.x(2), epsilon=n.f("epsilon", 1e-5))


@op("LayerNormalization")
def _layer_norm(n: OnnxNode) -> Value:
    n.require("stash_type", n.i("stash_type", 1), (1,))
    n.only_first_output()
    axis = n.axis(-1, n.x().rank)
    eps = n.f("epsilon", 1e-5)
    return n.e.op("layer_norm", n.x(), n.opt(1), n.opt(2), axis=axis, epsilon=eps)


@op("LpNormalization")
def _lp_norm(n: OnnxNode) -> Value:
    x = n.x()
    if not x.dtype.startswith("float"):
        raise Unsupported(f"an input of {x.dtype}")
    p, axis = n.require("p", n.i("p", 2), (1, 2)), n.axis(-1, x.rank)
    length = n.e.op(f"reduce_l{p}", x, axes=[axis], keepdims=1)
    # A vector of zeros stays zeros.
    return n.e.op("div", x, n.e.op("max", length, n.scalar(float(np.finfo(x.dtype).tiny), x)))
