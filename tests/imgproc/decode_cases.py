"""What the decoder tests share."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from foveal.errors import SpecError
from foveal.frame import Frame
from foveal.image import Decoder, Pipeline, Transform


def identity(width: int, height: int) -> Transform:
    """Of a tensor that is the frame."""
    plan = Pipeline(size=(width, height)).compile(layout="nchw")
    return plan(Frame.from_numpy(np.zeros((height, width), np.uint8)))[1]


def stretched(width: int, height: int, frame: tuple[int, int], rotation: int = 0) -> Transform:
    """Of a tensor of width x height that shows a whole frame (sensor width, height)."""
    plan = Pipeline(size=(width, height)).compile(layout="nchw")
    pixels = np.zeros((frame[1], frame[0]), np.uint8)
    return plan(Frame.from_numpy(pixels, rotation=rotation))[1]


def assert_named(spec: Mapping[str, Any], change: Mapping[str, Any], text: str) -> None:
    """The changed spec is refused with the text. A value of None takes its key away."""
    changed = {k: v for k, v in {**spec, **change}.items() if v is not None}
    with pytest.raises(SpecError) as caught:
        Decoder(changed)
    assert text in str(caught.value)


def assert_canonical(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The canonical text, which is a fixed point; as an object."""
    text = Decoder(spec).json()
    assert Decoder.from_json(text).json() == text
    found: dict[str, Any] = json.loads(text)
    assert list(found)[:2] == ["decoder", "kind"] and found["decoder"] == 1
    assert {k: found[k] for k in spec} == spec
    return found


NOT_FINITE = (np.nan, np.inf, -np.inf)
