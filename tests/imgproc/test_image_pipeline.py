"""The compiled pipeline equals the float64 twin, for every format, fit, sampler and orientation."""

from __future__ import annotations

import json
from typing import Any

import lerp_twin
import numpy as np
import pytest
import tolerance
import twin
from foveal.errors import ShapeError, SpecError
from foveal.frame import Frame
from foveal.image import Bilinear, Cover, Letterbox, Nearest, Norm, Pipeline, Yuv
from imgproc_frames import FORMATS, YUV, make, noise

TOLERANCE = tolerance.FLOATS


def compare(spec: dict[str, Any], made: tuple[Frame, twin.Picture], roi: Any = None) -> str:
    """Runs both; returns the plan's name."""
    frame, picture = made
    if roi is not None:
        spec = {**spec, "roi": "per_call"}
    plan = Pipeline.from_json(json.dumps(spec)).compile(layout="nhwc")
    got, _ = plan(frame, roi)
    want = lerp_twin.expected(plan, spec, picture, roi)
    scale = spec.get("norm", {}).get("scale", 1) / np.min(spec.get("norm", {}).get("std", 1))
    np.testing.assert_allclose(got[0], want, rtol=0, atol=tolerance.of(plan) * scale)
    return plan.explain().splitlines()[3]


# Ratios that are no powers of two, up and down, primes, one pixel.
SIZES = [((131, 97), (57, 41)), ((37, 23), (61, 59)), ((64, 48), (32, 24)), ((1, 1), (7, 5))]
SIZES += [((97, 3), (13, 31)), ((2, 101), (5, 1))]


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize(("source", "size"), SIZES)
def test_stretch(fmt: str, source: tuple[int, int], size: tuple[int, int]) -> None:
    name = compare({"size": list(size)}, make(fmt, *source, row_pad=5))
    few = source[0] / size[0] < 6  # bytes of whole rows would be wasted above
    assert "rows first" in name or source == (1, 1) or not few


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("mirror", [False, True])
def test_orientation_resized(fmt: str, rotation: int, mirror: bool) -> None:
    made = make(fmt, 45, 31, rotation=rotation, mirror=mirror, row_pad=3)
    compare({"size": [19, 29]}, made)


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("mirror", [False, True])
def test_orientation_is_an_exact_permutation(fmt: str, rotation: int, mirror: bool) -> None:
    width, height = 23, 14
    plain, picture = make(fmt, width, height)
    turned, _ = make(fmt, width, height, rotation=rotation, mirror=mirror)
    straight, _ = Pipeline(size=(width, height)).compile(layout="nhwc")(plain)
    size = (height, width) if rotation % 180 else (width, height)
    got, _ = Pipeline(size=size).compile(layout="nhwc")(turned)
    np.testing.assert_array_equal(got[0], twin.upright(straight[0], rotation, mirror))
    if picture.kind == "rgb":
        np.testing.assert_array_equal(straight[0], picture.data)


def test_orient_can_be_ignored_or_set() -> None:
    made = make("rgb", 21, 13, rotation=90, mirror=True)
    for orient in ("none", 0, 90, 180, 270):
        compare({"size": [11, 17], "orient": orient}, made)


@pytest.mark.parametrize("fmt", ["rgb", "bgra", "nv21", "gray"])
@pytest.mark.parametrize("policy", ["ultralytics", "yolox", "mediapipe", "paddleocr"])
@pytest.mark.parametrize("size", [[40, 40], [50, 20], [17, 53]])
def test_letterbox(fmt: str, policy: str, size: list[int]) -> None:
    fit: dict[str, Any] = {"k": "letterbox", "policy": policy}
    if policy != "mediapipe":
        fit["pad"] = [1, 114, 250]
    spec = {"size": size, "fit": fit, "border": {"k": "constant", "v": [9, 80, 200]}}
    compare(spec, make(fmt, 67, 43))


@pytest.mark.parametrize("size", [[40, 40], [50, 20], [17, 53]])
def test_cover(size: list[int]) -> None:
    compare({"size": size, "fit": {"k": "cover"}}, make("rgb", 67, 43, rotation=90))


