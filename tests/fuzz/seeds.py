"""What fuzzing starts from, made by the product itself: small valid files and texts per format.

`python tests/fuzz/seeds.py FOLDER` writes one folder per libFuzzer target, and words.dict, the
words that specifications are made of.
"""

from __future__ import annotations

import json
import random
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[1]
MODEL_BYTES = 6000  # mutations of long weights find nothing


def models() -> list[bytes]:
    """.fvm files: the smallest case of every operator, and nets of several."""
    from foveal.conformance.execute import Builder
    from foveal.conformance.kit import load_tables

    found = []
    memory = Path("/dev/shm")  # saving waits for the disk
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        path = Path(folder) / "model.fvm"
        for suite in load_tables():
            small: list[bytes] = []
            for case in suite:
                built = Builder(case, case.net.feeds(case.seed), "plain")
                built.graph.set_meta("labels", '["a", "b"]')
                built.graph.save(str(path))
                if path.stat().st_size <= MODEL_BYTES:
                    small.append(path.read_bytes())
            found += sorted(small, key=len)[
                :: 1 if suite.op == "chains" else max(1, len(small) // 2)
            ]
    return found


def onnx_files() -> list[bytes]:
    return _convert_files(".onnx")


def tflite_files() -> list[bytes]:
    return _convert_files(".tflite")


def _convert_files(suffix: str) -> list[bytes]:
    sys.path[:0] = [str(TESTS / "convert"), str(TESTS / "models")]
    from test_damaged_files import FILES

    return [data for name, data in sorted(FILES.items()) if name.endswith(suffix)]


def pipelines() -> list[str]:
    specs: list[dict[str, Any]] = [
        {"size": [16, 12]},
        {"size": [9, 21], "sample": {"k": "nearest"}, "color": "BGR", "orient": "none"},
        {"size": [20, 20], "fit": {"k": "letterbox", "policy": "ultralytics", "pad": 114}},
        {"size": [20, 20], "fit": {"k": "letterbox", "policy": "yolox", "pad": [1, 2, 3]}},
        {"size": [24, 24], "roi": "per_call", "border": {"k": "constant", "v": [9, 8, 7]}},
        {"size": [13, 13], "fit": {"k": "cover"}, "norm": {"scale": 0.01, "mean": [1, 2, 3]}},
        {"size": [8, 8], "color": "GRAY", "norm": {"scale": 1, "mean": 0.5, "std": 0.5}},
        {"size": [7, 5], "fit": {"k": "matrix", "m": [1, 0.1, 2, -0.1, 1, 3, 0, 0, 1]}},
        {"size": [7, 5], "yuv": {"matrix": "bt709", "range": "full", "chroma": "replicate"}},
        {"size": [6, 6], "sample": {"k": "bilinear", "antialias": False, "grid": "align_corners"}},
        {"size": [6, 6], "intermediate": "u8", "profile": "fast", "orient": 90},
        {"size": {"k": "sides", "min": 20, "max": 64, "multiple": 8}},
        {"size": {"k": "sides", "min": 1, "max": 9}, "roi": "per_call", "color": "BGR"},
        {"size": {"k": "strip", "height": 8, "width": [8, 60], "multiple": 4}, "roi": "per_call"},
    ]
    return [json.dumps(s) for s in specs] + [json.dumps(e["pipeline"]) for e in _zoo("pipeline")]


def decoders() -> list[str]:
    anchors = {"size": [32, 32], "strides": [8, 16], "fixed_anchor_size": True}
    ssd = {"decoder": 1, "kind": "ssd", "boxes": "b", "scores": "s", "anchors": anchors}
    specs: list[dict[str, Any]] = [
        {**ssd, "coding": "mediapipe", "points": 2, "scale": [32, 32, 32, 32], "min_score": 0},
        {**ssd, "coding": "tf", "activation": "none", "background": 0, "nms": {"k": "none"}},
        {"decoder": 1, "kind": "centerface", "heatmap": "h", "scale": "s", "offset": "o",
         "landmarks": "l", "stride": 4, "min_score": 0.1},
        {"kind": "yolov8", "output": "o", "min_score": 0.1},
        {"kind": "yolov8", "output": "o", "classes": 3, "points": 2, "layout": "channels_last",
         "scores": "sigmoid", "nms": {"k": "none"}},
        {"kind": "yolox", "output": "o", "strides": [8, 16], "size": [32, 32], "min_score": 0},
        {"kind": "yolox", "output": "o", "scores": "sigmoid"},
        *({"kind": "classes", "output": "o", "activation": a, "top": 3}
          for a in ("softmax", "sigmoid", "none")),
        {"kind": "text_boxes", "output": "o", "threshold": 0.2, "min_score": 0.1, "unclip": 1.5,
         "min_side": 1},
        {"kind": "text_boxes", "output": "o", "dilate": False, "max_detections": 3},
        {"kind": "ctc", "output": "o"},
        {"kind": "ctc", "output": "o", "blank": 2, "axis": -2, "activation": "softmax"},
        {"kind": "landmarks", "landmarks": "l", "points": 4, "values": 3, "presence": "p",
         "presence_activation": "sigmoid", "label": "h", "min_score": 0},
        {"kind": "landmarks", "landmarks": "l", "points": 2, "values": 5, "scale": [32, 32],
         "visibility_activation": "sigmoid"},
        *({"kind": "mask", "output": "o", "channel": 1, "activation": a, "layout": layout}
          for a in ("none", "sigmoid", "softmax") for layout in ("nhwc", "nchw")),
    ]  # fmt: skip
    specs = [{"decoder": 1, **s} for s in specs]
    return [json.dumps(s) for s in specs] + [json.dumps(e["decoder"]) for e in _zoo("decoder")]


def roi_rules() -> list[str]:
    rules: list[dict[str, Any]] = [
        {"roi": 1, "hull": "box", "scale": [1.5, 1.5], "square": "long"},
        {"roi": 1, "hull": "points", "points": [0, 1, 2], "shift": [0, -0.1], "scale": [2, 2]},
        {"roi": 1, "hull": "points", "rotation": {"from": [0], "to": [1, 2], "degrees": 90}},
        {"roi": 1, "hull": "circle", "rotation": {"from": [0], "to": [1], "degrees": 90}},
    ]
    return [json.dumps(r) for r in rules]


def tasks() -> list[str]:
    return [json.dumps(e["task"]) for e in _zoo("task")]


def _zoo(member: str) -> list[dict[str, Any]]:
    import foveal

    files = sorted((Path(foveal.__file__).parent / "zoo" / "models").glob("*.json"))
    entries = [json.loads(f.read_text("utf-8")) for f in files]
    return [e for e in entries if member in e]


def words() -> list[str]:
    """Keys and values that the sources of the specifications compare with."""
    imgproc = TESTS.parent / "imgproc"
    found: set[str] = set()
    for path in [
        *imgproc.glob("*.cc"),
        *imgproc.glob("decode/*.cc"),
        *imgproc.glob("geometry/*.cc"),
        TESTS.parent / "platforms" / "python" / "foveal" / "vision" / "task_spec.py",
    ]:
        found |= set(re.findall(r'"([A-Za-z_][A-Za-z_0-9]{1,40})"', path.read_text("utf-8")))
    return sorted(found)


FORMATS: dict[str, Callable[[], list[bytes] | list[str]]] = {
    "fvm": models,
    "onnx": onnx_files,
    "tflite": tflite_files,
    "pipeline": pipelines,
    "decoder": decoders,
    "roi_rule": roi_rules,
    "task": tasks,
}
# libFuzzer target -> (format, bytes of decisions behind the text)
TARGETS = {
    "model_fuzz": ("fvm", 0),
    "pipeline_fuzz": ("pipeline", 64),
    "decoder_fuzz": ("decoder", 512),
    "roi_rule_fuzz": ("roi_rule", 256),
}


def main() -> None:
    folder = Path(sys.argv[1])
    rng = random.Random(1)

    def put(target: str, index: int, data: bytes) -> None:
        (folder / target).mkdir(parents=True, exist_ok=True)
        (folder / target / f"seed{index:03}").write_bytes(data)

    for target, (kind, decisions) in TARGETS.items():
        for i, seed in enumerate(FORMATS[kind]()):
            if isinstance(seed, bytes):
                put(target, i, seed)
            else:
                put(target, i, seed.encode() + b"\0" + rng.randbytes(decisions))
    for i in range(40):
        put("frame_fuzz", i, rng.randbytes(300))
    if "--importers" in sys.argv:  # needs the packages of the tests
        for kind in ("onnx", "tflite"):
            for i, seed in enumerate(FORMATS[kind]()):
                assert isinstance(seed, bytes)
                put(kind, i, seed)
    numbers = ["-1", "0", "0.5", "1e308", "1e-320", "16384", "2147483648"]
    entries = [f'\\"{w}\\"' for w in words()] + numbers + list("{}[]:,") + ["true", "false", "null"]
    (folder / "words.dict").write_text("".join(f'"{e}"\n' for e in entries), "utf-8")


if __name__ == "__main__":
    main()
