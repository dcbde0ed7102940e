"""Pictures that are resized first and cropped after, against the twin and the libraries."""

from __future__ import annotations

from typing import Any

import cv2
import lerp_twin
import numpy as np
import pytest
from foveal.errors import SpecError
from foveal.frame import Frame
from foveal.image import Crop, Pipeline
from imgproc_frames import make
from PIL import Image
from test_image_pipeline import ROIS, compare

rng = np.random.default_rng(5)

CROPS: list[dict[str, Any]] = [
    {"k": "crop", "resize": 24},
    {"k": "crop", "resize": 31, "policy": "huggingface"},
    {"k": "crop", "resize": [29, 26], "policy": "huggingface"},
    {"k": "crop", "resize": [40, 23], "policy": "torchvision"},
    {"k": "crop", "policy": "opencv"},
]


@pytest.mark.parametrize("fit", CROPS, ids=str)
@pytest.mark.parametrize("grid", ["half_pixel", "align_corners", "asymmetric"])
def test_twin(fit: dict[str, Any], grid: str) -> None:
    for w, h, rotation in ((67, 43, 0), (43, 67, 0), (61, 61, 90), (90, 20, 270), (23, 19, 0)):
        made = make("rgb", w, h, rotation=rotation, mirror=bool(rotation))
        # A sample point on the edge of two pixels belongs to the right one in the sensor's rows.
        for kind in ("bilinear",) if rotation else ("bilinear", "nearest"):
            sample = {"k": kind, "grid": grid}
            compare({"size": [23, 19], "fit": fit, "sample": sample}, made)


@pytest.mark.parametrize("fit", CROPS, ids=str)
@pytest.mark.parametrize("fmt", ["nv12", "gray"])
def test_twin_with_roi(fit: dict[str, Any], fmt: str) -> None:
    for roi in ROIS:
        compare({"size": [23, 19], "fit": fit}, make(fmt, 61, 43), roi)


def near(got: np.ndarray, want: np.ndarray) -> None:
    assert got.shape == want.shape
    # They round twice; ours does not, but blends in whole numbers.
    assert np.abs(got - want.astype(np.float64)).max() <= 1 + lerp_twin.COMPONENT


@pytest.mark.parametrize("size", [(37, 23), (23, 37), (40, 40), (39, 24), (24, 31), (60, 11)])
@pytest.mark.parametrize("policy", ["torchvision", "huggingface"])
def test_pillow_resizes_and_crops_the_same_pixels(size: tuple[int, int], policy: str) -> None:
    """Scaled up, where antialiasing makes no difference: the geometry is what is seen."""
    w, h = size
    pixels = rng.integers(0, 256, (h, w, 3), np.uint8)
    for short, n in ((64, 57), (65, 56), (64, 56), (63, 63)):
        side = min(w, h)
        wide, high = int(short * w / side), int(short * h / side)
        whole = np.asarray(Image.fromarray(pixels).resize((wide, high), Image.Resampling.BILINEAR))
        if policy == "torchvision":
            top, left = round((high - n) / 2.0), round((wide - n) / 2.0)
        else:
            top, left = (high - n) // 2, (wide - n) // 2
        pipeline = Pipeline(size=(n, n), fit=Crop(short, policy))
        got, _ = pipeline.compile(layout="nhwc")(Frame.from_numpy(pixels))
        near(got[0], whole[top : top + n, left : left + n])


@pytest.mark.parametrize("size", [(131, 97), (97, 131), (300, 200), (61, 200), (50, 50), (20, 70)])
def test_opencv_blob_with_crop(size: tuple[int, int]) -> None:
    w, h = size
    pixels = rng.integers(0, 256, (h, w, 3), np.uint8)
    for tensor in ((57, 41), (41, 57), (64, 64)):
        want = cv2.dnn.blobFromImage(pixels, 1.0, tensor, crop=True)
        pipeline = Pipeline(size=tensor, color="BGR", fit=Crop(policy="opencv"))
        got, _ = pipeline.compile()(Frame.from_numpy(pixels, "BGR"))
        near(got, want)


def test_boxes_come_back_from_the_cut() -> None:
    """600 x 400 -> 384 x 256 -> its middle 224 x 224, from 80 and 16 on."""
    frame = Frame(format="gray", width=600, height=400, planes=[bytes(240_000)])
    _, transform = Pipeline(size=(224, 224), fit=Crop(256)).compile()(frame)
    scale = 400 / 256
    np.testing.assert_allclose(
        transform.to_frame([0, 0, 224, 224]),
        [80 * scale, 16 * scale, 304 * scale, 240 * scale],
        rtol=1e-12,
    )
    assert transform.valid == (0, 0, 224, 224)


def test_canonical() -> None:
    for fit in (Crop(256), Crop((256, 300), "huggingface"), Crop(policy="opencv")):
        pipeline = Pipeline(size=(224, 224), fit=fit)
        assert pipeline.fit == fit
        assert Pipeline.from_json(pipeline.json()) == pipeline
    assert '"fit":{"k":"crop","resize":256,"policy":"torchvision"}' in (
        Pipeline(size=(224, 224), fit=Crop(256)).json()
    )
    assert '"resize":[256,300],"policy":"huggingface"' in (
        Pipeline(size=(224, 224), fit=Crop((256, 300), "huggingface")).json()
    )


@pytest.mark.parametrize(
    ("fit", "text"),
    [
        (Crop(), 'fit: key "resize" is missing'),
        (Crop(223), 'fit: key "resize": expected at least the tensor\'s 224x200, got 223'),
        (Crop((224, 199)), "expected at least the tensor's 224x200"),
        (Crop((223, 200)), "expected at least the tensor's 224x200"),
        (Crop(0), 'fit: key "resize"'),
        (Crop(1 << 20), 'fit: key "resize"'),
        (Crop(224.5), 'fit: key "resize"'),
        (Crop("256"), 'fit: key "resize"'),
        (Crop((1, 2, 3)), 'fit: key "resize"'),
        (Crop(256, "pillow"), 'fit: key "policy"'),
        (Crop(256, "opencv"), 'fit: key "resize": expected nothing'),
    ],
    ids=str,
)
def test_wrong_crops(fit: Any, text: str) -> None:
    with pytest.raises(SpecError) as error:
        Pipeline(size=(224, 200), fit=fit)
    assert text in error.value.message


def test_a_size_that_follows_the_picture_cannot_be_cut() -> None:
    from foveal.image import Sides

    with pytest.raises(SpecError, match="fixed size"):
        Pipeline(size=Sides(1, 64), fit=Crop(256))