ROIS = [
    (3.3, 5.25, 40.1, 30.7),
    (-9.5, 4, 30, 60),  # over the edge
    (100, 100, 140, 120),  # all outside
    (30.2, 22.1, 25.0, 17.0, 33.0),
    (30, 20, 28, 18, 90),
    (30, 20, 90, 70, -135.5),
    (5, 4, 50, 9, 45, 37, 2, 30),  # perspective
    (10, 10, 30, 10, 40, 30, 20, 30),  # parallelogram
]


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("roi", ROIS)
@pytest.mark.parametrize(
    "border",
    [{"k": "replicate"}, {"k": "constant", "v": [255, 0, 77]}],
    ids=["replicate", "constant"],
)
def test_roi(fmt: str, roi: tuple[float, ...], border: dict[str, Any]) -> None:
    compare({"size": [23, 19], "border": border}, make(fmt, 61, 43, row_pad=1), roi)


@pytest.mark.parametrize("rotation", [90, 180, 270])
def test_roi_is_in_upright_pixels(rotation: int) -> None:
    made = make("nv12", 61, 43, rotation=rotation, mirror=True)
    for roi in ROIS:
        compare({"size": [23, 19]}, made, roi)


def test_roi_with_letterbox_and_cover() -> None:
    made = make("rgb", 61, 43)
    for fit in ("ultralytics", "yolox", "mediapipe", "paddleocr"):
        for roi in ROIS:
            compare({"size": [23, 19], "fit": {"k": "letterbox", "policy": fit}}, made, roi)
    compare({"size": [23, 19], "fit": {"k": "cover"}}, made, ROIS[0])


@pytest.mark.parametrize("grid", ["half_pixel", "align_corners", "asymmetric"])
@pytest.mark.parametrize("kind", ["bilinear", "nearest"])
@pytest.mark.parametrize("size", [[13, 11], [50, 60]])
def test_grids(grid: str, kind: str, size: list[int]) -> None:
    compare({"size": size, "sample": {"k": kind, "grid": grid}}, make("rgb", 31, 27))


@pytest.mark.parametrize("fmt", ["rgb", "nv12"])
def test_nearest_in_rotated_roi(fmt: str) -> None:
    compare({"size": [31, 17], "sample": {"k": "nearest"}}, make(fmt, 40, 30), ROIS[3])


def test_matrix_fit_affine_and_projective() -> None:
    made = make("bgra", 40, 30)
    border = {"k": "constant", "v": [1, 2, 250]}
    for m in (
        [1.3, 0.2, -3, -0.1, 1.1, 2, 0, 0, 1],
        [2, 0, 1.5, 0, 1.5, -3, 0, 0, 1],
        [0, 1.5, 0.5, -1.2, 0, 25, 0, 0, 1],
        [1.3, 0.2, 1, -0.1, 1.1, 2, 0.01, 0.004, 1],
    ):
        compare({"size": [20, 21], "fit": {"k": "matrix", "m": m}, "border": border}, made)


def test_constant_border_is_blended_tap_by_tap() -> None:
    # A picture of 0 shifted by half a pixel into a border of 200: half a tap at either rim.
    frame = Frame.from_numpy(np.zeros((4, 4), np.uint8))
    spec = {
        "size": [5, 4],
        "color": "GRAY",
        "fit": {"k": "matrix", "m": [1, 0, -0.5, 0, 1, 0, 0, 0, 1]},
        "border": {"k": "constant", "v": 200},
    }
    out, _ = Pipeline.from_json(json.dumps(spec)).compile()(frame)
    np.testing.assert_array_equal(out[0, 0], np.tile([100, 0, 0, 0, 100], (4, 1)))


@pytest.mark.parametrize("target", ["RGB", "BGR", "GRAY"])
@pytest.mark.parametrize("fmt", FORMATS)
def test_colors(target: str, fmt: str) -> None:
    compare({"size": [19, 13], "color": target}, make(fmt, 29, 22, color="bt709-full"))


@pytest.mark.parametrize("matrix", ["bt601", "bt709", "bt2020"])
@pytest.mark.parametrize("range_", ["limited", "full"])
def test_yuv_matrices(matrix: str, range_: str) -> None:
    # Every 17th level of each component, and all extremes, as 2 x 2 blocks.
    levels = np.arange(0, 256, 17)
    yuv = np.stack(np.meshgrid(levels, levels, levels, indexing="ij"), -1).reshape(64, 64, 3)
    yuv = yuv.astype(np.uint8)
    y = np.repeat(np.repeat(yuv[..., 0], 2, 0), 2, 1)
    frame = Frame(
        format="nv12", width=128, height=128, planes=[y, yuv[..., 1:]], color=f"{matrix}-{range_}"
    )
    got, _ = Pipeline(size=(128, 128)).compile(layout="nhwc")(frame)
    want = np.clip(twin.yuv_to_rgb(yuv.astype(np.float64), frame.color or ""), 0, 255)
    np.testing.assert_allclose(got[0, ::2, ::2], want, rtol=0, atol=TOLERANCE)
    spec = Pipeline(size=(128, 128), yuv=Yuv(matrix=matrix, range=range_))
    unknown = Frame(format="nv12", width=128, height=128, planes=frame.planes, color=None)
    np.testing.assert_array_equal(spec.compile(layout="nhwc")(unknown)[0], got)


