"""Removes transposes: moves them through other operators until they meet and cancel.

Works on a copy: every transpose sinks towards the outputs, past operators whose attributes can
be rewritten for the other axis order; pairs that meet merge. The copy is kept only if it moves
fewer elements than the graph it came from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from foveal.graph import Graph, Node, Value
from foveal.optimize import merge_same
from foveal.optimize._match import is_pointwise, made_by, replace

NAME = "transposes"
ORDER = 40

_UNKNOWN_SIZE = 64  # assumed for a dimension that is not known


def run(graph: Graph) -> int:
    before = _cost(graph)
    if before == 0:
        return 0
    trial = graph.copy()
    for _ in range(8):
        moved = _sink(trial)
        moved += _hoist(trial)
        trial.toposort()
        trial.prune()
        if not moved:
            break
    _views(trial)
    merge_same.run(trial)
    trial.toposort()
    trial.prune()
    after = _cost(trial)
    if after >= before:
        return 0
    removed = _count(graph) - _count(trial)
    graph.assign(trial)
    return max(removed, 1)


def _count(graph: Graph) -> int:
    return sum(n.op == "transpose" for n in graph.nodes)


def _cost(graph: Graph) -> int:
    """Elements moved by all transposes, plus one for each."""
    total = 0
    for n in graph.nodes:
        if n.op == "transpose":
            dims = [_UNKNOWN_SIZE if d < 0 else d for d in n.output.dims]
            total += 1 + (0 if _is_view(n) else math.prod(dims))
    return total


def _perm(node: Node) -> list[int]:
    return list(node.attr("perm") or range(node.output.rank)[::-1])


def _inverse(perm: Sequence[int]) -> list[int]:
    return [perm.index(i) for i in range(len(perm))]


def _is_view(node: Node) -> bool:
    """Whether only dimensions of size 1 change places."""
    dims = node.input(0).dims
    kept = [p for p in _perm(node) if dims[p] != 1]
    return kept == sorted(kept)


# ---- sinking -------------------------------------------------------------------------------


def _sink(graph: Graph) -> int:
    """One sweep in topological order carries each transpose as far down as it goes."""
    moved = 0
    for node in list(graph.nodes):
        if not node.inputs:
            continue
        if node.op == "transpose":
            moved += _merge(graph, node)
        elif node.op == "matmul":
            moved += _into_matmul(graph, node)
        else:
            source = next((t for v in node.inputs if (t := made_by(v, "transpose"))), None)
            if source is not None:
                moved += _through(graph, node, _perm(source))
    return moved


def _merge(graph: Graph, node: Node) -> int:
    perm = _perm(node)
    first = made_by(node.input(0), "transpose")
    x = node.input(0)
    if first is not None:
        before = _perm(first)
        x, perm = first.input(0), [before[p] for p in perm]
    if perm == list(range(len(perm))):
        return replace(graph, node, x)
    if first is None:
        return 0
    return replace(graph, node, graph.add("transpose", [x], {"perm": perm}, name=node.name))


def _into_matmul(graph: Graph, node: Node) -> int:
    """A swap of the last two axes becomes the operator's own attribute."""
    attrs, inputs, changed = dict(node.attrs), list(node.inputs), False
    for i, name in enumerate(("transpose_a", "transpose_b")):
        t = made_by(node.input(i), "transpose")
        if t is None or t.output.rank < 2:
            continue
        rank = t.output.rank
        if _perm(t) == [*range(rank - 2), rank - 1, rank - 2]:
            attrs[name] = int(not node.attr(name))
            inputs[i] = t.input(0)
            changed = True
    if not changed:
        return 0
    return replace(graph, node, graph.add(node.op, inputs, attrs, name=node.name))


def _under(graph: Graph, value: Value | None, perm: list[int]) -> Value | None:
    """The value whose transpose by `perm` is `value`; None if that would need a new node."""
    if value is None:
        return None
    t = made_by(value, "transpose")
    if t is not None and _perm(t) == perm:
        return t.input(0)
    if value.data is None:
        back = _inverse(perm)
        there = (n.output for n in value.users if n.op == "transpose" and _perm(n) == back)
        return next(there, None)
    data = value.data
    if data.size == 1 and data.ndim <= len(perm):
        return value
    if data.ndim > len(perm):
        return None
    full = data.reshape((1,) * (len(perm) - data.ndim) + data.shape)
    return graph.constant(np.ascontiguousarray(full.transpose(_inverse(perm))), value.name)


