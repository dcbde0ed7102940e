"""The conformance kit itself: a good plugin passes, every kind of bad one is found out."""

from __future__ import annotations

from pathlib import Path

import pytest
from plugin_builds import Mini

conformance = pytest.importorskip("foveal.conformance")


def test_copied_template_conforms_unedited(copied_template: Path) -> None:
    seen = []
    report = conformance.run(copied_template, progress=lambda done, total, what: seen.append(total))
    assert report.ok, report.text()[-2000:]
    assert report.devices == ["mynpu"]
    assert report.count("crash") == report.count("wrong") == 0
    rows = {suite: row for suite, *row in report.table()}
    assert all(rows[op][0] > 5 for op in ("relu", "sigmoid", "clip", "add", "mul", "conv2d"))
    # What computes nothing, an empty batch, never reaches a plugin; all else is refused.
    assert rows["matmul"][1] > 100 and rows["matmul"][0] < 5
    assert any("no kernel for 'matmul'" in reason for reason, _ in report.reasons())
    assert len(seen) == len(report.entries) == seen[0]


def test_wrong_results_are_found(mini: Mini) -> None:
    report = conformance.run(mini("liar", wrong=1), ops=["relu"])
    assert not report.ok and report.count("wrong") > 5
    assert "expected" in report.text()


def test_crashes_are_counted_one_by_one(mini: Mini) -> None:
    report = conformance.run(mini("bomb", crashes=1), ops=["relu", "tanh"])
    assert not report.ok
    rows = {suite: row for suite, *row in report.table()}
    assert rows["relu"][3] > 5 and rows["relu"][2] == 0
    assert rows["tanh"][1] > 5 and rows["tanh"][3] == 0, "the run goes on behind a crash"
    assert "SIGABRT" in report.text()


def test_hanging_is_a_crash(mini: Mini, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conformance, "CASE_SECONDS", 3.0)
    monkeypatch.setattr(conformance, "MAX_CRASHES", 1)
    report = conformance.run(mini("stuck", hangs=1), ops=["relu"])
    assert report.count("crash") == 1 and "no answer" in report.text()


@pytest.mark.parametrize(
    ("macros", "words"),
    [({"major": 9}, "ABI 9."), ({"score": 0, "reason": '"no driver"'}, "no driver")],
)
def test_unusable_plugin_is_an_error(mini: Mini, macros: dict[str, object], words: str) -> None:
    report = conformance.run(mini("unusable", **macros))
    assert not report.ok and words in report.error and not report.entries


def test_named_plugin_wins_over_an_installed_one(
    mini: Mini, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = mini("twin", tmp_path / "installed", version='"9.0.0"')
    monkeypatch.setenv("FOVEAL_PLUGIN_PATH", str(installed))
    report = conformance.run(mini("twin", tmp_path / "mine", wrong=1), ops=["relu"])
    assert report.devices == ["twin"] and report.count("wrong") > 5


def test_unknown_device_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    report = conformance.run(device="toaster")
    assert not report.ok and "toaster" in report.error and not report.entries
    monkeypatch.setenv("FOVEAL_CPU_ISA", "nonsense")
    assert "FOVEAL_CPU_ISA=nonsense" in conformance.run().error


def test_missing_file() -> None:
    assert conformance.run("nowhere/foveal_plugin_x.so").error == "no such file"


def test_report_counts_and_json() -> None:
    report = conformance.Report(None, ["d"])
    assert not report.ok, "nothing passed"
    report.entries.append(conformance.Entry("relu", "a", "plain", "d", "pass"))
    assert report.ok
    report.entries.append(conformance.Entry("relu", "b", "plain", "d", "refused", "why"))
    assert report.ok and report.reasons() == [("relu: why", 1)]
    report.entries.append(conformance.Entry("relu", "c", "plain", "d", "crash", "SIGSEGV"))
    assert not report.ok
    assert report.to_dict()["crash"] == 1 and report.table() == [("relu", 1, 1, 0, 1)]
