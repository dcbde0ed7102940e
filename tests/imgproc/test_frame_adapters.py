"""Frames of OpenCV's and of other libraries' arrays."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest
from foveal.errors import ArgumentError, FrameError
from foveal.frame import Frame
from foveal.image import Pipeline

rng = np.random.default_rng(9)


def seen(frame: Frame, color: str = "RGB") -> np.ndarray:
    """[H, W, C] as a model would see it, at the frame's own size."""
    plan = Pipeline(size=frame.upright_size, color=color).compile(layout="nhwc")
    return plan(frame)[0][0]


class Tensor:
    """What another library hands out: nothing but the protocol."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


class Elsewhere(Tensor):
    def __dlpack_device__(self) -> Any:
        return (2, 0)  # CUDA

    def __dlpack__(self, **options: Any) -> Any:
        raise BufferError("not on the CPU")


def test_opencv_mats() -> None:
    bgr = rng.integers(0, 256, (9, 13, 3), np.uint8)
    np.testing.assert_array_equal(seen(Frame.from_opencv(bgr)), bgr[..., ::-1])
    frame = Frame.from_opencv(bgr, rotation=90, mirror=True)
    assert (frame.rotation, frame.mirror, frame.format) == (90, True, "bgr")
    assert np.shares_memory(frame.planes[0], bgr)
    bgra = cv2.cvtColor(bgr, cv2.COLOR_BGR2BGRA)
    np.testing.assert_array_equal(seen(Frame.from_opencv(bgra)), bgr[..., ::-1])
    for gray in (bgr[..., 0].copy(), bgr[..., :1].copy()):
        got = seen(Frame.from_opencv(gray), "GRAY")
        np.testing.assert_array_equal(got[..., 0], bgr[..., 0])
    part = bgr[2:7, 3:11]  # a region of interest is a view of rows
    np.testing.assert_array_equal(seen(Frame.from_opencv(part)), part[..., ::-1])
    np.testing.assert_array_equal(seen(Frame.from_opencv(cv2.UMat(bgr))), bgr[..., ::-1])
    wide = bgr.astype(np.uint16) * 257
    np.testing.assert_allclose(seen(Frame.from_opencv(wide)), bgr[..., ::-1], atol=1e-3)


@pytest.mark.parametrize(
    "mat", [None, 5, "a.png", [[1]], np.zeros((4, 4, 2), np.uint8), np.zeros((4, 4), np.int8)]
)
def test_no_mats(mat: Any) -> None:
    with pytest.raises(ArgumentError):
        Frame.from_opencv(mat)


def test_dlpack() -> None:
    rgb = rng.integers(0, 256, (9, 13, 3), np.uint8)
    frame = Frame.from_dlpack(Tensor(rgb))
    assert np.shares_memory(frame.planes[0], rgb)
    np.testing.assert_array_equal(seen(frame), rgb)
    chw = np.ascontiguousarray(rgb.transpose(2, 0, 1))
    for tensor in (chw, chw[None], chw[None, None]):
        np.testing.assert_array_equal(seen(Frame.from_dlpack(Tensor(tensor))), rgb)
    np.testing.assert_array_equal(seen(Frame.from_dlpack(Tensor(rgb[None]), "BGR")), rgb[..., ::-1])
    floats = Tensor((rgb / 255).astype(np.float32))
    np.testing.assert_allclose(seen(Frame.from_dlpack(floats)), rgb, atol=1e-3)
    gray = seen(Frame.from_dlpack(Tensor(rgb[..., 0].copy())), "GRAY")
    np.testing.assert_array_equal(gray[..., 0], rgb[..., 0])


def test_dlpack_that_could_be_either() -> None:
    pixels = rng.integers(0, 256, (3, 5, 3), np.uint8)
    with pytest.raises(ArgumentError, match="either"):
        Frame.from_dlpack(Tensor(pixels))
    np.testing.assert_array_equal(seen(Frame.from_dlpack(Tensor(pixels), layout="hwc")), pixels)
    got = seen(Frame.from_dlpack(Tensor(pixels), layout="chw"))
    np.testing.assert_array_equal(got, pixels.transpose(1, 2, 0))


def test_tensors_of_pytorch() -> None:
    torch = pytest.importorskip("torch")
    rgb = rng.integers(0, 256, (9, 13, 3), np.uint8)
    tensor = torch.from_numpy(rgb).permute(2, 0, 1)
    np.testing.assert_array_equal(seen(Frame.from_dlpack(tensor)), rgb)
    with pytest.raises(ArgumentError, match="numpy cannot read it"):
        Frame.from_dlpack(torch.zeros(3, 4, 6, requires_grad=True))
    with pytest.raises(ArgumentError):
        Frame.from_dlpack(torch.zeros(3, 4, 6, dtype=torch.bfloat16))
    out, _ = Pipeline(size=(4, 6)).compile()(Frame.from_dlpack(tensor))
    assert torch.from_dlpack(out).shape == (1, 3, 6, 4)  # what plans give goes the other way


@pytest.mark.parametrize(
    "tensor",
    [
        5,
        None,
        Elsewhere(np.zeros((4, 6, 3), np.uint8)),
        Tensor(np.zeros((4, 6, 3), np.int32)),
        Tensor(np.zeros((5, 6, 7), np.uint8)),
        Tensor(np.zeros((2, 3, 5, 6), np.uint8)),
        Tensor(np.zeros(5, np.uint8)),
        Tensor(np.zeros((0, 6, 3), np.uint8)),
    ],
    ids=str,
)
def test_tensors_that_are_no_pictures(tensor: Any) -> None:
    with pytest.raises((ArgumentError, FrameError)):
        Frame.from_dlpack(tensor)
    with pytest.raises(ArgumentError):
        Frame.from_dlpack(Tensor(np.zeros((4, 6, 3), np.uint8)), layout="whc")
