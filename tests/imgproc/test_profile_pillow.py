"""Profiles pillow and pillow_12 equal the definition in numpy, and Pillow itself, to the bit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import PIL
import pillow_twin
import pytest
import twin
from format_cases import FORMATS, build
from foveal import image
from foveal.errors import FrameError, SpecError
from foveal.frame import Frame
from foveal.image import Pipeline
from imgproc_frames import make, noise
from PIL import Image, ImageOps

FILTERS = {
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "lanczos3": Image.Resampling.LANCZOS,
    "area": Image.Resampling.BOX,
    "nearest": Image.Resampling.NEAREST,
}
PROFILES = ("pillow", "pillow_12")
# Of the Pillow that is installed: which pass comes first changed with 13.
INSTALLED = "pillow" if int(PIL.__version__.split(".")[0]) >= 13 else "pillow_12"


def pipeline(size: Any, name: str = "bilinear", **keys: Any) -> Pipeline:
    sample: dict[str, Any] = {"k": name}
    if name not in ("area", "nearest"):
        sample["antialias"] = True
    spec = {"size": list(size), "sample": sample, "profile": "pillow", "intermediate": "u8", **keys}
    return Pipeline.from_json(json.dumps(spec))


def computed(
    frame: Frame, size: Any, name: str = "bilinear", roi: Any = None, **keys: Any
) -> np.ndarray:
    if roi is not None:
        keys["roi"] = "per_call"
    plan = pipeline(size, name, **keys).compile(dtype="uint8", layout="nhwc")
    out: np.ndarray = plan(frame, roi)[0]
    return out[0]


def pixels(frame: Frame, picture: twin.Picture, color: str = "RGB") -> np.ndarray:
    """The upright array that Pillow would be given."""
    if picture.kind == "yuv":
        return image.convert(frame, color.lower()).reshape(*reversed(frame.upright_size), -1)
    data = picture.data.astype(np.uint8)
    if color == "GRAY" and picture.kind == "rgb":
        data = pillow_twin.luma(data)
    if color != "GRAY" and picture.kind == "gray":
        data = np.repeat(data, 3, -1)
    data = data[..., ::-1] if color == "BGR" else data
    return twin.upright(data, picture.rotation, picture.mirror)


SIZES = [((131, 97), (57, 41)), ((37, 23), (61, 59)), ((64, 48), (32, 24)), ((1, 1), (7, 5))]
SIZES += [((97, 3), (13, 31)), ((2, 101), (5, 1)), ((1, 13), (7, 3)), ((640, 2), (600, 3))]
SIZES += [((31, 97), (29, 11)), ((53, 53), (53, 53)), ((53, 41), (53, 17)), ((53, 41), (17, 41))]


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(("source", "size"), SIZES)
def test_resize(name: str, profile: str, source: tuple[int, int], size: tuple[int, int]) -> None:
    for fmt in ("rgb", "bgra", "gray"):
        frame, picture = make(fmt, *source, row_pad=5)
        for color in ("RGB", "BGR", "GRAY"):
            got = computed(frame, size, name, profile=profile, color=color)
            want = pillow_twin.resize(pixels(frame, picture, color), *size, name, profile=profile)
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    ("source", "size"),
    [((1888, 1062), (312, 296)), ((640, 362), (600, 350)), ((523, 300), (1201, 7))],
)
@pytest.mark.parametrize("rotation", [0, 90])
def test_more_than_one_block_and_band(
    source: tuple[int, int], size: tuple[int, int], rotation: int
) -> None:
    frame, picture = make("bgr", *source, rotation=rotation)
    got = computed(frame, size, "bicubic")
    want = pillow_twin.resize(pixels(frame, picture), *size, "bicubic")
    np.testing.assert_array_equal(got, want)
    floats, _ = pipeline(size, "bicubic", norm={"scale": 1 / 255}).compile()(frame)
    np.testing.assert_allclose(floats[0].transpose(1, 2, 0), want / 255, rtol=1e-6)


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("mirror", [False, True])
def test_every_format_and_orientation(fmt: str, rotation: int, mirror: bool) -> None:
    """Formats of other than 8-bit RGB and grey: of what `convert` makes of them."""
    frame, _ = build(fmt, 49, 33, rotation=rotation, mirror=mirror, pad=4, visible=(3, 1, 45, 31))
    rgb = image.convert(frame, "rgb")
    for size, name in (((19, 29), "bilinear"), ((70, 9), "lanczos3"), ((13, 44), "nearest")):
        want = pillow_twin.resize(rgb, *size, name)
        np.testing.assert_array_equal(computed(frame, size, name), want)
        got = computed(frame, size, name, color="BGR")
        np.testing.assert_array_equal(got, want[..., ::-1])
    gray = image.convert(frame, "gray").reshape(*rgb.shape[:2], 1)
    if "rgb" in fmt or "bgr" in fmt:
        gray = pillow_twin.luma(rgb)
    for name in ("bicubic", "nearest"):
        want = pillow_twin.resize(gray, 17, 23, name)
        np.testing.assert_array_equal(computed(frame, (17, 23), name, color="GRAY"), want)


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("long", [2999, 16_000])
def test_long_thin_pictures(name: str, long: int) -> None:
    """More pixels behind one than any buffer holds, along rows and across, converted or not."""
    for source, size in (((long, 2), (3, 2)), ((2, long), (2, 3)), ((long, 1), (1, 5))):
        for fmt, rotation in (("rgb", 0), ("rgb", 90), ("nv12", 0), ("nv12", 270), ("gray", 90)):
            frame, _ = make(fmt, *source, rotation=rotation)
            want = pillow_twin.resize(image.convert(frame, "rgb"), *size, name)
            np.testing.assert_array_equal(computed(frame, size, name), want)


def test_ramps_impulses_and_extremes() -> None:
    ramp = np.add.outer(np.arange(97), np.arange(131)).astype(np.uint8)
    impulse = np.zeros((97, 131), np.uint8)
    impulse[[0, 48, 96], [0, 60, 130]] = 255
    checkers = (np.indices((97, 131)).sum(0) % 2 * 255).astype(np.uint8)
    for picture in (ramp, impulse, checkers, np.full((97, 131), 255, np.uint8)):
        for size in ((57, 41), (300, 211), (131, 97), (262, 97)):
            for name in FILTERS:
                got = computed(Frame.from_numpy(picture, "gray"), size, name, color="GRAY")
                want = pillow_twin.resize(picture[..., None], *size, name)
                np.testing.assert_array_equal(got, want)


BOXES = [(5, 11, 54, 80), (0.25, 3.5, 61.125, 40.75), (69.01, 0, 70, 90), (0, 0, 70, 90)]
BOXES += [(10, 20, 31, 43), (33.3, 44.4, 33.5, 44.7)]


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("fmt", ["rgb", "i420"])
def test_a_roi_is_the_box_of_resize(name: str, box: pillow_twin.Box, fmt: str) -> None:
    frame, _ = make(fmt, 90, 70, rotation=90)
    got = computed(frame, (21, 23), name, box)
    want = pillow_twin.resize(image.convert(frame, "rgb"), 21, 23, name, box)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("box", [(-0.5, 0, 8, 8), (0, 0, 8, 90.25), (0, 0, 71, 8)])
def test_boxes_outside_of_the_picture_are_refused(box: Any) -> None:
    frame, _ = make("rgb", 90, 70, rotation=90)
    with pytest.raises(FrameError, match="clip it"):
        computed(frame, (31, 23), "bilinear", box)


@pytest.mark.parametrize("name", FILTERS)
def test_boxes_that_float32_makes_empty(name: str) -> None:
    row = noise((1, 32768), 8)
    for box in ((19999.9991, 0, 20000.0001, 1), (32767.999, 0, 32768, 1), (0, 0.4, 0.001, 0.401)):
        want = Image.fromarray(row).resize((3, 3), FILTERS[name], box)
        frame = Frame.from_numpy(row, "gray")
        got = computed(frame, (3, 3), name, box, profile=INSTALLED, color="GRAY")
        np.testing.assert_array_equal(got[..., 0], np.asarray(want))


def test_turned_regions_are_refused() -> None:
    frame, _ = make("rgb", 90, 70)
    for roi in ((40.0, 30.0, 20.0, 20.0, 25.0), (1, 1, 40, 2, 41, 40, 2, 41)):
        with pytest.raises(FrameError, match="give a rect"):
            computed(frame, (8, 8), "bilinear", roi)


def test_a_batch_of_boxes() -> None:
    frame, _ = make("nv12", 90, 70)
    plan = pipeline((16, 12), roi="per_call").compile(dtype="uint8", layout="nhwc")
    out = np.empty((3, 12, 16, 3), np.uint8)
    boxes = [(0, 0, 90, 70), (3.5, 4.25, 50, 60), (0, 0, 16, 12)]
    for _ in range(2):
        plan.run(frame, rois=boxes, out=out)
        for box, got in zip(boxes, out, strict=True):
            want = pillow_twin.resize(image.convert(frame, "rgb"), 16, 12, "bilinear", box)
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("policy", ["ultralytics", "yolox", "paddleocr"])
def test_letterbox_pastes(policy: str) -> None:
    frame, picture = make("rgb", 131, 97)
    spec = {"k": "letterbox", "policy": policy, "pad": [1, 2, 3]}
    plan = pipeline((64, 64), fit=spec).compile(dtype="uint8", layout="nhwc")
    got, transform = plan(frame)
    x0, y0, x1, y1 = (round(v) for v in transform.valid)
    want = np.full((64, 64, 3), (1, 2, 3), np.uint8)
    want[y0:y1, x0:x1] = pillow_twin.resize(pixels(frame, picture), x1 - x0, y1 - y0, "bilinear")
    np.testing.assert_array_equal(got[0], want)


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("policy", ["torchvision", "huggingface"])
@pytest.mark.parametrize("rotation", [0, 270])
def test_crop_is_cut_from_what_was_resized(name: str, policy: str, rotation: int) -> None:
    """The order of passes, too, is that of the whole resized picture."""
    for source in ((90, 70), (40, 171)):
        frame, picture = make("rgb", *source, rotation=rotation)
        spec = {"k": "crop", "resize": [61, 50], "policy": policy}
        got = computed(frame, (40, 33), name, fit=spec)
        whole = pillow_twin.resize(pixels(frame, picture), 61, 50, name)
        x, y = (10, 8)  # 10.5 and 8.5: half to even, or down
        np.testing.assert_array_equal(got, whole[y : y + 33, x : x + 40])


@pytest.mark.parametrize("source", [(90, 70), (70, 90), (41, 131), (64, 48), (7, 5)])
@pytest.mark.parametrize("name", FILTERS)
def test_cover_is_image_ops_fit(source: tuple[int, int], name: str) -> None:
    frame, picture = make("rgb", *source)
    upright = pixels(frame, picture)
    for size in ((31, 23), (23, 31), (17, 17), (64, 48)):
        got = computed(frame, size, name, fit={"k": "cover"}, profile=INSTALLED)
        want = ImageOps.fit(Image.fromarray(upright), size, FILTERS[name])
        np.testing.assert_array_equal(got, np.asarray(want))
        box = pillow_twin.fit_box(*source, *size)
        twin_ = pillow_twin.resize(upright, *size, name, box, INSTALLED)
        np.testing.assert_array_equal(got, twin_)


def test_alpha_is_ignored() -> None:
    """Image.resize of RGBA weighs with alpha; what a model sees is convert("RGB") first."""
    pixels_ = noise((40, 50, 4), 3)
    for order, opaque in (("rgba", pixels_), ("bgra", pixels_[..., [2, 1, 0, 3]])):
        want = Image.fromarray(pixels_).convert("RGB").resize((17, 13), Image.Resampling.BICUBIC)
        frame = Frame.from_numpy(np.ascontiguousarray(opaque), order)
        got = computed(frame, (17, 13), "bicubic", profile=INSTALLED)
        np.testing.assert_array_equal(got, np.asarray(want))


def test_visible_is_crop() -> None:
    """A ROI sees the pixels beyond it as `box` does; a frame's visible part ends as `crop` does."""
    array = noise((60, 80, 3), 4)
    frame = Frame(format="rgb", width=80, height=60, planes=[array], visible=(10, 7, 41, 37))
    cut = Image.fromarray(array).crop((10, 7, 51, 44))
    want = np.asarray(cut.resize((19, 11), Image.Resampling.LANCZOS))
    got = computed(frame, (19, 11), "lanczos3", profile=INSTALLED)
    np.testing.assert_array_equal(got, want)
    boxed = computed(Frame.from_numpy(array), (19, 11), "lanczos3", (10, 7, 51, 44))
    assert (boxed != want).any()


