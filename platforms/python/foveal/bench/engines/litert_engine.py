"""LiteRT (TensorFlow Lite) with its default XNNPACK delegate."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from foveal.bench.engines.engine import Arrays, Engine, Opened, Source, require


class LiteRt(Engine):
    name = "litert"
    package = "ai-edge-litert"
    formats = ("tflite",)

    def open(self, path: Path, source: Source, threads: int) -> Opened:
        module = require("ai_edge_litert.interpreter", self.package)
        interpreter = module.Interpreter(str(path), num_threads=threads)
        for detail in interpreter.get_input_details():
            wanted = source.feed[detail["name"]].shape
            if tuple(detail["shape"]) != wanted:
                interpreter.resize_tensor_input(detail["index"], wanted)
        interpreter.allocate_tensors()
        for detail in interpreter.get_input_details():
            interpreter.set_tensor(detail["index"], source.feed[detail["name"]])

        def outputs() -> Arrays:
            interpreter.invoke()
            return {
                d["name"]: np.array(interpreter.get_tensor(d["index"]))
                for d in interpreter.get_output_details()
            }

        return Opened(interpreter.invoke, outputs)
