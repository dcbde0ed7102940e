"""Recipes of other libraries as pipelines: values by hand, pixels where they are here."""

from __future__ import annotations

import enum
import json
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from foveal import recipes
from foveal.errors import ArgumentError, FovealError, NotFoundError, SpecError
from foveal.frame import Frame
from foveal.image import (
    Area,
    Bicubic,
    Bilinear,
    Crop,
    Lanczos3,
    Letterbox,
    Nearest,
    Norm,
    Pipeline,
    Stretch,
)
from foveal.recipes import hugging_face, opencv, torchvision, ultralytics, yolox
from PIL import Image

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
rng = np.random.default_rng(11)


def run(pipeline: Pipeline, pixels: np.ndarray, order: str = "RGB") -> np.ndarray:
    """[H, W, C]."""
    return pipeline.compile(layout="nhwc")(Frame.from_numpy(pixels, order))[0][0]


# ---- Hugging Face ------------------------------------------------------------------------------

VIT = {
    "do_normalize": True,
    "do_rescale": True,
    "do_resize": True,
    "image_mean": [0.5, 0.5, 0.5],
    "image_processor_type": "ViTImageProcessor",
    "image_std": [0.5, 0.5, 0.5],
    "resample": 2,
    "rescale_factor": 0.00392156862745098,
    "size": {"height": 224, "width": 224},
}
CLIP = {
    "crop_size": {"height": 224, "width": 224},
    "do_center_crop": True,
    "do_convert_rgb": True,
    "do_normalize": True,
    "do_rescale": True,
    "do_resize": True,
    "feature_extractor_type": "CLIPFeatureExtractor",
    "image_mean": list(MEAN),
    "image_std": list(STD),
    "resample": 3,
    "rescale_factor": 1 / 255,
    "size": {"shortest_edge": 224},
}


def hf(config: dict[str, Any], **changes: Any) -> Pipeline:
    config = {**config, **changes}
    return hugging_face.recipe({k: v for k, v in config.items() if v != "drop"}).pipeline


def test_hugging_face_vit() -> None:
    assert hf(VIT) == Pipeline(
        size=(224, 224),
        sample=Bilinear(antialias=True),
        profile="pillow",
        norm=Norm(1 / 255, 0.5, 0.5),
        intermediate="u8",
    )


def test_hugging_face_clip() -> None:
    want = Pipeline(
        size=(224, 224),
        fit=Crop(224, "huggingface"),
        sample=Bicubic(-0.5, antialias=True),
        profile="pillow",
        norm=Norm(1 / 255, MEAN, STD),
        intermediate="u8",
    )
    assert hf(CLIP) == want
    assert hf(CLIP, size=224, crop_size=224, do_rescale="drop", rescale_factor="drop") == want
    assert hf(VIT, size=224) == hf(VIT)  # one number: both sides of a ViT's, the short one of CLIP


def test_hugging_face_fast() -> None:
    fast = hf(CLIP, feature_extractor_type="drop", image_processor_type="CLIPImageProcessorFast")
    assert fast.profile == "torch"
    assert fast.fit == Crop(224, "torchvision")
    assert hugging_face.recipe(CLIP, fast=True).pipeline == fast


@pytest.mark.parametrize(
    ("changes", "field", "want"),
    [
        ({"resample": 1}, "sample", Lanczos3(antialias=True)),
        ({"resample": 0}, "sample", Nearest()),
        ({"resample": 4}, "sample", Area()),
        ({"do_rescale": False}, "norm", Norm(1, 0.5, 0.5)),
        ({"do_normalize": False}, "norm", Norm(0.00392156862745098)),
        ({"size": {"height": 30, "width": 50}}, "size", (50, 30)),
        ({"do_center_crop": True, "crop_size": 200}, "fit", Crop((224, 224), "huggingface")),
        ({"do_center_crop": True, "crop_size": 224}, "fit", Stretch()),
        ({"do_center_crop": True, "crop_size": {"height": 9, "width": 7}}, "size", (7, 9)),
        ({"do_flip_channel_order": True}, "color", "BGR"),
        ({"image_processor_type": "MobileViTImageProcessor"}, "color", "BGR"),
        ({"image_mean": 0.25}, "norm", Norm(0.00392156862745098, 0.25, 0.5)),
    ],
    ids=str,
)
def test_hugging_face_keys(changes: dict[str, Any], field: str, want: Any) -> None:
    assert getattr(hf(VIT, **changes), field) == want