def test_the_first_pass() -> None:
    """Pillow 13 begins with the height when it loses more than twice what the width loses."""
    seen = set()
    for height, first in ((59, "vertical"), (60, "horizontal"), (61, "horizontal"), (99, "both")):
        frame, picture = make("rgb", 100, 100)
        plan = pipeline((80, height)).compile(dtype="uint8", layout="nhwc")
        got, _ = plan(frame)
        new, old = (
            pillow_twin.resize(pixels(frame, picture), 80, height, "bilinear", profile=profile)
            for profile in PROFILES
        )
        np.testing.assert_array_equal(got[0], new)
        assert (new == old).all() == (first != "vertical")
        assert f"{'vertical' if first == 'vertical' else 'horizontal'} pass first" in plan.explain()
        seen.add(first)
    assert len(seen) == 3


@pytest.mark.parametrize("profile", PROFILES)
def test_what_pillow_does_not_define_is_refused(profile: str) -> None:
    bad: list[tuple[str, dict[str, Any]]] = [
        ("antialias", {"sample": {"k": "bilinear"}}),
        ("antialias", {"sample": {"k": "lanczos3"}}),
        ("antialias", {"sample": {"k": "bicubic"}}),
        ("-0.5", {"sample": {"k": "bicubic", "antialias": True, "a": -0.75}}),
        ('intermediate "u8"', {"intermediate": "f32"}),
        ("half_pixel", {"sample": {"k": "nearest", "grid": "asymmetric"}}),
        ("half_pixel", {"sample": {"k": "bilinear", "antialias": True, "grid": "align_corners"}}),
        ("matrix", {"fit": {"k": "matrix", "m": [1, 0, 0, 0, 1, 0, 0, 0, 1]}}),
        ("mediapipe", {"fit": {"k": "letterbox", "policy": "mediapipe"}}),
        ("opencv", {"fit": {"k": "crop", "policy": "opencv"}}),
        ("border", {"border": {"k": "constant", "v": 3}}),
        ("border", {"border": {"k": "reflect101"}}),
        ("YUV", {"color": "YUV"}),
        ("chroma", {"yuv": {"chroma": "linear", "siting": "left"}}),
    ]
    for match, keys in bad:
        with pytest.raises(SpecError, match=match) as error:
            pipeline((8, 8), profile=profile, **keys).compile(dtype="uint8", layout="nhwc")
        assert error.value.hint


