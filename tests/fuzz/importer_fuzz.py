"""Coverage-guided fuzzing of the importers, which are Python: needs atheris.

    python tests/fuzz/importer_fuzz.py onnx|tflite [libFuzzer options and corpus folders]

A typed error or a graph that builds is right; anything else is a finding.
"""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["foveal.convert", "foveal.graph", "foveal.optimize"]):
    from foveal.convert import convert as _convert  # loads all of its parts
    from foveal.convert import onnx, tflite

from foveal.errors import FovealError

IMPORTERS = {"onnx": onnx, "tflite": tflite}


def main() -> None:
    importer = IMPORTERS[sys.argv.pop(1)]

    def one(data: bytes) -> None:
        if not importer.sniff(data[:64]):
            return
        try:
            _convert(data).build()
        except FovealError as e:
            assert str(e), "an error without text"

    atheris.Setup(sys.argv, one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