def test_hugging_face_conv_next() -> None:
    config = {**VIT, "image_processor_type": "ConvNextImageProcessor", "crop_pct": 0.875}
    small = hf(config, size={"shortest_edge": 224})
    assert (small.size, small.fit) == ((224, 224), Crop(256, "huggingface"))
    large = hf(config, size={"shortest_edge": 384})
    assert (large.size, large.fit) == ((384, 384), Stretch())


@pytest.mark.parametrize(
    ("config", "changes", "text"),
    [
        (CLIP, {"do_center_crop": False}, "size follows from the picture"),
        (CLIP, {"do_center_crop": "drop"}, "do_center_crop"),
        (CLIP, {"size": {"shortest_edge": 200}}, "larger than the resized"),
        (CLIP, {"size": {"shortest_edge": 224, "longest_edge": 999}}, "longest_edge"),
        (CLIP, {"size": {}}, "size"),
        (CLIP, {"size": "drop"}, "size"),
        (CLIP, {"size": [224, 224]}, "size"),
        (CLIP, {"size": {"shortest_edge": 1e300}}, "size"),
        (CLIP, {"size": {"shortest_edge": float("nan")}}, "size"),
        (CLIP, {"size": {"shortest_edge": True}}, "size"),
        (VIT, {"do_resize": False}, "do_resize"),
        (VIT, {"do_resize": "yes"}, "do_resize"),
        (VIT, {"do_pad": True}, "'do_pad'"),
        (VIT, {"rescale_offset": True}, "'rescale_offset'"),
        (VIT, {"patch_size": 14}, "'patch_size'"),
        (VIT, {"resample": "drop"}, "'resample' is missing"),
        (VIT, {"resample": 5}, "resample 5"),
        (VIT, {"resample": 4, "image_processor_type": "ViTImageProcessorFast"}, "resample 4"),
        (VIT, {"resample": 1, "image_processor_type": "ViTImageProcessorFast"}, "resample 1"),
        (VIT, {"image_processor_type": "LevitImageProcessor"}, "LevitImageProcessor"),
        (VIT, {"image_processor_type": 5}, "image_processor_type"),
        (VIT, {"image_processor_type": "drop", "size": 224}, "short side"),
        (VIT, {"image_std": [0, 0, 0]}, "std"),
        (VIT, {"image_std": [1, 1]}, "image_std"),
        (VIT, {"image_mean": "drop"}, "image_mean"),
        (VIT, {"image_mean": [float("nan")] * 3}, "image_mean"),
        (VIT, {"rescale_factor": 0}, "scale"),
        (VIT, {"rescale_factor": None}, "rescale_factor"),
        (VIT, {"rescale_factor": 10**400}, "rescale_factor"),
    ],
    ids=str,
)
def test_hugging_face_refuses(config: dict[str, Any], changes: dict[str, Any], text: str) -> None:
    with pytest.raises(SpecError) as error:
        hf(config, **changes)
    assert text in error.value.message


def processed(config: dict[str, Any], pixels: np.ndarray) -> np.ndarray:
    """What the plain processors do, with Pillow."""
    image = Image.fromarray(pixels)
    (w, h), side = image.size, config["size"]
    if "shortest_edge" in side:
        short = side["shortest_edge"]
        wide, high = (short * w) // min(w, h), (short * h) // min(w, h)
    else:
        wide, high = side["width"], side["height"]
    resized = np.asarray(image.resize((wide, high), config["resample"]))
    if config.get("do_center_crop"):
        n = config["crop_size"]["height"]
        top, left = (high - n) // 2, (wide - n) // 2
        resized = resized[top : top + n, left : left + n]
    return (resized * config["rescale_factor"] - config["image_mean"]) / config["image_std"]


