"""resize, convert, warp: whole pictures, against the twin and against plain numpy."""

from __future__ import annotations

import io
import threading
from pathlib import Path
from typing import Any

import lerp_twin
import numpy as np
import pytest
import tolerance
import twin
from foveal import image
from foveal.errors import (
    ArgumentError,
    FovealError,
    FrameError,
    NotFoundError,
    ShapeError,
    SpecError,
)
from foveal.frame import Frame
from imgproc_frames import FORMATS, make, noise
from PIL import Image

ORDER = {"rgb": "RGB", "bgr": "BGR", "gray": "GRAY", "rgba": "RGB", "bgra": "BGR"}


def near(got: np.ndarray, want: np.ndarray, noise: float = tolerance.FLOATS) -> None:
    """`got` is `want` [H, W, C] rounded; what is a tie but for `noise` may go either way."""
    if got.ndim == 2:
        got = got[..., None]
    if got.shape[-1] == 4:
        assert (got[..., 3] == 255).all()
        got = got[..., :3]
    assert got.dtype == np.uint8 and got.shape == want.shape
    assert np.abs(got - want).max() <= 0.5 + noise


@pytest.mark.parametrize("color", ORDER)
@pytest.mark.parametrize("fmt", FORMATS)
def test_resize(fmt: str, color: str) -> None:
    frame, picture = make(fmt, 31, 23, rotation=90, mirror=fmt == "nv12")
    spec = {"size": [19, 29], "color": ORDER[color]}
    want = twin.run(spec, picture, sampler=lerp_twin.sampler)
    near(image.resize(frame, (19, 29), color=color), want)


@pytest.mark.parametrize("color", ORDER)
@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("rotation", [0, 270])
def test_convert(rotation: int, fmt: str, color: str) -> None:
    frame, picture = make(fmt, 31, 22, rotation=rotation)
    size = [31, 22] if rotation == 0 else [22, 31]
    want = twin.run({"size": size, "color": ORDER[color]}, picture)
    near(image.convert(frame, color.upper()), want)


def test_arrays_keep_their_channels() -> None:
    pixels = noise((20, 30, 3))
    for array in (pixels, pixels[:, ::-1], pixels[4:, 2:-3], np.asfortranarray(pixels)):
        np.testing.assert_array_equal(image.resize(array, array.shape[1::-1]), array)
    grey = noise((20, 30))
    np.testing.assert_array_equal(image.resize(grey, (30, 20)), grey)
    rgba = noise((20, 30, 4))
    np.testing.assert_array_equal(image.convert(rgba, "rgb"), rgba[..., :3])
    np.testing.assert_array_equal(image.convert(rgba, "bgra")[..., :3], rgba[..., 2::-1])
    np.testing.assert_array_equal(image.convert(pixels, "bgr"), pixels[..., ::-1])
    np.testing.assert_array_equal(image.convert(grey, "rgb"), np.stack([grey] * 3, -1))


def test_samplers_and_fits() -> None:
    frame, picture = make("rgb", 40, 24)
    got = image.resize(frame, (17, 17), sample=image.Nearest(), fit=image.Letterbox((9, 8, 7)))
    fit = {"k": "letterbox", "pad": [9, 8, 7]}
    near(got, twin.run({"size": [17, 17], "fit": fit, "sample": {"k": "nearest"}}, picture))
    near(
        image.resize(frame, (17, 17), fit=image.Cover(), profile="fast"),
        twin.run({"size": [17, 17], "fit": {"k": "cover"}}, picture, sampler=lerp_twin.sampler),
    )


@pytest.mark.parametrize("border", [None, image.Constant((250, 3, 90)), image.Replicate()])
def test_warp(border: Any) -> None:
    frame, picture = make("nv21", 33, 27, rotation=180)
    matrix = [[0.9, -0.4, 7.25], [0.5, 0.8, -3.5], [0.002, -0.001, 1]]
    said = {"k": "constant", "v": 0} if border is None else border.to_spec()
    for rows in (matrix, np.array(matrix[:2], np.float32)):
        full = [*np.asarray(rows, np.float64).ravel().tolist(), 0.0, 0.0, 1.0][:9]
        spec = {"size": [21, 25], "fit": {"k": "matrix", "m": full}, "border": said}
        got = image.warp(frame, rows, (21, 25), border=border)
        near(got, twin.run(spec, picture), tolerance.WHOLE_YUV)


