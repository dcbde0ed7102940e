"""What a task says it is."""

from __future__ import annotations

import foveal as fv
import pytest


@pytest.mark.network
def test_a_task_names_its_kind_and_model() -> None:
    assert repr(fv.vision.Detector("face")) == "<foveal.vision.Detector face>"
