"""Field numbers of the ONNX messages the importer reads, and tensors out of them."""

from __future__ import annotations

import math

import numpy as np

from foveal.convert._onnx.external import ExternalData
from foveal.convert.protobuf import Message, Schema
from foveal.convert.report import Unsupported
from foveal.errors import ModelError

STRING_ENTRY: Schema = {1: ("key", "str"), 2: ("value", "str")}
TENSOR: Schema = {
    1: ("dims", "ints"),
    2: ("data_type", "int"),
    4: ("float_data", "floats"),
    5: ("int32_data", "ints"),
    6: ("string_data", ["bytes"]),
    7: ("int64_data", "ints"),
    8: ("name", "str"),
    9: ("raw_data", "bytes"),
    10: ("double_data", "doubles"),
    11: ("uint64_data", "ints"),
    13: ("external_data", [STRING_ENTRY]),
    14: ("data_location", "int"),
}
ATTRIBUTE: Schema = {
    1: ("name", "str"),
    2: ("f", "float"),
    3: ("i", "int"),
    4: ("s", "bytes"),
    5: ("t", TENSOR),
    6: ("g", "bytes"),
    7: ("floats", "floats"),
    8: ("ints", "ints"),
    9: ("strings", ["bytes"]),
    20: ("type", "int"),
    21: ("ref_attr_name", "str"),
}
NODE: Schema = {
    1: ("input", ["str"]),
    2: ("output", ["str"]),
    3: ("name", "str"),
    4: ("op_type", "str"),
    5: ("attribute", [ATTRIBUTE]),
    7: ("domain", "str"),
}
DIMENSION: Schema = {1: ("dim_value", "int"), 2: ("dim_param", "str")}
SHAPE: Schema = {1: ("dim", [DIMENSION])}
TENSOR_TYPE: Schema = {1: ("elem_type", "int"), 2: ("shape", SHAPE)}
TYPE: Schema = {1: ("tensor_type", TENSOR_TYPE)}
VALUE_INFO: Schema = {1: ("name", "str"), 2: ("type", TYPE)}
GRAPH: Schema = {
    1: ("node", [NODE]),
    2: ("name", "str"),
    5: ("initializer", [TENSOR]),
    11: ("input", [VALUE_INFO]),
    12: ("output", [VALUE_INFO]),
    15: ("sparse_initializer", ["bytes"]),
}
OPSET: Schema = {1: ("domain", "str"), 2: ("version", "int")}
MODEL: Schema = {
    1: ("ir_version", "int"),
    2: ("producer_name", "str"),
    7: ("graph", GRAPH),
    8: ("opset_import", [OPSET]),
    14: ("metadata_props", [STRING_ENTRY]),
}

DTYPES: dict[int, str] = {
    1: "float32",
    2: "uint8",
    3: "int8",
    4: "uint16",
    5: "int16",
    6: "int32",
    7: "int64",
    9: "bool",
    10: "float16",
    11: "float64",
    12: "uint32",
    13: "uint64",
}
_BFLOAT16 = 16
_NAMES = {8: "string", 14: "complex64", 15: "complex128", _BFLOAT16: "bfloat16"}


def dtype_name(code: int | None) -> str:
    """Raises Unsupported for an element type without a counterpart."""
    if code not in DTYPES:
        raise Unsupported(f"its element type is {_NAMES.get(code or 0, f'number {code}')}")
    return DTYPES[code]


def tensor_array(t: Message, external: ExternalData) -> np.ndarray:
    """The tensor's values; a view of the file where its layout allows it.

    bfloat16 becomes float32. Raises ModelError when data and shape disagree.
    """
    name = t.text("name") or "tensor"
    dims = [int(d) for d in t.numbers("dims")]
    if len(dims) > 8 or any(d < 0 for d in dims):
        raise ModelError(f"tensor '{name}' has the shape {dims}", hint="the file is damaged")
    count = math.prod(dims)
    code = t.data_type
    bf16 = code == _BFLOAT16
    dtype = np.dtype("uint16" if bf16 else dtype_name(code)).newbyteorder("<")
    if t.data_location == 1:
        entries = {e.text("key"): e.text("value") for e in t.list("external_data")}
        data = external.read(entries, name, count * dtype.itemsize)
    else:
        data = t.raw_data
    if data is not None:
        if len(data) != count * dtype.itemsize:
            raise ModelError(
                f"tensor '{name}' of shape {dims} needs {count * dtype.itemsize} bytes, "
                f"the file has {len(data)}"
            )
        array = np.frombuffer(data, dtype)
    else:
        array = _typed(t, code, dtype)
        if array.size != count:
            raise ModelError(
                f"tensor '{name}' of shape {dims} needs {count} values, the file has {array.size}"
            )
    array = array.reshape(dims)
    if bf16:
        return (array.astype(np.uint32) << 16).view(np.float32)
    if dtype == np.bool_:
        return np.asarray(array.view(np.uint8) != 0)
    return array.astype(dtype.newbyteorder("="), copy=False)


def _typed(t: Message, code: int, dtype: np.dtype) -> np.ndarray:
    if code == 1:
        return t.numbers("float_data").astype(dtype, copy=False)
    if code == 11:
        return t.numbers("double_data").astype(dtype, copy=False)
    if code == 7:
        return t.numbers("int64_data").astype(dtype, copy=False)
    if code in (12, 13):
        return t.numbers("uint64_data").astype(dtype)
    values = t.numbers("int32_data")
    if code in (10, _BFLOAT16):  # bit patterns in the low 16 bits
        return values.astype(np.uint16).view(dtype)
    return values.astype(dtype)
