"""Conversion of bytes to bytes at the same size equals the float pipeline, rounded, bit for bit."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import numpy as np
import pytest
import twin
from foveal.frame import Frame
from foveal.image import Constant, Letterbox, Norm, Pipeline
from imgproc_frames import FORMATS, make, noise

WIDTHS = [1, 2, 3, 5, 6, 7, 15, 16, 17, 18, 31, 32, 33, 47, 48, 49, 130, 517]
ORIENTATIONS = [(rotation, mirror) for rotation in (0, 90, 180, 270) for mirror in (False, True)]
DIRECT = "one tap: bytes to bytes"


def check(frame: Frame, roi: Any = None, direct: bool = True, **spec: Any) -> np.ndarray:
    if roi is not None:
        spec["roi"] = "per_call"
    pipeline = Pipeline(**spec)
    plan = pipeline.compile(dtype="uint8", layout="nhwc")
    out = np.full(plan.shape, 77, np.uint8)
    plan.run(frame, roi, out)
    assert (DIRECT in plan.explain()) == direct, plan.explain()
    floats, _ = pipeline.compile(layout="nhwc")(frame, roi)
    np.testing.assert_array_equal(out, np.rint(floats).astype(np.uint8))
    planar, _ = pipeline.compile(dtype="uint8", layout="nchw")(frame, roi)
    np.testing.assert_array_equal(out.transpose(0, 3, 1, 2), planar)
    lanes = pipeline.compile(dtype="uint8", layout="nc4hw4", threads=2)
    four = np.full(lanes.shape, 77, np.uint8)
    lanes.run(frame, roi, four)
    if out.shape[-1] == 3:
        assert (DIRECT in lanes.explain()) == direct, lanes.explain()
    np.testing.assert_array_equal(four[0, 0, ..., : out.shape[-1]], out[0])
    assert not four[..., out.shape[-1] :].any()
    return out[0]


@pytest.mark.parametrize("color", ["RGB", "BGR"])
@pytest.mark.parametrize("fmt", FORMATS)
def test_every_width(fmt: str, color: str) -> None:
    for width in WIDTHS:
        for height in (1, 2, 5):
            frame, picture = make(fmt, width, height, seed=width, row_pad=width % 3)
            got = check(frame, size=(width, height), color=color)
            want = twin.run({"size": [width, height], "color": color}, picture)
            clear = np.abs(want % 1 - 0.5) > 1e-3
            np.testing.assert_array_equal(got[clear], np.rint(want)[clear])


@pytest.mark.parametrize("fmt", FORMATS)
def test_crops_at_odd_places(fmt: str) -> None:
    frame, _ = make(fmt, 91, 67)
    for x in (0, 1, 2, 7):
        for y in (0, 1, 4):
            for width in (1, 2, 16, 17, 18, 33, 65):
                check(frame, (x, y, x + width, y + 40), size=(width, 40))


@pytest.mark.parametrize("fmt", ["nv21", "i420", "bgra"])
def test_bars_stay(fmt: str) -> None:
    frame, _ = make(fmt, 60, 40)
    got = check(frame, size=(60, 60), fit=Letterbox(pad=(1, 200, 30)))
    assert (got[:10] == (1, 200, 30)).all() and (got[50:] == (1, 200, 30)).all()
    got = check(frame, size=(80, 40), fit=Letterbox(pad=(1, 200, 30)))
    assert (got[:, :10] == (1, 200, 30)).all() and (got[:, 70:] == (1, 200, 30)).all()


@pytest.mark.parametrize("color", ["bt601", "bt709", "bt2020"])
@pytest.mark.parametrize("range_", ["limited", "full"])
def test_all_extremes(color: str, range_: str) -> None:
    levels = np.array([*range(0, 256, 5), 1, 254, 127, 128, 129, 16, 17, 235, 236], np.uint8)
    y = np.repeat(np.repeat(np.tile(levels, (len(levels), 1)), 2, 0), 2, 1)
    for v in levels:
        uv = np.stack([np.tile(levels[:, None], (1, len(levels))), np.full((len(levels),) * 2, v)])
        uv = np.ascontiguousarray(uv.transpose(1, 2, 0).astype(np.uint8))
        height, width = y.shape
        frame = Frame(
            format="nv12", width=width, height=height, planes=[y, uv], color=f"{color}-{range_}"
        )
        check(frame, size=(width, height))


def test_android_planes() -> None:
    y, flat = noise((10, 38)), noise((5, 38), 1).ravel()
    for u, v in ((flat[:-1], flat[1:]), (flat[1:], flat[:-1]), (flat[:-1], flat[:-1].copy())):
        frame = Frame(
            format="i420",
            width=38,
            height=10,
            planes=[y, u, v],
            strides=[38, 38, 38],
            pixel_strides=[1, 2, 2],
        )
        check(frame, size=(38, 10))
    wide = noise((10, 38, 3))
    frame = Frame(
        format="i420",
        width=38,
        height=10,
        planes=[wide.ravel(), flat[:-1], flat[1:]],
        strides=[114, 38, 38],
        pixel_strides=[3, 2, 2],
    )
    check(frame, size=(38, 10))
    frame = Frame(
        format="i420",
        width=38,
        height=10,
        planes=[y, flat[:-1], np.repeat(flat, 2)[:-3]],
        strides=[38, 38, 76],
        pixel_strides=[1, 2, 4],
    )
    check(frame, direct=False, size=(38, 10))


def test_pixels_far_apart() -> None:
    wide = noise((6, 40, 9))
    frame = Frame(
        format="bgr", width=40, height=6, planes=[wide.ravel()], strides=[360], pixel_strides=[9]
    )
    np.testing.assert_array_equal(check(frame, size=(40, 6)), wide[..., 2::-1])


def test_what_is_not_direct() -> None:
    frame, _ = make("nv12", 40, 30)
    check(frame, (-3, 0, 37, 30), direct=False, size=(40, 30), border=Constant((9, 9, 250)))
    check(frame, (-3, 0, 37, 30), direct=False, size=(40, 30))
    check(frame, direct=False, size=(40, 31))
    out, _ = Pipeline(size=(40, 30), norm=Norm(0.5)).compile(dtype="uint8", layout="nhwc")(frame)
    assert out.max() <= 128


@pytest.mark.parametrize(("rotation", "mirror"), ORIENTATIONS)
@pytest.mark.parametrize("fmt", FORMATS)
def test_nothing_outside_is_touched(fmt: str, rotation: int, mirror: bool) -> None:
    """Planes and tensor end at a page that nobody may touch."""
    for width, height in ((1, 1), (16, 2), (33, 3), (64, 2), (97, 5), (6, 1), (3, 65)):
        plain, _ = make(fmt, width, height)
        walls = [_Wall(np.ascontiguousarray(p).tobytes()) for p in plain.planes]
        frame = Frame(
            format=fmt,
            width=width,
            height=height,
            planes=[w.bytes for w in walls],
            rotation=rotation,
            mirror=mirror,
        )
        spec = Pipeline(size=frame.upright_size)
        want = np.rint(spec.compile(layout="nhwc")(frame)[0])
        for layout, lanes in (("nhwc", 3), ("nc4hw4", 4)):
            target = _Wall(bytes(width * height * lanes))
            out = np.frombuffer(target.bytes, np.uint8).reshape(*want.shape[:3], lanes)
            spec.compile(dtype="uint8", layout=layout).run(frame, out=out)
            np.testing.assert_array_equal(out[..., :3], want)


class _Wall:
    """Bytes that end at a page without access."""

    def __init__(self, content: bytes) -> None:
        page, size = mmap.PAGESIZE, len(content)
        whole = -(-size // page) * page
        self.map = mmap.mmap(-1, whole + page)
        libc = ctypes.CDLL(None, use_errno=True)
        libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        self.map[whole - size : whole] = content
        start = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        if libc.mprotect(start + whole, page, 0):
            pytest.skip("no mprotect")
        self.bytes = memoryview(self.map)[whole - size : whole]


@pytest.mark.parametrize("matrix", ["bt601", "bt709", "bt2020"])
@pytest.mark.parametrize("range_", ["limited", "full"])
@pytest.mark.parametrize("color", ["RGB", "BGR"])
def test_fast_profile(matrix: str, range_: str, color: str) -> None:
    """Within 0.56 of exact for every Y with every other level of chroma; what AVX2 does in blocks
    and what is left of them are the same."""
    levels = np.append(np.arange(0, 256, 3), [1, 127, 128, 129, 254])
    y = np.tile(np.repeat(np.arange(256, dtype=np.uint8), 2), (2 * len(levels), 1))
    spec = Pipeline(size=(512, len(y)), color=color, profile="fast")
    plan = spec.compile(dtype="uint8", layout="nhwc")
    worst = 0.0
    for v in levels[::2]:
        u = np.repeat(levels.astype(np.uint8)[:, None], 256, 1)
        uv = np.stack([u, np.full_like(u, v)], -1)
        frame = Frame(
            format="nv12", width=512, height=len(y), planes=[y, uv], color=f"{matrix}-{range_}"
        )
        got, _ = plan(frame)
        assert DIRECT in plan.explain()
        yuv = np.concatenate([y[::2, ::2, None], uv], -1).astype(np.float64)
        want = np.clip(twin.yuv_to_rgb(yuv, f"{matrix}-{range_}"), 0, 255)
        want = want[..., ::-1] if color == "BGR" else want
        worst = max(worst, np.abs(got[0, ::2, ::2] - want).max())
        np.testing.assert_array_equal(got[0, ::2, ::2], got[0, 1::2, 1::2])
    assert 0.5 <= worst <= 0.56


@pytest.mark.parametrize("fmt", ["nv12", "nv21", "i420"])
def test_fast_profile_of_every_width(fmt: str) -> None:
    for width in [*WIDTHS, 63, 64, 65, 95, 96, 97]:
        frame, _ = make(fmt, width, 5, seed=width, color="bt709-limited")
        whole, _ = Pipeline(size=(width, 5), profile="fast").compile(dtype="uint8", layout="nhwc")(
            frame
        )
        exact = check(frame, size=(width, 5))
        assert np.abs(whole[0].astype(int) - exact).max() <= 1
        # Shifted by one pixel, others are in blocks and others are left: the same bytes.
        if width > 1:
            part = Pipeline(size=(width - 1, 5), profile="fast", roi="per_call")
            got, _ = part.compile(dtype="uint8", layout="nhwc")(frame, (1, 0, width, 5))
            np.testing.assert_array_equal(got[0], whole[0][:, 1:])
            single = Pipeline(size=(1, 5), profile="fast", roi="per_call")
            one = single.compile(dtype="uint8", layout="nhwc")
            for x in range(0, width, 7):
                np.testing.assert_array_equal(
                    one(frame, (x, 0, x + 1, 5))[0][0, :, 0], whole[0][:, x]
                )
