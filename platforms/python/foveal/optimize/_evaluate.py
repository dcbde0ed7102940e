"""Contract operators in numpy, for folding constants: shape arithmetic and cheap data movement.

Not a runtime. Heavy operators (convolution, pooling, resize) are left to a Session.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Array = Any  # an array; numpy types operators on arrays as Any
Attrs = Callable[[str], Any]
Rule = Callable[[Sequence[Any], Attrs], Any]

RULES: dict[str, Rule] = {}


def evaluate(op: str, inputs: Sequence[Array | None], attr: Attrs) -> list[Array] | None:
    """The node's outputs; None when the operator is not in this table or numpy refuses.

    The latter happens for indices out of range and for reductions of nothing: the core says so
    better when the model is verified or run.
    """
    rule = RULES.get(op)
    if rule is None:
        return None
    try:
        with np.errstate(all="ignore"):
            out = rule(inputs, attr)
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return None
    outs = list(out) if isinstance(out, (list, tuple)) else [out]
    return [np.ascontiguousarray(o).reshape(np.shape(o)) for o in outs]


def _rule(*names: str) -> Callable[[Rule], Rule]:
    def keep(f: Rule) -> Rule:
        for name in names:
            RULES[name] = f
        return f

    return keep


def _sigmoid(x: Array) -> Array:
    return np.where(
        x >= 0, 1 / (1 + np.exp(-np.abs(x))), np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x)))
    )


def _softplus(x: Array) -> Array:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


_erf = np.vectorize(math.erf, otypes=[np.float64])

_UNARY: dict[str, Callable[[Array], Array]] = {
    "relu": lambda x: np.maximum(x, 0),
    "sigmoid": _sigmoid,
    "tanh": np.tanh,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "abs": np.abs,
    "neg": np.negative,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.round,
    "erf": _erf,
    "sin": np.sin,
    "cos": np.cos,
    "reciprocal": lambda x: 1 / x,
    "softplus": _softplus,
    "softsign": lambda x: x / (1 + np.abs(x)),
    "silu": lambda x: x * _sigmoid(x),
    "gelu": lambda x: 0.5 * x * (1 + _erf(x / math.sqrt(2))),
    "gelu_tanh": lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "hardswish": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
    "mish": lambda x: x * np.tanh(_softplus(x)),
    "square": lambda x: x * x,
    "sign": np.sign,
}


def _float_op(f: Callable[[Array], Array]) -> Rule:
    """Computed in float64 and rounded once, so that folding is at least as exact as running."""

    def rule(ins: Sequence[Any], attr: Attrs) -> Array:
        x = ins[0]
        wide = x.astype(np.float64) if x.dtype.kind == "f" else x
        return np.asarray(f(wide)).astype(x.dtype)

    return rule


for _name, _f in _UNARY.items():
    RULES[_name] = _float_op(_f)
RULES["not"] = lambda ins, attr: np.logical_not(ins[0])


def _divide(a: Array, b: Array) -> Array:
    if a.dtype.kind == "f":
        return a / b
    safe = np.where(b == 0, 1, b)
    quotient = np.abs(a) // np.abs(safe)  # towards zero, as C does
    return (np.sign(a) * np.sign(safe) * quotient).astype(a.dtype)


def _binary(f: Callable[[Array, Array], Array]) -> Rule:
    return lambda ins, attr: np.asarray(f(ins[0], ins[1])).astype(ins[0].dtype)


_BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": _divide,
    "max": np.maximum,
    "min": np.minimum,
    "squared_difference": lambda a, b: (a - b) * (a - b),
}
for _name, _g in _BINARY.items():
    RULES[_name] = _binary(_g)


@_rule("pow")
def _pow(ins: Sequence[Any], attr: Attrs) -> Array:
    a, b = ins
    if a.dtype.kind != "f":
        return np.power(a.astype(np.float64), b).astype(a.dtype)
    return np.power(a, b)


for _name, _h in {
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "and": np.logical_and,
    "or": np.logical_or,
    "xor": np.logical_xor,
}.items():
    RULES[_name] = (lambda h: lambda ins, attr: h(ins[0], ins[1]))(_h)


@_rule("clip")
def _clip(ins: Sequence[Any], attr: Attrs) -> Array:
    return np.clip(ins[0], attr("min"), attr("max")).astype(ins[0].dtype)


@_rule("hardsigmoid")
def _hardsigmoid(ins: Sequence[Any], attr: Attrs) -> Array:
    return np.clip(attr("alpha") * ins[0] + attr("beta"), 0, 1).astype(ins[0].dtype)


@_rule("leaky_relu")
def _leaky_relu(ins: Sequence[Any], attr: Attrs) -> Array:
    return np.where(ins[0] < 0, ins[0] * attr("alpha"), ins[0]).astype(ins[0].dtype)


@_rule("elu")
def _elu(ins: Sequence[Any], attr: Attrs) -> Array:
    x = ins[0]
    return np.where(x < 0, attr("alpha") * np.expm1(np.minimum(x, 0)), x).astype(x.dtype)


@_rule("prelu")
def _prelu(ins: Sequence[Any], attr: Attrs) -> Array:
    return np.where(ins[0] < 0, ins[0] * ins[1], ins[0]).astype(ins[0].dtype)


@_rule("where")
def _where(ins: Sequence[Any], attr: Attrs) -> Array:
    return np.where(ins[0], ins[1], ins[2])


@_rule("cast")
def _cast(ins: Sequence[Any], attr: Attrs) -> Array:
    return ins[0].astype(attr("dtype"))


def _axes(ins: Sequence[Any], attr: Attrs) -> tuple[int, ...]:
    axes = attr("axes")
    return tuple(a % max(ins[0].ndim, 1) for a in axes) if axes else tuple(range(ins[0].ndim))


def _reduce(f: Callable[..., Array]) -> Rule:
    def rule(ins: Sequence[Any], attr: Attrs) -> Array:
        x = ins[0].astype(np.float64) if ins[0].dtype.kind == "f" else ins[0]
        out = f(x, axis=_axes(ins, attr), keepdims=bool(attr("keepdims")))
        return np.asarray(out).astype(ins[0].dtype)

    return rule


_REDUCE: dict[str, Callable[..., Array]] = {
    "reduce_sum": np.sum,
    "reduce_mean": np.mean,
    "reduce_max": np.max,
    "reduce_min": np.min,
    "reduce_prod": np.prod,
    "reduce_l1": lambda x, **k: np.sum(np.abs(x), **k),
    "reduce_l2": lambda x, **k: np.sqrt(np.sum(x * x, **k)),
    "reduce_sum_square": lambda x, **k: np.sum(x * x, **k),
    "reduce_log_sum_exp": lambda x, **k: np.log(np.sum(np.exp(x), **k)),
}
for _name, _r in _REDUCE.items():
    RULES[_name] = _reduce(_r)


@_rule("concat")
def _concat(ins: Sequence[Any], attr: Attrs) -> Array:
    return np.concatenate(ins, axis=attr("axis"))


@_rule("split")
def _split(ins: Sequence[Any], attr: Attrs) -> list[Array]:
    return np.split(ins[0], np.cumsum(attr("sizes"))[:-1], axis=attr("axis"))


def slice_index(
    rank: int, dims: Sequence[int], axes: Sequence[int], begin: Sequence[int],
    end: Sequence[int], step: Sequence[int],
) -> tuple[slice, ...]:  # fmt: skip
    """numpy slices of the operator's begin/end/step, clamped as ONNX clamps them."""
    index = [slice(None)] * rank
    for axis, b, e, s in zip(axes, begin, end, step, strict=True):
        n = dims[axis]
        b, e = (v + n if v < 0 else v for v in (b, e))
        low, high = (0, n) if s > 0 else (-1, n - 1)
        b, e = (min(max(v, low), high) for v in (b, e))
        index[axis] = slice(b if b >= 0 else 0, e if e >= 0 else None, s)
        if (s > 0 and b >= e) or (s < 0 and b <= e):
            index[axis] = slice(0, 0, 1)
    return tuple(index)


