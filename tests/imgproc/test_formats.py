"""Every pixel format through every plan equals the float64 twin; 10, 16 and 32 bits exactly."""

from __future__ import annotations

import json
from typing import Any

import lerp_twin
import numpy as np
import pytest
import tolerance
import twin
from format_cases import FORMATS, SUBSAMPLED, YUVS, build, planes_of
from foveal.frame import Frame
from foveal.image import Letterbox, Pipeline


def compare(spec: dict[str, Any], made: tuple[Frame, twin.Picture], roi: Any = None) -> str:
    """Runs both; returns what the plan says of itself."""
    frame, picture = made
    if roi is not None:
        spec = {**spec, "roi": "per_call"}
    plan = Pipeline.from_json(json.dumps(spec)).compile(layout="nhwc")
    got, transform = plan(frame, roi)
    want = lerp_twin.expected(plan, spec, picture, roi)
    np.testing.assert_allclose(got[0], want, rtol=0, atol=tolerance.of(plan))
    if "orient" not in spec:
        assert transform.frame_size == frame.upright_size
    return plan.explain()


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("size", [(1, 1), (1, 2), (2, 1), (3, 5), (7, 7), (22, 13)])
def test_odd_sizes(fmt: str, size: tuple[int, int]) -> None:
    for pad in (0, 3):
        made = build(fmt, *size, pad=pad)
        compare({"size": list(size)}, made)
        compare({"size": [4, 9]}, made)


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("mirror", [False, True])
def test_orientations(fmt: str, rotation: int, mirror: bool) -> None:
    turned, picture = build(fmt, 19, 12, rotation=rotation, mirror=mirror, pad=1)
    compare({"size": [7, 11]}, (turned, picture))
    plain, _ = build(fmt, 19, 12)
    straight, _ = Pipeline(size=(19, 12)).compile(layout="nhwc")(plain)
    got, _ = Pipeline(size=turned.upright_size).compile(layout="nhwc")(turned)
    np.testing.assert_array_equal(got[0], twin.upright(straight[0], rotation, mirror))


@pytest.mark.parametrize("fmt", ["rgb", "bgra", "nv21", "i422", "yuyv", "p010"])
@pytest.mark.parametrize(("source", "size"), [((131, 97), (57, 41)), ((127, 73), (119, 71))])
def test_ratios_that_are_no_binary_fractions(
    fmt: str, source: tuple[int, int], size: tuple[int, int]
) -> None:
    compare({"size": list(size)}, build(fmt, *source, pad=1))


@pytest.mark.parametrize(("source", "size"), [((1888, 1062), (312, 296)), ((640, 362), (600, 350))])
def test_camera_frames_by_such_ratios(source: tuple[int, int], size: tuple[int, int]) -> None:
    assert "rows first" in compare({"size": list(size)}, build("nv12", *source))


