"""Frames of every format for the tests, each with what the twin needs to know of it."""

from __future__ import annotations

import numpy as np
from foveal.frame import Frame
from twin import Picture

FORMATS = ("rgb", "bgr", "rgba", "bgra", "gray", "nv12", "nv21", "i420")
YUV = ("nv12", "nv21", "i420")


def noise(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def make(
    fmt: str,
    width: int,
    height: int,
    *,
    seed: int = 0,
    rotation: int = 0,
    mirror: bool = False,
    color: str = "bt601-limited",
    row_pad: int = 0,
) -> tuple[Frame, Picture]:
    """A frame of noise with `row_pad` bytes behind every row, and the same for the twin."""

    def padded(plane: np.ndarray) -> np.ndarray:
        flat = plane.reshape(len(plane), -1)
        wide = np.full((len(flat), flat.shape[1] + row_pad), 199, np.uint8)
        wide[:, : flat.shape[1]] = flat
        return wide

    if fmt in YUV:
        half = (height + 1) // 2, (width + 1) // 2
        y, u, v = noise((height, width), seed), noise(half, seed + 1), noise(half, seed + 2)
        full = [np.repeat(np.repeat(c, 2, 0), 2, 1)[:height, :width] for c in (u, v)]
        picture = Picture("yuv", np.stack([y, *full], -1), rotation, mirror, color)
        if fmt == "i420":
            planes = [y, u, v]
        else:
            planes = [y, np.stack([u, v] if fmt == "nv12" else [v, u], -1)]
    elif fmt == "gray":
        pixels = noise((height, width), seed)
        picture = Picture("gray", pixels[..., None], rotation, mirror)
        planes = [pixels]
    else:
        pixels = noise((height, width, len(fmt)), seed)
        order = [fmt.index(c) for c in "rgb"]
        picture = Picture("rgb", pixels[..., order], rotation, mirror)
        planes = [pixels]
    frame = Frame(
        format=fmt,
        width=width,
        height=height,
        planes=[padded(p) for p in planes],
        rotation=rotation,
        mirror=mirror,
        color=color,
    )
    return frame, picture
