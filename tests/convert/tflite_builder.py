"""Writes small TFLite files for tests: one operator, its tensors and options."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
from foveal.convert._tflite.schema import DTYPES, OPERATORS

CODES = {name: code for code, name in DTYPES.items()}
# Number of each options table in the schema's union, for the operators that tests use.
OPTIONS = {
    "CONV_2D": 1, "DEPTHWISE_CONV_2D": 2, "AVERAGE_POOL_2D": 5, "MAX_POOL_2D": 5,
    "FULLY_CONNECTED": 8, "SOFTMAX": 9, "CONCATENATION": 10, "ADD": 11, "L2_NORMALIZATION": 12,
    "RESIZE_BILINEAR": 15, "RESHAPE": 17, "SPACE_TO_DEPTH": 19, "MUL": 21, "GATHER": 23,
    "MEAN": 27, "SUM": 27, "REDUCE_MAX": 27, "REDUCE_MIN": 27, "REDUCE_PROD": 27, "SUB": 28,
    "DIV": 29, "SQUEEZE": 30, "STRIDED_SLICE": 32, "SPLIT": 35, "CAST": 37, "ARG_MAX": 40,
    "TRANSPOSE_CONV": 49, "ARG_MIN": 57, "PACK": 59, "UNPACK": 64, "RESIZE_NEAREST_NEIGHBOR": 74,
    "LEAKY_RELU": 75, "MIRROR_PAD": 77, "SPLIT_V": 79, "DEPTH_TO_SPACE": 94, "BATCH_MATMUL": 101,
    "GELU": 118,
}  # fmt: skip
SCALARS = {"i8": "b", "u8": "B", "bool": "?", "i32": "i", "u32": "I", "f32": "f"}

Field = tuple[str, Any]
Table = dict[int, Field]


class Writer:
    """Objects in the order parent, then children, each aligned to 16 bytes."""

    def __init__(self) -> None:
        self.buf = bytearray()

    def _align(self, ahead: int = 0) -> None:
        while (len(self.buf) + ahead) % 16:
            self.buf.append(0)

    def file(self, root: Table) -> bytes:
        self.buf += b"\0\0\0\0TFL3"
        struct.pack_into("<I", self.buf, 0, self.table(root))
        return bytes(self.buf)

    def table(self, fields: Table) -> int:
        self._align()
        count = max(fields, default=-1) + 1
        vtable = len(self.buf)
        self.buf += struct.pack("<HH", 4 + 2 * count, 4 + 8 * count) + bytes(2 * count)
        self._align()
        start = len(self.buf)
        self.buf += struct.pack("<i", start - vtable) + bytes(4 + 8 * count)
        children = []
        for i, (number, (kind, value)) in enumerate(sorted(fields.items())):
            at = start + 8 + 8 * i
            struct.pack_into("<H", self.buf, vtable + 4 + 2 * number, at - start)
            if kind in SCALARS:
                struct.pack_into("<" + SCALARS[kind], self.buf, at, value)
            else:
                children.append((at, kind, value))
        struct.pack_into("<H", self.buf, vtable + 2, 8 + 8 * count)
        for at, kind, value in children:
            child = self.child(kind, value)
            struct.pack_into("<I", self.buf, at, child - at)
        return start

    def child(self, kind: str, value: Any) -> int:
        if kind == "table":
            return self.table(value)
        if kind == "tables":
            self._align(4)
            at = len(self.buf)
            self.buf += struct.pack("<I", len(value)) + bytes(4 * len(value))
            for i, item in enumerate(value):
                slot = at + 4 + 4 * i
                struct.pack_into("<I", self.buf, slot, self.table(item) - slot)
            return at
        raw = value.encode() if kind == "str" else np.asarray(value).tobytes()
        count = len(raw) if kind == "str" else np.asarray(value).size
        self._align(4)  # the data, behind the length, is what must be aligned
        at = len(self.buf)
        self.buf += struct.pack("<I", count) + raw + b"\0"
        return at


def vector(values: Sequence[int]) -> Field:
    return "array", np.asarray(values, np.int32)


def one_operator(
    op: str, inputs: Sequence[Any], outputs: Sequence[tuple[str, Sequence[int]]],
    options: Table | None = None, constant: Sequence[int] = (),
    sparsity: dict[int, Table] | None = None,
    shapes: dict[int, Sequence[int]] | None = None, version: int = 1,
    passed_on: Sequence[int] = (), custom: tuple[str, bytes] | None = None,
    one_buffer: bool = False,
    quantization: dict[int, tuple[Sequence[float], Sequence[int]]] | None = None,
) -> tuple[bytes, dict[str, np.ndarray]]:  # fmt: skip
    """A model of one operator and the arrays to feed.

    outputs: (dtype, shape) of each. constant: which inputs are weights. sparsity: by input, the
    sparsity table of a weight whose array holds the stored values of `shapes[input]`.
    passed_on: tensors that are outputs of the model besides the operator's. custom: name and
    options of a CUSTOM operator. one_buffer: all weights refer to the first one's bytes.
    quantization: scales and zero points by tensor.
    """
    tensors: list[Table] = []
    buffers: list[Table] = [{}]
    feeds: dict[str, np.ndarray] = {}
    index: list[int] = []
    for i, value in enumerate(inputs):
        if value is None:
            index.append(-1)
            continue
        array = np.asarray(value)
        name = f"x{i}"
        shape = (shapes or {}).get(i, array.shape)
        tensor: Table = {
            0: vector(shape),
            1: ("i8", CODES[array.dtype.name]),
            3: ("str", name),
        }
        if i in constant:
            shared = one_buffer and len(buffers) > 1
            tensor[2] = ("u32", 1 if shared else len(buffers))
            if not shared:
                buffers.append({0: ("array", array.reshape(-1).view(np.uint8))})
        else:
            feeds[name] = array
        if sparsity and i in sparsity:
            tensor[6] = ("table", sparsity[i])
        index.append(len(tensors))
        tensors.append(tensor)
    fed = [k for k, t in enumerate(tensors) if 2 not in t]
    made = []
    for i, (dtype, shape) in enumerate(outputs):
        made.append(len(tensors))
        tensors.append({0: vector(shape), 1: ("i8", CODES[dtype]), 3: ("str", f"y{i}")})
    for k, (scales, zero_points) in (quantization or {}).items():
        tensors[k][4] = (
            "table",
            {
                2: ("array", np.asarray(scales, np.float32)),
                3: ("array", np.asarray(zero_points, np.int64)),
            },
        )
    code = OPERATORS.index(op)
    operator: Table = {0: ("u32", 0), 1: vector(index), 2: vector(made)}
    if options is not None:
        operator[3] = ("u8", OPTIONS[op])
        operator[4] = ("table", options)
    named: Table = {0: ("i8", min(code, 127)), 2: ("i32", version), 3: ("i32", code)}
    if custom is not None:
        named[1] = ("str", custom[0])
        operator[5] = ("array", np.frombuffer(custom[1], np.uint8))
    subgraph: Table = {
        0: ("tables", tensors),
        1: vector(fed),
        2: vector([*made, *passed_on]),
        3: ("tables", [operator]),
        4: ("str", "main"),
    }
    model: Table = {
        0: ("u32", 3),
        1: ("tables", [named]),
        2: ("tables", [subgraph]),
        3: ("str", "test"),
        4: ("tables", buffers),
    }
    return Writer().file(model), feeds