@pytest.mark.parametrize("config", [VIT, CLIP], ids=["vit", "clip"])
@pytest.mark.parametrize("resample", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("size", [(640, 427), (101, 333), (224, 224)])
def test_hugging_face_pixels(config: dict[str, Any], resample: int, size: tuple[int, int]) -> None:
    config = {**config, "resample": resample}
    pixels = rng.integers(0, 256, (size[1], size[0], 3), np.uint8)
    got = run(hf(config), pixels)
    np.testing.assert_allclose(got, processed(config, pixels), atol=2e-6)


# ---- torchvision -------------------------------------------------------------------------------


class Mode(enum.Enum):
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"
    EXACT = "nearest-exact"
    NEAREST = "nearest"
    BOX = "box"
    HAMMING = "hamming"


def thing(name: str, **attributes: Any) -> Any:
    """An object of a class of this name, as torchvision's look from outside."""
    return type(name, (), attributes)()


def preset(**changes: Any) -> Any:
    known = {
        "crop_size": [224],
        "resize_size": [256],
        "mean": list(MEAN),
        "std": list(STD),
        "interpolation": Mode.BILINEAR,
        "antialias": True,
    }
    return thing("ImageClassification", **{**known, **changes})


IMAGENET = Pipeline(
    size=(224, 224),
    fit=Crop(256),
    sample=Bilinear(antialias=True),
    profile="pillow",
    norm=Norm(1 / 255, MEAN, STD),
    intermediate="u8",
)


def test_torchvision_weights() -> None:
    assert torchvision.recipe(preset()).pipeline == IMAGENET
    tensors = torchvision.recipe(preset(antialias=False), tensors=True).pipeline
    assert (tensors.profile, tensors.sample) == ("torch", Bilinear())
    assert torchvision.recipe(preset(), labels=["a", "b"]).labels == ("a", "b")


RESIZE = thing("Resize", size=256, interpolation=Mode.BILINEAR, antialias=True, max_size=None)
CUT = thing("CenterCrop", size=(224, 224))
TENSOR = thing("ToTensor")
NORMALIZE = thing("Normalize", mean=list(MEAN), std=list(STD))
IMAGE = thing("ToImage")
FLOAT = thing("ToDtype", dtype="torch.float32", scale=True)


def composed(*parts: Any, tensors: bool = False) -> Pipeline:
    made = torchvision.recipe(thing("Compose", transforms=list(parts)), tensors=tensors)
    return made.pipeline


def test_torchvision_compose() -> None:
    assert composed(RESIZE, CUT, TENSOR, NORMALIZE) == IMAGENET
    floats = composed(TENSOR, RESIZE, CUT, NORMALIZE)
    assert (floats.profile, floats.intermediate) == ("torch", "f32")
    bytes_ = composed(IMAGE, RESIZE, CUT, FLOAT, NORMALIZE)
    assert (bytes_.profile, bytes_.intermediate) == ("torch", "u8")
    assert composed(RESIZE, CUT, TENSOR).norm == Norm(1 / 255)
    both = thing("Resize", size=[30, 50], interpolation=Mode.BICUBIC, antialias=None)
    stretched = composed(both, TENSOR)
    assert (stretched.size, stretched.fit) == ((50, 30), Stretch())
    assert stretched.sample == Bicubic(-0.5, antialias=True)
    cubic = thing("Resize", size=256, interpolation=Mode.BICUBIC, antialias=False)
    assert composed(TENSOR, cubic, CUT).sample == Bicubic(-0.75)
    exact = thing("Resize", size=256, interpolation=Mode.EXACT, antialias=True)
    assert composed(TENSOR, exact, CUT).sample == Nearest()
    box = thing("Resize", size=256, interpolation=Mode.BOX, antialias=True)
    assert composed(box, CUT, TENSOR).sample == Area()


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ((RESIZE, TENSOR), "follows from the picture"),
        ((CUT, TENSOR), "without Resize"),
        ((TENSOR,), "without Resize"),
        ((RESIZE, CUT), "floats"),
        ((RESIZE, CUT, IMAGE, NORMALIZE), "no floats yet"),
        ((RESIZE, CUT, TENSOR, NORMALIZE, CUT), "after Normalize"),
        ((RESIZE, RESIZE, CUT, TENSOR), "second Resize"),
        ((RESIZE, CUT, CUT, TENSOR), "second CenterCrop"),
        ((thing("RandomHorizontalFlip"), RESIZE, CUT, TENSOR), "RandomHorizontalFlip"),
        ((thing("Grayscale"),), "Grayscale"),
        ((RESIZE, thing("CenterCrop", size=300), TENSOR), "larger"),
        ((RESIZE, CUT, thing("ConvertImageDtype", dtype="torch.float16")), "float16"),
        ((RESIZE, CUT, thing("ToDtype", dtype="torch.float32", scale=False)), "without scale"),
        (
            (
                thing("Resize", size=9, interpolation=Mode.HAMMING, antialias=True, max_size=None),
                CUT,
            ),
            "'hamming'",
        ),
        (
            (TENSOR, thing("Resize", size=9, interpolation=Mode.NEAREST, antialias=True), CUT),
            "'nearest'",
        ),
        (
            (thing("Resize", size=9, interpolation=Mode.BILINEAR, antialias=True, max_size=20),),
            "max_size",
        ),
    ],
)
def test_torchvision_refuses(parts: tuple[Any, ...], text: str) -> None:
    with pytest.raises(SpecError) as error:
        composed(*parts)
    assert text in error.value.message


def test_torchvision_refuses_other_things() -> None:
    for wrong in (None, 5, "ResNet50_Weights", lambda x: x):
        with pytest.raises(SpecError, match="expected a weights' transforms"):
            torchvision.recipe(wrong)
    with pytest.raises(SpecError, match="crop_size"):
        torchvision.recipe(preset(crop_size=None))


