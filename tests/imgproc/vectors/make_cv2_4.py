"""Writes cv2_4.npz: what OpenCV 4.10 computes. Needs opencv-python-headless==4.10.*.

source [45, 60, 3]; map_M [3, 3], indices of the result to indices of the source; for every map,
interpolation ("linear", "nearest") and border ("constant", "replicate", "reflect101"):
M_interpolation_border [20, 24, 3].
"""

from __future__ import annotations

import math
from pathlib import Path

import cv2
import numpy as np

SIZE = (24, 20)
OUTSIDE = (10, 200, 90)
BORDERS = {
    "constant": cv2.BORDER_CONSTANT,
    "replicate": cv2.BORDER_REPLICATE,
    "reflect101": cv2.BORDER_REFLECT_101,
}
INTERPOLATIONS = {"linear": cv2.INTER_LINEAR, "nearest": cv2.INTER_NEAREST}


def turned(degrees: float, zoom: float, x: float, y: float) -> np.ndarray:
    c, s = zoom * math.cos(math.radians(degrees)), zoom * math.sin(math.radians(degrees))
    return np.array([[c, -s, x], [s, c, y], [0, 0, 1]])


def main() -> None:
    assert cv2.__version__.startswith("4.10."), cv2.__version__
    source = np.random.default_rng(410).integers(0, 256, (45, 60, 3), dtype=np.uint8)
    maps = {
        "turned": turned(30, 2.3, 11, -9.3),
        "enlarged": turned(200, 0.41, 35, 40),
        "shifted": np.array([[1, 0, -0.5], [0, 1, 0.25], [0, 0, 1]]),
        "tilted": turned(-20, 1.9, 3, 12),
    }
    maps["tilted"][2, :2] = 0.011, -0.007
    arrays = {"source": source}
    for name, matrix in maps.items():
        arrays[f"map_{name}"] = matrix
        warp, m = (
            (cv2.warpPerspective, matrix) if matrix[2, :2].any() else (cv2.warpAffine, matrix[:2])
        )
        for interpolation, flag in INTERPOLATIONS.items():
            for border, mode in BORDERS.items():
                arrays[f"{name}_{interpolation}_{border}"] = warp(
                    source,
                    m,
                    SIZE,
                    flags=flag | cv2.WARP_INVERSE_MAP,
                    borderMode=mode,
                    borderValue=OUTSIDE,
                )
    np.savez_compressed(Path(__file__).with_name("cv2_4.npz"), **arrays)


if __name__ == "__main__":
    main()
