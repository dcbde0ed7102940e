"""Compares a converted model with the runtime of its source format, on random input."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foveal.errors import ArgumentError, NotFoundError

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Row:
    """One output: largest absolute deviation, and that as part of the source output's range."""

    name: str
    shape: tuple[int, ...]
    deviation: float
    relative: float


def compare(source: Path, session: Any, seed: int = 0) -> list[Row]:
    """Runs both on uniform noise in -1..1 (whole numbers: 0..255). Inputs must have whole shapes.

    NotFoundError when the source's runtime is not installed, ArgumentError when it refuses.
    """
    generator = np.random.default_rng(seed)
    inputs: Arrays = {}
    for info in session.inputs:
        view = session.input_view(info.name)
        inputs[info.name] = (
            generator.uniform(-1, 1, view.shape).astype(view.dtype)
            if view.dtype.kind == "f"
            else generator.integers(0, 2 if view.dtype.kind == "b" else 100, view.shape).astype(
                view.dtype
            )
        )
    got = session.run(inputs)
    with source.open("rb") as file:
        tflite = file.read(8)[4:] == b"TFL3"
    with _quiet():
        expected = (_tflite if tflite else _onnx)(source, inputs)
    return [_row(name, got[name], value) for name, value in expected.items() if name in got]


def _row(name: str, got: NDArray[Any], expected: NDArray[Any]) -> Row:
    if got.shape != expected.shape:
        raise ArgumentError(
            f"output '{name}' has shape {got.shape}, the source runtime gives {expected.shape}"
        )
    a, b = got.astype(np.float64), expected.astype(np.float64)
    if not np.array_equal(np.isfinite(a), np.isfinite(b)):
        return Row(name, got.shape, float("inf"), float("inf"))
    finite = np.isfinite(b)
    deviation = float(np.max(np.abs(a - b)[finite], initial=0))
    span = float(np.ptp(b[finite])) if finite.any() else 0.0
    return Row(name, got.shape, deviation, deviation / span if span else deviation)


def _runtime(name: str, package: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        raise NotFoundError(
            f"--check compares with {package}, which is not installed",
            hint=f"run: python -m pip install {package}",
        ) from None


def _onnx(source: Path, inputs: Arrays) -> Arrays:
    runtime = _runtime("onnxruntime", "onnxruntime")
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    data = source.read_bytes()
    try:
        session = runtime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        declared = {i.name: i.shape for i in session.get_inputs()}
        if any(not _allows(declared[name], array.shape) for name, array in inputs.items()):
            session = runtime.InferenceSession(
                _reshaped(data), options, providers=["CPUExecutionProvider"]
            )
        names = [output.name for output in session.get_outputs()]
        return dict(zip(names, session.run(names, inputs), strict=True))
    except KeyError as error:
        raise ArgumentError(f"the source has no input {error}") from error
    except Exception as error:
        if type(error).__module__.startswith("onnxruntime"):
            raise ArgumentError(f"onnxruntime refuses the source model: {error}") from error
        raise


def _allows(declared: list[Any], shape: tuple[int, ...]) -> bool:
    return len(declared) == len(shape) and all(
        not isinstance(d, int) or d == s for d, s in zip(declared, shape, strict=True)
    )


def _reshaped(data: bytes) -> bytes:
    """The model with the sizes of its inputs and outputs left open."""
    onnx = _runtime("onnx", "onnx")
    model = onnx.load_from_string(data)
    initialised = {tensor.name for tensor in model.graph.initializer}
    for value in [*model.graph.input, *model.graph.output]:
        if value.name not in initialised:
            for i, dim in enumerate(value.type.tensor_type.shape.dim):
                dim.dim_param = f"{value.name}_{i}"
    text: bytes = model.SerializeToString()
    return text


def _tflite(source: Path, inputs: Arrays) -> Arrays:
    runtime = _runtime("ai_edge_litert.interpreter", "ai-edge-litert")
    interpreter = runtime.Interpreter(model_path=str(source), num_threads=1)
    index = {d["name"]: d["index"] for d in interpreter.get_input_details()}
    for name, array in inputs.items():
        interpreter.resize_tensor_input(index[name], array.shape)
    interpreter.allocate_tensors()
    for name, array in inputs.items():
        interpreter.set_tensor(index[name], array)
    interpreter.invoke()
    return {d["name"]: interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()}


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Sends file descriptor 2 away: the runtimes' libraries greet there."""
    saved, away = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(away, 2)
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(away)
