"""Foveal itself, from the .fvm file."""

from __future__ import annotations

from pathlib import Path

from foveal.bench.engines.engine import Engine, Opened, Source


class Foveal(Engine):
    name = "foveal"
    package = "foveal"
    formats = ("fvm", "onnx", "tflite")

    def version(self) -> str:
        import foveal

        return foveal.__version__

    def prepare(self, source: Source, folder: Path) -> Path:
        return source.fvm

    def open(self, path: Path, source: Source, threads: int) -> Opened:
        import foveal

        session = foveal.Session(foveal.load(path), device="cpu", threads=threads)
        for name, array in source.feed.items():
            session.input_view(name, array.shape)[...] = array
        # Outputs come as new arrays, as the peers' Python interfaces give them.
        return Opened(session.run, session.run)