PLANS = [
    ({"size": [13, 9]}, None, "rows first"),
    ({"size": [31, 23]}, None, "rows first"),
    ({"size": [12, 9], "sample": {"k": "nearest"}}, None, "axis-aligned"),
    ({"size": [9, 9], "fit": {"k": "letterbox"}}, None, "rows first"),
    ({"size": [9, 12]}, (12, 9, 20, 15, 33.0), "gather"),
    ({"size": [9, 12], "sample": {"k": "nearest"}}, (12, 9, 20, 15, 33.0), "gather"),
    ({"size": [9, 12]}, (2, 1, 22, 3, 19, 16, 1, 14), "projective"),
    ({"size": [9, 7], "border": {"k": "constant", "v": [255, 0, 77]}}, (-4, -3, 9, 8), "rows"),
    ({"size": [9, 7], "border": {"k": "constant", "v": 200}}, (20, 15, 20, 15, 40), "gather"),
    ({"size": [2, 3]}, None, "axis-aligned"),
]


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize(("spec", "roi", "plan"), PLANS)
def test_plans(fmt: str, spec: dict[str, Any], roi: Any, plan: str) -> None:
    assert plan in compare(spec, build(fmt, 25, 18, pad=1), roi)
    made = build(fmt, 25, 18, rotation=270, mirror=True)
    compare(spec, made, roi)


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("target", ["BGR", "GRAY"])
def test_colours(fmt: str, target: str) -> None:
    for color in ("bt709-full", "bt2020-limited"):
        compare({"size": [9, 7], "color": target}, build(fmt, 14, 11, color=color))


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_any_number_of_threads(fmt: str, dtype: str) -> None:
    frame, _ = build(fmt, 67, 90, pad=1)
    for spec in (
        Pipeline(size=(67, 90)),
        Pipeline(size=(40, 70), fit=Letterbox()),
        Pipeline(size=(90, 67), orient=90),
    ):
        one, many = (spec.compile(dtype=dtype, layout="nhwc", threads=n)(frame)[0] for n in (1, 3))
        np.testing.assert_array_equal(one, many)


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize(
    "visible", [(0, 0, 14, 9), (1, 1, 9, 7), (2, 3, 1, 1), (5, 2, 18, 14), (22, 15, 1, 1)]
)
def test_visible_rectangle(fmt: str, visible: tuple[int, int, int, int]) -> None:
    for rotation, mirror in ((0, False), (90, True), (180, False)):
        made = build(fmt, 23, 16, visible=visible, rotation=rotation, mirror=mirror, pad=1)
        frame, _ = made
        size = visible[2:] if rotation % 180 == 0 else visible[:1:-1]
        assert frame.upright_size == size and frame.visible == visible
        compare({"size": list(frame.upright_size)}, made)
        compare({"size": [5, 8]}, made)
        compare({"size": [5, 8]}, made, (-1, 0, 6, 5, 20))
        compare({"size": [6, 5], "border": {"k": "constant", "v": 9}}, made, (-2, -1, 4, 4))


