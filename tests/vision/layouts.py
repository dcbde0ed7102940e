"""A picture as files and cameras hold it."""

import numpy as np


def yuv(rgb, format, pad=0):
    """RGB -> the planes of "nv12", "nv21" or "i420", BT.601 limited range, rows padded by `pad`."""
    r, g, b = np.moveaxis(rgb.astype(np.float64), -1, 0)
    y = 16 + (65.481 * r + 128.553 * g + 24.966 * b) / 255
    u = 128 + (-37.797 * r - 74.203 * g + 112.0 * b) / 255
    v = 128 + (112.0 * r - 93.786 * g - 18.214 * b) / 255

    def half(c):
        c = np.pad(c, ((0, c.shape[0] % 2), (0, c.shape[1] % 2)), mode="edge")
        return c.reshape(c.shape[0] // 2, 2, c.shape[1] // 2, 2).mean((1, 3))

    u, v = half(u), half(v)
    if format == "i420":
        planes = [y, u, v]
    else:
        pair = (u, v) if format == "nv12" else (v, u)
        planes = [y, np.stack(pair, -1).reshape(u.shape[0], -1)]
    padded = [np.pad(p.round().astype(np.uint8), ((0, 0), (0, pad))) for p in planes]
    return [np.ascontiguousarray(p) for p in padded]


def stored(upright, orientation):
    """The pixels that a file with this EXIF orientation holds to show `upright`."""
    undo = {
        1: lambda a: a,
        2: lambda a: a[:, ::-1],
        3: lambda a: a[::-1, ::-1],
        4: lambda a: a[::-1],
        5: lambda a: a.transpose(1, 0, 2),
        6: lambda a: a.transpose(1, 0, 2)[::-1],
        7: lambda a: a[::-1, ::-1].transpose(1, 0, 2),
        8: lambda a: a.transpose(1, 0, 2)[:, ::-1],
    }
    return np.ascontiguousarray(undo[orientation](upright))
