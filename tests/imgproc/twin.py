"""The image pipeline, obviously correct: float64, one tap at a time, no tables, no fast paths.

Written from the specification (imgproc/README.md), not from the C++ code. `run` takes a spec (a
dict), a frame (`Picture`) and a ROI, and returns [H, W, C] float64.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

DEFAULTS: dict[str, Any] = {
    "color": "RGB",
    "orient": "frame",
    "fit": {"k": "stretch"},
    "sample": {"k": "bilinear"},
    "border": {"k": "replicate"},
    "yuv": {},
    "norm": {},
    "intermediate": "f32",
}
KR_KB = {"bt601": (0.299, 0.114), "bt709": (0.2126, 0.0722), "bt2020": (0.2627, 0.0593)}


@dataclass
class Picture:
    """Full-size components [h, w, n], sensor orientation, 0..255. kind: "rgb", "gray" or "yuv".

    chroma: the samples U and V [rows, columns, 2] as stored, for linear chroma; shift: log2 of how
    many pixels one stands for along x and y; odd: pixels of the first one that are not visible.
    deep: 10-bit codes, divided by four.
    """

    kind: str
    data: np.ndarray
    rotation: int = 0
    mirror: bool = False
    color: str = "bt601-limited"
    chroma: np.ndarray | None = None
    shift: tuple[int, int] = (0, 0)
    odd: tuple[int, int] = (0, 0)
    siting: str | None = None
    deep: bool = False


def upright(data: np.ndarray, rotation: int, mirror: bool) -> np.ndarray:
    """np.rot90 turns counterclockwise; the mirror comes after the rotation."""
    data = np.rot90(data, -rotation // 90)
    return data[:, ::-1] if mirror else data


def yuv_to_rgb(yuv: np.ndarray, color: str) -> np.ndarray:
    """From kr and kb: R = Y + 2(1-kr) V, B = Y + 2(1-kb) U, Y = kr R + kg G + kb B. No clamp."""
    matrix, range_ = color.split("-")
    kr, kb = KR_KB[matrix]
    y, u, v = yuv[..., 0], yuv[..., 1] - 128, yuv[..., 2] - 128
    if range_ == "limited":
        y, u, v = (y - 16) * 255 / 219, u * 255 / 224, v * 255 / 224
    r, b = y + 2 * (1 - kr) * v, y + 2 * (1 - kb) * u
    return np.stack([r, (y - kr * r - kb * b) / (1 - kr - kb), b], -1)


def rgb_to_yuv(rgb: np.ndarray, color: str) -> np.ndarray:
    """Y = kr R + kg G + kb B; U, V = (B - Y) / 2(1-kb), (R - Y) / 2(1-kr) around 128. No clamp."""
    matrix, range_ = color.split("-")
    kr, kb = KR_KB[matrix]
    r, g, b = (rgb[..., i] for i in range(3))
    y = kr * r + (1 - kr - kb) * g + kb * b
    u, v = (b - y) / (2 * (1 - kb)), (r - y) / (2 * (1 - kr))
    if range_ == "limited":
        y, u, v = 16 + y * 219 / 255, u * 224 / 255, v * 224 / 255
    return np.stack([y, 128 + u, 128 + v], -1)


def chroma_at(picture: Picture, siting: str, x: float, y: float) -> list[float]:
    """Sensor position (x, y) in the plane of chroma samples."""
    at = []
    for axis, p in enumerate((x, y)):
        if picture.shift[axis] == 0:
            at.append(p)
            continue
        # Sample c is the centre of its pixels 2c and 2c + 1, or that of the first one.
        co_sited = siting == "top_left" or (siting == "left" and axis == 0)
        at.append((p + picture.odd[axis] - (0.5 if co_sited else 1)) / 2 + 0.5)
    return at


def linear_chroma(picture: Picture, siting: str, x: float, y: float) -> np.ndarray:
    """U and V at sensor position (x, y): between the centres of samples, clamped to them."""
    return sample(picture.chroma, *chroma_at(picture, siting, x, y), False, None)


def sensor(picture: Picture, rotation: int, mirror: bool, x: float, y: float) -> list[float]:
    """Upright to sensor position."""
    h, w = picture.data.shape[:2]
    if mirror:
        x = (h if rotation % 180 else w) - x
    return {0: [x, y], 90: [y, h - x], 180: [w - x, h - y], 270: [w - y, x]}[rotation]


def linear_sampler(spec: dict[str, Any], picture: Picture, border: Any) -> Any:
    """Gives the colour at an upright position: luma tap by tap, chroma where it belongs."""
    rotation, mirror = orientation(spec, picture)
    siting = spec["yuv"].get("siting", "frame")
    siting = picture.siting if siting == "frame" else siting
    nearest = spec["sample"]["k"] == "nearest"
    luma = upright(picture.data[..., :1].astype(np.float64), rotation, mirror)
    h, w, _ = luma.shape

    def value(x: float, y: float) -> np.ndarray:
        inside = 1.0
        if border is not None:
            inside = sample(np.ones((h, w, 1)), x, y, nearest, [0.0])[0]
        light = sample(luma, x, y, nearest, None if border is None else [0.0])[0]
        if inside == 0:
            return np.asarray(border)
        if nearest:  # the picture's pixel, as its centre sees chroma
            x = min(max(math.floor(x + 2**-20), 0), w - 1) + 0.5
            y = min(max(math.floor(y + 2**-20), 0), h - 1) + 0.5
        u, v = linear_chroma(picture, siting, *sensor(picture, rotation, mirror, x, y))
        pixel = Picture("yuv", np.array([[[light / inside, u, v]]]), 0, False, picture.color)
        pixel.deep = picture.deep
        color = to_color(pixel, spec)[0, 0]
        return color if border is None else inside * color + (1 - inside) * np.asarray(border)

    return value


def orientation(spec: dict[str, Any], picture: Picture) -> tuple[int, bool]:
    orient = spec["orient"]
    if orient == "frame":
        return picture.rotation, picture.mirror
    return (0 if orient == "none" else orient), False


def to_color(picture: Picture, spec: dict[str, Any]) -> np.ndarray:
    """Components in the tensor's colour. Linear, so it may stand before the sampling; no clamp."""
    data = picture.data.astype(np.float64)
    if picture.kind == "yuv":
        matrix, range_ = picture.color.split("-")
        matrix = {"frame": matrix}.get(m := spec["yuv"].get("matrix", "frame"), m)
        range_ = {"frame": range_}.get(r := spec["yuv"].get("range", "frame"), r)
        if picture.deep and range_ == "full":  # 1023 is white, 512 no colour
            data = (data * 4 - [0, 512, 512]) * 255 / 1023 + [0, 128, 128]
        to = spec["yuv"].get("to", "frame")
        if spec["color"] == "YUV" and to in ("frame", f"{matrix}-{range_}"):
            return data
        if spec["color"] == "GRAY":
            y = data[..., :1]
            return (y - 16) * 255 / 219 if range_ == "limited" else y
        data = yuv_to_rgb(data, f"{matrix}-{range_}")
    if spec["color"] == "GRAY":
        return data if picture.kind == "gray" else data @ np.array([[0.299], [0.587], [0.114]])
    if picture.kind == "gray":
        data = np.repeat(data, 3, -1)
    if spec["color"] == "YUV":
        return rgb_to_yuv(data, spec["yuv"]["to"])
    return data[..., ::-1] if spec["color"] == "BGR" else data