def test_threads_do_not_matter() -> None:
    for fmt, rotation in (("nv21", 0), ("nv21", 90), ("rgb", 0), ("rgb", 90), ("gray", 180)):
        frame, _ = make(fmt, 301, 203, rotation=rotation)
        for name in FILTERS:
            spec = pipeline((150, 140), name)
            one, _ = spec.compile(threads=1)(frame)
            for threads in (2, 4):
                np.testing.assert_array_equal(spec.compile(threads=threads)(frame)[0], one)


def test_one_plan_and_many_frames() -> None:
    """Tables that are kept are those of the frame."""
    plan = pipeline((40, 30), "bicubic").compile(dtype="uint8", layout="nhwc")
    shapes = [("rgb", 61, 53, 0), ("bgra", 61, 53, 0), ("gray", 61, 53, 90), ("rgb", 61, 53, 180)]
    shapes += [("rgb", 53, 61, 0), ("nv12", 61, 53, 0), ("nv12", 61, 53, 90), ("rgb", 600, 9, 0)]
    for fmt, w, h, rotation in [*shapes, *reversed(shapes)]:
        frame, _ = make(fmt, w, h, rotation=rotation)
        want = pillow_twin.resize(image.convert(frame, "rgb"), 40, 30, "bicubic")
        np.testing.assert_array_equal(plan(frame)[0][0], want)


