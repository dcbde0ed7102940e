"""One function per operator, generated from the core's definitions when this is imported.

    y = fv.ops.conv2d(x, weight, bias, stride=(2, 2), pad=(1, 1, 1, 1))

On values of a :class:`foveal.Graph` a call adds a node to their graph, arrays beside them become
constants, and the output values come back. On arrays alone it runs at once on the CPU and
returns arrays: convenient, not fast.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Any

import numpy as np

from foveal.errors import ArgumentError
from foveal.graph import Graph, Value, op_table


def _signature(entry: dict[str, Any]) -> Signature:
    parameters = []
    for name in entry["inputs"]:
        bare = name.rstrip("?*")
        if name.endswith("*"):
            parameters.append(Parameter(bare, Parameter.VAR_POSITIONAL))
        else:
            default = None if name.endswith("?") else Parameter.empty
            parameters.append(Parameter(bare, Parameter.POSITIONAL_OR_KEYWORD, default=default))
    for a in entry["attrs"]:
        value = tuple(a["default"]) if isinstance(a["default"], list) else a["default"]
        parameters.append(Parameter(a["name"], Parameter.KEYWORD_ONLY, default=value))
    if entry["outputs"][-1].endswith("*"):
        parameters.append(Parameter("outputs", Parameter.KEYWORD_ONLY, default=None))
    parameters.append(Parameter("name", Parameter.KEYWORD_ONLY, default=""))
    return Signature(parameters)


def _doc(entry: dict[str, Any]) -> str:
    lines = [entry["doc"], ""]
    lines += [f"{a['name']}: {a['doc']}" for a in entry["attrs"]]
    if entry["outputs"][-1].endswith("*"):
        lines.append("outputs: how many results (default: one per entry of `sizes`)")
    lines.append("name: of the node, in errors and profiles")
    return "\n".join(lines)


def _make(entry: dict[str, Any]) -> Callable[..., Any]:
    op, signature = entry["name"], _signature(entry)
    input_names = [n.rstrip("?*") for n in entry["inputs"]]
    attr_names = [a["name"] for a in entry["attrs"]]
    many = entry["outputs"][-1].endswith("*")

    def function(*args: Any, **kwargs: Any) -> Any:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as e:
            raise ArgumentError(f"{op}: {e}", op=op, hint=f"{op}{signature}") from None
        given = bound.arguments
        inputs: list[Any] = []
        for n in input_names:
            v = given.get(n)
            inputs += v if isinstance(v, tuple) else [v]
        attrs = {n: given[n] for n in attr_names if n in given}
        outputs = len(entry["outputs"])
        if many:
            outputs = given.get("outputs") or len(attrs.get("sizes", ())) or 1
        return _apply(op, inputs, attrs, outputs, given.get("name", ""))

    function.__name__ = function.__qualname__ = op
    function.__doc__ = _doc(entry)
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


def _apply(op: str, inputs: list[Any], attrs: dict[str, Any], outputs: int, name: str) -> Any:
    graphs = list(dict.fromkeys(v.graph for v in inputs if isinstance(v, Value)))
    if len(graphs) > 1:
        raise ArgumentError(f"{op}: its inputs belong to different graphs", op=op)
    if graphs:
        graph = graphs[0]
        values = [
            v if v is None or isinstance(v, Value) else graph.constant(np.asarray(v))
            for v in inputs
        ]
        return graph.add(op, values, attrs, outputs=outputs, name=name)
    return _run(op, inputs, attrs, outputs)


def _run(op: str, inputs: list[Any], attrs: dict[str, Any], outputs: int) -> Any:
    from foveal.session import Session  # late: sessions load plugins

    graph = Graph(op)
    feeds: dict[str, np.ndarray] = {}
    values: list[Value | None] = []
    for i, v in enumerate(inputs):
        if v is None:
            values.append(None)
            continue
        array = np.asarray(v)
        name = f"x{i}"
        values.append(graph.input(name, array.dtype.name, array.shape))
        feeds[name] = array
    made = graph.add(op, values, attrs, outputs=outputs, name="y")
    graph.outputs = made if isinstance(made, list) else [made]
    result = Session(graph.to_model(), device="cpu", threads=1).run(feeds)
    arrays = [result[v.name] for v in graph.outputs]
    return arrays if outputs > 1 else arrays[0]


# Python's keywords cannot be function names: `and_`, `or_`, `not_` stand for them.
_KEYWORDS = {"and": "and_", "or": "or_", "not": "not_"}

_OWN = ("raster", "relayout")  # made by the core only

_functions = {
    _KEYWORDS.get(entry["name"], entry["name"]): _make(entry)
    for entry in op_table().values()
    if entry["name"] not in _OWN
}
globals().update(_functions)
__all__ = list(_functions)
