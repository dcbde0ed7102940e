"""Plans at their edges: who may share them, what they write to, what they refuse."""

from __future__ import annotations

import pickle
import threading
import weakref
from typing import Any

import foveal
import numpy as np
import pytest
from foveal import _core
from foveal.errors import ArgumentError, FovealError, ShapeError, SpecError
from foveal.frame import Frame
from foveal.image import Decoder, Norm, Pipeline, Plan, Quad, Rect, RotatedRect, Transform
from imgproc_frames import FORMATS, make, noise


def identity(dims: list[int], dtype: str = "float32", inputs: int = 1) -> foveal.Model:
    """A model whose outputs are the magnitudes of its inputs; dimensions of -1 are open."""
    g = _core.GraphBuilder()
    names = ["" if d >= 0 else f"d{i}" for i, d in enumerate(dims)]
    ins = [g.add_value(f"x{i}", dtype, dims, names) for i in range(inputs)]
    outs = [g.add_value(f"y{i}", "", [], []) for i in range(inputs)]
    for i, (x, y) in enumerate(zip(ins, outs, strict=True)):
        g.add_node("abs", f"n{i}", [x], [y])
    g.set_io(ins, outs)
    g.verify()
    return g.model()


@pytest.mark.parametrize("workers", [1, 2])
def test_threads_may_share_a_plan(workers: int) -> None:
    made = [make(fmt, 60 + 7 * i, 41 + 5 * i, rotation=90 * i) for i, fmt in enumerate(FORMATS[:4])]
    frames = [m[0] for m in made]
    spec = Pipeline(size=(61, 53), norm=Norm(1 / 255))
    want = [spec.compile()(f) for f in frames]
    shared = spec.compile(threads=workers)
    wrong: list[str] = []

    def work(k: int) -> None:
        out = np.empty(shared.shape, shared.dtype)
        for _ in range(60):
            out.fill(-1)
            transform = shared.run(frames[k], out=out)
            if not np.array_equal(out, want[k][0]) or transform.json() != want[k][1].json():
                wrong.append(f"frame {k}")
            assert "tensor" in shared.explain()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


@pytest.mark.parametrize("sample", ["bilinear", "nearest"])
@pytest.mark.parametrize("border", ["replicate", "constant"])
def test_tables_follow_the_frame(sample: str, border: str) -> None:
    """Runs for other frames and regions in turn are what fresh plans give."""
    frames = [make(*f, rotation=r)[0] for f in SIZES for r in (0, 90, 180)]
    rois = [Rect(0, 0, 40, 30), Rect(3, 1, 40, 30), Rect(-4, -6, 44, 37), Rect(0, 0, 20, 15)]
    spec = Pipeline(
        size=(40, 30),
        roi="per_call",
        sample={"k": sample},
        border={"k": border},
        norm=Norm(1 / 255),
    )
    plan = spec.compile()
    for roi in rois:
        for frame in frames:
            for one in (roi, rois[0], roi, roi):
                np.testing.assert_array_equal(plan(frame, one)[0], spec.compile()(frame, one)[0])


SIZES = (("nv12", 47, 41), ("nv12", 46, 41), ("rgb", 47, 41))

DIMS = [([1, 3, 6, 8], "nchw"), ([1, 6, 8, 3], "nhwc"), ([-1, 3, -1, -1], "nchw")]
DIMS += [([-1, -1, -1, 3], "nhwc"), ([1, -1, 6, 8], "nchw")]


