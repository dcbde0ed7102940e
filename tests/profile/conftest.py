"""Models to profile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from foveal.graph import Graph
from profile_models import grown, weights


@pytest.fixture
def random_model() -> Callable[[int], Any]:
    """random_model(seed) -> Model"""
    return lambda seed: grown(seed).to_model()


@pytest.fixture(scope="session")
def small() -> Any:
    """conv2d 3x3, 4 -> 8 channels on 10 x 6, with relu; then conv2d 3x3 depthwise, stride 2."""
    rng = np.random.default_rng(0)
    g = Graph()
    x = g.input("x", "float32", [1, 4, 10, 6])
    first = g.add("conv2d", [x, g.constant(weights(rng, 8, 4, 3, 3))], {"pad": [1, 1, 1, 1]})
    taps = g.constant(weights(rng, 8, 1, 3, 3))
    attrs = {"stride": [2, 2], "pad": [1, 1, 1, 1], "group": 8}
    y = g.add("conv2d", [g.add("relu", [first]), taps], attrs)
    g.outputs = [y]
    return g.to_model()
