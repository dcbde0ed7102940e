"""ncnn, float32, models converted with pnnx."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np

from foveal.bench.engines.engine import Arrays, Engine, Opened, Source, convert, fixed_onnx, require
from foveal.errors import UnsupportedOpError


class Ncnn(Engine):
    name = "ncnn"
    package = "ncnn"
    formats = ("onnx",)

    def prepare(self, source: Source, folder: Path) -> Path:
        if any(array.shape[0] != 1 for array in source.feed.values()):
            raise UnsupportedOpError("ncnn runs one picture at a time, the input has a batch")
        shutil.copy(fixed_onnx(source, folder), folder / "model.onnx")
        shapes = ",".join(
            "[" + ",".join(map(str, array.shape)) + "]" for array in source.feed.values()
        )
        tool = Path(sys.executable).parent / "pnnx"
        command = [str(tool), "model.onnx", f"inputshape={shapes}", "fp16=0"]
        return convert(command, folder, folder / "model.ncnn.param")

    def open(self, path: Path, source: Source, threads: int) -> Opened:
        ncnn = require("ncnn", self.package)
        net = ncnn.Net()
        net.opt.num_threads = threads
        net.opt.use_fp16_packed = net.opt.use_fp16_storage = net.opt.use_fp16_arithmetic = False
        net.opt.use_bf16_storage = False
        if net.load_param(str(path)) or net.load_model(str(path.with_suffix(".bin"))):
            raise UnsupportedOpError("ncnn does not load what pnnx made of the model")
        arrays = [np.ascontiguousarray(array[0]) for array in source.feed.values()]
        inputs = [
            (name, ncnn.Mat(array).clone())
            for name, array in zip(net.input_names(), arrays, strict=True)
        ]
        names = net.output_names()

        def run() -> Arrays:
            extractor = net.create_extractor()
            for name, mat in inputs:
                extractor.input(name, mat)
            return {name: extractor.extract(name)[1] for name in names}

        def outputs() -> Arrays:
            return {name: np.array(mat)[None] for name, mat in run().items()}

        return Opened(run, outputs)
