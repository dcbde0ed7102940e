"""`foveal bench`: statistics against hand-computed ones, fake engines, errors."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import foveal as fv
import numpy as np
import pytest
from foveal import bench
from foveal.bench import engines as engine_table
from foveal.bench.engines import Engine, Opened, Source
from foveal.bench.measure import interleave, quartiles, ratio, timing
from foveal.cli import main
from foveal.errors import ArgumentError, NotFoundError


@pytest.fixture
def model(tmp_path: Path) -> Path:
    graph = fv.Graph()
    graph.outputs = [graph.add("relu", [graph.input("x", "float32", (1, 3, 16, 16))], name="y")]
    path = tmp_path / "small.fvm"
    graph.save(path)
    return path


class Fake(Engine):
    """Sleeps, and answers what it is told to."""

    name = "fake"
    package = "numpy"
    formats = ("fvm",)
    answer = 0.0
    broken = False

    def open(self, path: Path, source: Source, threads: int) -> Opened:
        if self.broken:
            raise RuntimeError("no such operator\nsecond line")

        def outputs() -> dict[str, np.ndarray]:
            return {"y": np.maximum(source.feed["x"], 0) + self.answer}

        return Opened(lambda: time.sleep(0.002), outputs)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> type[Fake]:
    known = {"foveal": engine_table.find("foveal"), "fake": Fake()}
    monkeypatch.setattr("foveal.bench.comparison.find", known.__getitem__)
    monkeypatch.setattr(Fake, "answer", 0.0)
    monkeypatch.setattr(Fake, "broken", False)
    return Fake


def test_statistics_are_those_of_the_definition() -> None:
    rounds = [[4.0, 1.0], [3.0, 2.0, 10.0]]
    t = timing(rounds)
    assert (t.median, t.least, t.runs) == (3.0, 1.0, 5)
    low, high = np.percentile([1, 2, 3, 4, 10], [25, 75])
    assert t.spread == pytest.approx((high - low) / 2 / 3)
    assert quartiles([7.0]) == (7.0, 7.0)
    r = ratio([[2.0], [4.0, 6.0], [9.0]], [[1.0], [5.0], [3.0]])  # 2, 1, 3
    assert r.median == 2.0 and (r.low, r.high) == (1.5, 2.5)


def test_turns_are_interleaved_and_the_first_run_of_a_turn_does_not_count() -> None:
    log: list[str] = []
    now = 0.0

    def run(name: str, seconds: float) -> None:
        nonlocal now
        log.append(name)
        now += seconds

    times = interleave(
        {"a": lambda: run("a", 0.01), "b": lambda: run("b", 0.03)},
        rounds=2,
        slice_s=0.025,
        pause_s=0,
        clock=lambda: now,
    )
    turns = ["a", "b"] + ["a"] * 4 + ["b"] * 2 + ["a"] * 4 + ["b"] * 2
    assert log == turns  # warm-up of each, then uncounted + counted runs
    np.testing.assert_allclose(times["a"], [[10] * 3] * 2)
    np.testing.assert_allclose(times["b"], [[30]] * 2)


def test_a_slower_engine_has_a_ratio_below_one(model: Path, fake: type[Fake]) -> None:
    (row,) = bench.compare(model, against=["fake"], rounds=2, fresh=False)
    ours, peer = row.entries
    assert (ours.engine, peer.engine) == ("foveal", "fake")
    assert ours.ratio is None and peer.ratio is not None and peer.timing is not None
    assert peer.timing.median >= 2 and peer.ratio.median < 1
    assert peer.deviation == 0
    assert row.shapes == {"x": (1, 3, 16, 16)}


def test_an_engine_that_computes_something_else_is_named(
    model: Path, fake: type[Fake], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Fake, "answer", 0.5)
    rows = bench.compare(model, against=["fake"], rounds=1, fresh=False)
    assert rows[0].entries[1].deviation == pytest.approx(0.5 / np.ptp(_relu(rows)), rel=0.01)
    assert "(differs)" in bench.table(rows) and "(differs)" in bench.markdown(rows)


def _relu(rows: list[bench.Row]) -> np.ndarray:
    shape = rows[0].shapes["x"]
    return np.maximum(np.random.default_rng(0).standard_normal(shape).astype(np.float32), 0)


def test_an_engine_that_fails_is_a_result(
    model: Path, fake: type[Fake], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Fake, "broken", True)
    (row,) = bench.compare(model, against=["fake"], rounds=1, fresh=False)
    assert row.entries[1].timing is None
    assert row.entries[1].problem == "no such operator"
    assert "fails" in bench.table([row]) and "| fails |" in bench.markdown([row])


def test_load_first_run_and_memory_come_from_a_fresh_process(tmp_path: Path) -> None:
    graph = fv.Graph()
    x = graph.input("x", "float32", (1, 2048))
    weight = graph.constant(np.ones((2048, 4096), np.float32))  # 32 MB
    graph.outputs = [graph.add("matmul", [x, weight])]
    path = tmp_path / "large.fvm"
    graph.save(path)
    (row,) = bench.compare(path, rounds=1)
    entry = row.entries[0]
    assert entry.load_ms is not None and entry.load_ms > 0
    assert entry.first_run_ms is not None and entry.first_run_ms > 0
    assert entry.peak_bytes is not None and 32e6 <= entry.peak_bytes < 200e6


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"against": ["nosuch"]}, NotFoundError, "onnxruntime"),
        ({"rounds": 0}, ArgumentError, "rounds"),
        ({"threads": []}, ArgumentError, "threads"),
        ({"threads": [0]}, ArgumentError, "threads"),
    ],
)
def test_bad_arguments(
    model: Path, arguments: dict[str, object], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        bench.compare(model, **arguments)  # type: ignore[arg-type]


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engine_table.find("openvino")
    monkeypatch.setattr(type(engine), "package", "no-such-package-at-all")
    with pytest.raises(NotFoundError, match="no-such-package-at-all") as caught:
        engine.version()
    assert "foveal[bench]" in caught.value.hint


def test_open_dimensions_need_sizes(tmp_path: Path) -> None:
    graph = fv.Graph()
    graph.outputs = [graph.add("relu", [graph.input("x", "float32", ("n", 7))])]
    path = tmp_path / "open.fvm"
    graph.save(path)
    with pytest.raises(ArgumentError, match="open dimensions"):
        bench.compare(path, rounds=1, fresh=False)
    (row,) = bench.compare(path, rounds=1, fresh=False, input_shapes={"x": (5, 7)})
    assert row.shapes == {"x": (5, 7)}


def test_json_on_stdout_is_json_alone(model: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "foveal", "bench", str(model), "--rounds", "1", "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout)
    assert found["rows"][0]["entries"][0]["engine"] == "foveal"
    assert found["machine"]["cores"] >= 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--threads", "0"], "--threads"),
        (["--threads", "one"], "--threads"),
        (["--against", "nosuch"], "there is no engine 'nosuch'"),
        (["--rounds", "0"], "from 1 up"),
    ],
)
def test_command_line_errors(
    model: Path, arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = main(["bench", str(model), *arguments])
    except SystemExit as stop:
        code = int(stop.code or 0)
    assert code == 2
    assert says in capsys.readouterr().err


def test_one_bad_model_among_several(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "missing.onnx", str(model), "--rounds", "1", "--no-fresh"]) == 2
    shown = capsys.readouterr()
    assert "missing.onnx" in shown.err and "small.fvm" in shown.out
