"""The graph that importers build and rewrite passes edit.

A :class:`Graph` is plain Python: nodes over values, constants held as numpy arrays. Every node
added is type-checked at once by the core's operator definitions, and :meth:`Graph.build` hands
the finished graph to the core, which verifies it again in full.

Not thread-safe: one thread edits a graph at a time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike

from foveal import _core
from foveal._dimension_names import named
from foveal.errors import FovealError, ModelError

Dim = int | str
AttrValue = int | float | str | list[int] | list[float]

UNKNOWN = -1
_MAX_DIM = 1 << 40  # of a file; more elements than any machine holds
DTYPES = {
    *("float32", "float16", "float64", "bool"),
    *("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
}


@cache
def op_table() -> dict[str, dict[str, Any]]:
    """Every operator of this build by name, as the core describes it."""
    return {entry["name"]: entry for entry in json.loads(_core.ops_json())}


@cache
def _attr_defs(op: str) -> dict[str, dict[str, Any]]:
    entry = op_table().get(op)
    if entry is None:
        raise ModelError(
            f"there is no operator '{op}'", op=op, hint="`foveal.ops` lists the operators"
        )
    return {a["name"]: a for a in entry["attrs"]}


_COERCE: dict[str, Callable[[Any], AttrValue]] = {
    "int": int,
    "float": float,
    "string": str,
    "ints": lambda v: [int(i) for i in v],
    "floats": lambda v: [float(i) for i in v],
}


def _attr_values(op: str, attrs: Mapping[str, Any]) -> dict[str, AttrValue]:
    """Attributes coerced to the types of the definition (bool → 0/1, numpy → Python)."""
    defs = _attr_defs(op)
    out: dict[str, AttrValue] = {}
    for key, value in attrs.items():
        if key not in defs:
            raise ModelError(
                f"{op} has no attribute '{key}'",
                op=op,
                hint=f"its attributes are: {', '.join(defs) or 'none'}",
            )
        try:
            out[key] = _COERCE[defs[key]["type"]](value)
        except (TypeError, ValueError, OverflowError) as e:
            raise ModelError(
                f"{op}: attribute '{key}' is {value!r}, expected {defs[key]['type']}", op=op
            ) from e
    return out


def clean_name(name: str) -> str:
    """Names go through C strings and onto terminals: what does not print becomes '?'."""
    return name if name.isprintable() else "".join(c if c.isprintable() else "?" for c in name)


class Value:
    """A tensor in a graph: an input, a constant (`data` is set) or the result of a node.

    `shape` holds ints, names of symbolic dimensions, or -1 for a dimension only known when the
    model runs. `users` counts, per node that reads the value, how often it does. `quantization` of
    an input or output is (scale, zero point) of numbers that stand for
    (number - zero point) * scale; it describes them and changes no arithmetic.
    """

    __slots__ = ("data", "dtype", "graph", "name", "producer", "quantization", "shape", "users")

    def __init__(
        self,
        graph: Graph,
        name: str,
        dtype: str,
        shape: Sequence[Dim],
        data: np.ndarray | None = None,
    ) -> None:
        self.graph = graph
        self.name = name
        self.dtype = dtype
        self.shape: tuple[Dim, ...] = tuple(shape)
        self.data = data
        self.producer: Node | None = None
        self.quantization: tuple[float, int] | None = None
        self.users: dict[Node, int] = {}

    def use(self, node: Node) -> None:
        self.users[node] = self.users.get(node, 0) + 1

    def unuse(self, node: Node) -> None:
        self.users[node] -= 1
        if not self.users[node]:
            del self.users[node]

    @property
    def dims(self) -> list[int]:
        """The shape with every dimension that is not a number as -1."""
        return [d if isinstance(d, int) else UNKNOWN for d in self.shape]

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def is_static(self) -> bool:
        return all(isinstance(d, int) and d >= 0 for d in self.shape)

    def __repr__(self) -> str:
        dims = ", ".join("?" if d == UNKNOWN else str(d) for d in self.shape)
        kind = "const " if self.data is not None else ""
        return f"{kind}%{self.name}: {self.dtype}[{dims}]"


class Node:
    """One operator application. Edit inputs through :meth:`Graph.set_input`."""

    __slots__ = ("attrs", "inputs", "name", "op", "outputs")

    def __init__(
        self, op: str, name: str, inputs: Sequence[Value | None], attrs: dict[str, AttrValue]
    ) -> None:
        self.op = op
        self.name = name
        self.inputs: list[Value | None] = list(inputs)
        self.outputs: list[Value] = []
        self.attrs = attrs

    @property
    def output(self) -> Value:
        """The first output."""
        return self.outputs[0]

    def input(self, i: int) -> Value:
        """Input `i`, which must be there."""
        value = self.inputs[i] if i < len(self.inputs) else None
        if value is None:
            raise ModelError(f"{self.op} '{self.name}' lacks input {i}", op=self.op)
        return value

    def attr(self, name: str) -> Any:
        """The attribute's value, or its default in the operator's definition."""
        if name in self.attrs:
            return self.attrs[name]
        return _attr_defs(self.op)[name]["default"]

    def __repr__(self) -> str:
        ins = ", ".join("-" if v is None else f"%{v.name}" for v in self.inputs)
        attrs = "".join(f", {k}={v!r}" for k, v in self.attrs.items())
        outs = ", ".join(repr(v) for v in self.outputs)
        return f"{outs} = {self.op}({ins}{attrs})"


class Graph:
    """Nodes in topological order, inputs, outputs and text metadata."""

    def __init__(self, name: str = "graph") -> None:
        self.name = name
        self.nodes: list[Node] = []
        self.inputs: list[Value] = []
        self.outputs: list[Value] = []
        self.meta: dict[str, str] = {}
        # Elements that one constant made up by importers and passes may have, and that all those
        # still to come may have together (optimize/_fold.py).
        self.fold_limit = 1 << 24
        self.fold_budget = 1 << 27
        self._names: set[str] = set()
        self._next = 0

    # ---- building ------------------------------------------------------------------------

    def unique(self, base: str) -> str:
        """A value name not used yet, `base` itself if it is free and printable."""
        name = base = clean_name(base)
        while name in self._names or not name:
            self._next += 1
            name = f"{base or 'v'}_{self._next}"
        self._names.add(name)
        return name

    def input(self, name: str, dtype: str, shape: Sequence[Dim]) -> Value:
        """Declares a graph input. `shape` takes ints and names of symbolic dimensions."""
        if dtype not in DTYPES:
            raise ModelError(f"input '{name}': unknown element type '{dtype}'")
        if clean_name(name) in self._names:
            raise ModelError(f"there are two values named '{name}'")
        for d in shape:
            if isinstance(d, int) and not UNKNOWN <= d <= _MAX_DIM:
                raise ModelError(f"input '{name}' has the dimension {d}, expected 0 to {_MAX_DIM}")
        value = Value(self, self.unique(name), dtype, shape)
        self.inputs.append(value)
        return value

    def constant(self, array: ArrayLike, name: str = "const") -> Value:
        """A value that holds `array`, not copied: do not write to it afterwards."""
        data = np.asarray(array)
        if not data.dtype.isnative:
            data = data.astype(data.dtype.newbyteorder("="))
        if data.dtype.name not in DTYPES:
            raise ModelError(f"constant '{name}' has the unsupported element type {data.dtype}")
        return Value(self, self.unique(name), data.dtype.name, data.shape, data)

    @overload
    def add(
        self,
        op: str,
        inputs: Sequence[Value | None],
        attrs: Mapping[str, Any] | None = None,
        outputs: Literal[1] = 1,
        name: str = "",
    ) -> Value: ...

    @overload
    def add(
        self,
        op: str,
        inputs: Sequence[Value | None],
        attrs: Mapping[str, Any] | None = None,
        outputs: int = 1,
        name: str = "",
    ) -> Any: ...

    def add(
        self,
        op: str,
        inputs: Sequence[Value | None],
        attrs: Mapping[str, Any] | None = None,
        outputs: int = 1,
        name: str = "",
    ) -> Any:
        """Appends a node and infers its output types.

        Returns the output :class:`Value`, or a list of them when `outputs` > 1. Raises
        ModelError or ShapeError (with the node's name) when the definition refuses it.
        """
        values = list(inputs)
        while values and values[-1] is None:
            values.pop()
        checked = _attr_values(op, attrs or {})
        label = name or self._label(op)
        try:
            types = _core.infer(
                op, [None if v is None else (v.dtype, v.dims) for v in values], checked, outputs
            )
        except FovealError as e:
            what = e.message.removeprefix(f"{op}: ")
            raise type(e)(f"{op} '{label}': {what}", op=op, hint=e.hint) from e
        node = Node(op, label, values, checked)
        for i, (dtype, dims) in enumerate(types):
            base = label if outputs == 1 else f"{label}:{i}"
            shape: list[Dim] = list(dims)
            if outputs == 1 and UNKNOWN in dims:
                shapes = [None if v is None else v.shape for v in values]
                shape = named(op, op_table()[op]["traits"], shapes, checked, dims)
            out = Value(self, self.unique(base), dtype, shape)
            out.producer = node
            node.outputs.append(out)
        for v in values:
            if v is not None:
                v.use(node)
        self.nodes.append(node)
        return node.outputs if outputs > 1 else node.outputs[0]

    def _label(self, op: str) -> str:
        self._next += 1
        return f"{op}_{self._next}"

    # ---- editing -------------------------------------------------------------------------

    def set_input(self, node: Node, index: int, value: Value | None) -> None:
        """Makes `value` input `index` of `node`; the node's output types stay as they are."""
        while len(node.inputs) <= index:
            node.inputs.append(None)
        old = node.inputs[index]
        if old is not None:
            old.unuse(node)
        node.inputs[index] = value
        if value is not None:
            value.use(node)

    def replace_uses(self, old: Value, new: Value) -> int:
        """Everything that read `old` reads `new`. Returns how many uses changed.

        A graph output keeps its name: `new` takes it over. Where it cannot, because it is an
        input, a constant or an output itself, `old` stays that output.
        """
        if old is new:
            return 0
        changed = 0
        for node in list(old.users):
            for i, v in enumerate(node.inputs):
                if v is old:
                    self.set_input(node, i, new)
                    changed += 1
        if self.is_output(old) and new.producer is not None and not self.is_output(new):
            old.name, new.name = new.name, old.name
            self.outputs = [new if v is old else v for v in self.outputs]
            changed += 1
        return changed

    def is_output(self, value: Value) -> bool:
        return any(v is value for v in self.outputs)

    def rename(self, value: Value, name: str) -> None:
        """Gives `value` this name; a value that has it already gets another."""
        name = clean_name(name)
        if value.name == name:
            return
        if name in self._names:
            for other in self.values():
                if other.name == name:
                    other.name = self.unique(name)
        self._names.add(name)
        value.name = name

    def only_user(self, value: Value) -> Node | None:
        """The one node that reads `value`; None if there are several or it is an output."""
        if len(value.users) != 1 or self.is_output(value):
            return None
        return next(iter(value.users))

    def pop(self) -> None:
        """Deletes the node added last, which nobody reads yet."""
        self.detach(self.nodes.pop())

    def remove(self, nodes: Iterable[Node]) -> None:
        """Deletes nodes whose outputs nobody reads any more."""
        gone = set(nodes)
        for node in gone:
            self.detach(node)
        self.nodes = [n for n in self.nodes if n not in gone]

    def detach(self, node: Node) -> None:
        """Makes a node that nobody reads stop reading its inputs; :meth:`prune` deletes it."""
        for v in node.inputs:
            if v is not None:
                v.unuse(node)
        node.inputs = []

    def toposort(self) -> None:
        """Restores topological order, keeping the present order where it is already right."""
        done: set[Node] = set()
        order: list[Node] = []
        for root in self.nodes:
            stack = [root]
            path: set[Node] = set()
            while stack:
                node = stack[-1]
                if node in done:
                    stack.pop()
                    continue
                wait = [
                    v.producer
                    for v in node.inputs
                    if v is not None and v.producer is not None and v.producer not in done
                ]
                if not wait:
                    done.add(node)
                    order.append(node)
                    stack.pop()
                elif node in path:
                    raise ModelError(f"the graph has a cycle through {node.op} '{node.name}'")
                else:
                    path.add(node)
                    stack.extend(reversed(wait))
        self.nodes = order

    def prune(self) -> int:
        """Removes nodes that no output needs. Returns how many."""
        live: set[Node] = set()
        stack = [v.producer for v in self.outputs if v.producer is not None]
        while stack:
            node = stack.pop()
            if node not in live:
                live.add(node)
                stack += [v.producer for v in node.inputs if v is not None and v.producer]
        dead = [n for n in self.nodes if n not in live]
        self.remove(dead)
        return len(dead)

    def copy(self) -> Graph:
        """An independent graph; constants share their arrays."""
        out = Graph(self.name)
        out.meta = dict(self.meta)
        out.fold_limit, out.fold_budget = self.fold_limit, self.fold_budget
        out._names, out._next = set(self._names), self._next
        twin: dict[Value, Value] = {}

        def of(value: Value) -> Value:
            if value not in twin:
                twin[value] = Value(out, value.name, value.dtype, value.shape, value.data)
                twin[value].quantization = value.quantization
            return twin[value]

        out.inputs = [of(v) for v in self.inputs]
        for node in self.nodes:
            ins = [None if v is None else of(v) for v in node.inputs]
            new = Node(node.op, node.name, ins, dict(node.attrs))
            for v in ins:
                if v is not None:
                    v.use(new)
            new.outputs = [of(v) for v in node.outputs]
            for v in new.outputs:
                v.producer = new
            out.nodes.append(new)
        out.outputs = [of(v) for v in self.outputs]
        return out

    def assign(self, other: Graph) -> None:
        """Takes over the contents of `other`, which must not be used afterwards."""
        self.__dict__.update(other.__dict__)
        for value in self.values():
            value.graph = self

    def values(self) -> Iterator[Value]:
        """Every value once: inputs, then constants and node outputs as nodes meet them."""
        seen: set[Value] = set()
        groups: list[Sequence[Value | None]] = [self.inputs]
        for n in self.nodes:
            groups += [n.inputs, n.outputs]
        groups.append(self.outputs)
        for group in groups:
            for v in group:
                if v is not None and v not in seen:
                    seen.add(v)
                    yield v

    # ---- to and from the core ------------------------------------------------------------

    def build(self) -> _core.GraphBuilder:
        """A verified builder in the core. Raises what is wrong, all of it at once."""
        self.toposort()
        builder = _core.GraphBuilder()
        ids: dict[Value, int] = {}
        for v in self.values():
            if v.data is not None:
                ids[v] = builder.add_constant(v.name, np.ascontiguousarray(v.data).reshape(v.shape))
            else:
                names = [d if isinstance(d, str) else "" for d in v.shape]
                ids[v] = builder.add_value(v.name, v.dtype, v.dims, names)
            if v.quantization is not None:
                builder.set_quantization(ids[v], *v.quantization)
        for n in self.nodes:
            ins = [-1 if v is None else ids[v] for v in n.inputs]
            builder.add_node(n.op, n.name, ins, [ids[v] for v in n.outputs], n.attrs)
        builder.set_io([ids[v] for v in self.inputs], [ids[v] for v in self.outputs])
        for key, text in self.meta.items():
            builder.set_meta(key, text)
        builder.verify()
        return builder

    def save(self, path: Any) -> None:
        """Writes a .fvm file, atomically: a reader sees the old file or the new one."""
        self.build().save(path)

    def to_model(self) -> _core.Model:
        """A model in memory, ready for a Session."""
        return self.build().model()

    @classmethod
    def from_model(cls, model: Any) -> Graph:
        """The graph of a loaded model; weights are views that keep the model alive."""
        described = model.graph()
        graph = cls()
        graph.meta = dict(model.meta)
        table: list[Value] = []
        for v in described["values"]:
            names = v.get("dim_names") or [""] * len(v["dims"])
            shape = [n if n and d < 0 else d for d, n in zip(v["dims"], names, strict=True)]
            table.append(Value(graph, graph.unique(v["name"]), v["dtype"], shape, v.get("data")))
            table[-1].quantization = v.get("quantization")
        for n in described["nodes"]:
            ins = [None if i < 0 else table[i] for i in n["inputs"]]
            node = Node(n["op"], n["name"], ins, dict(n["attrs"]))
            for value in ins:
                if value is not None:
                    value.use(node)
            node.outputs = [table[i] for i in n["outputs"]]
            for value in node.outputs:
                value.producer = node
            graph.nodes.append(node)
        graph.inputs = [table[i] for i in described["inputs"]]
        graph.outputs = [table[i] for i in described["outputs"]]
        return graph

    def __repr__(self) -> str:
        return f"<Graph '{self.name}': {len(self.nodes)} nodes>"

    def __str__(self) -> str:
        lines = [f"graph {self.name}("]
        lines += [f"    {v!r}," for v in self.inputs]
        lines.append(") {")
        for n in self.nodes:
            constants = [v for v in n.inputs if v is not None and v.data is not None]
            lines += [f"    {v!r}" for v in constants if next(iter(v.users)) is n]
            lines.append(f"    {n!r}")
        lines.append("    return " + ", ".join(f"%{v.name}" for v in self.outputs))
        lines.append("}")
        return "\n".join(lines)
