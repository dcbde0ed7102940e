"""What is timed: frames as cameras and files give them, and the tensors that models take."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from foveal.frame import Frame

PAD = 114  # of letterbox bars
_MOST_RING = 256 << 20
_MOST_PICTURES = 768 << 20  # bytes
_PIXEL_BYTES = {"nv12": 1.5, "nv21": 1.5, "bgra": 4, "rgb": 3}


@dataclass(frozen=True)
class Case:
    """A frame's format and what is made of it.

    width, height: of the frame in memory. rotation: clockwise degrees that make it upright.
    crop: side of a centred square that is looked at; 0: everything. turned: width, height and
    clockwise degrees of a centred rectangle that is looked at. letterbox: aspect kept.
    size: (width, height) of the result. It is float32 [1, 3, height, width] RGB, x / 255, or with
    `pixels` uint8 [height, width, 3] RGB. profile: Foveal's numeric contract.
    """

    name: str
    title: str
    format: str
    width: int
    height: int
    size: tuple[int, int]
    rotation: int = 0
    crop: int = 0
    turned: tuple[float, float, float] | None = None
    letterbox: bool = False
    antialias: bool = False
    pixels: bool = False
    profile: str = "exact"

    @property
    def touched(self) -> int:
        """Bytes of the frame that show what is looked at."""
        area = float(self.width * self.height)
        if self.crop:
            area = float(self.crop * self.crop)
        elif self.turned:
            area = self.turned[0] * self.turned[1]
        return int(area * _PIXEL_BYTES[self.format])

    @property
    def inner(self) -> tuple[int, int, int, int]:
        """Left, top, width, height of the picture in the result, bars excluded."""
        width, height = self.size
        if not self.letterbox:
            return 0, 0, width, height
        gain = min(width / self.width, height / self.height)
        w, h = round(self.width * gain), round(self.height * gain)
        return round((width - w) / 2 - 0.1), round((height - h) / 2 - 0.1), w, h

    def scaled(self, factor: float) -> Case:
        """The same case with smaller pictures, for tests. Sides stay even."""

        def even(v: float) -> int:
            return max(2 * round(v * factor / 2), 2)

        turned = self.turned and (self.turned[0] * factor, self.turned[1] * factor, self.turned[2])
        size = (even(self.size[0]), even(self.size[1]))
        width, height, crop = even(self.width), even(self.height), self.crop and even(self.crop)
        return replace(self, width=width, height=height, size=size, crop=crop, turned=turned)


_PHOTO = {"format": "rgb", "width": 4000, "height": 3000, "size": (640, 640), "letterbox": True}

CASES = {
    case.name: case
    for case in (
        Case("nv12", "1080p NV12 to 320x320 float32", "nv12", 1920, 1080, (320, 320)),
        Case(
            "bgra-turned", "720p BGRA, crop, quarter turn, to 224x224 float32",
            "bgra", 1280, 720, (224, 224), rotation=90, crop=640,
        ),
        Case(
            "rotated-roi", "640x480 RGB, rotated region to 128x128 float32",
            "rgb", 640, 480, (128, 128), turned=(260.0, 260.0, 25.0),
        ),
        Case(
            "nv12-rotated-roi", "720p NV12, rotated region to 224x224 float32",
            "nv12", 1280, 720, (224, 224), turned=(300.0, 300.0, 25.0),
        ),
        Case("photo", "12 MP RGB, letterbox to 640x640 float32", **_PHOTO),  # type: ignore[arg-type]
        Case(
            "photo-antialias", "12 MP RGB, letterbox to 640x640 float32, antialiased",
            antialias=True, **_PHOTO,  # type: ignore[arg-type]
        ),
        Case(
            "photo-pillow", "12 MP RGB, letterbox to 640x640 float32, antialiased, as Pillow",
            antialias=True, profile="pillow", **_PHOTO,  # type: ignore[arg-type]
        ),
        Case("nv21-rgb", "1080p NV21 to RGB bytes", "nv21", 1920, 1080, (1920, 1080), pixels=True),
    )
}  # fmt: skip


@dataclass(frozen=True)
class Picture:
    """One frame of a ring: its bytes (none is 255) and its planes in them, one after the other."""

    data: bytearray
    planes: tuple[NDArray[np.uint8], ...]

    def frame(self, case: Case) -> Frame:
        """As the pipeline takes it."""
        return Frame(
            format=case.format, width=case.width, height=case.height, planes=self.planes,
            rotation=case.rotation, color="bt601-limited",
        )  # fmt: skip


def ring(case: Case, least_bytes: int) -> list[Picture]:
    """At least two different pictures, at least so many bytes of what is looked at in all, as far
    as 768 MB of pictures have them. Smooth, with a little noise: what differs in rounding or filter
    only must not look like an error."""
    first = _picture(case)
    wanted = -(-least_bytes // case.touched)
    count = max(2, min(wanted, _MOST_PICTURES // len(first.data)))
    pictures = [first]
    while len(pictures) < count:
        pictures.append(_of(case, bytearray(first.data), shift=2 * len(pictures)))
    return pictures


def ring_bytes() -> int:
    """Twice the last-level cache."""
    largest = 32 << 20
    for path in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        try:
            text = path.read_text(encoding="ascii").strip()
            largest = max(largest, int(text.rstrip("KM")) << (20 if text.endswith("M") else 10))
        except (OSError, ValueError):
            continue
    return min(2 * largest, _MOST_RING)


def _picture(case: Case) -> Picture:
    width, height = case.width, case.height
    rng = np.random.default_rng(0)
    x, y = np.arange(width) / width, np.arange(height)[:, None] / height

    def plane(w: int, h: int, phase: float) -> NDArray[np.uint8]:
        wave = 110 + 50 * np.sin(5 * x[:: width // w][:w] + phase) * np.cos(
            4 * y[:: height // h][:h]
        )
        return (wave + rng.integers(-3, 4, (h, w))).astype(np.uint8)

    if case.format in ("nv12", "nv21"):
        half = width // 2, height // 2
        chroma = np.stack([plane(*half, 1.0) // 2 + 70, plane(*half, 2.0) // 2 + 70], -1)
        data = plane(width, height, 0.0).tobytes() + chroma.tobytes()
    else:
        lanes = 4 if case.format == "bgra" else 3
        data = np.stack([plane(width, height, float(i)) for i in range(lanes)], -1).tobytes()
    return _of(case, bytearray(data))


def _of(case: Case, data: bytearray, shift: int = 0) -> Picture:
    flat = np.frombuffer(data, np.uint8)
    luma = case.width * case.height
    planes: tuple[NDArray[np.uint8], ...]
    if case.format in ("nv12", "nv21"):
        planes = (
            flat[:luma].reshape(case.height, case.width),
            flat[luma:].reshape(case.height // 2, case.width // 2, 2),
        )
    else:
        planes = (flat.reshape(case.height, case.width, -1),)
    if shift:
        planes[0][:] = np.roll(planes[0], shift, 1)
    return Picture(data, planes)
