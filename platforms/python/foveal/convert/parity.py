"""Compares an imported model with the runtime it came from, on random inputs.

Needs that runtime: `onnxruntime` (and `onnx`, to override declared input shapes) or
`ai-edge-litert`. They are test-time dependencies, never needed to run a model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from foveal.convert import convert, pick
from foveal.errors import ArgumentError, NotFoundError
from foveal.graph import Dim, Graph

_FREE = 64  # size given to a symbolic dimension other than the first


@dataclass(frozen=True)
class Deviation:
    """One output: the largest absolute difference, and that relative to the output's range.

    Values that are not finite must be so on both sides; otherwise both figures are infinite.
    """

    output: str
    shape: tuple[int, ...]
    largest: float
    relative: float


def compare(
    source: str | Path,
    model: Any = None,
    *,
    seed: int = 0,
    input_shapes: Mapping[str, Sequence[Dim]] | None = None,
    threads: int = 1,
) -> list[Deviation]:
    """Runs `source` in its own runtime and here, on the same random inputs.

    model: the Graph or Model imported from it; imported here when None.
    Raises NotFoundError when the source runtime is not installed.
    """
    from foveal.session import Session  # late: sessions load plugins

    path = Path(source)
    if model is None:
        model = convert(path, input_shapes=input_shapes)
    if isinstance(model, Graph):
        model = model.to_model()
    session = Session(model, device="cpu", threads=threads)
    feeds = random_feeds(session.inputs, seed, input_shapes)
    ours = session.run(feeds)
    with path.open("rb") as f:
        fmt, _ = pick(f.read(512), path.suffix)
    if fmt not in _RUNTIMES:
        raise NotFoundError(f"no runtime is known for the format '{fmt}'")
    theirs = _RUNTIMES[fmt](path, feeds)
    return deviations(theirs, ours)


def random_feeds(
    inputs: Sequence[Any], seed: int = 0, shapes: Mapping[str, Sequence[Dim]] | None = None
) -> dict[str, np.ndarray]:
    """Normally distributed floats, integers below 8, for inputs with .name, .shape and .dtype.

    A dimension that is not a number becomes 1 if it is the first and 64 otherwise, unless
    `shapes` says another number.
    """
    rng = np.random.default_rng(seed)
    feeds = {}
    for t in inputs:
        wanted = (shapes or {}).get(t.name, t.shape)
        shape = [
            d if isinstance(d, int) and d >= 0 else 1 if i == 0 else _FREE
            for i, d in enumerate(wanted)
        ]
        if t.dtype.startswith("float"):
            feeds[t.name] = rng.standard_normal(shape).astype(t.dtype)
        else:
            high = 2 if t.dtype == "bool" else 8
            feeds[t.name] = rng.integers(0, high, shape).astype(t.dtype)
    return feeds


def deviations(
    expected: Mapping[str, np.ndarray], got: Mapping[str, np.ndarray]
) -> list[Deviation]:
    """One row per expected output. Raises ArgumentError when an output is missing or misshapen."""
    rows = []
    for name, a in expected.items():
        b = got.get(name)
        if b is None or b.shape != a.shape:
            raise ArgumentError(
                f"output '{name}': expected shape {a.shape}, got {None if b is None else b.shape}"
            )
        x, y = np.asarray(a, np.float64), np.asarray(b, np.float64)
        finite = np.isfinite(x)
        same = np.array_equal(x[~finite], y[~finite], equal_nan=True)
        same = same and bool(np.isfinite(y[finite]).all())
        largest = relative = float("inf")
        if same:
            x, y = x[finite], y[finite]
            largest = float(np.abs(x - y).max(initial=0.0))
            span = float(np.ptp(x)) if x.size else 0.0
            span = span or float(np.abs(x).max(initial=0.0)) or 1.0
            relative = largest / span
        rows.append(Deviation(name, tuple(a.shape), largest, relative))
    return rows


def table(rows: Sequence[Deviation]) -> str:
    """The rows as aligned text."""
    lines = [("output", "shape", "largest deviation", "relative to range")]
    for r in rows:
        shape = "x".join(map(str, r.shape)) or "scalar"
        lines.append((r.output, shape, f"{r.largest:.3g}", f"{r.relative:.3g}"))
    widths = [max(len(line[i]) for line in lines) for i in range(4)]
    return "\n".join(
        "  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def _onnx(path: Path, feeds: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    try:
        import onnxruntime as ort  # type: ignore[import-untyped,unused-ignore]
    except ImportError as e:
        raise NotFoundError(
            "comparing needs the package onnxruntime", hint="pip install onnxruntime"
        ) from e
    options = ort.SessionOptions()
    options.log_severity_level = 3
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    declared = {i.name: list(i.shape) for i in session.get_inputs()}
    fits = all(
        len(declared[n]) == a.ndim
        and all(d == s or not isinstance(d, int) for d, s in zip(declared[n], a.shape, strict=True))
        for n, a in feeds.items()
    )
    if not fits:
        session = ort.InferenceSession(
            _without_shapes(path, list(feeds)), options, providers=["CPUExecutionProvider"]
        )
    names = [o.name for o in session.get_outputs()]
    return dict(zip(names, session.run(names, dict(feeds)), strict=True))


def _without_shapes(path: Path, inputs: Sequence[str]) -> bytes:
    """The model with free input and output dimensions."""
    try:
        import onnx
    except ImportError as e:
        raise NotFoundError(
            "the file declares other input shapes; overriding them needs the package onnx",
            hint="pip install onnx",
        ) from e
    model = onnx.load(str(path))
    for v in [*(i for i in model.graph.input if i.name in inputs), *model.graph.output]:
        for d in v.type.tensor_type.shape.dim:
            d.Clear()
    del model.graph.value_info[:]
    return bytes(model.SerializeToString())


def _tflite(path: Path, feeds: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    try:
        from ai_edge_litert.interpreter import (  # type: ignore[import-untyped,unused-ignore]
            Interpreter,
        )
    except ImportError as e:
        raise NotFoundError(
            "comparing needs the package ai-edge-litert", hint="pip install ai-edge-litert"
        ) from e
    run = Interpreter(model_path=str(path), num_threads=1)
    for d in run.get_input_details():
        if list(d["shape"]) != list(feeds[d["name"]].shape):
            run.resize_tensor_input(d["index"], feeds[d["name"]].shape, strict=False)
    run.allocate_tensors()
    for d in run.get_input_details():
        run.set_tensor(d["index"], feeds[d["name"]])
    run.invoke()
    return {d["name"]: np.array(run.get_tensor(d["index"])) for d in run.get_output_details()}


_RUNTIMES = {"onnx": _onnx, "tflite": _tflite}
