"""Importer for TensorFlow Lite (LiteRT) float models, without their packages.

Inputs and outputs keep the file's own axis order (NHWC). Inside, image operators run in NCHW
between transposes, and the rewrite passes remove those that meet.
"""

from __future__ import annotations

import logging
import math
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import numpy as np

from foveal.convert import ConvertOptions, _tflite
from foveal.convert._tflite import schema
from foveal.convert._tflite.context import OPS, TfliteNode
from foveal.convert._tflite.sparse import densify
from foveal.convert.emit import MAX_OUTPUTS, SHARING, Emitter, Unsupported
from foveal.convert.flatbuffer import Buffer, Table
from foveal.convert.report import Report
from foveal.errors import FovealError, ModelError
from foveal.graph import Graph, Value, clean_name
from foveal.optimize._fold import limit_to_file, spend

log = logging.getLogger("foveal.convert")

SUFFIXES = (".tflite", ".litert")

for _info in iter_modules(_tflite.__path__):
    import_module(f"{_tflite.__name__}.{_info.name}")

_QUANTISED = "quantised models are not supported yet: convert the float model"


def sniff(head: bytes) -> bool:
    return head[4:8] == b"TFL3"


def load(source: Path | bytes, options: ConvertOptions) -> Graph:
    """Reads a model. Raises ModelError or UnsupportedOpError (everything missing, at once)."""
    data = source if isinstance(source, bytes) else Path(source).read_bytes()
    if not sniff(data[:8]):
        raise ModelError("this is not a TFLite file: its identifier TFL3 is missing")
    return _Importer(data, options).run()


def describe(data: bytes) -> dict[str, str]:
    """Pipeline and labels of the file's own metadata, as entries of a graph's; empty if there are
    none, or a pipeline cannot say them: the model runs without."""
    from foveal.recipes import tflite  # late: it is rarely needed, and imports this package

    try:
        recipe = tflite.recipe(data)
    except FovealError as error:
        log.warning("the model's metadata are not used: %s", error)
        return {}
    return {} if recipe is None else recipe.meta()


