"""ONNX Einsum and relatives, as transposes around one matrix product."""

from __future__ import annotations

import math

import numpy as np

from foveal.convert._onnx.context import OnnxNode, op
from foveal.convert.emit import SIZE_HINT, Unsupported
from foveal.graph import Value


@op("Einsum")
def _einsum(n: OnnxNode) -> Value:
    """One or two operands, no ellipsis, no index twice within one operand."""
    equation = n.s("equation").replace(" ", "")
    left, arrow, out = equation.partition("->")
    terms = left.split(",")
    operands = [n.x(i) for i in range(len(n.inputs))]
    if not arrow:
        letters = sorted(set(left) - {","})
        out = "".join(c for c in letters if left.count(c) == 1)
    plain = all(t.isalpha() and len(set(t)) == len(t) == x.rank
                for t, x in zip(terms, operands, strict=False))  # fmt: skip
    if not plain or len(terms) != len(operands) or len(terms) > 2 or len(set(out)) != len(out):
        raise Unsupported(f"equation {equation}")
    if any(c not in left for c in out):
        raise Unsupported(f"equation {equation}")
    sums = [[c for c in t if c not in out and left.count(c) == 1] for t in terms]
    values = []
    for i, (term, x) in enumerate(zip(terms, operands, strict=True)):
        axes = [term.index(c) for c in sums[i]]
        values.append(n.e.op("reduce_sum", x, axes=axes, keepdims=0) if axes else x)
        terms[i] = "".join(c for c in term if c not in sums[i])
    if len(terms) == 1:
        return _order(n, values[0], terms[0], out)
    return _product(n, values, terms, out)


def _order(n: OnnxNode, x: Value, have: str, want: str) -> Value:
    if have == want:
        return x
    return n.e.op("transpose", x, perm=[have.index(c) for c in want])


def _product(n: OnnxNode, values: list[Value], terms: list[str], out: str) -> Value:
    a, b = terms
    batch = [c for c in a if c in b and c in out]
    inner = [c for c in a if c in b and c not in out]
    rows, columns = [c for c in a if c not in b], [c for c in b if c not in a]
    size = dict(zip(b, values[1].dims, strict=True)) | dict(zip(a, values[0].dims, strict=True))
    if any(d < 0 for d in size.values()):
        raise Unsupported("its operands have sizes that are not known", SIZE_HINT)

    def shaped(x: Value, have: str, groups: list[list[str]]) -> Value:
        x = _order(n, x, have, "".join(c for g in groups for c in g))
        flat = [math.prod(size[c] for c in g) for g in groups[1:]]
        return n.e.op("reshape", x, shape=[size[c] for c in groups[0]] + flat)

    left = shaped(values[0], a, [batch, rows, inner])
    right = shaped(values[1], b, [batch, inner, columns])
    y = n.e.op("matmul", left, right)
    made = "".join(batch + rows + columns)
    y = n.e.op("reshape", y, shape=[size[c] for c in made])
    return _order(n, y, made, out)


@op("CumSum")
def _cumsum(n: OnnxNode) -> Value:
    """A product with a triangle of ones along the axis."""
    x = n.x()
    axis = n.int_at(1, "axis")
    if not -x.rank <= axis < x.rank or x.dims[axis] < 0:
        raise Unsupported(f"axis {axis} of an input of shape {x.dims}", SIZE_HINT)
    if not x.dtype.startswith("float"):
        raise Unsupported(f"sums of {x.dtype}")
    n.e.reserve(x.dims[axis] ** 2, "a triangle")
    i = np.arange(x.dims[axis])
    first, last = (i, i[:, None]) if n.i("reverse") else (i[:, None], i)
    taken = first < last if n.i("exclusive") else first <= last
    order = list(range(x.rank))
    order[axis], order[-1] = order[-1], order[axis]
    y = n.e.op("matmul", n.e.op("transpose", x, perm=order), n.e.const(taken.astype(x.dtype)))
    return n.e.op("transpose", y, perm=order)


@op("OneHot")
def _one_hot(n: OnnxNode) -> Value:
    indices, depth = n.x(0), n.int_at(1, "depth")
    values = n.x(2)
    axis = n.i("axis", -1)
    rank = indices.rank + 1
    if not -rank <= axis < rank or depth <= 0:
        raise Unsupported(f"depth {depth} along axis {axis}")
    n.e.reserve(depth, "a range")
    off, on = n.e.op("split", values, outputs=2, axis=0, sizes=[1, 1])
    if indices.dtype != "int64":
        indices = n.e.op("cast", indices, dtype="int64")
    negative = n.e.op("less", indices, n.e.const(np.int64(0)))
    wrapped = n.e.op("add", indices, n.e.const(np.int64(depth)))
    indices = n.e.op("where", negative, wrapped, indices)
    indices = n.e.op("unsqueeze", indices, axes=[axis])
    steps = np.arange(depth).reshape([-1] + [1] * (rank - 1 - axis % rank))
    return n.e.op("where", n.e.op("equal", indices, n.e.const(steps)), on, off)
