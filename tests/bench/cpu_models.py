"""Latency beside the source runtimes: one process, rounds interleaved, medians, ratios.

    python -m tests.bench.cpu_models [--threads 1] [--rounds 15] [name ...]

Runs every architecture of ``tests/models/zoo_arch.py`` and the four zoo models. A ratio above 1
means that Foveal is slower.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import foveal as fv
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "models"))

Run = Callable[[], object]
SLICE_S = 0.06  # how long one engine runs before the next one's turn


def onnxruntime_run(path: Path, feed: dict[str, np.ndarray], threads: int) -> Run:
    import onnx
    import onnxruntime as ort

    # Some exporters declare the shapes of their example input; onnxruntime insists on them.
    source = onnx.load(str(path))
    for value in source.graph.input:
        if value.name in feed:
            declared = value.type.tensor_type.shape.dim
            for dim, size in zip(declared, feed[value.name].shape, strict=True):
                dim.dim_value = size
    for value in source.graph.output:
        value.type.tensor_type.ClearField("shape")
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    session = ort.InferenceSession(
        source.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return lambda: session.run(None, feed)


def litert_run(path: Path, feed: dict[str, np.ndarray], threads: int) -> Run:
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(str(path), num_threads=threads)
    interpreter.allocate_tensors()
    for detail in interpreter.get_input_details():
        interpreter.set_tensor(detail["index"], feed[detail["name"]])
    return interpreter.invoke


def foveal_run(model: fv.Model, feed: dict[str, np.ndarray], threads: int) -> Run:
    session = fv.Session(model, device="cpu", threads=threads)
    for name, array in feed.items():
        session.input_view(name, array.shape)[...] = array
    return session.run  # outputs come as new arrays, as the peers give them


def interleaved(runs: dict[str, Run], rounds: int) -> dict[str, float]:
    """Median milliseconds per engine."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for run in runs.values():
        for _ in range(3):
            run()
    for _ in range(rounds):
        for name, run in runs.items():
            end = time.perf_counter() + SLICE_S
            while True:
                start = time.perf_counter()
                run()
                now = time.perf_counter()
                times[name].append((now - start) * 1e3)
                if now > end:
                    break
    return {name: statistics.median(t) for name, t in times.items()}


def models(folder: Path) -> dict[str, Path]:
    """Name → source file of everything that can be timed."""
    import onnx
    import zoo_arch

    found = {}
    for name in zoo_arch.ARCHITECTURES:
        found[name] = folder / f"{name}.onnx"
        onnx.save(zoo_arch.build(name, 320 if name == "yolov8n" else 224), str(found[name]))
    for name in ("face", "face-full-range", "face-center", "objects"):
        found[name] = fv.zoo.get(name)
    return found


class Comparison(NamedTuple):
    """Median milliseconds; ratio > 1 means that Foveal is slower."""

    foveal: float
    peer: float
    ratio: float
    peer_name: str


def compare(name: str, path: Path, threads: int, rounds: int) -> Comparison:
    """Times one model beside its source runtime on the same random input."""
    model = fv.load(name if name in fv.zoo.names() else path)
    rng = np.random.default_rng(0)
    feed = {}
    for t in model.inputs:
        shape = [d if isinstance(d, int) else 640 for d in t.shape]
        feed[t.name] = rng.standard_normal(shape).astype(t.dtype)
    tflite = path.suffix == ".tflite" or path.read_bytes()[4:8] == b"TFL3"
    peer_name = "litert" if tflite else "onnxruntime"
    peer = litert_run if tflite else onnxruntime_run
    ms = interleaved(
        {"foveal": foveal_run(model, feed, threads), "peer": peer(path, feed, threads)}, rounds
    )
    return Comparison(ms["foveal"], ms["peer"], ms["foveal"] / ms["peer"], peer_name)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=15)
    args = parser.parse_args()
    head = f"{'model':<20}{'foveal ms':>12}{'peer ms':>12}{'ratio':>8}"
    print(f"{head}  peer, {args.threads} thread(s)")
    with tempfile.TemporaryDirectory() as folder:
        for name, path in models(Path(folder)).items():
            if args.names and name not in args.names:
                continue
            c = compare(name, path, args.threads, args.rounds)
            row = f"{name:<20}{c.foveal:>12.3f}{c.peer:>12.3f}{c.ratio:>8.2f}"
            print(f"{row}  {c.peer_name}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
