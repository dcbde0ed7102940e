"""Do our figures for the peers agree with the peers' own benchmark tools?

    python tests/bench/peer_tools.py MODEL...      zoo names, .onnx or .tflite files

Runs each peer here (`foveal bench`) and in the tool its package ships, turn by turn, and prints
both and their quotient; one thread, but all cores for onnxruntime_test, which knows nothing else
(and tells averages only). The others: litert-benchmark, benchmark_app (OpenVINO). MNN's and ncnn's
packages ship none. Means nothing on a busy machine.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from foveal import bench
from foveal.bench.comparison import source_of

TURNS = 3


def _tool(name: str) -> str:
    return str(Path(sys.executable).parent / name)


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    return done.stdout + done.stderr


def _milliseconds(pattern: str, text: str) -> float:
    found = re.findall(pattern + r" (ms|us)", text)
    if not found:
        raise SystemExit(f"no time in what the tool printed:\n{text[-2000:]}")
    number, unit = found[-1]
    return float(number) * (1 if unit == "ms" else 1e-3)


def _onnxruntime(path: Path) -> float:
    text = _run(_tool("onnxruntime_test"), str(path), "200")  # takes all cores, no option
    return _milliseconds(r"avg latency: ([\d.]+)", text)


def _litert(path: Path) -> float:
    runs = ["--num_threads", "1", "--num_runs", "300", "--warmup_runs", "20"]
    with tempfile.NamedTemporaryFile(suffix=".json") as result:
        tool = _tool("litert-benchmark")
        _run(tool, "--model", str(path), *runs, "--result_json", result.name)
        latency = json.loads(Path(result.name).read_text())["latency"]
    return float(latency["median_ms"])


def _openvino(path: Path) -> float:
    how = "-d CPU -api sync -hint none -nthreads 1 -nstreams 1 -infer_precision f32 -t 3"
    text = _run(_tool("benchmark_app"), "-m", str(path), *how.split())
    return _milliseconds(r"Median:\s+([\d.]+)", text)


def _threads(peer: str) -> int:
    return (os.cpu_count() or 1) if peer == "onnxruntime" else 1


TOOLS: dict[str, Callable[[Path], float]] = {
    "onnxruntime": _onnxruntime,
    "litert": _litert,
    "openvino": _openvino,
}


def main() -> int:
    """Prints one line per model and peer."""
    print(f"{'model':<24}{'peer':<14}{'here ms':>10}{'its tool ms':>14}{'quotient':>10}")
    for model in sys.argv[1:]:
        here: dict[str, list[float]] = {}
        there: dict[str, list[float]] = {}
        for _ in range(TURNS):
            for peer, tool in TOOLS.items():
                count = _threads(peer)
                (row,) = bench.compare(
                    model, against=[peer], threads=[count], rounds=8, fresh=False
                )
                if len(row.entries) > 1 and row.entries[1].timing:
                    here.setdefault(peer, []).append(row.entries[1].timing.median)
                    there.setdefault(peer, []).append(tool(source_of(model)))
        for peer, ours in here.items():
            a, b = statistics.median(ours), statistics.median(there[peer])
            print(f"{Path(model).name:<24}{peer:<14}{a:>10.3f}{b:>14.3f}{a / b:>10.2f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
