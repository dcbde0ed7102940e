"""Session in Python: arguments, shapes, threads, processes."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import threading
from typing import Any

import foveal as fv
import numpy as np
import pytest
from foveal import _core


@pytest.fixture(scope="module")
def model() -> fv.Model:
    """y = x + relu(x) for x float32 [2, n]."""
    g = _core.GraphBuilder()
    x = g.add_value("x", "float32", [2, -1], ["", "n"])
    r, y = (g.add_value(name, "", []) for name in ("r", "y"))
    g.add_node("relu", "r", [x], [r])
    g.add_node("add", "y", [x, r], [y])
    g.set_io([x], [y])
    return g.model()


def expected(x: np.ndarray) -> np.ndarray:
    return x + np.maximum(x, 0)


def test_shapes_change_from_run_to_run(model: fv.Model) -> None:
    session = fv.Session(model, device="cpu")
    assert session.inputs[0].shape == (2, "n") and session.inputs[0].session is session
    for n in (3, 5, 1, 3, 0, 1000, 7, 5):
        x = np.random.default_rng(n).standard_normal((2, n)).astype(np.float32)
        np.testing.assert_array_equal(session.run({"x": x})["y"], expected(x))
    x = np.random.default_rng(1).standard_normal((6, 4)).astype(np.float32)[::3, ::-1]
    np.testing.assert_array_equal(session.run({"x": x})["y"], expected(x))  # any strides


def test_views_are_the_sessions_memory(model: fv.Model) -> None:
    session = fv.Session(model, device="cpu")
    view = session.input_view("x", (2, 4))
    view[...] = np.arange(-4, 4).reshape(2, 4)
    old = view.copy()
    np.testing.assert_array_equal(session.run()["y"], expected(old))
    np.testing.assert_array_equal(session.output_view("y"), expected(old))
    # A view outlives plans and session, though it no longer belongs to them.
    for n in range(5, 13):
        session.run({"x": np.zeros((2, n), np.float32)})
    del session
    np.testing.assert_array_equal(view, old)


@pytest.mark.parametrize(
    ("feed", "error", "text"),
    [
        ({"z": np.zeros((2, 3), np.float32)}, fv.NotFoundError, "no input 'z'; it has: x"),
        ({}, fv.ArgumentError, "missing input 'x'"),
        ({"x": np.zeros((2, 3))}, fv.ArgumentError, "expects dtype float32, got float64"),
        ({"x": np.zeros((2, 3), ">f4")}, fv.ArgumentError, "got >f4"),
        ({"x": np.zeros((2, 3), object)}, fv.ArgumentError, "got object"),
        ({"x": np.zeros(3, np.float32)}, fv.ShapeError, r"expects shape \[2, n\], got \[3\]"),
        ({"x": np.zeros((3, 3), np.float32)}, fv.ShapeError, r"expects shape \[2, \?\], got \[3"),
        ({"x": "text"}, fv.ArgumentError, "expects dtype float32"),
        ({"x": None}, fv.ArgumentError, "expects dtype float32"),
        (np.zeros((2, 3), np.float32), fv.ArgumentError, "expected a dict of input name to array"),
        ([1], fv.ArgumentError, "got list"),
    ],
)
def test_wrong_feeds(model: fv.Model, feed: Any, error: type[Exception], text: str) -> None:
    session = fv.Session(model, device="cpu")
    with pytest.raises(error, match=text):
        session.run(feed)
    x = np.ones((2, 2), np.float32)
    np.testing.assert_array_equal(session.run({"x": x})["y"], 2 * x)  # and goes on working


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"device": ""}, "device: expected a name"),
        ({"device": []}, "device: expected a name"),
        ({"device": None}, "device: expected a name"),
        ({"device": 3}, "device: expected a name"),
        ({"device": ["cpu", 3]}, "device: expected a name"),
        ({"threads": -1}, "threads: expected 0 to 64, got -1"),
        ({"threads": 2**40}, "threads: expected 0 to 64"),
        ({"threads": None}, "threads: expected an int, got None"),
        ({"threads": 1.5}, "threads: expected an int"),
        ({"threads": "2"}, "threads: expected an int"),
        ({"threads": True}, "threads: expected an int"),
    ],
)
def test_wrong_arguments(model: fv.Model, arguments: dict[str, Any], text: str) -> None:
    with pytest.raises(fv.ArgumentError, match=text):
        fv.Session(model, **arguments)


def test_no_such_device(model: fv.Model) -> None:
    with pytest.raises(fv.NotFoundError, match=r"no device 'gpu'; there are: .*cpu"):
        fv.Session(model, device="gpu")


@pytest.mark.parametrize("shape", [(2, -1), (2, 2**40), (2, "n"), (2, 1.5), (3, 1), (2,)])
def test_wrong_shapes(model: fv.Model, shape: Any) -> None:
    with pytest.raises(fv.FovealError, match=r"expected|expects"):
        fv.Session(model, device="cpu").resize("x", shape)


def test_threads_take_turns(model: fv.Model) -> None:
    session = fv.Session(model, device="cpu", threads=2)
    wrong: list[int] = []

    def work(seed: int) -> None:
        x = np.random.default_rng(seed).standard_normal((2, 50 + seed)).astype(np.float32)
        for _ in range(200):
            if not np.array_equal(session.run({"x": x})["y"], expected(x)):
                wrong.append(seed)

    workers = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert wrong == []


def _in_child(session: fv.Session, results: Any) -> None:
    x = np.linspace(-1, 1, 2 * 4000, dtype=np.float32).reshape(2, 4000)
    same = np.array_equal(session.run({"x": x})["y"], expected(x))
    fresh = fv.Session(session.model, device="cpu", threads=2)
    results.put(same and np.array_equal(fresh.run({"x": x})["y"], expected(x)))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_children_run(model: fv.Model) -> None:
    session = fv.Session(model, device="cpu", threads=2)
    session.run({"x": np.ones((2, 4000), np.float32)})
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    child = context.Process(target=_in_child, args=(session, results))
    child.start()
    child.join(60)
    alive = child.is_alive()
    child.kill()
    assert not alive and results.get(timeout=5) is True


def test_the_program_ends_while_daemon_threads_run() -> None:
    """A thread that comes back from a run finds no interpreter: the program ends all the same."""
    program = """if True:
        import threading, time
        import numpy as np, foveal as fv
        graph = fv.Graph()
        x = graph.input("x", "float32", (1, 256))
        graph.outputs.append(graph.add("matmul", [x, graph.constant(np.ones((256, 256), "f"))]))
        model = graph.to_model()
        plan = fv.image.Pipeline(size=(64, 64)).compile()
        frame = fv.Frame.from_numpy(np.zeros((48, 36, 3), np.uint8))
        out = np.empty((1, 3, 64, 64), np.float32)
        started = threading.Barrier(4)
        def sessions():
            session = fv.Session(model, threads=1)
            started.wait()
            while True:
                session.run({"x": np.ones((1, 256), np.float32)})
        def plans():
            started.wait()
            while True:
                plan.run(frame, out=out)
        for work in (sessions, sessions, plans):
            threading.Thread(target=work, daemon=True).start()
        started.wait()
        time.sleep(0.05)
    """
    for _ in range(5):
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