@_rule("slice")
def _slice(ins: Sequence[Any], attr: Attrs) -> Array:
    x = ins[0]
    return x[slice_index(x.ndim, x.shape, attr("axes"), attr("begin"), attr("end"), attr("step"))]


@_rule("pad")
def _pad(ins: Sequence[Any], attr: Attrs) -> Array:
    x, pads, mode = ins[0], attr("pads"), attr("mode")
    pairs = list(zip(pads[: x.ndim], pads[x.ndim :], strict=True))
    # Cut before it grows, as the operator is defined; nothing larger than the result is made.
    kept = x[
        tuple(slice(max(-b, 0), n - max(-e, 0)) for (b, e), n in zip(pairs, x.shape, strict=True))
    ]
    grown = [(max(b, 0), max(e, 0)) for b, e in pairs]
    fill = {"constant_values": attr("value")} if mode == "constant" else {}
    return np.pad(kept, grown, mode=mode, **fill)


@_rule("transpose")
def _transpose(ins: Sequence[Any], attr: Attrs) -> Array:
    return np.transpose(ins[0], attr("perm") or None)


@_rule("reshape")
def _reshape(ins: Sequence[Any], attr: Attrs) -> Array:
    x = ins[0]
    return x.reshape([x.shape[i] if d == 0 else d for i, d in enumerate(attr("shape"))])


@_rule("squeeze")
def _squeeze(ins: Sequence[Any], attr: Attrs) -> Array:
    return np.squeeze(ins[0], tuple(attr("axes")) or None)


@_rule("unsqueeze")
def _unsqueeze(ins: Sequence[Any], attr: Attrs) -> Array:
    return np.expand_dims(ins[0], tuple(attr("axes")))


@_rule("flatten")
def _flatten(ins: Sequence[Any], attr: Attrs) -> Array:
    x = ins[0]
    axis = attr("axis") + (x.ndim if attr("axis") < 0 else 0)
    return x.reshape(math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))


@_rule("expand")
def _expand(ins: Sequence[Any], attr: Attrs) -> Array:
    return np.broadcast_to(ins[0], np.broadcast_shapes(ins[0].shape, tuple(attr("shape"))))


@_rule("tile")
def _tile(ins: Sequence[Any], attr: Attrs) -> Array:
    x, repeats = ins[0], attr("repeats")
    shape = [n * r for n, r in zip(x.shape, repeats, strict=True)]
    # numpy repeats axis by axis: what a later axis makes empty would be made in full first.
    return np.tile(x, repeats) if math.prod(shape) else np.empty(shape, x.dtype)


@_rule("gather")
def _gather(ins: Sequence[Any], attr: Attrs) -> Array:
    return np.take(ins[0], ins[1], axis=attr("axis"))
