"""MNN's CPU backend, float32 ("precision": high)."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from foveal.bench.engines.engine import Arrays, Engine, Opened, Source, convert, fixed_onnx, require


class Mnn(Engine):
    name = "mnn"
    package = "MNN"
    formats = ("onnx", "tflite")

    def prepare(self, source: Source, folder: Path) -> Path:
        product = folder / "model.mnn"
        tool = Path(sys.executable).parent / "mnnconvert"
        model = fixed_onnx(source, folder) if source.format == "onnx" else source.path
        command = [str(tool), "-f", source.format.upper(), "--modelFile", str(model)]
        return convert([*command, "--MNNModel", str(product), "--bizCode", "b"], folder, product)

    def open(self, path: Path, source: Source, threads: int) -> Opened:
        mnn = require("MNN", self.package)
        interpreter = mnn.Interpreter(str(path))
        session = interpreter.createSession(
            {"numThread": threads, "backend": "CPU", "precision": "high"}
        )
        inputs = interpreter.getSessionInputAll(session)
        for name, tensor in inputs.items():
            interpreter.resizeTensor(tensor, tuple(source.feed[name].shape))
        interpreter.resizeSession(session)
        # Models from TFLite keep NHWC.
        kind = (
            mnn.Tensor_DimensionType_Tensorflow
            if source.format == "tflite"
            else mnn.Tensor_DimensionType_Caffe
        )
        for name, tensor in interpreter.getSessionInputAll(session).items():
            array = np.ascontiguousarray(source.feed[name])
            host = mnn.Tensor(tuple(array.shape), mnn.Halide_Type_Float, array, kind)
            tensor.copyFrom(host)

        def outputs() -> Arrays:
            interpreter.runSession(session)
            found = {}
            for name, tensor in interpreter.getSessionOutputAll(session).items():
                shape = tuple(tensor.getShape())
                host = mnn.Tensor(shape, mnn.Halide_Type_Float, np.zeros(shape, np.float32), kind)
                tensor.copyToHostTensor(host)
                found[name] = np.array(host.getNumpyData(), np.float32).reshape(shape)
            return found

        return Opened(lambda: interpreter.runSession(session), outputs)