@pytest.mark.parametrize(("dims", "layout"), DIMS)
def test_a_plan_for_a_session_writes_its_input(dims: list[int], layout: str) -> None:
    session = foveal.Session(identity(dims))
    frame, (width, height) = Frame.from_numpy(noise((12, 16, 3))), (8, 6)
    want, _ = Pipeline(size=(width, height)).compile(layout=layout)(frame)
    for target in (session.inputs[0], session):
        plan = Pipeline(size=(width, height)).compile(target)
        assert "x0" in repr(plan) and plan.shape == want.shape
        transform = plan.run(frame, roi=None)
        assert transform.frame_size == (16, 12)
        np.testing.assert_array_equal(session.input_view("x0"), want)
        np.testing.assert_array_equal(session.run()["y0"], want)
        if -1 in dims:  # somebody else used the session in between
            other = [2 if d == -1 else d for d in dims]
            session.run({"x0": np.ones(other, np.float32)})
            plan.run(frame)
            np.testing.assert_array_equal(session.run()["y0"], want)
        out = np.zeros(plan.shape, plan.dtype)
        session.input_view("x0")[:] = 7
        plan.run(frame, out=out)  # then the session is left alone
        assert (session.input_view("x0") == 7).all()
        np.testing.assert_array_equal(out, want)


def test_a_plan_writes_the_input_it_was_compiled_for() -> None:
    session = foveal.Session(identity([1, 3, 6, 8], inputs=2))
    for view in map(session.input_view, ("x0", "x1")):
        view[:] = 7
    frame = Frame.from_numpy(noise((6, 8, 3)))
    plan = Pipeline(size=(8, 6)).compile(session.inputs[1])
    plan.run(frame)
    np.testing.assert_array_equal(session.input_view("x1"), plan(frame)[0])
    assert (session.input_view("x0") == 7).all()
    with pytest.raises(ArgumentError, match="2 inputs: x0, x1"):
        Pipeline(size=(8, 6)).compile(session)


def test_a_plan_keeps_its_session() -> None:
    session = foveal.Session(identity([1, 3, 6, 8]))
    plan = Pipeline(size=(8, 6)).compile(session.inputs[0])
    alive = weakref.ref(session)
    del session
    plan.run(Frame.from_numpy(noise((6, 8, 3))))
    assert alive() is not None
    del plan
    assert alive() is None


def test_a_models_input_only_describes() -> None:
    plan = Pipeline(size=(8, 6)).compile(identity([1, 6, 8, 3]).inputs[0])
    assert plan.shape == (1, 6, 8, 3)
    with pytest.raises(ArgumentError, match="out"):
        plan.run(Frame.from_numpy(noise((6, 8, 3))))


def test_what_a_session_cannot_take() -> None:
    given = foveal.Session(identity([1, 3, 6, 8])).inputs[0]
    session = foveal.Session(identity([1, 3, 6, 8]))
    tensor = session.inputs[0]
    assert given.session is None  # gone: it only describes
    assert Pipeline(size=(8, 6)).compile(given).shape == (1, 3, 6, 8)
    with pytest.raises(ArgumentError, match=r"dtype.*float32.*uint8"):
        Pipeline(size=(8, 6)).compile(tensor, dtype="uint8")
    with pytest.raises(ArgumentError, match="nc4hw4"):
        Pipeline(size=(8, 6)).compile(tensor, layout="nc4hw4")
    with pytest.raises(ShapeError):
        Pipeline(size=(9, 6)).compile(tensor)


SPEC = Pipeline(size=(8, 6))
WANT = (1, 3, 6, 8)