def _through(graph: Graph, node: Node, perm: list[int]) -> int:
    """Moves the transposes in front of `node` behind it, if its attributes can be rewritten."""
    plan = _rewritten(node, perm)
    if plan is None:
        return 0
    attrs, after = plan
    inputs = []
    for v in node.inputs:
        under = _under(graph, v, perm)
        if under is None:
            return 0
        if node.op == "concat" and under is v:
            return 0  # a one-element constant needs its axes in order too
        inputs.append(under)
    made = graph.add(node.op, inputs, attrs, outputs=len(node.outputs), name=node.name)
    outs = made if len(node.outputs) > 1 else [made]
    for old, new, back in zip(node.outputs, outs, after, strict=True):
        if back != list(range(len(back))):
            new = graph.add("transpose", [new], {"perm": back}, name=f"{node.name}/transposed")
        graph.replace_uses(old, new)
    graph.detach(node)
    return 1


def _dropped(perm: list[int], axes: set[int]) -> list[int]:
    """The permutation left after the (transposed) axes are removed."""
    rest = sorted(perm[i] for i in range(len(perm)) if i not in axes)
    return [rest.index(perm[i]) for i in range(len(perm)) if i not in axes]


def _rewritten(node: Node, perm: list[int]) -> tuple[dict[str, object], list[list[int]]] | None:
    """(attributes in front of the transpose, the transpose behind each output), or None.

    `perm` maps: axis i of the transposed tensor is axis perm[i] of the original.
    """
    rank, op = len(perm), node.op
    attrs: dict[str, object] = dict(node.attrs)
    same = [perm] * len(node.outputs)

    def axis(name: str = "axis") -> int:
        return perm[int(node.attr(name)) % rank]

    if is_pointwise(op):
        return (attrs, same) if node.output.rank == rank else None
    if node.input(0).rank != rank:
        return None
    if op in ("concat", "split", "softmax", "log_softmax", "l2_normalize"):
        attrs["axis"] = axis()
        return attrs, same
    if op == "pad":
        pads, moved = node.attr("pads"), [0] * (2 * rank)
        for i, p in enumerate(perm):
            moved[p], moved[p + rank] = pads[i], pads[i + rank]
        attrs["pads"] = moved
        return attrs, same
    if op == "slice":
        attrs["axes"] = [perm[a % rank] for a in node.attr("axes")]
        return attrs, same
    if op == "tile":
        attrs["repeats"] = [node.attr("repeats")[i] for i in _inverse(perm)]
        return attrs, same
    if op.startswith("reduce_"):
        axes = {a % rank for a in node.attr("axes")} or set(range(rank))
        attrs["axes"] = sorted(perm[a] for a in axes)
        return attrs, same if node.attr("keepdims") else [_dropped(perm, axes)]
    if op in ("argmax", "argmin"):
        attrs["axis"] = axis()
        dropped = [_dropped(perm, {node.attr("axis") % rank})]
        return attrs, same if node.attr("keepdims") else dropped
    if op == "squeeze" and node.attr("axes"):
        axes = {a % rank for a in node.attr("axes")}
        attrs["axes"] = sorted(perm[a] for a in axes)
        return attrs, [_dropped(perm, axes)]
    return None


# ---- hoisting ------------------------------------------------------------------------------


def _hoist(graph: Graph) -> int:
    """Moves a transpose before a pointwise node where it cancels at least as much as it adds."""
    moved = 0
    for node in list(graph.nodes):
        if node.op != "transpose" or not node.inputs:
            continue
        source = node.input(0).producer
        if source is None or not is_pointwise(source.op):
            continue
        if graph.only_user(source.output) is not node:
            continue
        perm = _perm(node)
        cancels = adds = 0
        for v in source.inputs:
            t = made_by(v, "transpose")
            if t is not None and _perm(t) == _inverse(perm) and graph.only_user(t.output):
                cancels += 1
            elif v is not None and v.data is None:
                adds += 1 if v.rank == len(perm) else 99
        if not cancels or adds > cancels:
            continue
        inputs = []
        for v in source.inputs:
            under = _under(graph, v, _inverse(perm))
            inputs.append(under or graph.add("transpose", [v], {"perm": perm}))
        made = graph.add(source.op, inputs, source.attrs, name=source.name)
        moved += replace(graph, node, made)
    return moved


# ---- transposes that move nothing ------------------------------------------------------------


def _views(graph: Graph) -> None:
    """A transpose that only moves dimensions of size 1, beside a reshape, becomes a reshape."""
    near = ("reshape", "flatten", "squeeze", "unsqueeze")
    for node in list(graph.nodes):
        if node.op != "transpose" or not node.inputs or not _is_view(node):
            continue
        users = node.output.users
        last = not users
        beside = made_by(node.input(0), *near) is not None or all(n.op in near for n in users)
        dims = node.output.dims
        if (last or beside) and sum(d < 0 for d in dims) <= 1:
            made = graph.add("reshape", [node.input(0)], {"shape": dims}, name=node.name)
            replace(graph, node, made)
