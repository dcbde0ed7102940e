"""From a camera's frame to boxes: our detector, and OpenCV's preprocessing with LiteRT alone."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np

import foveal
from foveal.bench.comparison import Entry, Row, source_of
from foveal.bench.engines.engine import require
from foveal.bench.imgproc.cases import Case, Picture, ring, ring_bytes
from foveal.bench.imgproc.peers.opencv_peer import stacked
from foveal.bench.measure import interleave, ratio, timing
from foveal.errors import FovealError

NAME = "camera"
TITLE = "1080p NV12 to faces (BlazeFace)"
MODEL = "face"
PEER = "opencv + litert"


def row(threads: int, timed: dict[str, Any]) -> Row:
    """Frame to boxes against what people write first, up to the model's raw outputs only: its
    decoding and suppression come on top of the peer's time. A part that is missing is a problem."""
    runs: dict[str, Callable[[], object]] = {}
    problems: dict[str, str] = {}
    pictures = ring(Case("", "", "nv12", 1920, 1080, (128, 128)), ring_bytes())
    for name, make in (("foveal", _ours), (PEER, _theirs)):
        try:
            run = make(pictures, threads)
            run()
            runs[name] = run
        except Exception as error:  # not installed, no network: a result
            text = error.message if isinstance(error, FovealError) else str(error)
            problems[name] = (text or type(error).__name__).splitlines()[0][:200]
    times = interleave(runs, **timed)
    entries = []
    for name in ("foveal", PEER):
        version = foveal.__version__ if name == "foveal" else ""
        if name in problems:
            entries.append(Entry(name, version, problem=problems[name]))
            continue
        both = name == PEER and "foveal" in times
        compared = ratio(times["foveal"], times[PEER]) if both else None
        entries.append(Entry(name, version, timing(times[name]), compared))
    return Row(TITLE, {}, threads, entries)


def _ours(pictures: list[Picture], threads: int) -> Callable[[], object]:
    detector = foveal.vision.Detector(MODEL, threads=threads)
    case = Case("", "", "nv12", 1920, 1080, (128, 128))
    frames = [picture.frame(case) for picture in pictures]
    numbers = count()
    return lambda: detector(frames[next(numbers) % len(frames)])


def _theirs(pictures: list[Picture], threads: int) -> Callable[[], object]:
    cv2 = require("cv2", "opencv-python")
    module = require("ai_edge_litert.interpreter", "ai-edge-litert")
    cv2.setNumThreads(threads)
    interpreter = module.Interpreter(str(source_of(MODEL)), num_threads=threads)
    interpreter.allocate_tensors()
    (detail,) = interpreter.get_input_details()
    outputs = [one["index"] for one in interpreter.get_output_details()]
    _, height, width, _ = detail["shape"]
    case = Case("", "", "nv12", 1920, 1080, (int(width), int(height)), letterbox=True)
    left, top, inner_width, inner_height = case.inner
    bars = (top, height - top - inner_height, left, width - left - inner_width)
    sources = [stacked(case, picture) for picture in pictures]
    numbers = count()

    def run() -> Any:
        pixels = cv2.cvtColor(sources[next(numbers) % len(sources)], cv2.COLOR_YUV2RGB_NV12)
        pixels = cv2.resize(pixels, (inner_width, inner_height))
        pixels = cv2.copyMakeBorder(pixels, *bars, cv2.BORDER_CONSTANT)
        tensor = pixels.astype(np.float32) * np.float32(1 / 127.5) - np.float32(1)
        interpreter.set_tensor(detail["index"], tensor[None])
        interpreter.invoke()
        return [interpreter.get_tensor(index) for index in outputs]

    return run
