"""What a mapping function sees of one ONNX node, and the table of mapping functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from foveal.convert.emit import Emitter, Unsupported
from foveal.convert.protobuf import Message
from foveal.graph import Value

Mapping = Callable[["OnnxNode"], Any]
OPS: dict[str, Mapping] = {}


def op(*names: str) -> Callable[[Mapping], Mapping]:
    """Registers a mapping function: node → its output value, or a list of them."""

    def keep(f: Mapping) -> Mapping:
        for name in names:
            OPS[name] = f
        return f

    return keep


class OnnxNode:
    """One node: inputs as graph values, attributes with their types checked.

    An attribute or input that a mapping never asked for is refused: nothing is silently ignored.
    """

    def __init__(
        self, proto: Message, inputs: list[Value | None], emitter: Emitter, opset: int,
        tensor: Callable[[Message], np.ndarray],
    ) -> None:  # fmt: skip
        self.type = proto.text("op_type")
        self.inputs = inputs
        self.e = emitter
        self.opset = opset
        self.outputs: list[str] = proto.list("output")
        self._tensor = tensor
        self._attrs = {a.text("name"): a for a in proto.list("attribute")}
        self._read: set[str] = set()
        self._taken: set[int] = set()

    # ---- inputs --------------------------------------------------------------------------

    def x(self, i: int = 0) -> Value:
        value = self.opt(i)
        if value is None:
            raise Unsupported(f"it lacks input {i}")
        return value

    def opt(self, i: int) -> Value | None:
        self._taken.add(i)
        return self.inputs[i] if i < len(self.inputs) else None

    def array(self, i: int, what: str) -> np.ndarray:
        """Input `i`, which must be constant."""
        return self.e.array(self.opt(i), what)

    def ints_at(self, i: int, what: str) -> list[int]:
        return self.e.ints(self.opt(i), what)

    def int_at(self, i: int, what: str) -> int:
        values = self.ints_at(i, what)
        if len(values) != 1:
            raise Unsupported(f"its {what} has {len(values)} elements, expected 1")
        return values[0]

    def ints_from(self, attr: str, i: int, since: int) -> list[int] | None:
        """Integers that were an attribute before opset `since` and are input `i` from then on."""
        if self.opset < since or self.has(attr):
            return self.ints(attr)
        return None if self.opt(i) is None else self.ints_at(i, attr)

    def used(self, output: int) -> bool:
        return output < len(self.outputs) and bool(self.outputs[output])

    def only_first_output(self) -> None:
        if any(self.used(i) for i in range(1, len(self.outputs))):
            raise Unsupported("its second output is used")

    # ---- attributes ----------------------------------------------------------------------

    def _get(self, name: str, field: str) -> Any:
        self._read.add(name)
        a = self._attrs.get(name)
        if a is None:
            return None
        if a.ref_attr_name:
            raise Unsupported(f"attribute '{name}' refers to a function's attribute")
        return a.fields.get(field)

    def has(self, name: str) -> bool:
        return name in self._attrs

    def i(self, name: str, default: int = 0) -> int:
        v = self._get(name, "i")
        if v is None and self.has(name):
            return 0  # a zero may be left out of the file
        return default if v is None else int(v)

    def f(self, name: str, default: float = 0.0) -> float:
        v = self._get(name, "f")
        if v is None and self.has(name):
            return 0.0
        return default if v is None else float(v)

    def s(self, name: str, default: str = "") -> str:
        v = self._get(name, "s")
        return default if v is None else bytes(v).decode("utf-8", "replace")

    def ints(self, name: str) -> list[int] | None:
        if not self.has(name):
            self._read.add(name)
            return None
        self._get(name, "ints")
        return [int(i) for i in self._attrs[name].numbers("ints")]

    def floats(self, name: str) -> list[float] | None:
        if not self.has(name):
            self._read.add(name)
            return None
        self._get(name, "floats")
        return [float(i) for i in self._attrs[name].numbers("floats")]

    def tensor(self, name: str) -> np.ndarray | None:
        t = self._get(name, "t")
        return None if t is None else self._tensor(t)

    def ignore(self, *names: str | int) -> None:
        """Attributes (by name) and inputs (by number) that change nothing here."""
        self._read.update(n for n in names if not isinstance(n, int))
        self._taken.update(n for n in names if isinstance(n, int))

    def require(self, name: str, value: Any, allowed: tuple[Any, ...]) -> Any:
        if value not in allowed:
            shown = value if isinstance(value, str) else repr(value)
            raise Unsupported(f"attribute {name}={shown}")
        return value

    def finish(self) -> None:
        left = sorted(set(self._attrs) - self._read)
        if left:
            raise Unsupported(f"unknown attribute{'s' * (len(left) > 1)} {', '.join(left)}")
        extra = [i for i, v in enumerate(self.inputs) if v is not None and i not in self._taken]
        if extra:
            raise Unsupported(f"unknown input number {', '.join(map(str, extra))}")

    # ---- shorthands ----------------------------------------------------------------------

    def scalar(self, value: float, like: Value) -> Value:
        return self.e.const(value, like.dtype)

    def axis(self, default: int, rank: int, name: str = "axis") -> int:
        axis = self.i(name, default)
        if not -rank <= axis < rank:
            raise Unsupported(f"{name} {axis} is outside rank {rank}")
        return axis % rank