def test_pillow_12_is_pillow_12() -> None:
    """Stored results of Pillow 12.0; see vectors/make_pillow_12.py."""
    stored = np.load(Path(__file__).parent / "vectors" / "pillow_12.npz")
    names = [name for name in stored.files if "_" in name]
    assert len(names) == 2 * 5 * 3
    changed = 0
    for name in names:
        picture, filter_, size = name.split("_")
        frame = Frame.from_numpy(stored[picture])
        width, height = (int(side) for side in size.split("x"))
        got = computed(frame, (width, height), filter_, profile="pillow_12")
        np.testing.assert_array_equal(got, stored[name], name)
        changed += (computed(frame, (width, height), filter_) != got).any()
    # Pillow 13 begins with the height of "tall"; a box that enlarges the width only copies.
    assert changed == 3 * 4 - 2


# ---- Pillow itself -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILTERS)
def test_pillow_resizes_the_same(name: str) -> None:
    rng = np.random.default_rng(5)
    for _ in range(150):
        w, h, dw, dh = (int(v) for v in rng.integers(1, 140, 4))
        array = noise((h, w, 3), w)
        box = None
        if rng.random() < 0.3 and min(w, h) > 4:
            (x0, x1), (y0, y1) = (np.sort(rng.uniform(0, side, 2)) for side in (w, h))
            box = (x0, y0, min(x1 + 0.5, w), min(y1 + 0.5, h))
        want = Image.fromarray(array).resize((dw, dh), FILTERS[name], box)
        got = computed(Frame.from_numpy(array), (dw, dh), name, box, profile=INSTALLED)
        np.testing.assert_array_equal(got, np.asarray(want))
        gray = Image.fromarray(array).convert("L")
        want = gray.resize((dw, dh), FILTERS[name], box)
        got = computed(
            Frame.from_numpy(array), (dw, dh), name, box, profile=INSTALLED, color="GRAY"
        )
        np.testing.assert_array_equal(got[..., 0], np.asarray(want))
