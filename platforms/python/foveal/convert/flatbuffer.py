"""A reader for FlatBuffers, for files that may be hostile.

Every offset and length is checked against the file before it is followed, and the total length
of all vectors handed out is bounded, so that offsets that point at the same bytes again and
again cannot make a small file expensive. Anything malformed is a ModelError.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np

from foveal.errors import ModelError

_FORMATS = {"i8": "b", "u8": "B", "i32": "i", "u32": "I", "u64": "Q", "f32": "f", "bool": "?"}
_UNPACK = {name: struct.Struct("<" + f) for name, f in _FORMATS.items()}
_U16, _U32, _I32 = struct.Struct("<H"), struct.Struct("<I"), struct.Struct("<i")


def _error(what: str, at: int) -> ModelError:
    return ModelError(
        f"damaged FlatBuffer: {what} at byte {at}", hint="the file may be truncated: fetch it again"
    )


class Buffer:
    """A whole file. Keeps `data` alive; arrays are views of it."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.budget = 4 * len(data) + 4096  # elements of vectors that may still be handed out

    def read(self, s: struct.Struct, at: int) -> int:
        if at < 0 or at + s.size > len(self.data):
            raise _error("an offset leaves the file", at)
        value: int = s.unpack_from(self.data, at)[0]
        return value

    def root(self) -> Table:
        return Table(self, self.read(_U32, 0))

    def spend(self, count: int, at: int) -> None:
        self.budget -= count
        if self.budget < 0:
            raise _error("its vectors are longer than the file", at)


class Table:
    """One table; a field that is absent reads as its default."""

    def __init__(self, buffer: Buffer, at: int) -> None:
        self.buffer = buffer
        self.at = at
        self.vtable = at - buffer.read(_I32, at)
        self.length = buffer.read(_U16, self.vtable)
        if self.length < 4:
            raise _error("a table of no fields", self.vtable)

    def _slot(self, field: int) -> int:
        """Position of field number `field`, 0 when absent."""
        entry = 4 + 2 * field
        if entry + 2 > self.length:
            return 0
        offset = self.buffer.read(_U16, self.vtable + entry)
        return self.at + offset if offset else 0

    def scalar(self, field: int, kind: str, default: int | float = 0) -> int | float:
        at = self._slot(field)
        return self.buffer.read(_UNPACK[kind], at) if at else default

    def i32(self, field: int, default: int = 0) -> int:
        return int(self.scalar(field, "i32", default))

    def i8(self, field: int, default: int = 0) -> int:
        return int(self.scalar(field, "i8", default))

    def flag(self, field: int) -> bool:
        return bool(self.scalar(field, "u8", 0))

    def f32(self, field: int, default: float = 0.0) -> float:
        return float(self.scalar(field, "f32", default))

    def _target(self, field: int) -> int:
        at = self._slot(field)
        return at + self.buffer.read(_U32, at) if at else 0

    def table(self, field: int) -> Table | None:
        at = self._target(field)
        return Table(self.buffer, at) if at else None

    def _vector(self, field: int, size: int) -> tuple[int, int]:
        at = self._target(field)
        if not at:
            return 0, 0
        count = self.buffer.read(_U32, at)
        if at + 4 + count * size > len(self.buffer.data):
            raise _error(f"a vector of {count} elements leaves the file", at)
        return at + 4, count

    def array(self, field: int, dtype: str) -> np.ndarray:
        """A vector of numbers; empty when absent."""
        kind = np.dtype(dtype).newbyteorder("<")
        at, count = self._vector(field, kind.itemsize)
        self.buffer.spend(count * kind.itemsize // 4, at)
        return np.frombuffer(self.buffer.data, kind, count, at) if count else np.zeros(0, kind)

    def raw(self, field: int) -> np.ndarray:
        """A vector of bytes as a view; not counted, as nothing is done per element."""
        at, count = self._vector(field, 1)
        return np.frombuffer(self.buffer.data, np.uint8, count, at)

    def tables(self, field: int) -> Iterator[Table]:
        at, count = self._vector(field, 4)
        self.buffer.spend(count, at)
        for i in range(count):
            slot = at + 4 * i
            yield Table(self.buffer, slot + self.buffer.read(_U32, slot))

    def text(self, field: int) -> str:
        raw = self.array(field, "u1")
        return raw.tobytes().decode("utf-8", "replace")
