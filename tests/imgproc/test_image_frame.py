"""Frames: every inconsistency is an error that names the field; adapters; nothing is over-read."""

from __future__ import annotations

import ctypes
import io
import mmap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import twin
from foveal.errors import ArgumentError, FrameError, NotFoundError
from foveal.frame import Frame
from foveal.image import Pipeline
from foveal.vision import open_image
from imgproc_frames import FORMATS, make, noise
from PIL import Image

Y, UV, RGB = noise((6, 8)), noise((3, 8)), noise((6, 8, 3))

BAD: list[tuple[str, dict[str, Any]]] = [
    ("format", {"format": "hsv"}),
    ("width", {"width": 0}),
    ("height", {"height": 0}),
    ("width", {"width": -8}),
    ("width", {"width": 2**31 - 1, "planes": [b"", b""]}),
    ("width", {"width": 2**40}),
    ("width", {"width": 7.5}),
    ("height", {"height": 100000, "planes": [b"", b""]}),
    ("rotation", {"rotation": 45}),
    ("rotation", {"rotation": -90}),
    ("color", {"color": "bt601"}),
    ("color", {"color": "pal-full"}),
    ("planes", {"planes": [Y]}),
    ("planes", {"planes": [Y, UV, UV]}),
    (r"plane 0.*byte_len.*48.*47", {"planes": [Y.tobytes()[:-1], UV]}),
    (r"plane 1.*byte_len.*24.*23", {"planes": [Y, UV.tobytes()[:-1]]}),
    (r"plane 0.*byte_len", {"planes": [b"", UV]}),
    ("planes.0.*rows", {"planes": [Y[:5], UV]}),
    ("planes.0.*columns", {"planes": [Y[:, :7], UV]}),
    ("planes.1.*rows", {"planes": [Y, UV[:2]]}),
    ("planes.0.*bytes", {"planes": [Y.astype(np.uint16), UV]}),
    ("planes.0.*buffer", {"planes": [None, UV]}),
    ("planes.0.*buffer", {"planes": ["text", UV]}),
    ("planes.0.*int8", {"planes": [Y.view(np.int8), UV]}),
    ("planes.0.*bool", {"planes": [Y > 9, UV]}),
    ("planes.0.*float32", {"planes": [Y.astype(np.float32), UV]}),
    ("planes.0.*dimensions", {"planes": [np.uint8(3), UV]}),
    ("planes.0.*buffer", {"planes": [[1, 2], UV]}),
    ("planes.*None", {"planes": None}),
    ("planes.*5", {"planes": 5}),
    ("planes.0.*strides are given", {"planes": [Y[::-1], UV], "strides": [8, 8]}),
    ("strides.*5", {"strides": 5}),
    ("row_stride.*more than 0", {"strides": [0, 8]}),
    ("pixel_stride.*more than 0", {"pixel_strides": [0, 2]}),
    ("row_stride|strides.0", {"strides": ["8", 8]}),
    ("mirror.*2", {"mirror": 2}),
    ("mirror.*None", {"mirror": None}),
    ("mirror.*yes", {"mirror": "yes"}),
    ("mirror.*array", {"mirror": Y}),
    ("row_stride", {"strides": [7, 8]}),
    ("row_stride", {"strides": [-8, 8]}),
    ("row_stride", {"strides": [2**31 - 1, 8]}),
    ("byte_len", {"strides": [9, 8]}),
    ("strides", {"strides": [8]}),
    ("pixel_stride", {"pixel_strides": [1, 1]}),
    ("pixel_stride", {"pixel_strides": [1, 65], "strides": [8, 1000]}),
    ("pixel_stride", {"pixel_strides": [-1, 2]}),
]


@pytest.mark.parametrize(("field", "change"), BAD)
def test_inconsistent_frames(field: str, change: dict[str, Any]) -> None:
    good = {"format": "nv12", "width": 8, "height": 6, "planes": [Y, UV]}
    Frame(**good)
    with pytest.raises(FrameError, match=field):
        Frame(**{**good, **change})


def test_the_last_row_may_be_short() -> None:
    padded = np.zeros((6, 16), np.uint8)
    padded[:, :8] = Y
    flat = padded.tobytes()[: 5 * 16 + 8]
    frame = Frame(format="gray", width=8, height=6, planes=[flat], strides=[16])
    out, _ = Pipeline(size=(8, 6), color="GRAY").compile()(frame)
    np.testing.assert_array_equal(out[0, 0], Y)
    with pytest.raises(FrameError, match=r"byte_len.*88.*87"):
        Frame(format="gray", width=8, height=6, planes=[flat[:-1]], strides=[16])