def test_a_matrix_of_opencv() -> None:
    """As the documentation says: a shift by whole pixels, then a quarter turn."""
    pixels = noise((12, 17, 3))
    shift = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1]])

    def of(matrix: list[list[float]]) -> np.ndarray:
        return shift @ np.linalg.inv(np.array(matrix)) @ np.linalg.inv(shift)

    got = image.warp(pixels, of([[1, 0, 2], [0, 1, 3], [0, 0, 1]]), (17, 12))
    want = np.zeros_like(pixels)
    want[3:, 2:] = pixels[:-3, :-2]
    np.testing.assert_array_equal(got, want)
    got = image.warp(pixels, of([[0, -1, 11], [1, 0, 0], [0, 0, 1]]), (12, 17))
    np.testing.assert_array_equal(got, np.rot90(pixels, -1))


def test_pictures_of_every_kind(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    path, pixels = tmp_path / "a.png", noise((20, 30, 3))
    Image.fromarray(pixels).save(path, exif=exif)
    upright = np.rot90(pixels, -1)
    for form in (path, str(path), path.read_bytes(), io.BytesIO(path.read_bytes())):
        np.testing.assert_array_equal(image.convert(form, "rgb"), upright)
    with Image.open(path) as opened:
        np.testing.assert_array_equal(image.resize(opened, (20, 30)), upright)
        np.testing.assert_array_equal(image.warp(opened, np.eye(3), (20, 30)), upright)


@pytest.mark.parametrize("color", ORDER)
def test_results_in_given_memory(color: str) -> None:
    frame, _ = make("nv12", 40, 30)
    want = image.convert(frame, color)
    out = np.full(want.shape, 77, np.uint8)
    assert image.convert(frame, color, out=out, threads=2) is out
    np.testing.assert_array_equal(out, want)
    part = np.full((2, *want.shape), 77, np.uint8)
    image.convert(frame, color, out=part[1])
    np.testing.assert_array_equal(part[1], want)
    assert (part[0] == 77).all()


def test_threads_share_nothing() -> None:
    made = [make("rgb", 40 + i, 30, seed=i)[0] for i in range(4)]
    want = [image.resize(frame, (33, 21)) for frame in made]
    wrong: list[int] = []

    def work(i: int) -> None:
        for _ in range(50):
            if not np.array_equal(image.resize(made[i], (33, 21)), want[i]):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


PIXELS = noise((6, 8, 3))
MATRIX = np.eye(3)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: image.resize(None, (4, 4)), ArgumentError, "resize: picture: .*NoneType"),
        (lambda: image.resize("nowhere.png", (4, 4)), NotFoundError, "nowhere"),
        (lambda: image.resize(PIXELS.astype(float), (4, 4)), ArgumentError, "expected uint8"),
        (lambda: image.resize(noise((2, 3, 5)), (4, 4)), ArgumentError, "expected uint8"),
        (lambda: image.resize(np.zeros((0, 4), np.uint8), (4, 4)), FrameError, "4x0"),
        (lambda: image.resize(PIXELS, 4), ArgumentError, "resize: size"),
        (lambda: image.resize(PIXELS, "44"), ArgumentError, "resize: size"),
        (lambda: image.resize(PIXELS, (4, 4, 3)), ArgumentError, "resize: size"),
        (lambda: image.resize(PIXELS, (True, 4)), ArgumentError, "resize: size"),
        (lambda: image.resize(PIXELS, (0, 4)), SpecError, "size"),
        (lambda: image.resize(PIXELS, (4, -4)), SpecError, "size"),
        (lambda: image.resize(PIXELS, (4, 99999)), SpecError, "size"),
        (lambda: image.resize(PIXELS, (4.5, 4)), SpecError, "size"),
        (lambda: image.resize(PIXELS, (4, 4), color="yuv"), ArgumentError, "color: .*'yuv'"),
        (lambda: image.convert(PIXELS, 7), ArgumentError, "convert: color"),
        (lambda: image.resize(PIXELS, (4, 4), profile="best"), SpecError, "profile"),
        (
            lambda: image.resize(PIXELS, (4, 4), sample="bilinear"),
            SpecError,
            r"Nearest\(\), Bilinear\(\)",
        ),
        (lambda: image.resize(PIXELS, (4, 4), fit=7), SpecError, "fit.*Cover.*got 7"),
        (lambda: image.resize(PIXELS, (4, 4), threads=-1), ArgumentError, "threads"),
        (lambda: image.warp(PIXELS, np.eye(2), (4, 4)), ArgumentError, "warp: matrix"),
        (lambda: image.warp(PIXELS, "abc", (4, 4)), ArgumentError, "warp: matrix"),
        (lambda: image.warp(PIXELS, [[1, 2], [3]], (4, 4)), ArgumentError, "warp: matrix"),
        (lambda: image.warp(PIXELS, MATRIX * np.nan, (4, 4)), SpecError, "m"),
        (lambda: image.warp(PIXELS, MATRIX * 0, (4, 4)), FovealError, "inver|matrix|map"),
        (lambda: image.warp(PIXELS, MATRIX, (4, 4), border=3), SpecError, "Constant.*got 3"),
    ],
)
def test_what_is_refused(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize(
    ("out", "error"),
    [
        ([1, 2], ArgumentError),
        (np.zeros((6, 8, 3), np.int8), ArgumentError),
        (np.zeros((8, 6, 3), np.uint8), ShapeError),
        (np.zeros((6, 8), np.uint8), ShapeError),
        (np.zeros((6, 16, 3), np.uint8)[:, ::2], ArgumentError),
        (np.zeros((6, 8, 3), np.uint8, order="F"), ArgumentError),
        (PIXELS, ArgumentError),
    ],
)
def test_memory_that_cannot_take_the_result(out: Any, error: type[Exception]) -> None:
    before = np.copy(out)
    with pytest.raises(error, match="convert: out"):
        image.convert(PIXELS, "bgr", out=out)
    np.testing.assert_array_equal(out, before)


def test_frames_must_say_what_their_colours_mean() -> None:
    planes = [noise((6, 8)), noise((3, 4, 2))]
    frame = Frame(format="nv12", width=8, height=6, planes=planes, color=None)
    with pytest.raises(FovealError, match="matrix"):
        image.convert(frame, "rgb")


@pytest.mark.parametrize("profile", ["cv2", "cv2_4"])
def test_profiles_of_bytes(profile: str) -> None:
    """Results are bytes, as those profiles want; nothing else has to be said."""
    cv2 = pytest.importorskip("cv2")
    rng = np.random.default_rng(5)
    picture = rng.integers(0, 256, (97, 131, 3), np.uint8)
    got = image.resize(picture, (57, 41), profile=profile)
    assert np.array_equal(got, cv2.resize(picture, (57, 41)))
    data = rng.integers(0, 256, (96 * 3 // 2, 130), np.uint8)
    frame = Frame.from_buffer(data, "nv12", 130, 96, color="bt601-limited")
    got = image.convert(frame, "rgb", profile=profile)
    assert np.array_equal(got, cv2.cvtColor(data, cv2.COLOR_YUV2RGB_NV12))
    matrix = [[2.5, 0.3, 1], [-0.2, 2.1, 4]]
    whole = image.Pipeline(
        size=(57, 41), fit=image.Matrix((*matrix[0], *matrix[1], 0, 0, 1)), profile=profile,
        border=image.Constant(0), intermediate="u8",
    ).compile(dtype="uint8", layout="nhwc")(Frame.from_numpy(picture))[0]  # fmt: skip
    assert np.array_equal(image.warp(picture, matrix, (57, 41), profile=profile), whole[0])