class _Importer:
    def __init__(self, data: bytes, options: ConvertOptions) -> None:
        self.data = data
        self.options = options
        self.model = Buffer(data).root()
        self.report = Report("TFLite")
        graphs = list(self.model.tables(schema.Model.SUBGRAPHS))
        if not graphs:
            raise ModelError("this TFLite file has no graph")
        self.subgraph = graphs[0]
        self.buffers = list(self.model.tables(schema.Model.BUFFERS))
        self.tensors = list(self.subgraph.tables(schema.SubGraph.TENSORS))
        self.codes = [_code(c) for c in self.model.tables(schema.Model.OPERATOR_CODES)]
        self.graph = Graph(self.subgraph.text(schema.SubGraph.NAME) or "main")
        limit_to_file(self.graph, len(data))
        self.emit = Emitter(self.graph)
        # Bytes of weights that tensors may still take: equal tensors may share a buffer, but a file
        # of nothing else would grow with the square of its size.
        self.shared = SHARING * len(data)
        # None: made by a node that could not be imported.
        self.values: dict[int, Value | None] = {}
        self.types: dict[int, tuple[str, list[int]]] = {}

    def run(self) -> Graph:
        inputs = self.subgraph.array(schema.SubGraph.INPUTS, "i4").tolist()
        outputs = self.subgraph.array(schema.SubGraph.OUTPUTS, "i4").tolist()
        if not 0 < len(outputs) <= MAX_OUTPUTS:
            raise ModelError(f"it has {len(outputs)} outputs, 1 to {MAX_OUTPUTS} are possible")
        for i in inputs:
            self._input(i)
        self.options.check_names([v.name for v in self.graph.inputs])
        for i, operator in enumerate(self.subgraph.tables(schema.SubGraph.OPERATORS)):
            self._operator(i, operator)
        self.report.finish()
        names = [self._name(i) for i in outputs]
        if len(set(names)) != len(names):
            raise ModelError(f"two outputs have one name: {names}")
        for i in outputs:
            self._output(i)
        return self.graph

    # ---- tensors -------------------------------------------------------------------------

    def _tensor(self, index: int) -> Table:
        if not 0 <= index < len(self.tensors):
            raise ModelError(f"tensor number {index} of {len(self.tensors)} is asked for")
        return self.tensors[index]

    def _name(self, index: int) -> str:
        return self._tensor(index).text(schema.Tensor.NAME) or f"tensor_{index}"

    def _type(self, index: int) -> tuple[str, list[int]]:
        """Element type and shape as the file declares them. Raises Unsupported."""
        if index in self.types:
            return self.types[index]
        t = self._tensor(index)
        code = t.i8(schema.Tensor.TYPE)
        if code not in schema.DTYPES:
            name = schema.DTYPE_NAMES.get(code, f"number {code}")
            raise Unsupported(f"its element type is {name}")
        shape = t.array(schema.Tensor.SHAPE, "i4").tolist()
        if len(shape) > 8 or any(d < 0 for d in shape):
            raise ModelError(f"tensor '{self._name(index)}' has the shape {shape}")
        self.types[index] = schema.DTYPES[code], shape
        return self.types[index]

    def _check_float(self, index: int) -> None:
        """Raises Unsupported for a tensor that holds quantised numbers."""
        if self._quantization(index) is not None:
            raise Unsupported(f"quantised {self._type(index)[0]} values", _QUANTISED)

    def _quantization(self, index: int) -> tuple[float, int] | None:
        """Scale and zero point of a tensor that holds quantised numbers. Raises Unsupported."""
        scales, zero_points = schema.quantization(self._tensor(index))
        if not scales:
            return None
        dtype, _ = self._type(index)
        if len(scales) != 1 or len(zero_points) != 1 or dtype == "int32":
            raise Unsupported(f"quantised {dtype} values of {len(scales)} scales", _QUANTISED)
        return scales[0], zero_points[0]

    def _input(self, index: int) -> None:
        name = self._name(index)
        if index in self.values:
            raise ModelError(f"'{name}' is listed as an input twice")
        try:
            dtype, shape = self._type(index)
            quantization = self._quantization(index)
        except Unsupported as e:
            self.report.add("input", name, str(e), e.hint)
            self.values[index] = None
            return
        value = self.graph.input(name, dtype, self.options.shape(name, shape))
        value.quantization = quantization
        self.values[index] = value

    def _constant(self, index: int) -> Value:
        t, name = self._tensor(index), self._name(index)
        dtype, shape = self._type(index)
        if t.flag(schema.Tensor.IS_VARIABLE):
            raise Unsupported("a variable that keeps its value between runs")
        raw = self._raw(t.scalar(schema.Tensor.BUFFER, "u32"), name)
        self.shared -= raw.size
        if self.shared < 0:
            raise ModelError(f"its tensors refer to more than {SHARING} times the file's size")
        if raw.size == 0 and math.prod(shape) != 0:
            raise ModelError(f"tensor '{name}' is read, but nothing makes it")
        kind = np.dtype(dtype).newbyteorder("<")
        sparsity = t.table(schema.Tensor.SPARSITY)
        if raw.size % kind.itemsize:
            raise ModelError(f"tensor '{name}' has {raw.size} bytes of {dtype}")
        values = np.frombuffer(raw.tobytes() if dtype == "bool" else raw, kind)
        if sparsity is not None:
            if not spend(self.graph, math.prod(shape)):
                raise ModelError(f"sparse tensor '{name}' of shape {shape} is too large")
            array = densify(name, shape, values, sparsity)
        elif values.size != math.prod(shape):
            raise ModelError(
                f"tensor '{name}' of shape {shape} needs {math.prod(shape)} values, "
                f"the file has {values.size}"
            )
        else:
            array = values.reshape(shape)
        array = array.astype(kind.newbyteorder("="), copy=False)
        value = self.graph.constant(array, name)
        value.quantization = self._quantization(index)
        return value

    def _raw(self, index: int | float, name: str) -> np.ndarray:
        if not 0 <= index < len(self.buffers):
            raise ModelError(f"tensor '{name}' refers to buffer {index} of {len(self.buffers)}")
        buffer = self.buffers[int(index)]
        offset = int(buffer.scalar(schema.BufferTable.OFFSET, "u64"))
        if offset > 1:  # weights after the FlatBuffer, for files over 2 GB
            size = int(buffer.scalar(schema.BufferTable.SIZE, "u64"))
            if offset + size > len(self.data):
                raise ModelError(f"tensor '{name}' lies outside the file")
            return np.frombuffer(self.data, np.uint8, size, offset)
        return buffer.raw(schema.BufferTable.DATA)

    # ---- operators -------------------------------------------------------------------------

    def _operator(self, index: int, operator: Table) -> None:
        code = operator.i32(schema.Operator.OPCODE_INDEX)
        if not 0 <= code < len(self.codes):
            raise ModelError(f"operator {index} has the code {code} of {len(self.codes)}")
        kind = self.codes[code]
        outputs = operator.array(schema.Operator.OUTPUTS, "i4").tolist()
        label = self._name(outputs[0]) if outputs else f"{kind}_{index}"
        for o in outputs:
            if self.values.get(o) is not None:
                raise ModelError(f"{kind} {index} makes '{self._name(o)}', which is made already")
            self.values[o] = None
        mapping = OPS.get(kind)
        if mapping is None:
            self.report.add(kind, label, "unknown operator")
            return
        self.emit.label = label
        try:
            inputs: list[Value | None] = []
            for i in operator.array(schema.Operator.INPUTS, "i4").tolist():
                if i >= 0 and i not in self.values:
                    self.values[i] = self._constant(i)
                value = self.values[i] if i >= 0 else None
                if i >= 0 and value is None:
                    return  # already reported where it was made
                if value is not None and value.quantization and kind != "DEQUANTIZE":
                    raise Unsupported(f"quantised {value.dtype} values", _QUANTISED)
                inputs.append(value)
            for o in outputs:
                self._type(o)
                self._check_float(o)
            types = [self._type(o) for o in outputs]
            options = operator.table(schema.Operator.OPTIONS)
            custom = operator.raw(schema.Operator.CUSTOM_OPTIONS).tobytes()
            made = mapping(TfliteNode(kind, inputs, types, options, self.emit, custom))
        except Unsupported as e:
            self.report.add(kind, label, str(e), e.hint)
            return
        except FovealError as e:
            what = e.message.rpartition(f"'{label}': ")[2]
            raise ModelError(f"{kind} '{label}': {what}", op=kind, hint=e.hint) from e
        values = made if isinstance(made, list) else [made]
        if len(values) != len(outputs):
            raise ModelError(
                f"{kind} '{label}': the file lists {len(outputs)} outputs, it makes {len(values)}"
            )
        for o, v in zip(outputs, values, strict=True):
            self.values[o] = v

    def _output(self, index: int) -> None:
        name, value = self._name(index), self.values.get(index)
        if value is None:
            raise ModelError(f"nothing makes the output '{name}'")
        # An input may be an output too, under the one name that it has.
        passed_on = value in self.graph.inputs and value.name == clean_name(name)
        if not passed_on and (value.producer is None or self.graph.is_output(value)):
            self.emit.label = f"{name}/view"
            value = self.emit.alias(value)
        self.graph.outputs.append(value)
        self.graph.rename(value, name)


def _code(c: Table) -> str:
    # Numbers above 127 live in the newer field; the larger of both counts.
    number = max(c.i8(schema.OperatorCode.DEPRECATED_BUILTIN), c.i32(schema.OperatorCode.BUILTIN))
    if number == schema.CUSTOM:
        return f"custom operator {c.text(schema.OperatorCode.CUSTOM)}"
    known = 0 <= number < len(schema.OPERATORS)
    return schema.OPERATORS[number] if known else f"operator number {number}"
