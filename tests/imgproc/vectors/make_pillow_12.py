"""Writes pillow_12.npz: what Pillow 12 computes. Needs pillow==12.*.

Pictures [height, width, 3] "wide" and "tall"; for both, every filter ("bilinear", "bicubic",
"lanczos3", "area", "nearest") and size: PICTURE_FILTER_WIDTHxHEIGHT.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import PIL
from PIL import Image

FILTERS = {
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "lanczos3": Image.Resampling.LANCZOS,
    "area": Image.Resampling.BOX,
    "nearest": Image.Resampling.NEAREST,
}
SIZES = ((19, 13), (31, 9), (26, 33))


def main() -> None:
    assert PIL.__version__.startswith("12."), PIL.__version__
    rng = np.random.default_rng(12)
    arrays = {
        "wide": rng.integers(0, 256, (31, 43, 3), dtype=np.uint8),
        "tall": rng.integers(0, 256, (59, 23, 3), dtype=np.uint8),
    }
    for picture, source in list(arrays.items()):
        for name, filter_ in FILTERS.items():
            for size in SIZES:
                resized = Image.fromarray(source).resize(size, filter_)
                arrays[f"{picture}_{name}_{size[0]}x{size[1]}"] = np.asarray(resized)
    np.savez_compressed(Path(__file__).with_name("pillow_12.npz"), **arrays)


if __name__ == "__main__":
    main()