def region(roi: Any, w: int, h: int) -> tuple[float, float, np.ndarray]:
    """Size of the ROI and the map from its own coordinates to upright pixels."""
    if roi is None:
        return w, h, np.eye(3)
    if len(roi) == 4:
        x0, y0, x1, y1 = roi
        return x1 - x0, y1 - y0, np.array([[1, 0, x0], [0, 1, y0], [0, 0, 1.0]])
    if len(roi) == 5:
        cx, cy, rw, rh, degrees = roi
        a = math.radians(degrees)
        turn = np.array(
            [[math.cos(a), -math.sin(a), cx], [math.sin(a), math.cos(a), cy], [0, 0, 1]]
        )
        return rw, rh, turn @ np.array([[1, 0, -rw / 2], [0, 1, -rh / 2], [0, 0, 1.0]])
    corners = np.reshape(roi, (4, 2))
    side = [math.dist(corners[i], corners[(i + 1) % 4]) for i in range(4)]
    rw, rh = max(side[0], side[2]), max(side[1], side[3])
    rows, right = [], []  # the eight equations of the projective map
    for (x, y), (u, v) in zip([(0, 0), (rw, 0), (rw, rh), (0, rh)], corners, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        right += [u, v]
    return rw, rh, np.append(np.linalg.solve(rows, right), 1).reshape(3, 3)


def tensor_size(rule: Any, w: float, h: float) -> list[int]:
    """The tensor's [width, height] for a region of w x h."""
    if isinstance(rule, list):
        return rule
    m = rule.get("multiple", 1)
    if rule["k"] == "strip":
        width = m * math.ceil(math.ceil(rule["height"] * w / h - 1e-6) / m)
        return [min(max(width, rule["width"][0]), rule["width"][1]), rule["height"]]
    scale = 1.0
    if min(w, h) < rule.get("min", 1):
        scale = rule.get("min", 1) / min(w, h)
    if max(w, h) * scale > rule["max"]:
        scale = rule["max"] / max(w, h)
    return [m * min(max(round(side * scale / m), 1), rule["max"] // m) for side in (w, h)]


def axis(grid: str, start: float, length: float, at: int, n: int) -> tuple[float, float]:
    """source = scale * tensor + shift; n pixels from `at` show [start, start + length)."""
    if grid == "half_pixel":
        scale = length / n
        return scale, start - at * scale
    scale = length / n if grid == "asymmetric" else (length - 1) / (n - 1)
    return scale, start + 0.5 - scale * (at + 0.5)


def cropped(
    fit: dict[str, Any], grid: str, rw: float, rh: float, dw: int, dh: int, own: Any, roi: bool
) -> np.ndarray:
    """The map of a picture that is resized first, and its middle cut out."""
    policy, resize, noise = fit.get("policy", "torchvision"), fit.get("resize"), 1e-6 * roi
    maps = []
    for index, (side, n) in enumerate(((rw, dw), (rh, dh))):
        if policy == "opencv":
            gain = max(dw / rw, dh / rh)
            size = max(round(side * gain), n)
            shown = size / gain
        else:
            short = resize if isinstance(resize, int) else None
            size = (
                resize[index] if short is None else math.floor(short * side / min(rw, rh) + noise)
            )
            size, shown = max(size, short or 0), side
        at = round((size - n) / 2) if policy == "torchvision" else (size - n) // 2
        maps.append(axis(grid, 0.0, shown, -at, size))
    (ax, tx), (ay, ty) = maps
    return own @ np.array([[ax, 0, tx], [0, ay, ty], [0, 0, 1.0]])


def geometry(spec: dict[str, Any], w: int, h: int, roi: Any) -> tuple[np.ndarray, list[int], bool]:
    """(tensor -> upright map, [x0, y0, x1, y1) of the sampled pixels, taps are clamped)."""
    rw, rh, to_upright = region(roi, w, h)
    dw, dh = tensor_size(spec["size"], rw, rh)
    fit, grid = spec["fit"], spec["sample"].get("grid", "half_pixel")
    if fit["k"] == "matrix":
        return np.reshape(fit["m"], (3, 3)), [0, 0, dw, dh], False
    x0, y0, x1, y1 = 0, 0, dw, dh
    sx, sy, sw, sh = 0.0, 0.0, float(rw), float(rh)
    policy = fit.get("policy", "ultralytics")
    if fit["k"] == "letterbox" and policy != "mediapipe":
        gain = min(dw / rw, dh / rh)
        if policy == "ultralytics":
            nw, nh = round(rw * gain), round(rh * gain)
            x0, y0 = round((dw - nw) / 2 - 0.1), round((dh - nh) / 2 - 0.1)
        elif policy == "paddleocr":
            nw, nh = math.ceil(rw * gain - 1e-6), math.ceil(rh * gain - 1e-6)
        else:  # real sides of a ROI: what is a whole number but for rounding counts as one
            noise = 0 if roi is None else 1e-6
            nw, nh = int(rw * gain + noise), int(rh * gain + noise)
        x1, y1 = x0 + max(nw, 1), y0 + max(nh, 1)
    elif fit["k"] in ("letterbox", "cover"):
        pick = max if fit["k"] == "letterbox" else min
        step = pick(rw / dw, rh / dh)
        sw, sh = step * dw, step * dh
        sx, sy = (rw - sw) / 2, (rh - sh) / 2
    if fit["k"] == "crop":
        return cropped(fit, grid, rw, rh, dw, dh, to_upright, roi is not None), [0, 0, dw, dh], True
    ax, tx = axis(grid, sx, sw, x0, x1 - x0)
    ay, ty = axis(grid, sy, sh, y0, y1 - y0)
    m = to_upright @ np.array([[ax, 0, tx], [0, ay, ty], [0, 0, 1.0]])
    corners = [to_upright @ [x, y, 1] for x in (sx, sx + sw) for y in (sy, sy + sh)]
    inside = all(-1e-6 < c[0] / c[2] < w + 1e-6 and -1e-6 < c[1] / c[2] < h + 1e-6 for c in corners)
    return m, [x0, y0, x1, y1], inside


def sample(
    image: np.ndarray, x: float, y: float, nearest: bool, border: Any, rule: str = "constant"
) -> np.ndarray:
    """The value at continuous (x, y). border: None = clamp (or mirror, by the rule "reflect101"),
    else a colour blended tap by tap, or where the point itself is outside ("constant_hard")."""
    h, w, _ = image.shape
    if nearest:  # on the border of two pixels, or just before it: the one on the right or below
        x, y = math.floor(x + 2**-20) + 0.5, math.floor(y + 2**-20) + 0.5
    if rule == "constant_hard" and not (0 <= x < w and 0 <= y < h):
        return np.asarray(border, np.float64)

    def mirrored(i: int, n: int) -> int:
        i = abs(i) % max(2 * n - 2, 1)
        return i if i < n else 2 * n - 2 - i

    def tap(i: int, j: int) -> np.ndarray:
        if rule == "constant" and border is not None and not (0 <= i < w and 0 <= j < h):
            return np.asarray(border, np.float64)
        if rule == "reflect101":
            i, j = mirrored(i, w), mirrored(j, h)
        return image[min(max(j, 0), h - 1), min(max(i, 0), w - 1)]

    if nearest:
        return tap(math.floor(x), math.floor(y))
    i, j = math.floor(x - 0.5), math.floor(y - 0.5)
    u, v = x - 0.5 - i, y - 0.5 - j
    return (1 - v) * ((1 - u) * tap(i, j) + u * tap(i + 1, j)) + v * (
        (1 - u) * tap(i, j + 1) + u * tap(i + 1, j + 1)
    )


RADIUS = {"bilinear": 1, "bicubic": 2, "lanczos3": 3}


def kernel(sampler: dict[str, Any], x: float) -> float:
    """The filter at a distance of x taps."""
    x = abs(x)
    if x >= RADIUS[sampler["k"]]:
        return 0.0
    if sampler["k"] == "bilinear":
        return 1 - x
    if sampler["k"] == "lanczos3":
        return float(np.sinc(x) * np.sinc(x / 3))
    a = sampler.get("a", -0.5)  # Keys
    return (a + 2) * x**3 - (a + 3) * x**2 + 1 if x < 1 else a * (x**3 - 5 * x**2 + 8 * x - 4)


def taps(sampler: dict[str, Any], centre: float, scale: float) -> tuple[int, list[float]]:
    """First source pixel and weights of all that the filter sees, not normalised."""
    scale = abs(scale)
    if sampler["k"] == "area":  # what the tensor pixel covers of each
        lo, hi = centre - scale / 2, centre + scale / 2
        first = math.floor(lo)
        covered = [min(hi, i + 1) - max(lo, i) for i in range(first, math.ceil(hi))]
        return first, [max(v, 0) for v in covered]
    stretch = max(scale, 1) if sampler.get("antialias") else 1
    support = RADIUS[sampler["k"]] * stretch
    first, last = math.floor(centre - support - 0.5), math.ceil(centre + support + 0.5)
    return first, [kernel(sampler, (i + 0.5 - centre) / stretch) for i in range(first, last)]


def filter_axis(
    sampler: dict[str, Any], scale: float, shift: float, at: range, size: int, inside: bool
) -> tuple[np.ndarray, np.ndarray]:
    """([n, size] weights of source pixels, [n, size] of those with taps outside left out)."""
    cut = inside and (sampler["k"] == "area" or sampler.get("antialias", False))
    clamped, dropped = np.zeros((2, len(at), size))
    for row, d in enumerate(at):
        first, values = taps(sampler, scale * (d + 0.5) + shift, scale)
        seen = [(i, v) for i, v in enumerate(values, first) if 0 <= i < size or not cut]
        total = sum(v for _, v in seen)
        for i, v in seen:
            clamped[row, min(max(i, 0), size - 1)] += v / total
            if 0 <= i < size:
                dropped[row, i] += v / total
    return clamped, dropped


def filtered(
    image: np.ndarray,
    sampler: dict[str, Any],
    m: np.ndarray,
    box: list[int],
    inside: bool,
    border: Any,
) -> np.ndarray:
    """Tensor pixels of `box` through a filter along both axes; m turns by quarters at most."""
    if abs(m[0, 0]) < 1e-9:
        image, m = image.swapaxes(0, 1), m[[1, 0, 2]]
    h, w, _ = image.shape
    x0, y0, x1, y1 = box
    along = filter_axis(sampler, m[0, 0], m[0, 2], range(x0, x1), w, inside)
    down = filter_axis(sampler, m[1, 1], m[1, 2], range(y0, y1), h, inside)
    k = 0 if border is None else 1
    out = np.einsum("yj,xi,jic->yxc", down[k], along[k], image, optimize=True)
    if border is None:
        return out
    missing = 1 - np.outer(down[1].sum(1), along[1].sum(1))
    return out + missing[..., None] * border


def along_axes(m: np.ndarray) -> bool:
    m = np.abs(m)
    return m[2, :2].max() == 0 and (m[0, 1] + m[1, 0] < 1e-9 or m[0, 0] + m[1, 1] < 1e-9)


def reduced(image: np.ndarray, m: np.ndarray, box: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """What an antialiased region that is turned or in perspective is sampled from, and the map."""
    weights, to_small = [], np.eye(3)
    for a, side in enumerate((image.shape[1], image.shape[0])):
        at, steps = [], []
        for corner in [(x, y, 1) for x in box[::2] for y in box[1::2]]:
            t = m[2] @ corner
            at.append(m[a] @ corner / t)
            steps.append(math.hypot(*(m[a, :2] - at[-1] * m[2, :2])) / t)
        factor = max(min(steps) / math.sqrt(2), 1)
        first = min(max(math.floor(min(at) - factor + 1e-6), 0), side - 1)
        last = min(max(math.ceil(max(at) + factor - 1e-6), first + 1), side)
        n = max(math.ceil((last - first) / factor - 1e-6), 1)
        scale = (last - first) / n
        triangle = {"k": "bilinear", "antialias": True}
        weights.append(filter_axis(triangle, scale, first, range(n), side, True)[0])
        to_small[a] = to_small[a] / scale - np.array([0, 0, first / scale])
    along, down = weights
    return np.einsum("yj,xi,jic->yxc", down, along, image, optimize=True), to_small @ m


def run(spec: dict[str, Any], picture: Picture, roi: Any = None, sampler: Any = None) -> np.ndarray:
    """sampler: another way to sample than the exact one; of spec, picture, border and its rule it
    makes the colour at an upright position."""
    spec = {**DEFAULTS, **spec}
    channels = 1 if spec["color"] == "GRAY" else 3
    black, pad = (0, 114) if spec["color"] != "YUV" else ((0, 128, 128), (114, 128, 128))

    def levels(value: Any) -> np.ndarray:
        return np.broadcast_to(np.asarray(value, np.float64), (channels,))

    rotation, mirror = orientation(spec, picture)
    image = upright(to_color(picture, spec), rotation, mirror)
    h, w, _ = image.shape
    m, (x0, y0, x1, y1), inside = geometry(spec, w, h, roi)
    rule = "replicate" if inside else spec["border"]["k"]
    border = levels(spec["border"].get("v", black)) if rule.startswith("constant") else None
    dw, dh = tensor_size(spec["size"], *region(roi, w, h)[:2])
    out = np.empty((dh, dw, channels))
    out[:] = levels(spec["fit"].get("pad", pad))
    nearest = spec["sample"]["k"] == "nearest"
    if sampler is not None:
        color_at = sampler(spec, picture, border, rule)
    elif spec["yuv"].get("chroma") == "linear" and picture.chroma is not None and channels == 3:
        color_at = linear_sampler(spec, picture, border)
    else:

        def color_at(u: float, v: float) -> np.ndarray:
            return sample(image, u, v, nearest, border, rule)

    sampler = spec["sample"]
    if sampler.get("antialias") or sampler["k"] in ("bicubic", "area", "lanczos3"):
        if along_axes(m):
            out[y0:y1, x0:x1] = filtered(image, sampler, m, [x0, y0, x1, y1], inside, border)
            x1 = x0
        else:
            image, m = reduced(image, m, [x0, y0, x1, y1])
    for y in range(y0, y1):
        for x in range(x0, x1):
            u, v, t = m @ [x + 0.5, y + 0.5, 1]
            out[y, x] = color_at(u / t, v / t)
    out = np.clip(out, 0, 255)
    if spec["intermediate"] == "u8":
        out = np.rint(out)
    norm = spec["norm"]
    return (out * norm.get("scale", 1) - levels(norm.get("mean", 0))) / levels(norm.get("std", 1))


def elements(y: np.ndarray, dtype: str, scale: float = 1, zero_point: int = 0) -> np.ndarray:
    """The tensor's elements that hold y: rounded half to even, whole numbers saturated."""
    if dtype == "bfloat16":  # its bits: the upper half of a float32, carrying as numbers do
        bits = y.astype(np.float32).view(np.uint32).astype(np.uint64)
        low, high = bits & 0xFFFF, bits >> 16
        up = (low > 0x8000) | ((low == 0x8000) & (high % 2 == 1))
        return (high + up).astype(np.uint16)
    if dtype.startswith("float"):
        return y.astype(np.float32).astype(dtype)
    limits = np.iinfo(dtype)
    return np.clip(np.rint(y / scale) + zero_point, limits.min, limits.max).astype(dtype)


def mask(values: np.ndarray, transform: Any) -> np.ndarray:
    """A mask [h, w] over the tensor, in the upright frame: bilinear, 0 outside of the region; taps
    stay on pixels of the mask whose centres show the region, if there are any."""
    width, height = transform.frame_size
    x, y = np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5)
    m = transform.inverse
    if m[2, 0] == 0 and m[2, 1] == 0:
        m = m / m[2, 2]
    u, v, t = (m[i, 0] * x + m[i, 1] * y + m[i, 2] for i in range(3))
    u, v = u / t, v / t
    x0, y0, x1, y1 = transform.valid
    shown = (t > 0) & (u >= x0) & (u < x1) & (v >= y0) & (v < y1)
    taps = []
    for at, n, size, lo, hi in zip(
        (u, v), values.shape[::-1], transform.tensor_size, (x0, y0), (x1, y1), strict=True
    ):
        centres = (np.arange(n) + 0.5) * size / n
        inside = np.flatnonzero((centres >= lo) & (centres < hi))
        if len(inside) == 0:  # the first behind the beginning
            inside = np.array([min(np.count_nonzero(centres < lo), n - 1)])
        p = np.clip(at * n / size - 0.5, inside[0], inside[-1])
        i = np.floor(p).astype(int)
        taps.append((i, np.minimum(i + 1, n - 1), p - i))
    (i0, i1, fx), (j0, j1, fy) = taps
    top = values[j0, i0] * (1 - fx) + values[j0, i1] * fx
    below = values[j1, i0] * (1 - fx) + values[j1, i1] * fx
    return np.where(shown, top * (1 - fy) + below * fy, 0)