@pytest.mark.parametrize(
    ("out", "error", "match"),
    [
        (np.zeros(WANT, ">f4"), ArgumentError, "dtype float32, got >f4"),
        (np.zeros(WANT, np.float64), ArgumentError, "dtype float32, got float64"),
        (np.zeros(WANT, np.int32), ArgumentError, "dtype float32, got int32"),
        (np.zeros(WANT, object), ArgumentError, "dtype float32, got object"),
        (np.zeros((1, 6, 8, 3), np.float32), ShapeError, r"\(1, 3, 6, 8\), got \(1, 6, 8, 3\)"),
        (np.zeros((6, 8, 3), np.float32), ShapeError, r"\(1, 3, 6, 8\), got \(6, 8, 3\)"),
        (np.zeros((3, 1, 6, 8), np.float32), ShapeError, "got"),
        (np.zeros((3, 48), np.float32), ShapeError, "got"),
        (np.zeros((2, 3, 6, 8), np.float32), ShapeError, "got"),
        (np.zeros(143, np.float32), ShapeError, "got"),
        (np.zeros((), np.float32), ShapeError, "got"),
        (np.zeros((1, 3, 6, 16), np.float32)[..., ::2], ArgumentError, "contiguous"),
        (np.zeros(WANT, np.float32)[:, :, ::-1], ArgumentError, "contiguous"),
        (np.asfortranarray(np.zeros(WANT, np.float32)), ArgumentError, "contiguous"),
        (np.frombuffer(bytes(576), np.float32).reshape(WANT), ArgumentError, "read-only"),
        (np.zeros(577, np.uint8)[1:].view(np.float32).reshape(WANT), ArgumentError, "aligned"),
        ([[1]], ArgumentError, "numpy array, got list"),
        (bytearray(576), ArgumentError, "numpy array"),
    ],
)
def test_unsuitable_outputs_are_refused_untouched(out: Any, error: Any, match: str) -> None:
    frame = Frame.from_numpy(noise((6, 8, 3)))
    before = np.array(out)
    with pytest.raises(error, match=match):
        SPEC.compile().run(frame, out=out)
    np.testing.assert_array_equal(before, out)


@pytest.mark.parametrize("shape", [WANT, (3, 6, 8), (1, 1, 3, 6, 8), (144,)])
def test_outputs_that_hold_the_tensor(shape: tuple[int, ...]) -> None:
    frame = Frame.from_numpy(noise((6, 8, 3)))
    plan = SPEC.compile()
    out = np.zeros(shape, np.float32)
    plan.run(frame, out=out)
    np.testing.assert_array_equal(out.reshape(WANT), plan(frame)[0])


def test_the_binding_refuses_foreign_byte_order_by_itself() -> None:
    frame, plan = Frame.from_numpy(noise((6, 8, 3))), SPEC.compile()
    out = np.zeros(WANT, ">f4")
    with pytest.raises(ArgumentError, match="dtype"):
        plan._core.run(frame._handle, None, out)
    assert not out.any()


@pytest.mark.parametrize("dtype", ["float32", np.float32, np.dtype("float32"), "f4", "<f4", None])
def test_numpy_types_name_elements(dtype: Any) -> None:
    if np.dtype("<f4").isnative or dtype != "<f4":
        assert SPEC.compile(dtype=dtype).dtype == np.float32
    assert SPEC.compile(dtype=np.uint8).dtype == np.uint8


@pytest.mark.parametrize(
    "arguments",
    [
        {"tensor": 5},
        {"tensor": "nchw"},
        {"tensor": WANT},
        {"tensor": np.float32},
        {"dtype": "float31"},
        {"dtype": ">f4"},
        {"dtype": 5},
        {"dtype": object},
        {"dtype": "datetime64[s]"},
        {"dtype": np.complex64},
        {"layout": "abc"},
        {"layout": None},
        {"shape": "abcd"},
        {"shape": b"abcd"},
        {"shape": 5},
        {"shape": (1, 3, 6.0, 8)},
        {"shape": (1, 3, -2, 8)},
        {"shape": (1, 3, 2**63, 8)},
        {"shape": (1, 3, True, 8)},
        {"shape": (1, 3, [6], 8)},
        {"threads": -1},
        {"threads": 65},
        {"threads": 10**30},
        {"threads": 1.5},
        {"threads": "2"},
        {"threads": None},
    ],
)
def test_arguments_of_compile(arguments: dict[str, Any]) -> None:
    name = next(iter(arguments))
    with pytest.raises(ArgumentError, match="compile: expected" if name == "tensor" else name):
        SPEC.compile(**arguments)


@pytest.mark.parametrize("shape", [(), (3,), (3, 6, 8), (1, 1, 3, 6, 8), [1] * 9, (1, 3, 2**40, 8)])
@pytest.mark.parametrize("layout", ["auto", "nchw", "nhwc", "nc4hw4"])
def test_shapes_of_compile(shape: Any, layout: str) -> None:
    with pytest.raises((ShapeError, ArgumentError)):
        SPEC.compile(shape=shape, layout=layout)


