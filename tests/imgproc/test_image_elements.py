"""What a tensor's elements can be: floats of 16 bits, whole numbers with scale and zero point."""

from __future__ import annotations

from typing import Any

import lerp_twin
import numpy as np
import pytest
import twin
from foveal.errors import ArgumentError, SpecError
from foveal.frame import Frame
from foveal.image import Letterbox, Norm, Pipeline
from imgproc_frames import make, noise

IMAGENET = Norm(1 / 255, (0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
WHOLE = ["int8", "uint8", "int16"]
LAYOUTS = ["nchw", "nhwc", "nc4hw4", "nc8hw8", "nc16hw16"]


def levels() -> Frame:
    """All 256 levels in every channel."""
    ramp = np.arange(256, dtype=np.uint8).reshape(16, 16)
    return Frame.from_numpy(np.stack([ramp, ramp[::-1], ramp.T], -1))


def planar(tensor: np.ndarray, layout: str, channels: int = 3) -> np.ndarray:
    """[H, W, C] of a tensor in any layout; lanes behind the channels must be zero."""
    if layout == "nchw":
        return tensor[0].transpose(1, 2, 0)
    if layout == "nhwc":
        return tensor[0]
    lanes = np.moveaxis(tensor[0], 0, 2).reshape(*tensor.shape[2:4], -1)
    assert not lanes[..., channels:].any()
    return lanes[..., :channels]


def run(spec: Pipeline, frame: Frame, dtype: str, layout: str, **more: Any) -> np.ndarray:
    plan = spec.compile(dtype=dtype, layout=layout, **more)
    out = np.full(plan.shape, 77, plan.dtype)
    plan.run(frame, out=out)
    return planar(out, layout, 1 if spec.color == "GRAY" else 3)


def test_normalisation() -> None:
    got = run(Pipeline(size=(16, 16), norm=IMAGENET), levels(), "float32", "nchw")
    pixels = planar(run(Pipeline(size=(16, 16)), levels(), "uint8", "nhwc")[None], "nhwc")
    want = (pixels / 255 - IMAGENET.mean) / IMAGENET.std
    assert np.abs(got - want).max() <= 5e-7


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("norm", [IMAGENET, Norm(), Norm(1e-9), Norm(3e-5, 1e-3), Norm(700)])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_short_floats_round_as_numpy_does(dtype: str, norm: Norm, layout: str) -> None:
    """Normal, subnormal, zero and overflowing values."""
    spec = Pipeline(size=(31, 17), norm=norm, fit=Letterbox())
    frame, _ = make("nv12", 61, 47)
    wide = run(spec, frame, "float32", "nchw")
    with np.errstate(over="ignore"):
        want = twin.elements(wide, dtype)
    np.testing.assert_array_equal(
        run(spec, frame, dtype, layout).view(np.uint16), want.view(np.uint16)
    )


def test_every_kind_of_half() -> None:
    """One level per plan, so that the bias can be any float: ties, limits of normal, infinity."""
    frame = Frame.from_numpy(np.zeros((1, 1), np.uint8))
    rng = np.random.default_rng(0)
    values = [0.0, 65504, 65519.996, 65520, 65536, 1e38, 2**-14, 2**-24, 2**-25, 2**-25 * 1.0001]
    values += [2**-14 - 2**-25, 2**-14 - 2**-26, 1 + 2**-11, 1 + 3 * 2**-11, 2**-24 * 1.5, 3e-39]
    values += list(np.exp(rng.uniform(-22, 14, 100)))
    for value in [*values, *(-v for v in values)]:
        spec = Pipeline(size=(1, 1), color="GRAY", norm=Norm(1, -value))
        wide, _ = spec.compile()(frame)
        assert wide[0, 0, 0, 0] == np.float32(value)
        for dtype in ("float16", "bfloat16"):
            got, _ = spec.compile(dtype=dtype)(frame)
            with np.errstate(over="ignore"):
                want = twin.elements(wide, dtype)
            assert got.tobytes() == want.tobytes(), (value, dtype)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", WHOLE)
@pytest.mark.parametrize(
    ("norm", "scale", "zero"),
    [
        (IMAGENET, 0.0186584480106831, 114 - 100),
        (Norm(1 / 127.5, 1), 1 / 128, 0),
        (Norm(1 / 255), 1 / 255, 0),
        (Norm(), 2, 1),  # every other level is a tie
        (Norm(1, 128), 1, 0),
        (Norm(), 1e-3, 5),  # saturates
        (Norm(1.5, (3, 0, 250.25), (2, -1, 0.5)), 0.75, 127),
    ],
)
def test_quantised_levels_equal_the_twin(
    norm: Norm, scale: float, zero: int, dtype: str, layout: str
) -> None:
    """All 256 levels in each channel, bit for bit: rounded to levels first, by a table."""
    pixels = run(Pipeline(size=(16, 16)), levels(), "uint8", "nhwc").astype(np.float64)
    y = (pixels * norm.scale - np.asarray(norm.mean)) / np.asarray(norm.std)
    want = twin.elements(y, dtype, scale, zero)
    spec = Pipeline(size=(16, 16), norm=norm, intermediate="u8")
    got = run(spec, levels(), dtype, layout, quantize=(scale, zero))
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("fmt", ["rgb", "nv12", "gray"])
@pytest.mark.parametrize("intermediate", ["f32", "u8"])
@pytest.mark.parametrize("dtype", WHOLE)
@pytest.mark.parametrize("color", ["RGB", "GRAY"])
def test_quantised_pictures_equal_the_twin(
    color: str, dtype: str, intermediate: str, fmt: str
) -> None:
    frame, picture = make(fmt, 67, 41, rotation=90)
    scale, zero = 0.0171, -3 if dtype != "uint8" else 120
    norm = Norm(1 / 127.5, 1)
    spec = {
        "size": [23, 37],
        "color": color,
        "fit": {"k": "letterbox", "pad": 99},
        "norm": {"scale": norm.scale, "mean": 1},
        "intermediate": intermediate,
    }
    y = twin.run(spec, picture, sampler=lerp_twin.sampler)
    want = twin.elements(y, dtype, scale, zero)
    pipeline = Pipeline(
        size=(23, 37), color=color, fit=Letterbox(99), norm=norm, intermediate=intermediate
    )
    for layout in ("nchw", "nhwc", "nc4hw4"):
        got = run(pipeline, frame, dtype, layout, quantize=(scale, zero))
        # Sums in f32 differ from f64 by 1e-3 of a level: what is nearer to a tie may go either way.
        unsure = np.abs(y / scale % 1 - 0.5) < 2e-3
        if intermediate == "u8":
            plain = {**spec, "norm": {}, "intermediate": "f32"}
            plain = twin.run(plain, picture, sampler=lerp_twin.sampler)
            unsure = np.abs(plain % 1 - 0.5) < 2e-3
        assert unsure.mean() < 0.02
        np.testing.assert_array_equal(got[~unsure], want[~unsure])
        assert np.abs(got.astype(int) - want)[unsure].max(initial=0) <= 1


def test_half_to_even_before_the_zero_point() -> None:
    frame = Frame.from_numpy(np.arange(8, dtype=np.uint8).reshape(1, 8))
    for intermediate in ("u8", "f32"):
        spec = Pipeline(size=(8, 1), color="GRAY", intermediate=intermediate)
        got, _ = spec.compile(dtype="int8", quantize=(2, 1))(frame)
        assert got.ravel().tolist() == [1, 1, 2, 3, 3, 3, 4, 5]


def test_without_quantisation_values_are_rounded_and_saturated() -> None:
    got = run(Pipeline(size=(16, 16), norm=Norm(2, 200)), levels(), "int8", "nhwc")
    pixels = run(Pipeline(size=(16, 16)), levels(), "uint8", "nhwc").astype(int)
    np.testing.assert_array_equal(got, np.clip(pixels * 2 - 200, -128, 127))
    got = run(Pipeline(size=(16, 16), norm=Norm(200, 9000)), levels(), "int16", "nhwc")
    np.testing.assert_array_equal(got, np.clip(pixels * 200 - 9000, -32768, 32767))


@pytest.mark.parametrize("dtype", ["float16", "int8", "int16"])
@pytest.mark.parametrize("layout", ["nchw", "nhwc", "nc8hw8"])
def test_threads_do_not_change_a_byte(dtype: str, layout: str) -> None:
    frame, _ = make("bgra", 211, 157, rotation=90)
    spec = Pipeline(size=(127, 203), norm=Norm(1 / 255), fit=Letterbox())
    more = {} if dtype == "float16" else {"quantize": (1 / 255, 3)}
    one, _ = spec.compile(dtype=dtype, layout=layout, **more)(frame)
    two, _ = spec.compile(dtype=dtype, layout=layout, threads=3, **more)(frame)
    assert one.tobytes() == two.tobytes()


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"dtype": "float32", "quantize": (0.5, 0)}, SpecError, "float32 takes no quantisation"),
        ({"dtype": "float16", "quantize": (1, 1)}, SpecError, "float16 takes no quantisation"),
        (
            {"dtype": "int8", "quantize": (0.5, 128)},
            SpecError,
            "zero point: .*-128 to 127, got 128",
        ),
        ({"dtype": "uint8", "quantize": (0.5, -1)}, SpecError, "zero point"),
        ({"dtype": "int16", "quantize": (0.5, 40000)}, SpecError, "zero point"),
        ({"dtype": "int8", "quantize": (0, 0)}, SpecError, "scale"),
        ({"dtype": "int8", "quantize": (-1.0, 0)}, SpecError, "scale"),
        ({"dtype": "int8", "quantize": (np.inf, 0)}, SpecError, "scale"),
        ({"dtype": "int8", "quantize": (np.nan, 0)}, SpecError, "scale"),
        ({"dtype": "int8", "quantize": (1e-300, 0)}, SpecError, "too small"),
        ({"dtype": "int8", "quantize": 0.5}, ArgumentError, "quantize"),
        ({"dtype": "int8", "quantize": (0.5,)}, ArgumentError, "quantize"),
        ({"dtype": "int8", "quantize": (0.5, 1.5)}, ArgumentError, "quantize"),
        ({"dtype": "int8", "quantize": ("0.5", 1)}, ArgumentError, "quantize"),
        ({"dtype": "int8", "quantize": (0.5, 2**40)}, ArgumentError, "quantize"),
        ({"dtype": "float64"}, SpecError, "float64 is not available"),
        ({"dtype": "bool"}, SpecError, "bool is not available"),
    ],
)
def test_refused(arguments: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        Pipeline(size=(8, 6)).compile(**arguments)


def test_arrays_of_other_types_are_refused() -> None:
    frame = Frame.from_numpy(noise((6, 8, 3)))
    for dtype, wrong in (("int8", np.uint8), ("float16", np.float32), ("bfloat16", np.float16)):
        plan = Pipeline(size=(8, 6)).compile(dtype=dtype)
        with pytest.raises(ArgumentError, match="dtype"):
            plan.run(frame, out=np.zeros(plan.shape, wrong))
    with pytest.raises(ArgumentError, match="dtype"):
        plan = Pipeline(size=(8, 6)).compile(dtype="int16")
        plan.run(frame, out=np.zeros(plan.shape, plan.dtype.newbyteorder()))