@pytest.mark.parametrize("fmt", YUV)
@pytest.mark.parametrize("size", [(1, 1), (1, 2), (2, 1), (3, 5), (5, 3), (7, 7)])
def test_odd_yuv_sizes(fmt: str, size: tuple[int, int]) -> None:
    compare({"size": list(size)}, make(fmt, *size))
    compare({"size": [4, 9]}, make(fmt, *size))


def test_norm_is_exact_to_5e_7() -> None:
    mean, std = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
    ramp = np.repeat(np.arange(256, dtype=np.uint8), 3).reshape(16, 16, 3)
    spec = Pipeline(size=(16, 16), norm=Norm(scale=1 / 255, mean=mean, std=std))
    got, _ = spec.compile(layout="nhwc")(Frame.from_numpy(ramp))
    want = (ramp / 255.0 - mean) / std
    np.testing.assert_allclose(got[0], want, rtol=0, atol=5e-7)


@pytest.mark.parametrize("fmt", ["rgb", "nv12", "gray"])
def test_u8_intermediate_rounds_half_to_even(fmt: str) -> None:
    frame, picture = make(fmt, 64, 48)
    spec = {"size": [32, 24], "intermediate": "u8", "norm": {"scale": 1 / 255}}
    got, _ = Pipeline.from_json(json.dumps(spec)).compile(layout="nhwc")(frame)
    steps = got[0] * 255.0
    np.testing.assert_allclose(steps, np.rint(steps), rtol=0, atol=1e-4)
    exact = twin.run({"size": [32, 24]}, picture)
    # Exactly 2:1: RGB means of four are multiples of 1/4, so ties are real and exact.
    clear = np.full(exact.shape, True) if fmt != "nv12" else np.abs(exact % 1 - 0.5) > 1e-3
    np.testing.assert_array_equal(np.rint(steps)[clear], np.rint(exact)[clear])


@pytest.mark.parametrize("color", ["RGB", "GRAY"])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "uint8", "int8", "int16"])
@pytest.mark.parametrize("fit", [Letterbox(), Cover()])
def test_layouts_hold_the_same_values(color: str, dtype: str, fit: Any) -> None:
    frame, _ = make("bgr", 301, 203)
    spec = Pipeline(size=(276, 41), color=color, fit=fit)
    base, _ = spec.compile(dtype=dtype, layout="nchw")(frame)
    nhwc, _ = spec.compile(dtype=dtype, layout="nhwc")(frame)
    np.testing.assert_array_equal(nhwc.transpose(0, 3, 1, 2), base)
    for block in (4, 8, 16):
        plan = spec.compile(dtype=dtype, layout=f"nc{block}hw{block}")
        out = np.full(plan.shape, 77, plan.dtype)
        plan.run(frame, out=out)
        channels = base.shape[1]
        np.testing.assert_array_equal(out[:, 0, :, :, :channels].transpose(0, 3, 1, 2), base)
        assert not out[..., channels:].any()


def test_uint8_output_rounds_and_saturates() -> None:
    ramp = np.arange(256, dtype=np.uint8).reshape(16, 16)
    spec = Pipeline(size=(16, 16), color="GRAY", norm=Norm(scale=1.5, mean=20.25))
    got, _ = spec.compile(dtype="uint8")(Frame.from_numpy(ramp))
    want = np.clip(np.rint(ramp * 1.5 - 20.25), 0, 255)
    np.testing.assert_array_equal(got[0, 0], want)


@pytest.mark.parametrize("fmt", ["rgb", "nv12"])
@pytest.mark.parametrize("roi", [None, (60, 50, 90, 70, 20)])
def test_threads_do_not_change_a_byte(fmt: str, roi: Any) -> None:
    frame, _ = make(fmt, 211, 157, rotation=90)
    spec = Pipeline(size=(127, 203), roi="full" if roi is None else "per_call", fit=Letterbox())
    one, _ = spec.compile(threads=1)(frame, roi)
    for threads in (2, 4):
        plan = spec.compile(threads=threads)
        for _ in range(3):
            np.testing.assert_array_equal(plan(frame, roi)[0], one)