def test_a_frame_keeps_its_buffers() -> None:
    want = Y.copy()
    frame = Frame(format="gray", width=8, height=6, planes=[Y.copy()])
    junk = [np.full((6, 8), i, np.uint8) for i in range(50)]
    out, _ = Pipeline(size=(8, 6), color="GRAY").compile()(frame)
    np.testing.assert_array_equal(out[0, 0], want)
    assert len(junk) == 50


def test_buffers_of_all_kinds() -> None:
    want, _ = Pipeline(size=(8, 6)).compile()(Frame.from_numpy(RGB))
    wide = noise((6, 20, 3))
    wide[:, 3:11] = RGB
    for plane in (RGB, RGB.tobytes(), bytearray(RGB.tobytes()), memoryview(RGB), wide[:, 3:11]):
        frame = Frame(format="RGB", width=8, height=6, planes=[plane])
        np.testing.assert_array_equal(Pipeline(size=(8, 6)).compile()(frame)[0], want)


def _every_stride(plane: np.ndarray) -> list[np.ndarray]:
    """The same pixels, laid out in ways that C frames do not know."""
    rest = tuple(range(2, plane.ndim))
    back = (0, 1, *rest)
    wide = np.zeros((plane.shape[0], plane.shape[1] * 70, *plane.shape[2:]), np.uint8)
    wide[:, ::70] = plane
    return [
        np.ascontiguousarray(plane[::-1])[::-1],
        np.ascontiguousarray(plane[:, ::-1])[:, ::-1],
        np.rot90(np.ascontiguousarray(np.rot90(plane)), -1),
        np.rot90(np.ascontiguousarray(np.rot90(plane, 2)), 2),
        np.asfortranarray(plane),
        np.ascontiguousarray(plane.transpose(1, 0, *rest)).transpose(back[1], back[0], *rest),
        np.ascontiguousarray(np.moveaxis(plane, -1, 0)).transpose(*range(1, plane.ndim), 0),
        wide[:, ::70],
    ]


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("size", [(9, 6), (1, 5), (7, 1), (130, 67)])
def test_planes_of_any_strides(fmt: str, size: tuple[int, int]) -> None:
    width, height = size
    plain, _ = make(fmt, width, height, rotation=90)
    plan = Pipeline(size=(11, 7)).compile(layout="nhwc")
    want, _ = plan(plain)
    pixel = {"gray": 1, "nv12": 2, "nv21": 2, "i420": 1}.get(fmt, len(fmt))
    planes = []
    for i, plane in enumerate(plain.planes):
        channels = 1 if fmt in ("nv12", "nv21") and i == 0 else pixel
        planes.append(plane.reshape(len(plane), -1, *(() if channels == 1 else (channels,))))
    for variant in zip(*(_every_stride(p) for p in planes), strict=True):
        for a, b in zip(variant, planes, strict=True):
            np.testing.assert_array_equal(a, b)
        frame = Frame(format=fmt, width=width, height=height, planes=variant, rotation=90)
        np.testing.assert_array_equal(plan(frame)[0], want)
        views = [memoryview(p) for p in variant]
        frame = Frame(format=fmt, width=width, height=height, planes=views, rotation=90)
        np.testing.assert_array_equal(plan(frame)[0], want)


def test_planes_that_repeat_one_row_or_pixel() -> None:
    plan = Pipeline(size=(8, 6), color="GRAY").compile()
    for plane in (np.broadcast_to(Y[:1], (6, 8)), np.broadcast_to(Y[:, :1], (6, 8))):
        out, _ = plan(Frame(format="gray", width=8, height=6, planes=[plane]))
        np.testing.assert_array_equal(out[0, 0], plane)
    overlapping = np.lib.stride_tricks.sliding_window_view(Y.ravel(), 8)[::3][:6]
    out, _ = plan(Frame(format="gray", width=8, height=6, planes=[overlapping]))
    np.testing.assert_array_equal(out[0, 0], overlapping)
    flat = np.repeat(Y.ravel(), 2)[::2]
    out, _ = plan(Frame(format="gray", width=8, height=6, planes=[flat]))
    np.testing.assert_array_equal(out[0, 0], Y)


def test_suitable_planes_are_not_copied() -> None:
    for plane in (RGB, noise((6, 20, 3))[:, 3:11], noise((6, 8, 4))[..., :3]):
        assert Frame(format="rgb", width=8, height=6, planes=[plane]).planes[0] is plane


