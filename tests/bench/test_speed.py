"""No model is far behind its source runtime: the bars of the README, as ratios in one process."""

from __future__ import annotations

import sys
from pathlib import Path

import foveal as fv
import pytest
from foveal import bench

sys.path.insert(0, str(Path(__file__).parent))
import architectures


@pytest.mark.speed
def test_no_model_falls_behind(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("ai_edge_litert")
    models = {name: str(path) for name, path in architectures.write(tmp_path).items()}
    models |= {name: name for name in ("face", "face-full-range", "face-center", "objects")}
    ratios = {}
    for name, model in models.items():
        (row,) = bench.compare(model, against=["onnxruntime", "litert"], rounds=5, fresh=False)
        (peer,) = [entry for entry in row.entries if entry.engine != "foveal"]
        assert peer.ratio is not None, peer.problem
        assert peer.deviation is not None and peer.deviation < 1e-3
        ratios[name] = peer.ratio.median
    assert fv.__version__ and ratios["mobilenet_v2"] <= 1.5, ratios
    assert max(ratios.values()) <= 2.0, ratios
