"""Whole pictures in YUV formats: every format against the float64 twin, at odd sizes too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import twin
from format_cases import FORMATS, YUVS, build, planes_of
from foveal import image
from foveal.errors import ArgumentError, FrameError, ShapeError, SpecError
from foveal.frame import Frame
from foveal.image import Norm, Pipeline, Yuv

TARGETS = tuple(name for name in YUVS if name not in ("p010", "i010"))
SIZES = [
    (1, 1),
    (2, 1),
    (1, 2),
    (3, 5),
    (16, 16),
    (17, 31),
    (127, 2),
    (129, 34),
    (258, 19),
    (1027, 3),
]


def components(frame: Frame) -> list[np.ndarray]:
    """Y, U and V as they are stored, by the definitions of the formats."""
    (sx, sy), names = YUVS[frame.format]
    width, height = frame.width, frame.height
    small = (height + (1 << sy) - 1) >> sy, (width + (1 << sx) - 1) >> sx
    found: dict[str, np.ndarray] = {}
    for plane, parts in zip(frame.planes, names, strict=True):
        data = np.asarray(plane).reshape(-1).view(np.uint8)
        if len(parts) == 4:
            rows = data.reshape(height, -1, 4)
            y = rows[..., [i for i, c in enumerate(parts) if c == "Y"]].reshape(height, -1)
            found["Y"] = y[:, :width]
            found |= {c: rows[..., parts.index(c)] for c in "UV"}
        elif parts == "Y":
            found["Y"] = data.reshape(height, width)
        else:
            pairs = data.reshape(*small, len(parts))
            found |= {c: pairs[..., i] for i, c in enumerate(parts)}
    return [found[c] for c in "YUV"]


def means(full: np.ndarray, shift: tuple[int, int]) -> np.ndarray:
    """Means over blocks of pixels; at odd edges over those that there are."""
    for axis, s in ((1, shift[0]), (0, shift[1])):
        if s:
            at = np.arange(0, full.shape[axis], 2)
            size = np.add.reduceat(np.ones(full.shape[axis]), at)
            total = np.add.reduceat(full, at, axis)
            full = total / (size if axis else size[:, None])
    return full


def check(frame: Frame, spec: dict[str, Any], picture: twin.Picture, noise: float = 1e-3) -> None:
    want = twin.run({"color": "YUV", **spec}, picture)
    shift = YUVS[frame.format][0]
    planes = [want[..., 0], means(want[..., 1], shift), means(want[..., 2], shift)]
    for got, exact in zip(components(frame), planes, strict=True):
        assert got.shape == exact.shape
        assert np.abs(got - exact).max() <= 0.5 + noise


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_rgb_to_every_format(target: str, size: tuple[int, int]) -> None:
    frame, picture = build("bgr", *size, seed=sum(size), pad=1)
    for to in ("bt601-full", "bt709-limited"):
        got = image.convert(frame, target, to=to)
        assert isinstance(got, Frame)
        assert (got.format, got.color, got.upright_size) == (target, to, size)
        check(got, {"size": list(size), "yuv": {"to": to}}, picture)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("fmt", ["rgb", "bgra", "nv12", "i444"])
def test_rows_of_bytes_equal_rows_of_floats(fmt: str, target: str) -> None:
    """Bit for bit, wherever the visible part begins."""
    to = "bt709-full" if fmt in ("rgb", "bgra") else "frame"
    for x, y, width, height in ((0, 0, 2060, 3), (1, 0, 35, 6), (2, 3, 18, 5), (4, 2, 1025, 4)):
        frame, _ = build(fmt, width + x + 3, height + y + 1, visible=(x, y, width, height))
        spec = Pipeline(size=(width, height), color="YUV", yuv=Yuv(to=to))
        floats = spec.compile(layout="nchw")(frame)[0][0]
        out = Frame.empty(target, width, height)
        spec.compile(dtype="uint8").run(frame, out=out)
        shift = YUVS[target][0]
        full = [floats[0], *(means(c.astype(np.float64), shift) for c in floats[1:])]
        for got, want in zip(components(out), full, strict=True):
            ties = np.abs(want % 1 - 0.5) < 1e-4
            np.testing.assert_array_equal(got[~ties], np.rint(want)[~ties])


def test_plans_say_how_they_make_pictures() -> None:
    plan = Pipeline(size=(34, 20), color="YUV").compile(dtype="uint8")
    for target, visible, how in (
        ("yv12", (2, 4, 34, 20), "copied planes"),
        ("nv21", (3, 4, 34, 20), "rows of floats"),
        ("i444", (2, 4, 34, 20), "rows of floats"),
    ):
        plan.run(build("nv12", 40, 30, visible=visible)[0], out=Frame.empty(target, 34, 20))
        assert f"picture: {target.upper()}, {how}" in plan.explain()
    plan(build("nv12", 34, 20)[0])
    assert "picture" not in plan.explain()
    plan = Pipeline(size=(34, 20), color="YUV", yuv=Yuv(to="bt601-full")).compile(dtype="uint8")
    plan.run(build("bgra", 34, 20)[0], out=Frame.empty("uyvy", 34, 20))
    assert "picture: UYVY, rows of bytes" in plan.explain()


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("target", ["nv12", "i422", "uyvy"])
def test_every_format_to_yuv(target: str, fmt: str) -> None:
    frame, picture = build(fmt, 31, 22, rotation=90, mirror=True, color="bt601-limited")
    got = image.convert(frame, target.upper(), to="bt2020-full")
    check(got, {"size": [22, 31], "yuv": {"to": "bt2020-full"}}, picture)


@pytest.mark.parametrize("fmt", TARGETS)
def test_a_frames_own_numbers_survive(fmt: str) -> None:
    """There and back: luma as it is, chroma where samples are not mixed."""
    frame, picture = build(fmt, 18, 14, color=None)
    for target in TARGETS:
        got = image.convert(frame, target)
        y, u, v = components(got)
        np.testing.assert_array_equal(y, picture.data[..., 0])
        here, there = YUVS[fmt][0], YUVS[target][0]
        if there >= here:  # every sample of the result is the mean of whole ones
            sy, sx = slice(None, None, 1 << there[1]), slice(None, None, 1 << there[0])
            if there == here or here == (0, 0):
                full = [means(picture.data[..., c], there) for c in (1, 2)]
                np.testing.assert_array_equal([u, v], np.rint(full))
            if there == here:
                np.testing.assert_array_equal(u, picture.data[sy, sx, 1])
        assert got.color is None and got.siting == "center"


@pytest.mark.parametrize(("fmt", "to"), [("nv21", None), ("rgb", "bt601-limited")])
def test_resize_and_warp(fmt: str, to: str | None) -> None:
    frame, picture = build(fmt, 61, 42, rotation=270, color="bt601-limited")
    yuv = {"to": to or "frame"}
    for size in ((17, 29), (131, 33)):
        got = image.resize(frame, size, color="i420", to=to)
        assert got.color == "bt601-limited"
        check(got, {"size": list(size), "yuv": yuv}, picture, 0.1)
        boxed = image.resize(frame, size, fit=image.Letterbox(), color="nv12", to=to, threads=2)
        check(boxed, {"size": list(size), "yuv": yuv, "fit": {"k": "letterbox"}}, picture, 0.1)
        smooth = image.resize(frame, size, sample=image.Area(), color="nv16", to=to)
        check(smooth, {"size": list(size), "yuv": yuv, "sample": {"k": "area"}}, picture, 1e-2)
    matrix = [0.9, -0.4, 7.25, 0.5, 0.8, -3.5, 0.002, -0.001, 1]
    black = {"k": "constant", "v": [16, 128, 128]}
    for border, said in ((None, black), (image.Replicate(), {"k": "replicate"})):
        rows = np.reshape(matrix, (3, 3))
        got = image.warp(frame, rows, (37, 25), color="yuyv", to=to, border=border)
        fit = {"k": "matrix", "m": matrix}
        spec = {"size": [37, 25], "yuv": yuv, "fit": fit, "border": said}
        check(got, spec, picture, 0.1)


def test_bytes_do_not_depend_on_threads_and_bands() -> None:
    frame, _ = build("rgb", 301, 203)
    one = image.convert(frame, "nv12", to="bt709-full")
    for threads in (2, 3, 4):
        other = image.convert(frame, "nv12", to="bt709-full", threads=threads)
        for a, b in zip(one.planes, other.planes, strict=True):
            np.testing.assert_array_equal(np.asarray(a), np.asarray(b))
    # Whole numbers first, if the specification says so.
    rounded = Pipeline(
        size=(301, 203), color="YUV", yuv=Yuv(to="bt709-full"), intermediate="u8"
    ).compile(dtype="uint8")
    out = Frame.empty("nv12", 301, 203)
    rounded.run(frame, out=out)
    full = Frame.empty("i444", 301, 203)
    rounded.run(frame, out=full)
    _, u, v = (c.astype(np.float64) for c in components(full))
    want = [np.rint(means(c, (1, 1))) for c in (u, v)]
    np.testing.assert_array_equal(components(out)[1:], want)


@pytest.mark.parametrize("profile", ["exact", "fast", "torch"])
@pytest.mark.parametrize("rotation", [0, 90])
def test_planes_are_those_of_the_tensor(rotation: int, profile: str) -> None:
    """Whatever the sampler: a 4:4:4 picture holds what a tensor of bytes holds."""
    samplers = [
        image.Bilinear(),
        image.Bilinear(antialias=True),
        image.Bicubic(antialias=True),
        image.Bicubic(a=-0.75),
    ]
    if profile != "torch":
        samplers += [image.Nearest(), image.Area(), image.Lanczos3()]
    for fmt in ("rgb", "nv12", "gray16"):
        frame, _ = build(fmt, 150, 141, rotation=rotation)
        for sampler in samplers:
            for size in ((37, 160), (290, 31)):
                spec = Pipeline(
                    size=size,
                    color="YUV",
                    yuv=Yuv(to="bt601-full"),
                    profile=profile,
                    sample=sampler,
                )
                plan = spec.compile(dtype="uint8", layout="nchw")
                tensor, _ = plan(frame)
                out = Frame.empty("i444", *size)
                plan.run(frame, out=out)
                np.testing.assert_array_equal(np.stack(components(out)), tensor[0])


@pytest.mark.parametrize("target", TARGETS)
def test_only_the_planes_are_written(target: str) -> None:
    frame, _ = build("rgb", 21, 13)
    want = image.convert(frame, target, to="bt601-full")
    laid_out, strides = [], []
    for plane in planes_of(target, *components(want)):
        wide = np.full((len(plane) + 2, plane.shape[1] + 5), 199, np.uint8)
        laid_out.append(wide)
        strides.append(wide.shape[1])
    views = [w.reshape(-1)[w.shape[1] :] for w in laid_out]
    out = Frame(format=target, width=21, height=13, planes=views, strides=strides)
    assert image.convert(frame, target, to="bt601-full", out=out) is out
    for wide, plane in zip(laid_out, planes_of(target, *components(want)), strict=True):
        rows, columns = plane.shape
        inside = wide[1 : rows + 1, :columns]
        np.testing.assert_array_equal(inside[plane != 77], plane[plane != 77])
        wide[1 : rows + 1, :columns] = 199
        assert (wide == 199).all()


def test_android_planes_are_written() -> None:
    """U and V a byte apart, every pixel 2 bytes wide, V first."""
    frame, _ = build("rgb", 20, 10)
    want = components(image.convert(frame, "nv12", to="bt601-full"))
    y, vu = np.zeros((10, 20), np.uint8), np.zeros((5, 20), np.uint8)
    flat = vu.reshape(-1)
    out = Frame(
        format="i420", width=20, height=10, planes=[y, flat[1:], flat[:-1]],
        strides=[20, 20, 20], pixel_strides=[1, 2, 2],
    )  # fmt: skip
    image.convert(frame, "i420", to="bt601-full", out=out)
    np.testing.assert_array_equal(y, want[0])
    np.testing.assert_array_equal(vu[:, 1::2], want[1])
    np.testing.assert_array_equal(vu[:, ::2], want[2])


def test_what_is_refused() -> None:
    frame, _ = build("rgb", 8, 6)
    with pytest.raises(ArgumentError, match="to: expected matrix and range"):
        image.convert(frame, "nv12")
    with pytest.raises(SpecError, match="to"):
        image.convert(frame, "nv12", to="bt601")
    with pytest.raises(ArgumentError, match="to: belongs to YUV"):
        image.convert(frame, "rgb", to="bt601-full")  # type: ignore[call-overload]
    with pytest.raises(ArgumentError, match=r"expected one of .*nv12"):
        image.convert(frame, "p010", to="bt601-full")  # type: ignore[call-overload]
    with pytest.raises(ArgumentError, match="expected a Frame of nv12"):
        image.convert(frame, "nv12", to="bt601-full", out=Frame.empty("nv21", 8, 6))
    with pytest.raises(ArgumentError, match="expected a Frame of nv12"):
        image.convert(frame, "nv12", to="bt601-full", out=np.zeros((9, 8), np.uint8))
    with pytest.raises(ShapeError, match="expected 8x6"):
        image.convert(frame, "nv12", to="bt601-full", out=Frame.empty("nv12", 6, 8))
    with pytest.raises(FrameError, match="matrix"):
        image.convert(build("nv12", 8, 6, color=None)[0], "i420", to="bt601-full")
    own = Frame.empty("nv12", 8, 6)
    with pytest.raises(ArgumentError, match="apart"):
        image.convert(own, "nv12", out=own)
    plan = Pipeline(size=(8, 6), color="YUV", yuv=Yuv(to="bt601-full")).compile(dtype="uint8")
    for out, text in (
        (Frame.empty("nv12", 8, 6, rotation=90), "no rotation"),
        (Frame.empty("nv12", 8, 6, mirror=True), "no rotation and no mirror"),
        (Frame.empty("rgb", 8, 6), "expected a YUV format of 8 bits, got RGB"),
        (Frame.empty("i010", 8, 6), "expected a YUV format of 8 bits, got I010"),
        (Frame.from_buffer(bytes(72), "nv12", 8, 6), "writable"),
    ):
        with pytest.raises((ArgumentError, FrameError), match=text):
            plan.run(frame, out=out)
    with pytest.raises(ShapeError, match="all of it visible"):
        plan.run(frame, out=Frame.empty("nv12", 10, 8, visible=(2, 2, 8, 6)))
    out = Frame.empty("nv12", 8, 6)
    for other in (
        Pipeline(size=(8, 6)).compile(dtype="uint8"),
        Pipeline(size=(8, 6), color="YUV").compile(),
        Pipeline(size=(8, 6), color="YUV", norm=Norm(1 / 255)).compile(dtype="uint8"),
        Pipeline(size=(8, 6), color="YUV").compile(dtype="uint8", quantize=(2, 0)),
    ):
        with pytest.raises(ArgumentError, match='expected a plan of color "YUV"'):
            other.run(frame, out=out)
    assert not any(np.asarray(plane).any() for plane in out.planes)


def test_empty_frames() -> None:
    frame = Frame.empty("nv12", 5, 3, color="bt709-full")
    assert [np.asarray(p).size for p in frame.planes] == [15, 12] and frame.color == "bt709-full"
    with pytest.raises(FrameError):
        Frame.empty("nv99", 5, 3)
    for size in ((0, 3), (5, -1), ("a", 3)):
        with pytest.raises(FrameError):
            Frame.empty("nv12", *size)
