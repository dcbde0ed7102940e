"""The CPU plugin's kernels are compiled once per instruction set: each conforms by itself."""

from __future__ import annotations

import platform

import pytest

conformance = pytest.importorskip("foveal.conformance")

SETS = {
    "x86_64": ["sse4", "avx2", "avx512"],
    "AMD64": ["sse4", "avx2", "avx512"],
    "aarch64": ["neon"],
    "arm64": ["neon"],
}


@pytest.mark.parametrize("name", SETS.get(platform.machine(), []))
def test_instruction_set_conforms(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOVEAL_CPU_ISA", name)
    report = conformance.run()
    if report.error:
        assert f"FOVEAL_CPU_ISA={name}" in report.error
        pytest.skip(report.error)
    assert report.ok, report.text()[-2000:]
    refused = [e for e in report.entries if e.status == "refused"]
    assert not [e for e in refused if "float32 only" not in e.detail], report.reasons()
