"""Writes torch_vectors.npz: what torch.nn.functional.interpolate makes of seeded noise.

Run by hand where torch is installed; the tests read the file. Made with torch 2.14 on x86-64. 400
pixels of every result are kept, at places that follow from the case as well.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

CASES = [((131, 97), (57, 41)), ((1888, 1062), (312, 296)), ((37, 23), (61, 59))]
CASES += [((640, 362), (600, 350))]
MODES = [("bilinear", True), ("bilinear", False), ("bicubic", True), ("bicubic", False)]
CORNERS = ["bilinear", "bicubic"]  # align_corners, which torch has without antialias only
FILE = Path(__file__).with_name("torch_vectors.npz")


def picture(case: int) -> np.ndarray:
    (width, height), _ = CASES[case]
    return np.random.default_rng(case).integers(0, 256, (height, width), dtype=np.uint8)


def places(case: int) -> np.ndarray:
    _, (width, height) = CASES[case]
    every = np.arange(width * height)
    some = np.random.default_rng(100 + case).permutation(width * height)[:396]
    return np.concatenate([every[[0, width - 1, -width, -1]], some])


def main() -> None:
    import torch

    kept = {}
    for case, (_, (width, height)) in enumerate(CASES):
        pixels = torch.from_numpy(picture(case))[None, None]
        for mode, antialias in MODES:
            for name, tensor in (("f32", pixels.float()), ("u8", pixels)):
                out = torch.nn.functional.interpolate(
                    tensor, (height, width), mode=mode, antialias=antialias, align_corners=False
                )
                kept[f"{case}_{mode}_{antialias}_{name}"] = out.numpy().ravel()[places(case)]
        for mode in CORNERS:
            for name, tensor in (("f32", pixels.float()), ("u8", pixels)):
                out = torch.nn.functional.interpolate(
                    tensor, (height, width), mode=mode, align_corners=True
                )
                kept[f"{case}_{mode}_corners_{name}"] = out.numpy().ravel()[places(case)]
    np.savez_compressed(FILE, **kept)


if __name__ == "__main__":
    main()