@pytest.mark.parametrize("size", [(500, 375), (333, 500), (256, 256), (300, 259)])
def test_torchvision_pixels(size: tuple[int, int]) -> None:
    w, h = size
    pixels = rng.integers(0, 256, (h, w, 3), np.uint8)
    wide, high = int(256 * w / min(w, h)), int(256 * h / min(w, h))
    resized = Image.fromarray(pixels).resize((wide, high), Image.Resampling.BILINEAR)
    top, left = round((high - 224) / 2.0), round((wide - 224) / 2.0)
    cut = np.asarray(resized)[top : top + 224, left : left + 224]
    want = (cut / 255.0 - MEAN) / STD
    np.testing.assert_allclose(run(IMAGENET, pixels), want, atol=2e-6)


# ---- OpenCV ------------------------------------------------------------------------------------


def test_opencv_values() -> None:
    made = opencv.recipe(1 / 127.5, (224, 200), (104, 117, 123), swapRB=True).pipeline
    assert made == Pipeline(
        size=(224, 200),
        color="RGB",
        profile="cv2",
        norm=Norm(1 / 127.5, (104 / 127.5, 117 / 127.5, 123 / 127.5)),
        intermediate="u8",
    )
    assert opencv.recipe(size=(8, 8)).pipeline.color == "BGR"
    assert opencv.recipe(size=(8, 8), mean=10).pipeline.norm == Norm(1, (10, 0, 0))  # as Scalar
    assert opencv.recipe(size=(8, 8), crop=True).pipeline.fit == Crop(policy="opencv")


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("crop", [False, True])
@pytest.mark.parametrize("exact", [False, True], ids=["as it is", "exact"])
def test_opencv_pixels(swap: bool, crop: bool, exact: bool) -> None:
    args: dict[str, Any] = {
        "scalefactor": 1 / 57.5,
        "size": (57, 41),
        "mean": (103.9, 116.8, 123.7),
        "swapRB": swap,
        "crop": crop,
    }
    made = opencv.recipe(**args).pipeline
    if exact:  # the same but for OpenCV's own roundings, which are below 1
        made = Pipeline(size=made.size, color=made.color, fit=made.fit, norm=made.norm)
    for w, h in ((131, 97), (97, 131), (40, 30)):
        pixels = rng.integers(0, 256, (h, w, 3), np.uint8)
        want = cv2.dnn.blobFromImage(pixels, **args)[0].transpose(1, 2, 0)
        limit = 1.01 / 57.5 if exact else 1e-5
        np.testing.assert_allclose(run(made, pixels, "BGR"), want, atol=limit)


@pytest.mark.parametrize(
    "args",
    [
        {},
        {"size": 224},
        {"size": (0, 5)},
        {"size": (5, 5), "scalefactor": 0},
        {"size": (5, 5), "scalefactor": float("nan")},
        {"size": (5, 5), "mean": ("a", 1, 2)},
        {"size": (5, 5), "mean": (1, 2, 3, 4, 5)},
        {"size": (5, 5), "swapRB": "yes"},
        {"size": (5, 5), "scalefactor": 2, "ddepth": "CV_8U"},
    ],
    ids=str,
)
def test_opencv_refuses(args: dict[str, Any]) -> None:
    with pytest.raises(SpecError):
        opencv.recipe(**args)


# ---- YOLO --------------------------------------------------------------------------------------


def test_ultralytics() -> None:
    names = {0: "person", 1: "car"}
    made = ultralytics.recipe({"imgsz": [480, 640], "task": "detect", "names": names, "stride": 32})
    assert made.labels == ("person", "car")
    assert made.pipeline == Pipeline(
        size=(640, 480),
        fit=Letterbox(114, "ultralytics"),
        profile="cv2",
        norm=Norm(1 / 255),
        intermediate="u8",
    )
    assert ultralytics.recipe(640).pipeline.size == (640, 640)
    classify = ultralytics.recipe({"imgsz": 224, "task": "classify"}).pipeline
    assert classify.fit == Crop(224)
    assert (classify.profile, classify.sample) == ("pillow", Bilinear(antialias=True))


def test_yolox() -> None:
    made = yolox.recipe(416).pipeline
    assert (made.color, made.norm, made.fit) == ("BGR", Norm(), Letterbox(114, "yolox"))
    old = yolox.recipe((480, 640), legacy=True).pipeline
    assert (old.color, old.size) == ("RGB", (640, 480))
    assert old.norm == Norm(1 / 255, MEAN, STD)


