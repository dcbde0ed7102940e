"""TensorFlow Lite: the metadata that Task Library and ML Kit read from a .tflite file.

A FlatBuffer of its own inside the model says how the input is normalised; the label files are a
zip archive behind the model. How a picture becomes that size the metadata leave to their readers:
Task Library's is stretched, bilinear, not antialiased.
"""

from __future__ import annotations

import io
import os
import zipfile
import zlib
from collections.abc import Iterable
from enum import IntEnum
from pathlib import Path

import numpy as np

from foveal.convert._tflite import schema
from foveal.convert.flatbuffer import Buffer, Table
from foveal.errors import IOFailure, ModelError, NotFoundError
from foveal.image import Norm, Pipeline
from foveal.recipes._recipe import MAX_BYTES, Recipe, refuse

NAME = "tflite"

_ENTRY = "TFLITE_METADATA"
_IDENTIFIER = b"M001"
_MAX_MODEL = 4 << 30


class _Root(IntEnum):
    SUBGRAPHS = 3


class _Graph(IntEnum):
    INPUTS = 2
    OUTPUTS = 3


class _Tensor(IntEnum):
    CONTENT = 3
    PROCESS_UNITS = 4
    FILES = 6


class _Union(IntEnum):
    KIND = 0
    VALUE = 1


class _Image(IntEnum):
    COLOR_SPACE = 0


class _File(IntEnum):
    NAME = 0
    TYPE = 2
    LOCALE = 3


_IMAGE_PROPERTIES, _NORMALIZATION = 2, 1
_RGB, _GRAYSCALE = 1, 2
_AXIS_LABELS, _VALUE_LABELS = 2, 3


def recipe(model: bytes | str | os.PathLike[str]) -> Recipe | None:
    """The pipeline and the labels of a .tflite file, or of its bytes; None if it has no metadata
    or they speak of no picture.

    Raises SpecError for metadata that a pipeline cannot say, ModelError for damaged ones.
    """
    data = model if isinstance(model, bytes) else _file(model)
    if data[4:8] != b"TFL3":
        raise ModelError("this is not a TFLite file: its identifier TFL3 is missing")
    root = Buffer(data).root()
    described = _described(root)
    graph = next(root.tables(schema.Model.SUBGRAPHS), None)
    if described is None or graph is None:
        return None
    inputs = list(described.tables(_Graph.INPUTS))
    pictures = [i for i, t in enumerate(inputs) if _properties(t) is not None]
    if len(pictures) != 1:
        return None
    tensors = list(graph.tables(schema.SubGraph.TENSORS))
    numbers = graph.array(schema.SubGraph.INPUTS, "i4").tolist()
    if pictures[0] >= len(numbers) or not 0 <= numbers[pictures[0]] < len(tensors):
        raise refuse(NAME, "the metadata describe an input that the model does not have")
    pipeline = _pipeline(inputs[pictures[0]], tensors[numbers[pictures[0]]])
    return Recipe(pipeline, _labels(data, described.tables(_Graph.OUTPUTS)))


def read(text: str) -> Recipe:
    """The path of a .tflite file."""
    found = recipe(text)
    if found is None:
        raise refuse(NAME, f"{text}: there are no metadata of a picture in this file")
    return found


def _file(path: str | os.PathLike[str]) -> bytes:
    try:
        with Path(path).open("rb") as file:
            return file.read(_MAX_MODEL)
    except FileNotFoundError:
        raise NotFoundError(f"tflite recipe: there is no file '{os.fspath(path)}'") from None
    except (OSError, ValueError) as error:
        raise IOFailure(f"tflite recipe: {os.fspath(path)}: cannot be read: {error}") from error


def _described(root: Table) -> Table | None:
    """What the metadata say of the first graph."""
    for entry in root.tables(schema.Model.METADATA):
        if entry.text(schema.Metadata.NAME) != _ENTRY:
            continue
        number = entry.scalar(schema.Metadata.BUFFER, "u32")
        buffers = list(root.tables(schema.Model.BUFFERS))
        if not 0 <= number < len(buffers):
            raise ModelError(f"buffer number {number} of {len(buffers)} is asked for")
        data = buffers[int(number)].raw(schema.BufferTable.DATA).tobytes()
        if data[4:8] != _IDENTIFIER:
            raise ModelError("the model's metadata are damaged: their identifier is missing")
        return next(Buffer(data).root().tables(_Root.SUBGRAPHS), None)
    return None


