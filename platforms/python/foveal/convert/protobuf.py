"""A reader for the protobuf wire format, for files that may be hostile.

Only what ONNX needs: varints, fixed 32/64, length-delimited fields, packed lists. A message
schema is a dict `field number -> (name, kind)`; unknown fields are skipped. Bytes are views of
the file, not copies. Anything malformed is a ModelError; work and memory stay linear in the
file's size.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from foveal.errors import ModelError

Kind = str | dict[int, tuple[str, Any]]
Schema = dict[int, tuple[str, Any]]

_MAX_DEPTH = 32
_WIRE = {"int": 0, "float": 5, "double": 1, "bytes": 2, "str": 2}


class Message:
    """Fields by name. Absent singular fields read as None, absent lists as []."""

    __slots__ = ("fields",)

    def __init__(self) -> None:
        self.fields: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return self.fields.get(name)

    def list(self, name: str) -> list[Any]:
        return self.fields.get(name) or []

    def text(self, name: str) -> str:
        return self.fields.get(name) or ""

    def numbers(self, name: str) -> np.ndarray:
        """A repeated numeric field as one array (int64, float32 or float64)."""
        parts = self.fields.get(name) or []
        return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def _error(what: str, at: int) -> ModelError:
    return ModelError(
        f"damaged protobuf: {what} at byte {at}", hint="the file may be truncated: fetch it again"
    )


def _varint(buf: memoryview, at: int, end: int) -> tuple[int, int]:
    result = shift = 0
    for i in range(at, min(end, at + 10)):
        byte = buf[i]
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result & 0xFFFFFFFFFFFFFFFF, i + 1
        shift += 7
    raise _error("a varint does not end", at)


def _signed(v: int) -> int:
    return v - (1 << 64) if v >= 1 << 63 else v


def _packed_varints(data: memoryview, at: int) -> np.ndarray:
    raw = np.frombuffer(data, np.uint8)
    if raw.size == 0:
        return np.zeros(0, np.int64)
    ends = np.flatnonzero(raw < 0x80)
    if ends.size == 0 or ends[-1] != raw.size - 1:
        raise _error("a packed list of integers does not end", at)
    starts = np.concatenate(([0], ends[:-1] + 1))
    lengths = ends - starts + 1
    if lengths.max() > 10:
        raise _error("a packed integer is too long", at)
    out = np.zeros(ends.size, np.uint64)
    for k in range(int(lengths.max())):
        has = lengths > k
        bits = (raw[starts[has] + k] & 0x7F).astype(np.uint64)
        out[has] |= bits << np.uint64(7 * k)
    return out.view(np.int64)


def _packed(kind: str, data: memoryview, at: int) -> np.ndarray:
    if kind == "ints":
        return _packed_varints(data, at)
    dtype = np.dtype("<f4") if kind == "floats" else np.dtype("<f8")
    if len(data) % dtype.itemsize:
        raise _error("a packed list of numbers has a part of one left over", at)
    return np.frombuffer(data, dtype)


def parse(buf: memoryview, schema: Schema, depth: int = 0) -> Message:
    """Reads one message.

    Kinds: "int" (signed 64-bit), "float", "double", "bytes", "str", a schema (message), the
    lists "ints", "floats", "doubles" (packed or not), and ["str"], ["bytes"], [schema].
    """
    if depth > _MAX_DEPTH:
        raise _error("messages are nested too deeply", 0)
    out = Message()
    at, end = 0, len(buf)
    while at < end:
        start = at
        tag, at = _varint(buf, at, end)
        number, wire = tag >> 3, tag & 7
        value: Any
        if wire == 0:
            value, at = _varint(buf, at, end)
        elif wire == 2:
            length, at = _varint(buf, at, end)
            if length > end - at:
                raise _error(f"a field of {length} bytes passes the end", start)
            value = buf[at : at + length]
            at += length
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
            if end - at < size:
                raise _error("a number passes the end", start)
            value = buf[at : at + size]
            at += size
        else:
            raise _error(f"wire type {wire}", start)
        entry = schema.get(number)
        if entry is not None:
            _store(out, entry[0], entry[1], wire, value, start, depth)
    return out


def _store(out: Message, name: str, kind: Any, wire: int, value: Any, at: int, depth: int) -> None:
    if isinstance(kind, list):
        item = _scalar(name, kind[0], wire, value, at, depth)
        out.fields.setdefault(name, []).append(item)
    elif kind in ("ints", "floats", "doubles"):
        if wire == 2:
            array = _packed(kind, value, at)
        else:
            array = np.array([_scalar(name, kind[:-1], wire, value, at, depth)])
        out.fields.setdefault(name, []).append(array)
    else:
        out.fields[name] = _scalar(name, kind, wire, value, at, depth)


def _scalar(name: str, kind: Any, wire: int, value: Any, at: int, depth: int) -> Any:
    expected = 2 if isinstance(kind, dict) else _WIRE[kind]
    if wire != expected:
        raise _error(f"field '{name}' has wire type {wire}, expected {expected}", at)
    if isinstance(kind, dict):
        return parse(value, kind, depth + 1)
    if kind == "int":
        return _signed(value)
    if kind == "float":
        return struct.unpack("<f", value)[0]
    if kind == "double":
        return struct.unpack("<d", value)[0]
    if kind == "str":
        try:
            return bytes(value).decode("utf-8")
        except UnicodeDecodeError as e:
            raise _error(f"field '{name}' is not UTF-8 text", at) from e
    return value