def test_large_reduction_leaves_the_rows_first_plan() -> None:
    assert "taps (axis-aligned)" in compare({"size": [17, 9]}, make("rgba", 997, 31))


def test_wide_rows_are_cut_into_chunks() -> None:
    # Down by just under the limit of the rows-first plan: chunks are bounded by source bytes.
    for fmt in ("rgb", "nv12", "bgra"):
        frame, picture = make(fmt, 1789, 7)
        compare({"size": [311, 5]}, (frame, picture))


def test_one_plan_serves_frames_of_any_size_and_format() -> None:
    plan = Pipeline(size=(23, 31)).compile(layout="nhwc")
    for i, fmt in enumerate(FORMATS):
        made = make(fmt, 20 + 7 * i, 90 - 5 * i, rotation=90 * (i % 4))
        got, _ = plan(made[0])
        want = lerp_twin.expected(plan, {"size": [23, 31]}, made[1])
        np.testing.assert_allclose(got[0], want, rtol=0, atol=TOLERANCE)


def test_planes_of_android_yuv_420_888() -> None:
    # U and V are views into one interleaved buffer, either way round; V's last byte is missing.
    y, uv = noise((6, 9)), noise((3, 10), 1)
    flat = uv.ravel()
    want, _ = Pipeline(size=(9, 6)).compile()(
        Frame(format="nv12", width=9, height=6, planes=[y, uv])
    )
    frame = Frame(
        format="i420",
        width=9,
        height=6,
        planes=[y, flat[:-1], flat[1:]],
        strides=[9, 10, 10],
        pixel_strides=[1, 2, 2],
    )
    np.testing.assert_array_equal(Pipeline(size=(9, 6)).compile()(frame)[0], want)


def test_gray_pixel_stride_reads_one_component() -> None:
    rgb = noise((5, 7, 3))
    frame = Frame(
        format="gray", width=7, height=5, planes=[rgb.ravel()], strides=[21], pixel_strides=[3]
    )
    out, _ = Pipeline(size=(7, 5), color="GRAY").compile()(frame)
    np.testing.assert_array_equal(out[0, 0], rgb[..., 0])


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"profile": "pillow", "intermediate": "u8"}, "antialias"),
        ({"sample": {"k": "area"}, "border": {"k": "reflect101"}}, "reflect101"),
        ({"sample": {"k": "bicubic"}, "yuv": {"chroma": "linear"}}, "linear"),
        ({"border": {"k": "constant_hard"}, "yuv": {"chroma": "linear"}}, "constant_hard"),
        ({"border": {"k": "reflect101"}, "yuv": {"chroma": "linear"}}, "reflect101"),
        (
            {
                "fit": {"k": "matrix", "m": [1, 0, 0, 0, 1, 0, 0, 0, 1]},
                "sample": {"k": "bilinear", "grid": "asymmetric"},
            },
            "asymmetric",
        ),
    ],
)
def test_what_is_not_built_is_refused_at_compile(change: dict[str, Any], word: str) -> None:
    from foveal import _core

    spec = _core.ImageSpec(json.dumps({"size": [8, 8], **change}))
    with pytest.raises(SpecError, match=word):
        spec.compile("float32", 0, 0, [1, 3, 8, 8], 1, 1.0, 0)


def test_tensors_that_do_not_fit_are_refused() -> None:
    spec = Pipeline(size=(8, 6))
    with pytest.raises(ShapeError, match="6, 8"):
        spec.compile(shape=(1, 3, 8, 6), layout="nchw")
    with pytest.raises(ShapeError):
        spec.compile(shape=(2, 3, 6, 8), layout="nchw")
    with pytest.raises(ShapeError):
        spec.compile(shape=(1, 4, 6, 8))
    with pytest.raises(SpecError, match="int32"):
        spec.compile(dtype="int32")
    assert spec.compile(shape=("n", 3, "h", -1)).shape == (1, 3, 6, 8)
    assert spec.compile(shape=(1, 6, 8, 3)).shape == (1, 6, 8, 3)


def test_fast_is_as_close_as_exact() -> None:
    made = make("nv12", 61, 43)
    compare({"size": [23, 19], "profile": "fast"}, made)
    assert (
        Pipeline(size=(23, 19), sample=Nearest()).digest()
        != Pipeline(size=(23, 19), sample=Bilinear()).digest()
    )