def _union(table: Table, kind: int) -> Table | None:
    """The value of a union if it is of this kind."""
    return table.table(_Union.VALUE) if table.scalar(_Union.KIND, "u8") == kind else None


def _properties(tensor: Table) -> Table | None:
    """What a tensor that holds a picture says of it."""
    content = tensor.table(_Tensor.CONTENT)
    return None if content is None else _union(content, _IMAGE_PROPERTIES)


def _pipeline(described: Table, tensor: Table) -> Pipeline:
    shape = tensor.array(schema.Tensor.SHAPE, "i4").tolist()
    if len(shape) != 4 or shape[0] != 1 or shape[3] not in (1, 3) or min(shape) < 1:
        raise refuse(NAME, f"input: expected [1, height, width, 1 or 3], got {shape}")
    _, height, width, channels = shape
    properties = _properties(described)
    color = properties.i8(_Image.COLOR_SPACE) if properties else 0
    if color and color != {3: _RGB, 1: _GRAYSCALE}[channels]:
        raise refuse(NAME, f"colour space {color} of a tensor with {channels} channels")
    dtype = schema.DTYPES.get(tensor.i8(schema.Tensor.TYPE), "?")
    if dtype not in ("float32", "uint8", "int8"):
        raise refuse(NAME, f"input: expected float32, uint8 or int8, got {dtype}")
    scales, zero_points = schema.quantization(tensor)
    units = [_union(u, _NORMALIZATION) for u in described.tables(_Tensor.PROCESS_UNITS)]
    normalizations = [u for u in units if u is not None]
    if len(normalizations) > 1:
        raise refuse(NAME, f"{len(normalizations)} normalisations of one input")
    norm = Norm()
    if normalizations and (dtype == "float32" or scales):
        mean, std = (_levels(normalizations[0].array(i, "f4"), channels) for i in (0, 1))
        norm = Norm(1, mean or 0.0, std or 1.0)
    elif dtype == "int8":
        raise refuse(NAME, "input: int8 without normalisation and quantisation")
    elif scales:  # bytes as they are: this undoes what they stand for
        norm = Norm(scales[0], scales[0] * zero_points[0])
    return Pipeline(size=(width, height), color="GRAY" if channels == 1 else "RGB", norm=norm)


def _levels(values: np.ndarray, channels: int) -> tuple[float, ...]:
    if len(values) not in (0, 1, channels):
        raise refuse(NAME, f"normalisation: expected 1 or {channels} numbers, got {len(values)}")
    if not np.isfinite(values).all():
        raise refuse(NAME, "normalisation: expected finite numbers")
    numbers = [float(v) for v in values]
    return tuple(numbers * channels if len(numbers) == 1 else numbers)


def _labels(data: bytes, outputs: Iterable[Table]) -> tuple[str, ...]:
    """The first list of labels of an output: the one of no locale, if there are several."""
    for output in outputs:
        files = list(output.tables(_Tensor.FILES))
        named = [f for f in files if f.i8(_File.TYPE) in (_AXIS_LABELS, _VALUE_LABELS)]
        for file in sorted(named, key=lambda f: f.text(_File.LOCALE) != ""):
            return _lines(data, file.text(_File.NAME))
    return ()


def _lines(data: bytes, name: str) -> tuple[str, ...]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open(name) as file:
            text = file.read(MAX_BYTES + 1)
    except KeyError:
        raise refuse(NAME, f"the label file '{name}' is not in the model's archive") from None
    except (
        EOFError,
        NotImplementedError,
        OSError,
        RuntimeError,
        ValueError,
        zipfile.BadZipFile,
        zlib.error,
    ) as error:
        raise refuse(NAME, f"the label file '{name}' cannot be read: {error}") from None
    if len(text) > MAX_BYTES:
        raise refuse(NAME, f"the label file '{name}' has more than {MAX_BYTES} bytes")
    lines = text.decode("utf-8", "replace").splitlines()
    return tuple(line.strip() for line in lines)