def ultralytics_letterbox(pixels: np.ndarray, n: int) -> np.ndarray:
    h, w = pixels.shape[:2]
    gain = min(n / h, n / w)
    wide, high = round(w * gain), round(h * gain)
    dw, dh = (n - wide) / 2, (n - high) / 2
    if (w, h) != (wide, high):
        pixels = cv2.resize(pixels, (wide, high), interpolation=cv2.INTER_LINEAR)
    return cv2.copyMakeBorder(
        pixels, round(dh - 0.1), round(dh + 0.1), round(dw - 0.1), round(dw + 0.1),
        cv2.BORDER_CONSTANT, value=(114, 114, 114),
    )  # fmt: skip


def yolox_letterbox(pixels: np.ndarray, n: int) -> np.ndarray:
    out = np.full((n, n, 3), 114, np.uint8)
    h, w = pixels.shape[:2]
    gain = min(n / h, n / w)
    wide, high = int(w * gain), int(h * gain)
    out[:high, :wide] = cv2.resize(pixels, (wide, high), interpolation=cv2.INTER_LINEAR)
    return out


@pytest.mark.parametrize("size", [(131, 97), (97, 131), (64, 64), (300, 77), (41, 40)])
@pytest.mark.parametrize("exact", [False, True], ids=["as it is", "exact"])
def test_yolo_pixels(size: tuple[int, int], exact: bool) -> None:
    pixels = rng.integers(0, 256, (size[1], size[0], 3), np.uint8)
    for made, want in (
        (ultralytics.recipe(64).pipeline, ultralytics_letterbox(pixels, 64)[..., ::-1] / 255),
        (yolox.recipe(64).pipeline, yolox_letterbox(pixels, 64)),
    ):
        if exact:
            made = Pipeline(size=made.size, color=made.color, fit=made.fit, norm=made.norm)
        limit = (1.01 if exact else 1e-5) * made.norm.scale
        np.testing.assert_allclose(run(made, pixels, "BGR"), want, atol=limit)


@pytest.mark.parametrize(
    "args",
    [
        {"imgsz": 0},
        {"imgsz": [1, 2, 3]},
        {"imgsz": "640"},
        {"task": "track"},
        {"rect": True},
        {"channels": 4},
        {"names": {0: "a", 2: "b"}},
        {"names": {"x": "a"}},
        {"names": 5},
        {"imgsz": [224, 200], "task": "classify"},
    ],
    ids=str,
)
def test_ultralytics_refuses(args: dict[str, Any]) -> None:
    with pytest.raises(SpecError):
        ultralytics.recipe(args)


# ---- all of them -------------------------------------------------------------------------------


def test_read(tmp_path: Path) -> None:
    path = tmp_path / "preprocessor_config.json"
    path.write_text(json.dumps(CLIP))
    assert recipes.read(f"hf:{path}").pipeline == hf(CLIP)
    assert hugging_face.recipe(path).pipeline == hf(CLIP)
    assert recipes.read("ultralytics:320x256").pipeline.size == (320, 256)
    assert recipes.read("yolox:416:legacy").pipeline == yolox.recipe(416, legacy=True).pipeline
    path.write_text('{"imgsz": 320, "names": ["a"]}')
    assert recipes.read(f"ultralytics:{path}").labels == ("a",)
    path.write_text('{"size": [320, 200], "swapRB": true}')
    assert recipes.read(f"opencv:{path}").pipeline.size == (320, 200)


@pytest.mark.parametrize("text", ["", "hf", "hf:", "keras:x", ":", "yolox"])
def test_names_that_are_none(text: str) -> None:
    with pytest.raises(ArgumentError, match="expected NAME:TEXT"):
        recipes.read(text)


@pytest.mark.parametrize("name", ["hf", "ultralytics", "opencv", "tflite"])
def test_files_that_are_none(name: str, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        recipes.read(f"{name}:{tmp_path / 'missing'}")
    path = tmp_path / "file"
    for data in (
        b"",
        b"[]",
        b"{",
        b"[" * 100_000,
        b"\xff\xfe",
        b"null",
        b'{"size": ' + b"9" * 5000,
    ):
        path.write_bytes(data)
        with pytest.raises(FovealError) as error:
            recipes.read(f"{name}:{path}")
        assert error.value.message
    with pytest.raises(FovealError):
        recipes.read(f"{name}:{tmp_path}")


@pytest.mark.parametrize(
    "text", ["yolox:0", "yolox:-1", "yolox:64x", "yolox:64:new", "yolox:9" * 9]
)
def test_sizes_that_are_none(text: str) -> None:
    with pytest.raises(SpecError):
        recipes.read(text)
