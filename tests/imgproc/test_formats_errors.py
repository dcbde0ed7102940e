"""Inconsistent frames of every format name the field; adapters of the formats; older callers."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import foveal
import numpy as np
import pytest
from format_cases import FORMATS, YUVS, build, noise
from foveal.errors import ArgumentError, FrameError
from foveal.frame import Frame
from foveal.image import Pipeline

Y, UV, PAIRS = np.zeros((6, 8), np.uint8), np.zeros((3, 8), np.uint8), np.zeros((6, 16), np.uint8)
Y16, UV16 = np.zeros((6, 8), np.uint16), np.zeros((3, 8), np.uint16)


def raw(fmt: str) -> dict[str, Any]:
    """A good frame of 7 x 5 pixels in tight rows of raw bytes."""
    frame, _ = build(fmt, 7, 5)
    return {"format": fmt, "width": 7, "height": 5, "planes": [bytes(p) for p in frame.planes]}


@pytest.mark.parametrize("fmt", FORMATS)
def test_planes_end_with_their_last_pixel(fmt: str) -> None:
    good = raw(fmt)
    plan = Pipeline(size=(7, 5)).compile()
    want, _ = plan(Frame(**good))
    for i, plane in enumerate(good["planes"]):
        for short in (plane[:-1], b""):
            planes = [*good["planes"][:i], short, *good["planes"][i + 1 :]]
            with pytest.raises(FrameError, match=f"plane {i}.*byte_len.*{len(plane)}"):
                Frame(**{**good, "planes": planes})
    # Padded rows; the last one is as long as its pixels.
    down = YUVS[fmt][0][1] if fmt in YUVS else 0
    rows = [(5 + down) >> down if i else 5 for i in range(len(good["planes"]))]
    padded, strides = [], []
    for plane, count in zip(good["planes"], rows, strict=True):
        row = len(plane) // count
        stride = row + 12
        wide = np.full((count, stride), 201, np.uint8)
        wide[:, :row] = np.frombuffer(plane, np.uint8).reshape(count, row)
        padded.append(wide.tobytes()[: (count - 1) * stride + row])
        strides.append(stride)
    np.testing.assert_array_equal(
        plan(Frame(**{**good, "planes": padded, "strides": strides}))[0], want
    )
    for i in range(len(rows)):
        for stride, field in ((strides[i] - 13, "row_stride"), (-strides[i], "row_stride")):
            bad = [*strides[:i], stride, *strides[i + 1 :]]
            with pytest.raises(FrameError, match=f"plane {i}.*{field}"):
                Frame(**{**good, "planes": padded, "strides": bad})
        if rows[i] > 1:
            bad = [*strides[:i], strides[i] + 4, *strides[i + 1 :]]
            with pytest.raises(FrameError, match=f"plane {i}.*byte_len"):
                Frame(**{**good, "planes": padded, "strides": bad})


@pytest.mark.parametrize("fmt", FORMATS)
def test_wrong_counts_and_sizes(fmt: str) -> None:
    good = raw(fmt)
    for planes in (good["planes"][:-1], [*good["planes"], b""]):
        with pytest.raises(FrameError, match=f"planes.*{len(good['planes'])}"):
            Frame(**{**good, "planes": planes})
    for side in ("width", "height"):
        for size in (0, -1, 32769, 2**31 - 1):
            with pytest.raises(FrameError, match=side):
                Frame(**{**good, side: size})
    with pytest.raises(FrameError, match=r"2 GiB|byte_len"):
        Frame(**{**good, "width": 32768, "height": 32768})


BAD: list[tuple[str, dict[str, Any]]] = [
    (r"visible: x.*0\.\.7.*-1", {"visible": (-1, 0, 4, 4)}),
    (r"visible: x.*8", {"visible": (8, 0, 1, 1)}),
    (r"visible: y.*6", {"visible": (0, 6, 1, 1)}),
    (r"visible: width.*got 0", {"visible": (0, 0, 0, 4)}),
    (r"visible: height.*got 0", {"visible": (1, 1, 2, 0)}),
    (r"visible: width.*1\.\.5.*got 6", {"visible": (3, 0, 6, 4)}),
    (r"visible: height.*got -2", {"visible": (0, 2, 4, -2)}),
    (r"visible: width.*2147483647", {"visible": (1, 0, 2**31 - 1, 4)}),
    ("visible.*32-bit", {"visible": (0, 0, 2**40, 4)}),
    ("visible: width", {"visible": (0, 0, 0, 0)}),
    ("visible.*x, y, width", {"visible": (0, 0, 4)}),
    ("visible.*whole number", {"visible": (0.5, 0, 4, 4)}),
    ("visible.*list", {"visible": 4}),
    ("siting.*right", {"siting": "right"}),
    ("siting.*5", {"siting": 5}),
    ("format.*p016", {"format": "p016"}),
    ("format.*None", {"format": None}),
    (r"plane 0: data.*multiple of 2", {"format": "p010", "planes": "odd"}),
    (r"plane 1: row_stride.*multiple of 2", {"format": "p010", "strides": (16, 17)}),
    (
        r"plane 0: pixel_stride.*multiple of 2",
        {"format": "p010", "pixel_strides": (3, 4), "strides": (24, 16)},
    ),
    (r"pixel_stride: expected 4\.\.64", {"format": "p010", "pixel_strides": (2, 2)}),
    (r"planes\[0\].*uint16.*float32", {"format": "p010", "planes": [Y.astype("f4"), UV16]}),
    (r"planes\[0\].*uint16.*int16", {"format": "p010", "planes": [Y16.view("i2"), UV16]}),
    (r"planes\[1\].*rows", {"format": "p010", "planes": [Y16, UV16[:2]]}),
    (
        r"planes\[0\].*strides",
        {"format": "p010", "planes": [PAIRS.view("u2")[:, ::-1], UV16], "strides": (16, 16)},
    ),
    (r"pixel_stride: expected 2", {"format": "yuyv", "planes": [PAIRS], "pixel_strides": [4]}),
    (
        r"YUYV plane 0.*row_stride.*pairs",
        {"format": "yuyv", "width": 7, "planes": [PAIRS[:, :14]], "strides": [14]},
    ),
    (
        r"planes\[0\].*columns",
        {"format": "uyvy", "width": 7, "planes": [PAIRS.reshape(6, 8, 2)[:, :7]]},
    ),
]


@pytest.mark.parametrize(("message", "change"), BAD)
def test_inconsistent_frames(message: str, change: dict[str, Any]) -> None:
    frame: dict[str, Any] = {"format": "nv12", "width": 8, "height": 6, "planes": [Y, UV]}
    if change.get("format") == "p010":
        frame["planes"] = [Y16, UV16]
    Frame(**{**frame, "format": "p010" if frame["planes"][0] is Y16 else "nv12"})
    if change.get("planes") == "odd":
        change = {**change, "planes": [memoryview(bytes(200))[1:], UV16]}
    with pytest.raises(FrameError, match=message):
        Frame(**{**frame, **change})


def test_linear_chroma_needs_a_siting() -> None:
    from foveal.image import Yuv

    planes = [Y, UV]
    frame = Frame(format="nv12", width=8, height=6, planes=planes)
    plan = Pipeline(size=(8, 6), yuv=Yuv(chroma="linear")).compile()
    with pytest.raises(FrameError, match=r"siting.*unknown"):
        plan(frame)
    plan(Frame(format="nv12", width=8, height=6, planes=planes, siting="left"))
    plan(Frame(format="i444", width=8, height=6, planes=[Y, Y, Y]))
    plan(Frame.from_numpy(Y))
    Pipeline(size=(8, 6), yuv=Yuv(chroma="linear", siting="center")).compile()(frame)


@pytest.mark.parametrize("step", [1, 2, 3])
@pytest.mark.parametrize("order", ["u first", "v first"])
@pytest.mark.parametrize("together", [False, True])
def test_android_planes(step: int, order: str, together: bool) -> None:
    """Pixel strides 1 to 3, U = V ± 1, V in front of U, short last rows, nothing more than that."""
    width, height, stride = 37, 11, 19 * step + 5
    y, u, v = (noise(s, "uint8", i) for i, s in enumerate(((11, 37), (6, 19), (6, 19))))
    if together and step == 1:
        return
    rows = np.full((2, 6, stride), 90, np.uint8)
    first, second = (u, v) if order == "u first" else (v, u)
    if together:  # one buffer: the second one begins a byte later
        rows[0, :, : 19 * step : step] = first
        rows[0, :, 1 : 19 * step : step] = second
        flat, used = rows[0].ravel(), 5 * stride + 18 * step + 1
        planes = [flat[:used], flat[1 : 1 + used]]
    else:
        rows[0, :, : 19 * step : step] = first
        rows[1, :, : 19 * step : step] = second
        used = 5 * stride + 18 * step + 1
        planes = [rows[0].ravel()[:used], rows[1].ravel()[:used]]
    if order == "v first":
        planes.reverse()
    frame = Frame(
        format="i420",
        width=width,
        height=height,
        planes=[y, *planes],
        strides=[37, stride, stride],
        pixel_strides=[1, step, step],
        siting="left",
    )
    plain = Frame(format="i420", width=width, height=height, planes=[y, u, v], siting="left")
    from foveal.image import Yuv

    for spec in (
        Pipeline(size=(37, 11)),
        Pipeline(size=(20, 30), orient=90, yuv=Yuv(chroma="linear")),
        Pipeline(size=(15, 9)),
    ):
        plan = spec.compile(layout="nhwc")
        np.testing.assert_allclose(plan(frame)[0], plan(plain)[0], rtol=0, atol=1e-4)
    plan = Pipeline(size=(37, 11)).compile(dtype="uint8", layout="nhwc")
    np.testing.assert_array_equal(plan(frame)[0], plan(plain)[0])
    assert "bytes to bytes" in plan.explain()


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
def test_from_numpy(channels: int, dtype: str) -> None:
    pixels = noise((5, 9, channels), dtype, channels)
    levels = pixels.astype(np.float64) * {"uint8": 1, "uint16": 1 / 257, "float32": 255}[dtype]
    levels = levels[..., :3] if channels > 2 else np.repeat(levels[..., :1], 3, -1)
    plan = Pipeline(size=(9, 5)).compile(layout="nhwc")
    wide = np.zeros((5, 9, channels + 2), dtype)
    wide[..., :channels] = pixels
    variants = [
        pixels,
        wide[..., :channels],
        np.asfortranarray(pixels),
        pixels[::-1].copy()[::-1],
        np.rot90(np.rot90(pixels).copy(), -1),
        pixels.astype(np.dtype(dtype).newbyteorder(">")),
    ]
    if channels == 1:
        variants.append(pixels[..., 0])
        variants.append(np.asfortranarray(pixels[..., 0]))
    for array in variants:
        got, _ = plan(Frame.from_numpy(array))
        np.testing.assert_allclose(got[0], levels, rtol=0, atol=1e-4)
    if channels > 2:
        got, _ = plan(Frame.from_numpy(pixels, "BGR" if channels == 3 else "BGRA"))
        np.testing.assert_allclose(got[0], levels[..., ::-1], rtol=0, atol=1e-4)


def test_from_numpy_refuses_what_is_no_picture() -> None:
    for array in (
        np.zeros((4, 4, 3), np.int16),
        np.zeros((4, 4, 3), np.float64),
        np.zeros((4, 4, 5), np.uint16),
        np.zeros((4, 4, 3), bool),
        np.zeros((4, 4, 3), complex),
    ):
        with pytest.raises(ArgumentError, match="uint8, uint16 or float32"):
            Frame.from_numpy(array)
    with pytest.raises(ArgumentError, match=r"0\.\.1, got up to 255") as caught:
        Frame.from_numpy(np.full((4, 4, 3), 255, np.float32))
    assert "255" in caught.value.hint
    Frame.from_numpy(np.array([[np.nan, np.inf, 1.5, -9]], np.float32))
    with pytest.raises(FrameError, match="0x3"):
        Frame.from_numpy(np.zeros((3, 0), np.float32))


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("pad", [0, 8])
def test_from_buffer(fmt: str, pad: int) -> None:
    frame, _ = build(fmt, 10, 6)
    plan = Pipeline(size=(10, 6)).compile()
    want, _ = plan(frame)
    rows = [6, *[(6 + YUVS[fmt][0][1]) >> YUVS[fmt][0][1] for _ in frame.planes[1:]]]
    data, first = b"", len(frame.planes[0]) // 6
    for plane, count in zip(frame.planes, rows, strict=True):
        row = np.frombuffer(plane, np.uint8).reshape(count, -1)
        extra = -(-(first + pad) * row.shape[1] // first) - row.shape[1]
        data += np.pad(row, ((0, 0), (0, extra))).tobytes()
    stride = first + pad if pad else None
    got, _ = plan(Frame.from_buffer(data, fmt, 10, 6, stride=stride))
    np.testing.assert_array_equal(got, want)
    half = Frame.from_buffer(bytearray(data), fmt, 10, 6, stride=stride, visible=(1, 1, 3, 2))
    assert half.upright_size == (3, 2)
    with pytest.raises(FrameError, match="byte_len"):
        Frame.from_buffer(data[: len(data) // 2], fmt, 10, 6, stride=stride)


def test_from_buffer_refuses_what_is_no_buffer() -> None:
    for data in (None, [1, 2], "text", Y[:, ::2]):
        with pytest.raises(FrameError, match="data"):
            Frame.from_buffer(data, "gray", 8, 6)
    with pytest.raises(FrameError, match="format"):
        Frame.from_buffer(bytes(9), "hsv", 3, 3)
    for size in ((0, 6), (8, -6), (2**31 - 1, 1)):
        with pytest.raises(FrameError, match=r"width|height"):
            Frame.from_buffer(bytes(48), "gray", *size)


class _Plane(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("bytes", ctypes.c_uint64),
        ("row_stride", ctypes.c_int64),
        ("pixel_stride", ctypes.c_int64),
    ]


class _Frame(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("abi", ctypes.c_uint16 * 2),
        *[(n, ctypes.c_int32) for n in ("format", "width", "height", "rotation", "mirror")],
        *[(n, ctypes.c_int32) for n in ("matrix", "range", "plane_count")],
        ("planes", _Plane * 4),
        ("visible", ctypes.c_int32 * 4),
        ("siting", ctypes.c_int32),
        ("reserved", ctypes.c_int32),
    ]


def test_callers_of_the_first_version() -> None:
    """Their frames end behind the planes: what lies there is not looked at."""
    folder = Path(foveal.__file__).parent
    library = ctypes.CDLL(str(folder / "libfoveal_imgproc.so"))
    library.fv_frame_check.restype = ctypes.c_void_p
    free = ctypes.CDLL(str(folder / "libfoveal.so")).fv_status_free
    free.argtypes = [ctypes.c_void_p]
    pixels = ctypes.create_string_buffer(48)
    frame = _Frame(format=5, width=8, height=6, plane_count=1)
    frame.planes[0] = _Plane(ctypes.addressof(pixels), 48, 0, 0)
    frame.visible[:] = (-1, 99, 3, 3)
    frame.siting = 77
    frame.struct_size = _Frame.visible.offset
    assert library.fv_frame_check(ctypes.byref(frame)) is None
    for size in (ctypes.sizeof(_Frame), _Frame.siting.offset):
        frame.struct_size = size
        error = library.fv_frame_check(ctypes.byref(frame))
        assert error is not None
        free(error)
    frame.visible[:] = (0, 0, 0, 0)
    assert library.fv_frame_check(ctypes.byref(frame)) is None
    frame.struct_size = _Frame.visible.offset - 1
    error = library.fv_frame_check(ctypes.byref(frame))
    assert error is not None
    free(error)


@pytest.mark.parametrize("dtype", ["uint16", "float32"])
def test_pictures_of_other_types_become_bytes(dtype: str) -> None:
    from foveal import image

    scale = {"uint16": 257, "float32": 1 / 255}[dtype]
    levels = noise((6, 9, 3), "uint8", 1)
    pixels = (levels * np.array(scale, dtype)).astype(dtype)
    np.testing.assert_array_equal(image.convert(pixels, "rgb"), levels)
    small = image.resize(pixels[..., 0], (9, 6))
    np.testing.assert_array_equal(small, levels[..., 0])
    np.testing.assert_array_equal(image.convert(pixels[..., :2], "gray"), levels[..., 0])