@pytest.mark.parametrize(
    "roi",
    [
        "abc",
        "abcd",
        5,
        (),
        (1, 2, 3),
        [1, 2, 3, "x"],
        [[1, 2], [3]],
        object(),
        {"x0": 1},
        (0, 0, 1, 10**400),
        Rect("a", 0, 1, 1),  # type: ignore[arg-type]
        RotatedRect(None, 0, 1, 1, 0),  # type: ignore[arg-type]
        Quad([[0, 0], [1, 1]]),
        Quad("abc"),  # type: ignore[arg-type]
        (0, 0, float("nan"), 1),
        (0, 0, float("inf"), 1),
        (5, 5, 5, 5),
    ],
)
def test_regions_that_are_none(roi: Any) -> None:
    plan = Pipeline(size=(8, 6), roi="per_call").compile()
    with pytest.raises(FovealError, match=r"(?i)roi"):
        plan(Frame.from_numpy(noise((6, 8, 3))), roi)


def test_arguments_of_transforms_and_decoders() -> None:
    _, transform = SPEC.compile()(Frame.from_numpy(noise((6, 8, 3))))
    for bad in ("abc", None, [[1, "x"]], [[1, 2], [3]], {"x": 1}):
        for call in (transform.to_frame, transform.points_to_sensor, transform.from_frame):
            with pytest.raises(ArgumentError):
                call(bad)
    decoder = Decoder({"kind": "centerface", "heatmap": "a", "scale": "b", "offset": "c"})
    for outputs, t in [(5, transform), ({}, None), ({1: noise((1,))}, transform), (None, None)]:
        with pytest.raises(ArgumentError, match="decoder"):
            decoder.run(outputs, t)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="list"):
        decoder.run({"a": [1.0]}, transform)  # type: ignore[dict-item]
    for score in ("a", None, 2, -1, [0.5]):
        with pytest.raises(SpecError, match="min_score"):
            Decoder({**_centerface(), "min_score": score})


def _centerface() -> dict[str, Any]:
    return {"kind": "centerface", "heatmap": "a", "scale": "b", "offset": "c"}


def test_decoders_read_arrays_of_any_order() -> None:
    r = np.random.default_rng(1)
    _, transform = Pipeline(size=(32, 32)).compile()(Frame.from_numpy(noise((32, 32, 3))))
    outputs = {
        "a": r.random((1, 1, 8, 8), np.float32),
        "b": r.random((1, 2, 8, 8), np.float32),
        "c": r.random((1, 2, 8, 8), np.float32),
    }
    decoder = Decoder(_centerface())
    want = decoder.run(outputs, transform)
    assert len(want) > 3
    for change in (lambda x: x.astype(">f4"), np.asfortranarray, lambda x: x[..., ::-1].copy()):
        got = decoder.run({k: change(v) for k, v in outputs.items()}, transform)
        if change(outputs["a"]).tobytes("C") != outputs["a"][..., ::-1].tobytes():
            np.testing.assert_array_equal(got.boxes, want.boxes)
            np.testing.assert_array_equal(got.scores, want.scores)


def test_what_things_look_like() -> None:
    plan = Pipeline(size=(8, 6), color="BGR").compile(dtype="uint8", layout="nhwc")
    assert repr(plan) == "Plan(8x6 BGR, uint8 (1, 6, 8, 3))"
    _, t = plan(Frame.from_numpy(noise((4, 5, 3)), rotation=90, mirror=True))
    assert repr(t) == (
        "Transform(frame 4x5 -> tensor 8x6, valid=(0, 0, 8, 6), rotation=90, mirror=True)"
    )
    assert isinstance(plan, Plan) and repr(Transform.from_json(t.json())) == repr(t)
    assert pickle.loads(pickle.dumps(t)).json() == t.json()
    decoder = Decoder(_centerface())
    assert pickle.loads(pickle.dumps(decoder)).json() == decoder.json()