@pytest.mark.parametrize("fmt", ["nv21", "i420", "yuyv", "p010", "rgbf32"])
def test_what_lies_around_the_visible_part_is_never_seen(fmt: str) -> None:
    x, y, w, h = visible = (3, 5, 10, 7)
    a, _ = build(fmt, 24, 20, visible=visible)
    planes = [bytearray(p) for p in a.planes]
    chroma = {"nv21": (2, 2), "i420": (2, 2), "p010": (2, 2), "yuyv": (2, 1)}.get(fmt, (1, 1))
    for i, plane in enumerate(planes):  # everything but blocks that the picture touches
        step = {"yuyv": 4, "rgbf32": 12}.get(fmt, 1)
        if fmt == "p010":
            step = 4 if i else 2
        if fmt == "nv21" and i:
            step = 2
        bx, by = chroma if i or fmt == "yuyv" else (1, 1)
        array = np.frombuffer(plane, np.uint8).reshape(-(-20 // by), -1, step)
        keep = np.zeros(array.shape[:2], bool)
        keep[y // by : (y + h - 1) // by + 1, x // bx : (x + w - 1) // bx + 1] = True
        array[~keep] = 255  # of floats: not a number
    b = Frame(format=fmt, width=24, height=20, planes=planes, visible=visible)
    for chroma_kind in ("replicate", "linear"):
        spec = {"yuv": {"chroma": chroma_kind, "siting": "left"}, "roi": "per_call"}
        for roi in ((0, 0, 10, 7), (-3, -3, 14, 12), (5, 4, 12, 9, 30)):
            plan = Pipeline.from_json(json.dumps({"size": [11, 6], **spec})).compile()
            np.testing.assert_array_equal(plan(a, roi)[0], plan(b, roi)[0])


def codes_frame(fmt: str, codes: np.ndarray, color: str) -> Frame:
    """Grey: the luma codes of a row, chroma neutral."""
    width = len(codes)
    neutral = np.full(-(-width // 2), 512, np.uint16)
    y = codes[None].astype(np.uint16)
    if fmt == "p010":
        planes = [y << 6, (np.stack([neutral, neutral], -1) << 6).reshape(1, -1)]
    else:
        planes = [y, neutral[None], neutral[None]]
    return Frame(format=fmt, width=width, height=1, planes=planes, color=color)


@pytest.mark.parametrize("fmt", ["p010", "i010"])
def test_all_codes_of_10_bits(fmt: str) -> None:
    codes = np.arange(1024)
    for target in ("GRAY", "RGB"):
        plan = Pipeline(size=(1024, 1), color=target).compile()
        got, _ = plan(codes_frame(fmt, codes, "bt709-limited"))
        want = np.clip((codes - 64) * 255 / (940 - 64), 0, 255)
        for plane in got[0]:
            np.testing.assert_allclose(plane[0], want, rtol=0, atol=1e-4)
        # Nothing is shifted away: every code is a level of its own.
        assert (np.diff(got[0, 0, 0, 64:941]) > 0.28).all()
        got, _ = plan(codes_frame(fmt, codes, "bt709-full"))
        for plane in got[0]:
            np.testing.assert_allclose(plane[0], codes * 255 / 1023, rtol=0, atol=1e-4)


@pytest.mark.parametrize("fmt", ["p010", "i010"])
def test_10_bits_of_8_bit_codes_are_the_8_bit_frame(fmt: str) -> None:
    rng = np.random.default_rng(4)
    y, u, v = (rng.integers(0, 256, s).astype(np.uint8) for s in ((12, 14), (6, 7), (6, 7)))
    deep = [(c.astype(np.uint16) * 4) << (6 if fmt == "p010" else 0) for c in (y, u, v)]
    if fmt == "p010":
        deep = [deep[0], np.stack(deep[1:], -1)]
    for size in ((14, 12), (9, 5)):
        plan = Pipeline(size=size).compile()
        a, _ = plan(Frame(format="i420", width=14, height=12, planes=[y, u, v]))
        b, _ = plan(Frame(format=fmt, width=14, height=12, planes=deep))
        # Bytes between pixels are blended in whole numbers.
        most = 1e-4 if size == (14, 12) else lerp_twin.COLOUR
        np.testing.assert_allclose(b, a, rtol=0, atol=most)


def test_low_bits_of_p010_are_precision() -> None:
    y = np.arange(16 << 8, (16 << 8) + 64, dtype=np.uint16)[None]
    frame = Frame(format="p010", width=64, height=1, planes=[y, np.full((1, 64), 0x8000, "u2")])
    got, _ = Pipeline(size=(64, 1), color="GRAY").compile()(frame)
    np.testing.assert_allclose(got[0, 0, 0], np.arange(64) / 256 * 255 / 219, atol=1e-4)


def test_all_codes_of_16_bits() -> None:
    codes = np.arange(65536, dtype=np.uint16).reshape(256, 256)
    for fmt, planes in (("gray16", codes), ("rgb16", np.stack([codes, codes.T, codes], -1))):
        frame = Frame(format=fmt, width=256, height=256, planes=[planes])
        got, _ = Pipeline(size=(256, 256)).compile(layout="nhwc")(frame)
        np.testing.assert_allclose(got[0, ..., 0], codes / 257, rtol=0, atol=3e-5)
    bytes_, _ = Pipeline(size=(256, 256), color="GRAY").compile(dtype="uint8")(
        Frame.from_numpy(codes)
    )
    np.testing.assert_array_equal(bytes_[0, 0], np.rint(codes / 257).astype(np.uint8))


def test_floats_that_are_no_levels() -> None:
    odd = np.array([[np.nan, np.inf, -np.inf, -0.5, 1.5, 0.25, 1.0, 0.0]], np.float32)
    want = np.array([0, 255, 0, 0, 255, 63.75, 255, 0])
    frame = Frame(format="grayf32", width=8, height=1, planes=[odd])
    got, _ = Pipeline(size=(8, 1), color="GRAY").compile()(frame)
    np.testing.assert_array_equal(got[0, 0, 0], want)
    # Blended like any other level, by every plan, also with weights of 0.
    rgb = np.repeat(odd.T[..., None], 3, -1)
    picture = twin.Picture("rgb", np.repeat(want[:, None, None], 3, -1))
    tall = Frame(format="rgbf32", width=1, height=8, planes=[rgb])
    for spec, roi in (
        ({"size": [3, 21]}, None),
        ({"size": [3, 5], "orient": 90}, None),
        ({"size": [4, 6]}, (0.5, 4, 2, 9, 12)),
        ({"size": [4, 6], "border": {"k": "constant", "v": 30}}, (0.5, 4, 2, 9, 12)),
    ):
        compare(spec, (tall, picture), roi)


SWEEP = np.array([*range(0, 256, 15), 1, 15, 16, 17, 127, 128, 129, 235, 236, 240, 241, 254])


@pytest.mark.parametrize("matrix", ["bt601", "bt709", "bt2020"])
@pytest.mark.parametrize("range_", ["limited", "full"])
@pytest.mark.parametrize("fmt", ["nv21", "i444", "yuyv", "i422", "p010"])
def test_matrices(fmt: str, matrix: str, range_: str) -> None:
    """All triples of extremes and levels between, Y below 16 and chroma of 0 and 255 included."""
    y, u, v = (a.reshape(len(SWEEP), -1) for a in np.meshgrid(SWEEP, SWEEP, SWEEP, indexing="ij"))
    exact = np.clip(twin.yuv_to_rgb(np.stack([y, u, v], -1), f"{matrix}-{range_}"), 0, 255)
    (sx, sy), _ = YUVS[fmt]
    y = np.repeat(np.repeat(y, 1 << sy, 0), 1 << sx, 1)
    deep = fmt == "p010"
    dtype, unit = (np.uint16, 4) if deep else (np.uint8, 1)
    planes = planes_of(fmt, *((a * unit).astype(dtype) for a in (y, u, v)))
    height, width = y.shape
    frame = Frame(format=fmt, width=width, height=height, planes=planes, color=f"{matrix}-{range_}")
    if deep and range_ == "full":  # 1023 is white, 512 no colour
        codes = np.stack([y[:: 1 << sy, :: 1 << sx], u, v], -1) * 4
        eight = (codes - [0, 512, 512]) * 255 / 1023 + [0, 128, 128]
        exact = np.clip(twin.yuv_to_rgb(eight, f"{matrix}-full"), 0, 255)
    for dtype_, most in (("float32", 1e-3), ("uint8", 0.5 + 1e-3)):
        got, _ = Pipeline(size=(width, height)).compile(dtype=dtype_, layout="nhwc")(frame)
        error = np.abs(got[0, :: 1 << sy, :: 1 << sx] - exact)
        assert error.max() <= most


@pytest.mark.parametrize("fmt", SUBSAMPLED)
@pytest.mark.parametrize("siting", ["center", "left", "top_left"])
def test_linear_chroma(fmt: str, siting: str) -> None:
    yuv = {"chroma": "linear"}
    for source in ((25, 18), (1, 1), (2, 3)):
        made = build(fmt, *source, pad=1, siting=siting)
        for spec, roi, _ in [*PLANS, ({"size": list(source)}, None, "")]:
            if source == (25, 18) or roi is None or len(roi) < 8:
                compare({**spec, "yuv": yuv}, made, roi)
    made = build(fmt, 25, 18, siting=siting, visible=(3, 5, 17, 10), rotation=90, mirror=True)
    for spec, roi, _ in PLANS[:6]:
        assert f"linear, sited {siting}" in compare({**spec, "yuv": yuv}, made, roi)
    frame, picture = build(fmt, 25, 18, siting="left")
    compare({"size": [13, 9], "yuv": {**yuv, "siting": siting}}, (frame, picture))


def test_chroma_ramp() -> None:
    """Chroma samples 32, 64, 96, 128 under constant luma, as each way sees the eight columns."""
    v = np.array([[32, 64, 96, 128]], np.uint8)
    frame = Frame(
        format="i422",
        width=8,
        height=1,
        planes=[np.full((1, 8), 200, np.uint8), np.full((1, 4), 128, np.uint8), v],
        color="bt601-full",
        siting="left",
    )
    want = {
        ("replicate", "frame"): [32, 32, 64, 64, 96, 96, 128, 128],
        ("linear", "center"): [32, 40, 56, 72, 88, 104, 120, 128],
        ("linear", "left"): [32, 48, 64, 80, 96, 112, 128, 128],
        ("linear", "frame"): [32, 48, 64, 80, 96, 112, 128, 128],
        ("linear", "top_left"): [32, 48, 64, 80, 96, 112, 128, 128],
    }
    for (chroma, siting), levels in want.items():
        spec = {"size": [8, 1], "yuv": {"chroma": chroma, "siting": siting}}
        got, _ = Pipeline.from_json(json.dumps(spec)).compile()(frame)
        seen = (got[0, 0, 0] - 200) / 1.402 + 128
        np.testing.assert_allclose(seen, levels, rtol=0, atol=1e-3)