def test_frames_cannot_be_changed() -> None:
    frame = Frame(format="nv12", width=8, height=6, planes=[Y, UV], rotation=90, mirror=1)
    want = ("nv12", 8, 6, 90, True, "bt601-limited", (6, 8))
    names = ("format", "width", "height", "rotation", "mirror", "color", "upright_size")
    for name, value in zip(names, want, strict=True):
        assert getattr(frame, name) == value
    for name in (*names, "planes", "anything"):
        with pytest.raises(AttributeError):
            setattr(frame, name, 1)


def test_from_numpy() -> None:
    assert repr(Frame.from_numpy(RGB)) == "Frame(rgb 8x6)"
    assert Frame.from_numpy(RGB, "BGR", rotation=90).upright_size == (6, 8)
    assert Frame.from_numpy(Y).format == "gray"
    assert Frame.from_numpy(noise((4, 4, 4))).format == "rgba"
    flipped = Frame.from_numpy(RGB[::-1, ::2])
    out, _ = Pipeline(size=(4, 6)).compile(layout="nhwc")(flipped)
    np.testing.assert_array_equal(out[0], RGB[::-1, ::2])
    for bad in (RGB.astype(np.float64), noise((2, 2, 5)), noise((1, 2, 2, 3)), noise((3,))):
        with pytest.raises(ArgumentError, match="expected uint8"):
            Frame.from_numpy(bad)
    for order in ("HSV", 5):
        with pytest.raises(ArgumentError, match="order"):
            Frame.from_numpy(RGB, order)  # type: ignore[arg-type]
    for none in (None, [[1]], "photo.png"):
        with pytest.raises(ArgumentError, match="numpy array"):
            Frame.from_numpy(none)  # type: ignore[arg-type]
    with pytest.raises(FrameError, match="0x5"):
        Frame.from_numpy(np.zeros((5, 0, 3), np.uint8))


