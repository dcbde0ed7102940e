"""ONNX Runtime's CPU execution provider."""

from __future__ import annotations

from pathlib import Path

from foveal.bench.engines.engine import Engine, Opened, Source, contiguous, fixed_onnx, require


class OnnxRuntime(Engine):
    name = "onnxruntime"
    package = "onnxruntime"
    formats = ("onnx",)

    def prepare(self, source: Source, folder: Path) -> Path:
        return fixed_onnx(source, folder)

    def open(self, path: Path, source: Source, threads: int) -> Opened:
        ort = require("onnxruntime", self.package)
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 4
        session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        feed = contiguous(source.feed)
        names = [output.name for output in session.get_outputs()]

        return Opened(
            lambda: session.run(names, feed),
            lambda: dict(zip(names, session.run(names, feed), strict=True)),
        )
