"""What `profile` measures: arithmetic by hand, times against whole runs, arguments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import foveal as fv
import numpy as np
import pytest
from foveal.graph import Graph
from foveal.profile import Node, Profile, Step, Times, profile
from foveal.profile.measure import split_runs, variant


@pytest.fixture(scope="module")
def measured(small: Any) -> Profile:
    return profile(small, device="cpu", threads=1, runs=7, title="small")


def test_numbers_by_hand(measured: Profile) -> None:
    convolutions = [node for node in measured.nodes if node.op == "conv2d"]
    first, second = convolutions
    assert first.macs == 10 * 6 * 8 * 4 * 3 * 3 and second.macs == 5 * 3 * 8 * 3 * 3
    assert measured.macs == first.macs + second.macs == 17280 + 1080
    assert first.posts == ("relu",) and first.device == "cpu"
    assert first.shapes_in == ((1, 4, 10, 6), (8, 4, 3, 3)) and first.shapes_out == ((1, 8, 10, 6),)
    assert second.shapes_out == ((1, 8, 5, 3),)
    assert (first.variant, second.variant) == ("conv2d 3x3", "conv2d 3x3 depthwise")
    assert first.bytes == 4 * (4 * 60 + 8 * 4 * 9 + 8 * 60)
    for node in convolutions:
        assert node.times and node.times.min <= node.times.median <= node.times.p95
        assert node.gflops == pytest.approx(2 * node.macs / node.times.median / 1000)
        assert node.gbs == pytest.approx(node.bytes / node.times.median / 1000)
    assert measured.gflops == pytest.approx(2 * 18360 / measured.total.median / 1000)


def test_parts_make_the_whole(measured: Profile) -> None:
    parts: list[Node | Step] = [*measured.nodes, *measured.steps]
    assert sum(part.share for part in parts) == pytest.approx(1)
    assert measured.sum_us == pytest.approx(sum(p.times.median for p in parts if p.times))
    assert all(node.times for node in measured.nodes) and measured.overhead_us > 0
    assert measured.runs == 7 and measured.inputs == (("x", (1, 4, 10, 6), "float32"),)
    assert [n.position for n in measured.nodes] == sorted({n.position for n in measured.nodes})
    run = measured.median_run
    assert run[0].kind == "run" and run[0].start_us == 0
    assert all(0 <= e.start_us <= e.start_us + e.duration_us <= run[0].duration_us for e in run)
    assert [e.facts["node"] for e in run if e.kind == "node"] == [n.index for n in measured.nodes]
    events = split_runs(json.loads(measured.trace)["traceEvents"])
    assert len(events) == measured.runs + measured.warm_up
    assert all(run[-1].kind == "run" for run in events)


def test_by_operator(measured: Profile) -> None:
    rows = {row["operator"]: row for row in measured.by_operator()}
    assert rows["conv2d"]["count"] == 2 and rows["conv2d"]["macs"] == 18360
    row = rows["conv2d"]
    assert row["gflops"] == pytest.approx(2 * row["macs"] / row["us"] / 1000)
    assert sum(row["us"] for row in rows.values()) == pytest.approx(measured.sum_us)
    finer = {row["operator"]: row for row in measured.by_operator(variants=True)}
    assert finer["conv2d 3x3"]["macs"] == 17280 and finer["conv2d 3x3 depthwise"]["macs"] == 1080


def test_sum_of_nodes_is_the_run() -> None:
    """Nodes and steps fill a recorded run but for a tenth at most, and their least times, added,
    are the least time of an unrecorded run within 10 %. Several attempts: the machine may be doing
    something else, which lengthens both but not equally."""
    ratios = []
    for _ in range(6):
        measured = profile("face-center", device="cpu", threads=1, runs=20,
                           input_shape={"input.1": (1, 3, 160, 160)})  # fmt: skip
        assert 0 < measured.overhead_us < 0.1 * measured.recorded.median
        parts: list[Node | Step] = [*measured.nodes, *measured.steps]
        ratios.append(sum(p.times.min for p in parts if p.times) / measured.total.min)
        if 0.9 < ratios[-1] < 1.1:
            return
    pytest.fail(f"ratios {ratios}")


def test_steps_outside_of_nodes() -> None:
    """A conversion between layouts at the end of a blocked segment is a step with its node."""
    rng = np.random.default_rng(0)
    g = Graph()
    x = g.input("x", "float32", [1, 16, 8, 8])
    w = g.constant(rng.standard_normal((20, 16, 3, 3)).astype(np.float32))
    g.outputs = [g.add("conv2d", [x, w])]
    measured = profile(g.to_model(), device="cpu", threads=1, runs=3)
    explained = measured.explained["nodes"]
    core = [i for i, n in enumerate(explained) if n["device"] == "core" and n["position"] >= 0]
    assert [s.node for s in measured.steps if s.kind == "relayout"] == core
    for step in measured.steps:
        assert step.times.min > 0 and " to " in step.name
        assert step.bytes == explained[step.node]["bytes"]  # type: ignore[index]


def test_devices_that_record_nothing() -> None:
    """Their segments are steps; a node without times has no speed."""
    node = Node(0, "n", "relu", (), "far", 0, 1, "", (), (), 10.0, 10.0, "", "", "relu", None, 0.0)
    assert node.gflops == 0 and node.gbs == 0
    idle = Node(0, "n", "relu", (), "f", 0, 1, "", (), (), 1.0, 1.0, "", "", "r", Times(0, 0, 0), 0)
    assert idle.gflops == 0


def test_variants() -> None:
    def conv(data: list[int], weight: list[int], op: str = "conv2d") -> str:
        return variant({"op": op, "inputs": [{"shape": data}, {"shape": weight}, None]})

    assert conv([1, 8, 5, 5], [8, 1, 5, 3]) == "conv2d 5x3 depthwise"
    assert conv([1, 1, 5, 5], [8, 1, 1, 1]) == "conv2d 1x1"
    assert conv([1, 8, 5], [8, 8, 3]) == "conv2d"
    assert variant({"op": "relu", "inputs": [{"shape": [3]}]}) == "relu"
    assert variant({"op": "conv2d", "inputs": [None, {"shape": [1, 1, 1, 1]}]}) == "conv2d"


def test_percentile() -> None:
    from foveal.profile.measure import _times

    assert _times([5.0]) == Times(5, 5, 5)
    assert _times([4, 1, 3, 2]) == Times(2.5, 1, 4)
    assert _times(range(1, 21)) == Times(10.5, 1, 19)
    assert _times(range(1, 101)) == Times(50.5, 1, 95)


def test_a_record_that_was_cut_off_ends_with_the_last_whole_run() -> None:
    def event(name: str, cat: str, ts: float) -> dict[str, Any]:
        return {"name": name, "cat": cat, "ts": ts, "dur": 1.0, "args": {"node": 0}}

    events = [event("run", "relu", 5), event("run", "session", 4), event("r", "relu", 8)]
    runs = split_runs(events)
    assert [[(e.kind, e.start_us) for e in run] for run in runs] == [[("node", 1.0), ("run", 0.0)]]


def test_events_of_plans_that_are_gone(tmp_path: Path) -> None:
    """A session keeps a few plans; a new one may lie where an old one lay, but is not taken for
    it: every event tells the shape that was run."""
    g = Graph()
    x = g.input("x", "float32", [2, "n"])
    g.outputs = [g.add("softmax", [g.add("sigmoid", [x])])]
    session = fv.Session(g.to_model(), device="cpu", threads=1, profile=True)
    sizes = [3, 5, 7, 9, 11, 13, 15, 3, 5, 15, 17, 19, 21, 23, 25, 3]
    for size in sizes:
        session.run({"x": np.zeros((2, size), np.float32)})
    session.profile(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    nodes = [e for e in events if e["cat"] != "session"]
    assert len(nodes) == 2 * len(sizes)
    assert [e["cat"] for e in nodes] == ["sigmoid", "softmax"] * len(sizes)
    for event, size in zip(nodes, (n for n in sizes for _ in range(2)), strict=True):
        assert f"{size}]" in event["args"]["output"], (event, size)


@pytest.mark.parametrize("runs", [-1, 1.5, "3", True, 10_001, None])
def test_bad_runs(small: Any, runs: Any) -> None:
    with pytest.raises(fv.ArgumentError, match="runs"):
        profile(small, runs=runs)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"threads": -1}, fv.ArgumentError),
        ({"threads": 65}, fv.ArgumentError),
        ({"threads": "2"}, fv.ArgumentError),
        ({"device": "toaster"}, fv.NotFoundError),
        ({"device": []}, fv.ArgumentError),
        ({"input_shape": [1, 2]}, fv.ArgumentError),
        ({"input_shape": {"x": 3}}, fv.ArgumentError),
        ({"input_shape": {"x": "1,2"}}, fv.ArgumentError),
        ({"input_shape": {"x": (1, 4, 10, -6)}}, fv.ArgumentError),
        ({"input_shape": {"x": (1, 4, 10, 7)}}, fv.ShapeError),
        ({"input_shape": {"y": (1, 4, 10, 6)}}, fv.NotFoundError),
    ],
)
def test_bad_arguments(small: Any, arguments: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        profile(small, runs=1, **arguments)


def test_open_dimensions_and_integers() -> None:
    g = Graph()
    x, i = g.input("x", "float32", [2, "n"]), g.input("i", "int32", [3])
    g.outputs = [g.add("relu", [x]), g.add("cast", [i], {"dtype": "float32"})]
    with pytest.raises(fv.ArgumentError, match="open dimensions"):
        profile(g.to_model(), runs=1)
    measured = profile(g.to_model(), runs=1, input_shape={"x": [2, 5]})
    assert measured.inputs == (("x", (2, 5), "float32"), ("i", (3,), "int32"))
    assert measured.gflops == 0 and measured.macs == 0


def test_the_package_is_lazy() -> None:
    import subprocess
    import sys

    code = (
        "import sys, foveal; assert 'foveal.profile' not in sys.modules; "
        "assert callable(foveal.profile.profile) and 'profile' in dir(foveal)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