@pytest.mark.parametrize("kind", ["png", "tif", "webp"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_is_applied_like_pillow_does(orientation: int, kind: str, tmp_path: Path) -> None:
    from PIL import ImageOps

    path = tmp_path / f"photo.{kind}"
    exif = Image.Exif()
    exif[0x0112] = orientation
    Image.fromarray(noise((6, 9, 3))).save(path, exif=exif, lossless=True)
    want = np.asarray(ImageOps.exif_transpose(Image.open(path)))
    loaded = Image.open(path)
    loaded.load()
    for frame in (Frame.from_file(path), Frame.from_pil(Image.open(path)), Frame.from_pil(loaded)):
        if kind != "tif":  # Pillow turns these itself
            assert (frame.width, frame.height) == (9, 6)
        out, _ = Pipeline(size=frame.upright_size).compile(dtype="uint8", layout="nhwc")(frame)
        np.testing.assert_array_equal(out[0], want)


MODES = ["1", "L", "LA", "La", "P", "PA", "RGB", "RGBA", "RGBa", "CMYK", "YCbCr", "HSV", "F"]


@pytest.mark.parametrize("mode", [*MODES, "I;16"])
@pytest.mark.filterwarnings("error")
def test_pillow_modes(mode: str) -> None:
    picture = Image.fromarray(noise((6, 9, 3)))
    if mode in ("La", "PA", "RGBa"):
        picture = picture.convert({"La": "LA", "PA": "P", "RGBa": "RGBA"}[mode])
    if mode == "I;16":
        picture = Image.fromarray(noise((6, 9)).astype(np.uint16) * 257)
    else:
        picture = picture.convert(mode)
    frame = Frame.from_pil(picture)
    assert (frame.width, frame.height) == (9, 6)
    if mode == "I;16":
        np.testing.assert_array_equal(np.asarray(frame.planes[0]), noise((6, 9)))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("transparency", [3, bytes(range(256))])
def test_palettes_with_transparency_keep_their_colours(transparency: Any, tmp_path: Path) -> None:
    picture = Image.fromarray(noise((6, 9, 3))).convert("P")
    want = np.asarray(picture.convert("RGB"))
    path = tmp_path / "palette.png"
    picture.save(path, transparency=transparency)
    frame = Frame.from_file(path)
    out, _ = Pipeline(size=(9, 6)).compile(dtype="uint8", layout="nhwc")(frame)
    np.testing.assert_array_equal(out[0], want)


@pytest.mark.parametrize(
    ("pixels", "want"),
    [
        ([0, 7, 255], [0, 7, 255]),  # 8-bit values in a wide picture
        ([0, 255, 256, 65535], [0, 0, 1, 255]),  # 16-bit ones
        ([-5, 255], [0, 255]),
        ([-5, 70000, 2**31 - 1, 511], [0, 255, 255, 1]),
        ([0, 0], [0, 0]),
    ],
)
def test_32_bit_grey(pixels: list[int], want: list[int]) -> None:
    frame = Frame.from_pil(Image.fromarray(np.array([pixels], np.int32)))
    assert frame.format == "gray"
    np.testing.assert_array_equal(frame.planes[0], [want])


def test_what_is_no_pillow_image() -> None:
    for bad in (RGB, None, "photo.png", 3):
        with pytest.raises(ArgumentError, match="Pillow image"):
            Frame.from_pil(bad)
    for bad in (None, 5, RGB):
        with pytest.raises(ArgumentError, match="path"):
            Frame.from_file(bad)  # type: ignore[arg-type]


def test_files_that_are_no_pictures(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        Frame.from_file(tmp_path / "none.png")
    with pytest.raises(FrameError, match="folder"):
        Frame.from_file(tmp_path)
    for name, content in {"empty.png": b"", "text.png": b"hello", "zero.png": bytes(100)}.items():
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(FrameError, match=name):
            Frame.from_file(path)
    buffer = io.BytesIO()
    Image.fromarray(noise((40, 40, 3))).save(buffer, "PNG")
    for cut in (20, 60, 2000):
        path = tmp_path / "cut.png"
        path.write_bytes(buffer.getvalue()[:cut])
        with pytest.raises(FrameError, match=r"cut\.png"):
            Frame.from_file(path)


@pytest.mark.filterwarnings("error")
def test_decompression_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "bomb.png"
    Image.new("L", (300, 300)).save(path)
    monkeypatch.setattr("foveal.frame.MAX_PIXELS", 89_999)
    with pytest.raises(FrameError, match=r"bomb\.png.*300x300 is 90000 pixels, at most 89999"):
        Frame.from_file(path)
    with Image.open(path) as opened, pytest.raises(FrameError, match="300x300 is 90000 pixels"):
        Frame.from_pil(opened)
    monkeypatch.setattr("foveal.frame.MAX_PIXELS", 90_000)
    for pillows in (80_000, 30_000):  # it warns of the first and refuses the second
        monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", pillows)
        for source in (path, io.BytesIO(path.read_bytes()), path.read_bytes()):
            assert open_image(source).width == 300
        assert pillows == Image.MAX_IMAGE_PIXELS


def test_open_files(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    pixels = noise((7, 5, 3))
    Image.fromarray(pixels).save(path)
    with path.open("rb") as file:
        np.testing.assert_array_equal(Frame.from_file(file).planes[0], pixels)
        assert not file.closed
        with pytest.raises(FrameError, match=r"a\.png.*an empty file"):
            Frame.from_file(file)  # nothing is left of it
    np.testing.assert_array_equal(Frame.from_file(io.BytesIO(path.read_bytes())).planes[0], pixels)
    with pytest.raises(FrameError, match=r"^picture: .*5 bytes that are none"):
        Frame.from_file(io.BytesIO(b"hello"))
    with pytest.raises(ArgumentError, match="bytes, got one of text"):
        Frame.from_file(io.StringIO("hello"))
    with pytest.raises(ArgumentError, match="path or a file of bytes, got int"):
        Frame.from_file(7)


class _Guarded:
    """Bytes that end exactly at a page nobody may read."""

    def __init__(self, content: bytes) -> None:
        page = mmap.PAGESIZE
        self.size = len(content)
        pages = -(-self.size // page) * page
        self.map = mmap.mmap(-1, pages + page)
        base = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        libc = ctypes.CDLL(None, use_errno=True)
        libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        self.map[pages - self.size : pages] = content
        if libc.mprotect(base + pages, page, 0):
            pytest.skip("no mprotect")
        self.view = memoryview(self.map)[pages - self.size : pages]


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("rotation", [0, 90])
def test_nothing_behind_a_plane_is_read(fmt: str, rotation: int) -> None:
    for width, height in ((17, 13), (64, 33), (5, 1), (130, 66)):
        plain, picture = make(fmt, width, height, rotation=rotation)
        guards = [_Guarded(np.ascontiguousarray(p).tobytes()) for p in plain.planes]
        frame = Frame(
            format=fmt,
            width=width,
            height=height,
            planes=[g.view for g in guards],
            rotation=rotation,
        )
        for size in (plain.upright_size, (11, 7), (40, 50)):
            plan = Pipeline(size=size).compile(layout="nhwc")
            np.testing.assert_array_equal(plan(frame)[0], plan(plain)[0])
            turned = Pipeline(size=size, roi="per_call").compile(layout="nhwc")
            roi = (width / 2, height / 2, width, height, 30)
            np.testing.assert_array_equal(turned(frame, roi)[0], turned(plain, roi)[0])
        assert twin.run({"size": [3, 2]}, picture).shape == (2, 3, 3)
