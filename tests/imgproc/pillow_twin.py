"""What Pillow's Image.resize computes on 8-bit pictures, in numpy and whole numbers: Pillow 13, and
Pillow before it. Arrays are [height, width, channels]."""

from __future__ import annotations

import math

import numpy as np

BITS = 22  # behind the point of a weight
Box = tuple[float, float, float, float]


def kernel(name: str, x: float) -> float:
    if name == "area":  # Resampling.BOX
        return float(-0.5 < x <= 0.5)
    if name == "lanczos3":
        return sinc(x) * sinc(x / 3) if -3 <= x < 3 else 0.0
    x = abs(x)
    if name == "bilinear":
        return max(1 - x, 0.0)
    if x < 1:
        return (1.5 * x - 2.5) * x * x + 1
    return (((x - 5) * x + 8) * x - 4) * -0.5 if x < 2 else 0.0


def sinc(x: float) -> float:
    return math.sin(x * math.pi) / (x * math.pi) if x else 1.0


RADIUS = {"area": 0.5, "bilinear": 1, "bicubic": 2, "lanczos3": 3}


def taps(name: str, size: int, begin: float, end: float, n: int) -> list[tuple[int, list[int]]]:
    """First pixel and weights of every result pixel along one axis."""
    low, high = np.float32(begin), np.float32(end)
    scale = float(high - low) / n
    stretch = max(scale, 1.0)
    support = RADIUS[name] * stretch
    made = []
    for d in range(n):
        centre = float(low) + (d + 0.5) * scale
        first, last = (int(centre + side * support + 0.5) for side in (-1, 1))
        first, last = max(first, 0), min(last, size)
        weights = [kernel(name, (i - centre + 0.5) * (1 / stretch)) for i in range(first, last)]
        total = 0.0
        for w in weights:
            total += w
        shares = [w / total if total else 0.0 for w in weights]
        made.append((first, [int(w * (1 << BITS) + math.copysign(0.5, w)) for w in shares]))
    return made


def along(image: np.ndarray, columns: list[tuple[int, list[int]]]) -> np.ndarray:
    """One pass over the columns, rounded half up to bytes."""
    height, _, channels = image.shape
    out = np.empty((height, len(columns), channels), np.uint8)
    for d, (first, weights) in enumerate(columns):
        window = image[:, first : first + len(weights)].astype(np.int64)
        total = np.einsum("hkc,k->hc", window, np.array(weights, np.int64)) + (1 << (BITS - 1))
        out[:, d] = np.clip(total >> BITS, 0, 255)
    return out


def nearest(image: np.ndarray, width: int, height: int, box: Box) -> np.ndarray:
    found = []
    for i, n in enumerate((width, height)):
        low, high = np.float32(box[i]), np.float32(box[i + 2])
        step = float(high - low) / n
        at, index = float(low) + step * 0.5, []
        for _ in range(n):
            index.append(int(at))
            at += step
        found.append(index)
    return image[np.ix_(found[1], found[0])]


def resize(
    image: np.ndarray,
    width: int,
    height: int,
    name: str,
    box: Box | None = None,
    profile: str = "pillow",
) -> np.ndarray:
    """Image.resize((width, height), name, box)."""
    h, w, _ = image.shape
    box = box or (0, 0, w, h)
    if name == "nearest":
        return nearest(image, width, height, box)
    columns = taps(name, w, box[0], box[2], width)
    rows = taps(name, h, box[1], box[3], height)
    vertical_first = profile == "pillow" and height < h and h - height > 2 * (w - width)
    if vertical_first:
        return along(along(image.swapaxes(0, 1), rows).swapaxes(0, 1), columns)
    return along(along(image, columns).swapaxes(0, 1), rows).swapaxes(0, 1)


def luma(image: np.ndarray) -> np.ndarray:
    """Image.convert("L")."""
    r, g, b = (image[..., i].astype(np.int64) for i in range(3))
    gray: np.ndarray = (19595 * r + 38470 * g + 7471 * b + (1 << 15)) >> 16
    return gray.astype(np.uint8)[..., None]


def fit_box(w: int, h: int, width: int, height: int) -> Box:
    """The box of ImageOps.fit, centred."""
    seen, wanted = w / h, width / height
    bw, bh = (wanted * h, h) if seen > wanted else (w, w / wanted) if seen < wanted else (w, h)
    x, y = (w - bw) * 0.5, (h - bh) * 0.5
    return x, y, x + bw, y + bh
