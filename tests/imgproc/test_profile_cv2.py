"""Profiles cv2 and cv2_4 equal the whole-number definitions, and OpenCV itself, to the bit."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import cv2_twin
import numpy as np
import pytest
import twin
from foveal.errors import FovealError, FrameError, SpecError
from foveal.frame import Frame
from foveal.image import Pipeline
from imgproc_frames import make, noise

FORMATS = ("rgb", "bgr", "rgba", "bgra", "gray", "nv12", "nv21", "i420")
LINEAR = {"k": "bilinear"}
NEAREST = {"k": "nearest", "grid": "asymmetric"}
BORDERS: list[tuple[dict[str, Any], Any]] = [
    ({"k": "replicate"}, "replicate"),
    ({"k": "reflect101"}, "reflect101"),
    ({"k": "constant", "v": [10, 200, 90]}, (10, 200, 90)),
]


def pipeline(size: Any, **keys: Any) -> Pipeline:
    spec = {"size": list(size), "profile": "cv2", "intermediate": "u8", **keys}
    return Pipeline.from_json(json.dumps(spec))


def computed(
    frame: Frame, size: Any, roi: Any = None, dtype: str = "uint8", **keys: Any
) -> np.ndarray:
    if roi is not None:
        keys["roi"] = "per_call"
    out: np.ndarray = pipeline(size, **keys).compile(dtype=dtype, layout="nhwc")(frame, roi)[0]
    return out[0]


def pixels(picture: twin.Picture, color: str = "RGB") -> np.ndarray:
    """The upright array that cv2 would be given: cvtColor first."""
    data = picture.data
    if color == "GRAY":
        data = cv2_twin.rgb_to_gray(data)[..., None] if picture.kind == "rgb" else data[..., :1]
    elif picture.kind == "yuv":
        data = cv2_twin.yuv_to_rgb(data)
    elif picture.kind == "gray":
        data = np.repeat(data, 3, -1)
    data = data[..., ::-1] if color == "BGR" else data
    return twin.upright(data, picture.rotation, picture.mirror)


SIZES = [((131, 97), (57, 41)), ((37, 23), (61, 59)), ((64, 48), (32, 24)), ((1, 1), (7, 5))]
SIZES += [((97, 3), (13, 31)), ((2, 101), (5, 1)), ((1, 13), (7, 3)), ((640, 2), (600, 3))]
SIZES += [((300, 23), (300, 23)), ((61, 59), (61, 31)), ((61, 59), (33, 59))]  # both kept, or one


@pytest.mark.parametrize("profile", ["cv2", "cv2_4"])
@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize(("source", "size"), SIZES)
def test_resize(profile: str, fmt: str, source: tuple[int, int], size: tuple[int, int]) -> None:
    frame, picture = make(fmt, *source, row_pad=5)
    for color in ("RGB", "BGR", "GRAY"):
        image = pixels(picture, color)
        got = computed(frame, size, profile=profile, color=color)
        np.testing.assert_array_equal(got, cv2_twin.resize(image, *size))
        got = computed(frame, size, profile=profile, color=color, sample=NEAREST)
        np.testing.assert_array_equal(got, cv2_twin.resize_nearest(image, *size))


@pytest.mark.parametrize(
    ("source", "size"),
    [((1888, 1062), (312, 296)), ((640, 362), (600, 350)), ((523, 300), (1201, 7))],
)
def test_resize_of_many_chunks(source: tuple[int, int], size: tuple[int, int]) -> None:
    frame, picture = make("bgr", *source)
    got = computed(frame, size)
    np.testing.assert_array_equal(got, cv2_twin.resize(pixels(picture), *size))
    floats = computed(frame, size, dtype="float32")
    np.testing.assert_array_equal(floats, got.astype(np.float32))


def test_resize_of_ramps_and_impulses() -> None:
    ramp = np.add.outer(np.arange(97), np.arange(131)).astype(np.uint8)
    impulse = np.zeros((97, 131), np.uint8)
    impulse[[0, 48, 96], [0, 60, 130]] = 255
    checkers = (np.indices((97, 131)).sum(0) % 2 * 255).astype(np.uint8)
    for image in (ramp, impulse, checkers, np.full((97, 131), 255, np.uint8)):
        for size in ((57, 41), (300, 211), (131, 97), (262, 97)):
            got = computed(Frame.from_numpy(image, "gray"), size, color="GRAY")
            np.testing.assert_array_equal(got[..., 0], cv2_twin.resize(image, *size))


@pytest.mark.parametrize("fmt", ["rgba", "gray", "nv12", "i420"])
@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("mirror", [False, True])
def test_orientation(fmt: str, rotation: int, mirror: bool) -> None:
    frame, picture = make(fmt, 45, 31, rotation=rotation, mirror=mirror, row_pad=3)
    image = pixels(picture)
    np.testing.assert_array_equal(computed(frame, (19, 29)), cv2_twin.resize(image, 19, 29))
    np.testing.assert_array_equal(computed(frame, frame.upright_size), image)
    a = turned(25, 1.4, image.shape[1], image.shape[0], 23, 17)
    got = computed(frame, (23, 17), fit=fit(a), profile="cv2_4")
    np.testing.assert_array_equal(got, cv2_twin.warp_4(image, a, 23, 17, "replicate"))


def test_roi_is_a_slice() -> None:
    frame, picture = make("rgb", 90, 70, rotation=90)
    x0, y0, x1, y1 = 5, 11, 54, 80
    want = cv2_twin.resize(pixels(picture)[y0:y1, x0:x1], 31, 23)
    np.testing.assert_array_equal(computed(frame, (31, 23), (x0, y0, x1, y1)), want)
    for bad in ((5.5, 11, 54, 80), (-1, 11, 54, 80), (5, 11, 54, 91), (5, 11, 54, 80.25)):
        with pytest.raises(FrameError, match="slices"):
            computed(frame, (31, 23), bad)


@pytest.mark.parametrize("policy", ["ultralytics", "yolox", "paddleocr"])
def test_letterbox(policy: str) -> None:
    frame, picture = make("nv12", 131, 97)
    spec = {"k": "letterbox", "policy": policy, "pad": [1, 2, 3]}
    plan = pipeline((64, 64), fit=spec).compile(dtype="uint8", layout="nhwc")
    got, transform = plan(frame)
    x0, y0, x1, y1 = (round(v) for v in transform.valid)
    want = np.full((64, 64, 3), (1, 2, 3), np.uint8)
    want[y0:y1, x0:x1] = cv2_twin.resize(pixels(picture), x1 - x0, y1 - y0)
    np.testing.assert_array_equal(got[0], want)


@pytest.mark.parametrize("policy", ["torchvision", "huggingface"])
def test_crop_is_cut_from_what_was_resized(policy: str) -> None:
    frame, picture = make("rgb", 90, 70)
    spec = {"k": "crop", "resize": [61, 50], "policy": policy}
    got = computed(frame, (40, 33), fit=spec)
    whole = cv2_twin.resize(picture.data, 61, 50)
    x, y = (10, 8)  # 10.5 and 8.5: half to even, or down
    np.testing.assert_array_equal(got, whole[y : y + 33, x : x + 40])


def turned(degrees: float, zoom: float, w: int, h: int, dw: int, dh: int) -> np.ndarray:
    """A cv2 matrix (indices of the result to indices of the source) about both centres."""
    c, s = (zoom * f(math.radians(degrees)) for f in (math.cos, math.sin))
    u, v = (dw - 1) / 2, (dh - 1) / 2
    return np.array(
        [[c, -s, (w - 1) / 2 - c * u + s * v], [s, c, (h - 1) / 2 - s * u - c * v], [0, 0, 1.0]]
    )


def fit(indices: np.ndarray) -> dict[str, Any]:
    """The continuous map of a cv2 matrix."""
    half = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1]])
    back = np.array([[1, 0, -0.5], [0, 1, -0.5], [0, 0, 1]])
    return {"k": "matrix", "m": (half @ indices @ back).ravel().tolist()}


def maps(w: int, h: int, dw: int, dh: int) -> list[np.ndarray]:
    tilted = turned(-20, 1.1, w, h, dw, dh)
    tilted[2, :2] = 0.0011, -0.0007
    straight = np.array([[1.31, 0, -4.23], [0, 0.83, 3.71], [0, 0, 1.0]])
    shifted = np.array([[1, 0, -0.5], [0, 1, 0], [0, 0, 1.0]])  # not a resize: a warp
    return [
        turned(30, 2.3, w, h, dw, dh),
        turned(200, 0.4, w, h, dw, dh),
        straight,
        shifted,
        tilted,
    ]


@pytest.mark.parametrize("fmt", ["rgb", "bgra", "gray", "i420"])
@pytest.mark.parametrize(("border", "outside"), BORDERS)
@pytest.mark.parametrize("source", [(120, 90), (1, 1), (7, 1), (640, 3)])
def test_warp(fmt: str, border: dict[str, Any], outside: Any, source: tuple[int, int]) -> None:
    frame, picture = make(fmt, *source, row_pad=2)
    image, size = pixels(picture), (301, 20)
    for a in maps(*source, *size):
        keys: dict[str, Any] = {"fit": fit(a), "border": border}
        four = cv2_twin.warp_4 if not a[2, :2].any() else cv2_twin.warp_4_perspective
        got = computed(frame, size, profile="cv2_4", **keys)
        np.testing.assert_array_equal(got, four(image, a, *size, outside))
        got = computed(frame, size, profile="cv2", **keys)
        real = cv2_twin.warp(image, a, *size, outside)
        assert np.abs(got - real).max() < 0.5 + 1e-3  # rounded once, from float32 weights
        keys["sample"] = {"k": "nearest"}
        got = computed(frame, size, profile="cv2", **keys)
        np.testing.assert_array_equal(got, cv2_twin.warp_nearest(image, a, *size, outside))
        nearest = cv2_twin.warp_nearest if a[2, :2].any() else cv2_twin.warp_4_nearest
        got = computed(frame, size, profile="cv2_4", **keys)
        np.testing.assert_array_equal(got, nearest(image, a, *size, outside))


@pytest.mark.parametrize("profile", ["cv2", "cv2_4"])
def test_turned_regions_are_warps(profile: str) -> None:
    frame, picture = make("rgb", 90, 70)
    roi = (40.0, 30.0, 50.0, 60.0, 25.0)
    size = (32, 48)
    m, _, _ = twin.geometry({**twin.DEFAULTS, "size": list(size)}, 90, 70, roi)
    shift = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1]])
    a = np.linalg.inv(shift) @ m @ shift
    got = computed(frame, size, roi, profile=profile, border=BORDERS[2][0])
    if profile == "cv2_4":
        want = cv2_twin.warp_4(picture.data, a, *size, BORDERS[2][1])
        np.testing.assert_array_equal(got, want)
    else:
        assert np.abs(got - cv2_twin.warp(picture.data, a, *size, BORDERS[2][1])).max() < 0.501
    with pytest.raises(FrameError, match="grid"):
        computed(frame, size, roi, profile=profile, sample=NEAREST)


@pytest.mark.parametrize("profile", ["cv2", "cv2_4"])
def test_what_cv2_does_not_define_is_refused(profile: str) -> None:
    bad: list[tuple[str, dict[str, Any]]] = [
        ("bicubic", {"sample": {"k": "bicubic", "a": -0.75}}),
        ("area", {"sample": {"k": "area"}}),
        ("lanczos3", {"sample": {"k": "lanczos3"}}),
        ("antialias", {"sample": {"k": "bilinear", "antialias": True}}),
        ('intermediate "u8"', {"intermediate": "f32"}),
        ("INTER_NEAREST_EXACT|asymmetric", {"sample": {"k": "nearest"}}),
        ("half_pixel", {"sample": {"k": "bilinear", "grid": "align_corners"}}),
        ("half_pixel", {"sample": {"k": "bilinear", "grid": "asymmetric"}}),
        ("half_pixel", {"sample": NEAREST, "fit": {"k": "cover"}}),
        ("constant_hard", {"border": {"k": "constant_hard", "v": 0}}),
        ("whole numbers", {"border": {"k": "constant", "v": 1.5}}),
        ("chroma", {"yuv": {"chroma": "linear"}}),
        ("bt601", {"yuv": {"matrix": "bt709"}}),
        ("bt601", {"yuv": {"range": "full"}}),
    ]
    for match, keys in bad:
        with pytest.raises(SpecError, match=match):
            pipeline((8, 8), profile=profile, **keys).compile(dtype="uint8", layout="nhwc")
    for color in ("bt709-limited", "bt601-full"):
        with pytest.raises(FrameError, match="bt601-limited"):
            computed(make("nv12", 8, 8, color=color)[0], (4, 4), profile=profile)
        gray = computed(make("nv12", 8, 8, color=color)[0], (4, 4), profile=profile, color="GRAY")
        assert gray.shape == (4, 4, 1)


def test_no_sampler_means_another() -> None:
    """Every sampler of every profile is either refused or gives a picture of its own."""
    frame, _ = make("rgb", 37, 23)
    samples = [
        {"k": "bilinear", "antialias": False},
        {"k": "bilinear", "antialias": True},
        {"k": "nearest"},
        NEAREST,
        {"k": "bicubic", "a": -0.5},
        {"k": "bicubic", "a": -0.75},
        {"k": "area"},
        {"k": "lanczos3"},
    ]
    for profile in ("exact", "fast", "cv2", "cv2_4", "pillow", "pillow_12", "torch"):
        seen: dict[bytes, Any] = {}
        for sample in samples:
            try:
                got = computed(frame, (17, 9), profile=profile, sample=sample)
            except FovealError as error:
                assert isinstance(error, SpecError), error
                continue
            same = seen.setdefault(got.tobytes(), sample)
            assert same is sample, f"{profile}: {sample} gives what {same} gives"


def test_threads_do_not_matter() -> None:
    frame, _ = make("nv21", 301, 203)
    a = turned(33, 0.9, 301, 203, 150, 140)
    for keys in ({}, {"fit": fit(a)}, {"fit": fit(a), "profile": "cv2_4"}):
        spec = pipeline((150, 140), **keys)
        one, _ = spec.compile(threads=1)(frame)
        for threads in (2, 4):
            np.testing.assert_array_equal(spec.compile(threads=threads)(frame)[0], one)


def test_cv2_4_is_opencv_4() -> None:
    """Stored results of OpenCV 4.10; see vectors/make_cv2_4.py."""
    stored = np.load(Path(__file__).parent / "vectors" / "cv2_4.npz")
    frame = Frame.from_numpy(stored["source"], "rgb")
    names = [name for name in stored.files if name.count("_") == 2]
    assert len(names) == 4 * 2 * 3
    for name in names:
        map_, interpolation, border = name.split("_")
        got = computed(
            frame,
            (24, 20),
            profile="cv2_4",
            fit=fit(stored[f"map_{map_}"]),
            sample=LINEAR if interpolation == "linear" else {"k": "nearest"},
            border=next(b for b, _ in BORDERS if b["k"] == border),
        )
        np.testing.assert_array_equal(got, stored[name], name)


# ---- OpenCV itself -------------------------------------------------------------------------


def test_opencv_resizes_the_same() -> None:
    cv2 = pytest.importorskip("cv2")
    rng = np.random.default_rng(5)
    for _ in range(150):
        w, h, dw, dh = (int(v) for v in rng.integers(1, 140, 4))
        image = noise((h, w, 3), w)
        frame = Frame.from_numpy(image, "rgb")
        want = cv2.resize(image, (dw, dh), interpolation=cv2.INTER_LINEAR)
        np.testing.assert_array_equal(computed(frame, (dw, dh)), want.reshape(dh, dw, 3))
        want = cv2.resize(image, (dw, dh), interpolation=cv2.INTER_NEAREST)
        got = computed(frame, (dw, dh), sample=NEAREST)
        np.testing.assert_array_equal(got, want.reshape(dh, dw, 3))


def test_opencv_converts_the_same() -> None:
    cv2 = pytest.importorskip("cv2")
    y, uv = noise((128, 128), 1), noise((64, 64, 2), 2)
    frame = Frame(format="nv12", width=128, height=128, planes=[y, uv], color="bt601-limited")
    want = cv2.cvtColorTwoPlane(y, uv, cv2.COLOR_YUV2RGB_NV12)
    np.testing.assert_array_equal(computed(frame, (128, 128)), want)
    want = cv2.resize(want, (57, 41))
    np.testing.assert_array_equal(computed(frame, (57, 41)), want)
    image = noise((64, 64, 3), 3)
    got = computed(Frame.from_numpy(image, "rgb"), (64, 64), color="GRAY")
    np.testing.assert_array_equal(got[..., 0], cv2.cvtColor(image, cv2.COLOR_RGB2GRAY))


def test_opencv_makes_the_same_blobs() -> None:
    cv2 = pytest.importorskip("cv2")
    rng = np.random.default_rng(7)
    for crop in (True, False):
        for _ in range(100):
            w, h, dw, dh = (int(v) for v in rng.integers(2, 120, 4))
            image = noise((h, w, 3), w)
            fit_ = {"k": "crop", "policy": "opencv"} if crop else {"k": "stretch"}
            want = cv2.dnn.blobFromImage(image, 1.0, (dw, dh), (0, 0, 0), False, crop)[0]
            got = computed(Frame.from_numpy(image, "rgb"), (dw, dh), fit=fit_)
            np.testing.assert_array_equal(got, want.transpose(1, 2, 0))


@pytest.mark.parametrize(("border", "outside"), BORDERS)
def test_opencv_5_warps_within_1(border: dict[str, Any], outside: Any) -> None:
    cv2 = pytest.importorskip("cv2", minversion="5.0")
    mode = cv2.BORDER_CONSTANT
    if isinstance(outside, str):
        mode = {"replicate": cv2.BORDER_REPLICATE, "reflect101": cv2.BORDER_REFLECT_101}[outside]
    image, size = noise((90, 120, 3)), (64, 50)
    frame = Frame.from_numpy(image, "rgb")
    for a in maps(120, 90, *size):
        projective = bool(a[2, :2].any())
        for sample, flag in ((LINEAR, cv2.INTER_LINEAR), ({"k": "nearest"}, cv2.INTER_NEAREST)):
            warp = cv2.warpPerspective if projective else cv2.warpAffine
            want = warp(
                image,
                a if projective else a[:2],
                size,
                flags=flag | cv2.WARP_INVERSE_MAP,
                borderMode=mode,
                borderValue=outside if isinstance(outside, tuple) else 0,
            )
            got = computed(frame, size, fit=fit(a), border=border, sample=sample)
            gap = np.abs(got.astype(int) - want)
            assert gap.max() <= (1 if sample is LINEAR else 0)
            assert (gap > 0).mean() < 0.02  # ties
