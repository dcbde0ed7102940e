"""Importer for ONNX, opset 7 to 28, without the onnx package."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import numpy as np

from foveal.convert import ConvertOptions, _onnx
from foveal.convert._onnx import proto
from foveal.convert._onnx.context import OPS, OnnxNode
from foveal.convert._onnx.external import ExternalData
from foveal.convert.emit import MAX_OUTPUTS, SIZE_HINT, Emitter, Unsupported
from foveal.convert.protobuf import Message, Schema, parse
from foveal.convert.report import Report
from foveal.errors import FovealError, ModelError
from foveal.graph import Dim, Graph, Value, clean_name
from foveal.optimize._fold import limit_to_file

SUFFIXES = (".onnx",)
OPSETS = range(7, 29)

for _info in iter_modules(_onnx.__path__):
    import_module(f"{_onnx.__name__}.{_info.name}")


def sniff(head: bytes) -> bool:
    """ONNX has no magic number: the first field is the IR version, the next a text or a graph."""
    return len(head) > 2 and head[0] == 0x08 and 0 < head[1] < 0x40 and head[2] in _SECOND


_SECOND = (0x12, 0x1A, 0x22, 0x28, 0x32, 0x3A, 0x42, 0x72)


def load(source: Path | bytes, options: ConvertOptions) -> Graph:
    """Reads a model. Raises ModelError or UnsupportedOpError (everything missing, at once)."""
    data = source if isinstance(source, bytes) else Path(source).read_bytes()
    model = parse(memoryview(data), proto.MODEL)
    if model.graph is None:
        raise ModelError("this ONNX file has no graph", hint="the file may be truncated")
    return _Importer(model, len(data), options).run()


def properties(data: bytes) -> dict[str, str]:
    """The texts that a model carries besides its graph. ModelError for a damaged file."""
    only: Schema = {14: proto.MODEL[14]}
    props = parse(memoryview(data), only).list("metadata_props")
    return {p.text("key"): p.text("value") for p in props}


class _Importer:
    def __init__(self, model: Message, size: int, options: ConvertOptions) -> None:
        self.size = size  # of the file
        self.options = options
        self.proto: Message = model.graph
        self.report = Report("ONNX")
        self.graph = Graph(self.proto.text("name") or "graph")
        self.emit = Emitter(self.graph)
        self.opset = self._opset(model)
        # A value is None after a node that could not be imported: what needs it is skipped.
        self.values: dict[str, Value | None] = {}
        self.external = ExternalData(options.folder)
        self.props = {p.text("key"): p.text("value") for p in model.list("metadata_props")}

    def _opset(self, model: Message) -> int:
        versions = {o.text("domain"): int(o.version or 0) for o in model.list("opset_import")}
        version = versions.get("", versions.get("ai.onnx", 0))
        if version not in OPSETS:
            self.report.add(
                "opset",
                "model",
                f"version {version} of the operator set (known: {OPSETS[0]} to {OPSETS[-1]})",
                "convert with onnx.version_converter or export with an opset in that range",
            )
        return version

    def run(self) -> Graph:
        self._constants()
        self._inputs()
        for i, node in enumerate(self.proto.list("node")):
            self._node(i, node)
        for info in self.proto.list("output"):
            value = self.values.get(info.text("name"))
            if value is not None and value.data is not None and value.data.dtype == object:
                what = "a size that is only known when the model runs"
                self.report.add("output", info.text("name"), what, SIZE_HINT)
        self.report.finish()
        self._outputs()
        if self.props:
            self.graph.meta["onnx_properties"] = json.dumps(self.props)
        return self.graph

    def _constants(self) -> None:
        held = 0  # bytes of weights, which may be in files of their own
        for t in self.proto.list("initializer"):
            name = t.text("name")
            try:
                array = proto.tensor_array(t, self.external)
                self.values[name] = self.graph.constant(array, name)
                held += array.nbytes
            except Unsupported as e:
                self.report.add("initializer", name, str(e), e.hint)
                self.values[name] = None
        limit_to_file(self.graph, max(self.size, held))
        for _ in self.proto.list("sparse_initializer"):
            self.report.add("sparse initializer", self.graph.name, "sparse weights")

    def _inputs(self) -> None:
        names = []
        for info in self.proto.list("input"):
            name = info.text("name")
            if name in self.values:
                continue  # up to IR version 3 initialisers are listed as inputs too
            names.append(name)
            tensor = info.type.tensor_type if info.type is not None else None
            if tensor is None or tensor.shape is None:
                self.report.add("input", name, "it is not a tensor of known rank")
                self.values[name] = None
                continue
            declared = [_dim(d, name) for d in tensor.shape.list("dim")]
            try:
                dtype = proto.dtype_name(tensor.elem_type)
            except Unsupported as e:
                self.report.add("input", name, str(e), e.hint)
                self.values[name] = None
                continue
            if len(declared) > 8:
                raise ModelError(f"input '{name}' has rank {len(declared)}, at most 8 is possible")
            shape = self.options.shape(name, declared)
            self.values[name] = self.graph.input(name, dtype, shape)
        self.options.check_names(names)

    def _node(self, index: int, node: Message) -> None:
        kind, outputs = node.text("op_type"), node.list("output")
        label = node.text("name") or next((o for o in outputs if o), f"{kind}_{index}")
        domain = node.text("domain")
        for o in outputs:
            if o in self.values:
                raise ModelError(f"two nodes or tensors are named '{o}'")
            if o:
                self.values[o] = None
        mapping = OPS.get(kind) if domain in ("", "ai.onnx") else None
        if mapping is None:
            shown = kind if domain in ("", "ai.onnx") else f"{domain}.{kind}"
            self.report.add(shown or "(no operator)", label, "unknown operator")
            return
        inputs: list[Value | None] = []
        for name in node.list("input"):
            if name and name not in self.values:
                raise ModelError(
                    f"{kind} '{label}' reads '{name}', which nothing before it makes",
                    hint="nodes must be in topological order",
                )
            value = self.values[name] if name else None
            if name and value is None:
                return  # already reported where it was made
            inputs.append(value)
        self.emit.label = label
        ctx = OnnxNode(node, inputs, self.emit, self.opset, self._tensor)
        try:
            made = mapping(ctx)
            ctx.finish()
        except Unsupported as e:
            self.report.add(kind, label, str(e), e.hint)
            return
        except FovealError as e:
            what = e.message.rpartition(f"'{label}': ")[2]
            raise ModelError(f"{kind} '{label}': {what}", op=kind, hint=e.hint) from e
        values = made if isinstance(made, list) else [made]
        for name, value in zip(outputs, values, strict=False):  # trailing outputs may be unnamed
            if name:
                self.values[name] = value

    def _tensor(self, t: Message) -> np.ndarray:
        return proto.tensor_array(t, self.external)

    def _outputs(self) -> None:
        done: set[str] = set()
        outputs = self.proto.list("output")
        if len(outputs) > MAX_OUTPUTS:
            raise ModelError(f"it has {len(outputs)} outputs, at most {MAX_OUTPUTS} are possible")
        for info in outputs:
            name = info.text("name")
            value = self.values.get(name)
            if value is None:
                raise ModelError(f"nothing makes the output '{name}'")
            if name in done:
                raise ModelError(f"two outputs are named '{name}'")
            done.add(name)
            g = self.graph
            # An input may be an output too, under the one name that it has.
            passed_on = value in g.inputs and value.name == clean_name(name)
            if not passed_on and (value.producer is None or g.is_output(value)):
                self.emit.label = f"{name}/view"
                value = self.emit.alias(value)
            g.outputs.append(value)
            g.rename(value, name)
        if not self.graph.outputs:
            raise ModelError("this ONNX file has no outputs", hint="the file may be truncated")


def _dim(d: Message, name: str) -> Dim:
    """A size; -1 or its name when it is open (0 and -1 stand for open in exported files)."""
    if d.dim_value is None:
        return d.dim_param or -1
    if d.dim_value < -1:
        raise ModelError(
            f"input '{name}' has the dimension {d.dim_value}, expected a size or a name",
            hint="export the model again, with the sizes of its inputs or with names for open ones",
        )
    return int(d.dim_value) if d.dim_value > 0 else -1
