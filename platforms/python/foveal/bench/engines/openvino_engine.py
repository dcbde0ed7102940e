"""OpenVINO's CPU plugin, latency mode, float32."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from foveal.bench.engines.engine import Arrays, Engine, Opened, Source, contiguous, require


class OpenVino(Engine):
    name = "openvino"
    package = "openvino"
    formats = ("onnx", "tflite")

    def open(self, path: Path, source: Source, threads: int) -> Opened:
        openvino = require("openvino", self.package)
        core = openvino.Core()
        model = core.read_model(str(path))
        model.reshape({name: list(array.shape) for name, array in source.feed.items()})
        compiled = core.compile_model(
            model,
            "CPU",
            {
                "INFERENCE_NUM_THREADS": threads,
                "PERFORMANCE_HINT": "LATENCY",
                "INFERENCE_PRECISION_HINT": "f32",
            },
        )
        request = compiled.create_infer_request()
        feed = contiguous(source.feed)

        def outputs() -> Arrays:
            request.infer(feed, share_inputs=True)
            found: Arrays = {}
            for port in compiled.outputs:
                values = np.array(request.get_tensor(port).data)
                names = sorted(port.get_names())
                found[names[0] if names else str(len(found))] = values
            return found

        return Opened(lambda: request.infer(feed, share_inputs=True), outputs)
