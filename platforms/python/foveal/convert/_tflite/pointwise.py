"""TFLite operators that work element by element, and reductions."""

from __future__ import annotations

from typing import Any

import numpy as np

from foveal.convert._tflite.context import OPS, TfliteNode, op
from foveal.convert.emit import Unsupported
from foveal.graph import Value

_UNARY = {
    "LOGISTIC": "sigmoid", "RELU": "relu", "TANH": "tanh", "EXP": "exp", "LOG": "log",
    "SQRT": "sqrt", "RSQRT": "rsqrt", "ABS": "abs", "NEG": "neg", "FLOOR": "floor",
    "CEIL": "ceil", "ROUND": "round", "SIN": "sin", "COS": "cos", "SQUARE": "square",
    "HARD_SWISH": "hardswish", "LOGICAL_NOT": "not", "SIGN": "sign",
}  # fmt: skip
_BINARY = {
    "ADD": "add", "SUB": "sub", "MUL": "mul", "DIV": "div", "MAXIMUM": "max", "MINIMUM": "min",
    "POW": "pow", "SQUARED_DIFFERENCE": "squared_difference", "EQUAL": "equal",
    "NOT_EQUAL": "not_equal", "LESS": "less", "LESS_EQUAL": "less_equal", "GREATER": "greater",
    "GREATER_EQUAL": "greater_equal", "LOGICAL_AND": "and", "LOGICAL_OR": "or",
    "FLOOR_MOD": "mod",
}  # fmt: skip
_FUSED = ("ADD", "SUB", "MUL", "DIV")


def _plain(name: str) -> Any:
    return lambda n: n.e.op(name, n.x())


def _two(name: str) -> Any:
    def mapping(n: TfliteNode) -> Value:
        y = n.e.op(name, n.x(0), n.x(1))
        return n.activate(y, 0) if n.type in _FUSED else y

    return mapping


for _tf, _ours in _UNARY.items():
    OPS[_tf] = _plain(_ours)
for _tf, _ours in _BINARY.items():
    OPS[_tf] = _two(_ours)


@op("ADD_N")
def _add_n(n: TfliteNode) -> Value:
    return n.e.add_list("add", [n.x(i) for i in range(len(n.inputs))])


@op("FLOOR_DIV")
def _floor_div(n: TfliteNode) -> Value:
    if not n.x().dtype.startswith("float"):
        raise Unsupported("floor division of integers")
    return n.e.op("floor", n.e.op("div", n.x(0), n.x(1)))


@op("RELU6", "RELU_N1_TO_1", "RELU_0_TO_1")
def _clip(n: TfliteNode) -> Value:
    low, high = {"RELU6": (0, 6), "RELU_N1_TO_1": (-1, 1), "RELU_0_TO_1": (0, 1)}[n.type]
    return n.e.op("clip", n.x(), min=low, max=high)


@op("LEAKY_RELU")
def _leaky(n: TfliteNode) -> Value:
    return n.e.op("leaky_relu", n.x(), alpha=n.f32(0))


@op("ELU")
def _elu(n: TfliteNode) -> Value:
    return n.e.op("elu", n.x(), alpha=1.0)


@op("PRELU")
def _prelu(n: TfliteNode) -> Value:
    return n.e.op("prelu", n.x(0), n.x(1))


@op("GELU")
def _gelu(n: TfliteNode) -> Value:
    return n.e.op("gelu_tanh" if n.flag(0) else "gelu", n.x())


@op("SOFTMAX")
def _softmax(n: TfliteNode) -> Value:
    x, beta = n.x(), n.f32(0, 1.0)
    if beta != 1.0:
        x = n.e.op("mul", x, n.e.const(beta, x.dtype))
    return n.e.op("softmax", x, axis=x.rank - 1)


@op("LOG_SOFTMAX")
def _log_softmax(n: TfliteNode) -> Value:
    return n.e.op("log_softmax", n.x(), axis=n.x().rank - 1)


@op("CAST")
def _cast(n: TfliteNode) -> Value:
    x, dtype = n.x(), n.outputs[0][0]
    return x if x.dtype == dtype else n.e.op("cast", x, dtype=dtype)


@op("SELECT", "SELECT_V2")
def _select(n: TfliteNode) -> Value:
    condition, a, b = n.x(0), n.x(1), n.x(2)
    if n.type == "SELECT" and condition.rank == 1 and a.rank > 1:
        shape = [condition.dims[0]] + [1] * (a.rank - 1)  # chooses whole rows
        condition = n.e.op("reshape", condition, shape=shape)
    return n.e.op("where", condition, a, b)


_REDUCE = {
    "MEAN": "reduce_mean", "SUM": "reduce_sum", "REDUCE_MAX": "reduce_max",
    "REDUCE_MIN": "reduce_min", "REDUCE_PROD": "reduce_prod",
}  # fmt: skip


@op(*_REDUCE)
def _reduce(n: TfliteNode) -> Value:
    x = n.x()
    axes = sorted({n.axis(a, x.rank) for a in n.ints_at(1, "axes")})
    if not axes:
        return x
    return n.e.op(_REDUCE[n.type], x, axes=axes, keepdims=n.flag(0))


@op("ARG_MAX", "ARG_MIN")
def _arg(n: TfliteNode) -> Value:
    x = n.x()
    axis = n.axis(int(n.array(1, "axis").reshape(-1)[0]), x.rank)
    y = n.e.op("argmax" if n.type == "ARG_MAX" else "argmin", x, axis=axis, keepdims=0)
    dtype = n.outputs[0][0]
    return y if dtype == y.dtype else n.e.op("cast", y, dtype=dtype)


@op("ZEROS_LIKE")
def _zeros_like(n: TfliteNode) -> Value:
    x = n.x()
    return n.e.op("mul", x, n.e.const(np.zeros((), x.dtype)))
