"""No model is far behind its source runtime: the bars of the README, as ratios in one process."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import cpu_models


@pytest.mark.slow
def test_no_model_falls_behind(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("ai_edge_litert")
    ratios = {}
    for name, path in cpu_models.models(tmp_path).items():
        ratios[name] = cpu_models.compare(name, path, threads=1, rounds=5).ratio
    assert ratios["mobilenet_v2"] <= 1.5, ratios
    assert max(ratios.values()) <= 2.0, ratios
