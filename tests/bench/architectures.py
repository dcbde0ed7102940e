"""Writes the random-weight architectures of `tests/models/zoo_arch.py` as ONNX files.

python tests/bench/architectures.py FOLDER [NAME...]
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "models"))


def write(folder: Path, names: list[str] | None = None) -> dict[str, Path]:
    """Name → file."""
    import onnx
    import zoo_arch

    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    for name in names or list(zoo_arch.ARCHITECTURES):
        found[name] = folder / f"{name}.onnx"
        onnx.save(zoo_arch.build(name, 320 if name == "yolov8n" else 224), str(found[name]))
    return found


if __name__ == "__main__":
    write(Path(sys.argv[1]), sys.argv[2:])
