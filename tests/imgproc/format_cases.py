"""Frames of every pixel format, written from their definitions, and what the twin needs to know."""

from __future__ import annotations

from typing import Any

import numpy as np
from foveal.frame import Frame
from twin import Picture

PACKED = {
    "rgb": ("uint8", "rgb"),
    "bgr": ("uint8", "bgr"),
    "rgba": ("uint8", "rgba"),
    "bgra": ("uint8", "bgra"),
    "rgb16": ("uint16", "rgb"),
    "bgr16": ("uint16", "bgr"),
    "rgbf32": ("float32", "rgb"),
    "bgrf32": ("float32", "bgr"),
}
GRAYS = {"gray": "uint8", "gray_alpha": "uint8", "gray16": "uint16", "grayf32": "float32"}
# log2 of how much smaller chroma is; how it lies: planes in order, or bytes of two pixels
YUVS = {
    "nv12": ((1, 1), ["Y", "UV"]),
    "nv21": ((1, 1), ["Y", "VU"]),
    "i420": ((1, 1), ["Y", "U", "V"]),
    "yv12": ((1, 1), ["Y", "V", "U"]),
    "nv16": ((1, 0), ["Y", "UV"]),
    "nv61": ((1, 0), ["Y", "VU"]),
    "i422": ((1, 0), ["Y", "U", "V"]),
    "i444": ((0, 0), ["Y", "U", "V"]),
    "yuyv": ((1, 0), ["YUYV"]),
    "uyvy": ((1, 0), ["UYVY"]),
    "p010": ((1, 1), ["Y", "UV"]),
    "i010": ((1, 1), ["Y", "U", "V"]),
}
FORMATS = (*PACKED, *GRAYS, *YUVS)
SUBSAMPLED = tuple(name for name, (shift, _) in YUVS.items() if shift != (0, 0))


def noise(shape: tuple[int, ...], dtype: str, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if dtype == "float32":
        return rng.random(shape, dtype=np.float32)
    top = {"uint8": 256, "uint16": 65536, "10 bits": 1024}[dtype]
    return rng.integers(0, top, shape).astype("uint8" if dtype == "uint8" else "uint16")


def level(values: np.ndarray) -> np.ndarray:
    """Stored numbers of grey and RGB as 0..255."""
    scale = {"uint8": 1, "uint16": 255 / 65535, "float32": 255}[values.dtype.name]
    return values.astype(np.float64) * scale


def planes_of(fmt: str, y: np.ndarray, u: np.ndarray, v: np.ndarray) -> list[np.ndarray]:
    """Components (codes) as the format stores them, [rows, elements]."""
    part = {"Y": y, "U": u, "V": v}
    if fmt == "p010":
        part = {k: c << 6 for k, c in part.items()}
    planes = []
    for names in YUVS[fmt][1]:
        if len(names) == 1:
            planes.append(part[names])
        elif len(names) == 2:
            planes.append(np.stack([part[n] for n in names], -1).reshape(len(u), -1))
        else:  # a second Y that nobody sees ends odd rows
            pair = np.full((len(y), 2 * u.shape[1]), 77, np.uint8)
            pair[:, : y.shape[1]] = y
            both = {"U": u, "V": v}
            first, second = pair[:, ::2], pair[:, 1::2]
            luma = iter((first, second))
            planes.append(
                np.stack([next(luma) if n == "Y" else both[n] for n in names], -1).reshape(
                    len(y), -1
                )
            )
    return planes


def build(
    fmt: str,
    width: int,
    height: int,
    *,
    seed: int = 0,
    rotation: int = 0,
    mirror: bool = False,
    color: str = "bt601-limited",
    pad: int = 0,
    visible: tuple[int, int, int, int] | None = None,
    siting: str | None = None,
) -> tuple[Frame, Picture]:
    """A frame of noise with `pad` elements behind every row, and the same for the twin."""
    x, y, w, h = visible or (0, 0, width, height)
    more: dict[str, Any] = {"rotation": rotation, "mirror": mirror, "color": color}
    if fmt in YUVS:
        (sx, sy), _ = YUVS[fmt]
        deep = fmt in ("p010", "i010")
        dtype = "10 bits" if deep else "uint8"
        small = (height + (1 << sy) - 1) >> sy, (width + (1 << sx) - 1) >> sx
        luma = noise((height, width), dtype, seed)
        u, v = noise(small, dtype, seed + 1), noise(small, dtype, seed + 2)
        unit = 4 if deep else 1
        chroma = np.stack([u, v], -1) / unit
        full = np.repeat(np.repeat(chroma, 1 << sy, 0), 1 << sx, 1)[:height, :width]
        data = np.concatenate([luma[..., None] / unit, full], -1)[y : y + h, x : x + w]
        seen = chroma[y >> sy : ((y + h - 1) >> sy) + 1, x >> sx : ((x + w - 1) >> sx) + 1]
        odd = x & ((1 << sx) - 1), y & ((1 << sy) - 1)
        picture = Picture("yuv", data, **more, chroma=seen, shift=(sx, sy), odd=odd)
        picture.siting, picture.deep = siting, deep
        planes = planes_of(fmt, luma, u, v)
    elif fmt in GRAYS:
        pixels = noise((height, width, 2 if "alpha" in fmt else 1), GRAYS[fmt], seed)
        picture = Picture("gray", level(pixels[y : y + h, x : x + w, :1]), **more)
        planes = [pixels.reshape(height, -1)]
    else:
        dtype, order = PACKED[fmt]
        pixels = noise((height, width, len(order)), dtype, seed)
        at = [order.index(c) for c in "rgb"]
        picture = Picture("rgb", level(pixels[y : y + h, x : x + w, at]), **more)
        planes = [pixels.reshape(height, -1)]
    laid_out = []
    for plane in planes:
        wide = np.full((len(plane), plane.shape[1] + pad), 199, plane.dtype)
        wide[:, : plane.shape[1]] = plane
        laid_out.append(wide)
    frame = Frame(
        format=fmt,
        width=width,
        height=height,
        planes=[p.tobytes() for p in laid_out],
        strides=[p.strides[0] for p in laid_out],
        visible=visible,
        siting=siting,
        **more,
    )
    return frame, picture
