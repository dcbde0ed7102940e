"""Several regions of one frame in one run: the same bytes as one after the other."""

from __future__ import annotations

from typing import Any

import foveal
import numpy as np
import pytest
from foveal.errors import ArgumentError, FovealError, FrameError, ShapeError, SpecError
from foveal.frame import Frame
from foveal.image import Area, Bilinear, Constant, Letterbox, Norm, Pipeline, Quad, RotatedRect
from imgproc_frames import make, noise

ROIS = [
    (3, 4, 50.5, 40),
    RotatedRect(40, 30, 33, 21, 30),
    Quad([(5, 6), (70, 9), (64, 50), (2, 44)]),
    (-10, -5, 200, 100),
    (8, 8, 24, 56),
]
SPEC = Pipeline(size=(29, 37), roi="per_call", fit=Letterbox(), border=Constant(7), norm=Norm(0.5))


@pytest.mark.parametrize("fmt", ["rgb", "nv12", "gray"])
@pytest.mark.parametrize(
    ("dtype", "layout"),
    [("float32", "nchw"), ("uint8", "nhwc"), ("int8", "nc8hw8"), ("float16", "nc4hw4")],
)
@pytest.mark.parametrize("threads", [1, 3])
def test_equals_one_after_the_other(fmt: str, dtype: str, layout: str, threads: int) -> None:
    frame, _ = make(fmt, 80, 60, rotation=90)
    plan = SPEC.compile(dtype=dtype, layout=layout, threads=threads)
    single = SPEC.compile(dtype=dtype, layout=layout)
    for rois in (ROIS, ROIS[1:3], ROIS[::-1], ROIS[:1], ROIS * 3):
        out = np.full((len(rois), *plan.shape[1:]), 77, plan.dtype)
        found = plan.run(frame, rois=rois, out=out)
        assert len(found) == len(rois)
        for i, roi in enumerate(rois):
            want, transform = single(frame, roi)
            assert out[i].tobytes() == want.tobytes()
            assert found[i].json() == transform.json()
    want, _ = single(frame, ROIS[2])
    out = np.empty(plan.shape, plan.dtype)
    plan.run(frame, ROIS[2], out)
    assert out.tobytes() == want.tobytes()


@pytest.mark.parametrize("profile", ["cv2", "cv2_4"])
@pytest.mark.parametrize("fmt", ["rgb", "nv12"])
def test_profiles_of_opencv(profile: str, fmt: str) -> None:
    frame, _ = make(fmt, 80, 60)
    spec = Pipeline(
        size=(29, 37), roi="per_call", profile=profile, sample=Bilinear(), intermediate="u8"
    )
    rois = [(4, 6, 40, 50), (0, 0, 80, 60), (10, 2, 74, 58)]
    plan = spec.compile(threads=2)
    out = np.empty((3, *plan.shape[1:]), plan.dtype)
    plan.run(frame, rois=rois, out=out)
    for i, roi in enumerate(rois):
        assert out[i].tobytes() == spec.compile()(frame, roi)[0].tobytes()


@pytest.mark.parametrize("sample", [Bilinear(antialias=True), Area()])
def test_filters(sample: Any) -> None:
    frame, _ = make("rgb", 80, 60)
    spec = Pipeline(size=(19, 17), roi="per_call", sample=sample)
    rois = [(4.5, 6, 40, 50), (0, 0, 80, 60), (10, 2.25, 74, 58)]
    plan = spec.compile(dtype="int8", layout="nhwc", threads=2, quantize=(2, -5))
    out = np.empty((3, *plan.shape[1:]), plan.dtype)
    plan.run(frame, rois=rois, out=out)
    for i, roi in enumerate(rois):
        one = spec.compile(dtype="int8", layout="nhwc", quantize=(2, -5))
        assert out[i].tobytes() == one(frame, roi)[0].tobytes()


@pytest.mark.parametrize("layout", ["nchw", "nhwc", "nc4hw4"])
def test_a_new_array(layout: str) -> None:
    plan = SPEC.compile(layout=layout)
    frame, _ = make("nv12", 80, 60)
    out, found = plan(frame, rois=ROIS)
    assert out.shape == (len(ROIS), *plan.shape[1:]) and len(found) == len(ROIS)
    for one, transform, roi in zip(out, found, ROIS, strict=True):
        want, same = plan(frame, roi)
        np.testing.assert_array_equal(one, want[0])
        assert transform.json() == same.json()
    empty, none = plan(frame, rois=[])
    assert empty.shape == (0, *plan.shape[1:]) and none == []
    with pytest.raises(ArgumentError, match="roi or rois, got both"):
        plan(frame, ROIS[0], rois=ROIS)


def test_no_region_is_no_work() -> None:
    frame, _ = make("rgb", 80, 60)
    plan = SPEC.compile()
    assert plan.run(frame, rois=[], out=np.empty((0, *plan.shape[1:]), np.float32)) == []


def test_one_bad_region_leaves_all_unwritten() -> None:
    frame, _ = make("rgb", 80, 60)
    plan = SPEC.compile()
    out = np.full((3, *plan.shape[1:]), 77, np.float32)
    for bad in ((5, 5, 5, 9), (0, 0, np.nan, 4), RotatedRect(0, 0, -1, 2, 3)):
        with pytest.raises(FovealError):
            plan.run(frame, rois=[ROIS[0], ROIS[1], bad], out=out)
        assert (out == 77).all()


@pytest.mark.parametrize(
    ("rois", "shape", "error", "text"),
    [
        (ROIS, (4, 3, 37, 29), ShapeError, r"expected shape \(5, 3, 37, 29\)"),
        (ROIS[:1], (3, 29, 37), ShapeError, "shape"),
        ([ROIS[0], None], (2, 3, 37, 29), ArgumentError, "rois.*None"),
        ("abcd", (4, 3, 37, 29), ArgumentError, "rois"),
        (5, (4, 3, 37, 29), ArgumentError, "rois"),
        ([(1, 2, 3)], (3, 37, 29), ArgumentError, "roi"),
        (ROIS, None, ArgumentError, "out"),
        ([ROIS[0]] * 4097, (4097, 3, 37, 29), ArgumentError, "1 to 4096"),
    ],
)
def test_what_is_refused(rois: Any, shape: Any, error: type[Exception], text: str) -> None:
    frame = Frame.from_numpy(noise((60, 80, 3)))
    out = None if shape is None else np.zeros(shape, np.float32)
    with pytest.raises(error, match=text):
        SPEC.compile().run(frame, rois=rois, out=out)


def test_specs_that_show_the_whole_frame_take_no_regions() -> None:
    frame = Frame.from_numpy(noise((60, 80, 3)))
    out = np.zeros((5, 3, 37, 29), np.float32)
    with pytest.raises((ArgumentError, FrameError, SpecError), match=r"roi|ROI"):
        Pipeline(size=(29, 37)).compile().run(frame, rois=ROIS, out=out)
    with pytest.raises(ArgumentError, match="both"):
        SPEC.compile().run(frame, ROIS[0], out, ROIS)  # type: ignore[call-overload]


def test_a_session_takes_a_batch() -> None:
    graph = foveal.Graph()
    x = graph.input("x", "float32", ("n", 3, 37, 29))
    graph.outputs = [graph.add("abs", [x], name="y")]
    session = foveal.Session(graph.to_model())
    frame, _ = make("bgr", 80, 60)
    SPEC.compile(session.inputs[0]).run(frame, rois=ROIS)
    got = session.run()["y"]
    for i, roi in enumerate(ROIS):
        np.testing.assert_array_equal(got[i], SPEC.compile()(frame, roi)[0][0])
