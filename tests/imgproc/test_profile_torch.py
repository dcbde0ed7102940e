"""Profile "torch" against stored results of torch (see make_torch_vectors.py)."""

from __future__ import annotations

import numpy as np
import pytest
from foveal.errors import SpecError
from foveal.frame import Frame
from foveal.image import Bicubic, Bilinear, Pipeline
from make_torch_vectors import CASES, FILE, MODES, picture, places


@pytest.mark.parametrize("case", range(len(CASES)))
@pytest.mark.parametrize(("mode", "antialias"), MODES)
@pytest.mark.parametrize("turned", [False, True])
def test_float_is_torchs(case: int, mode: str, antialias: bool, turned: bool) -> None:
    """Within 1e-3 of 255, placement in float32 included; a frame may lie on its side."""
    _, size = CASES[case]
    a = -0.5 if antialias else -0.75
    sample = Bilinear(antialias) if mode == "bilinear" else Bicubic(a=a, antialias=antialias)
    spec = Pipeline(size=size, color="GRAY", sample=sample, profile="torch")
    pixels = picture(case)
    frame = Frame.from_numpy(pixels)
    if turned:  # upright after a clockwise quarter turn
        frame = Frame.from_numpy(np.ascontiguousarray(np.rot90(pixels)), rotation=90)
    got, _ = spec.compile()(frame)
    with np.load(FILE) as kept:
        want = np.clip(kept[f"{case}_{mode}_{antialias}_f32"], 0, 255)  # overshoot is clamped here
    np.testing.assert_allclose(got.ravel()[places(case)], want, rtol=0, atol=1e-3)


@pytest.mark.parametrize("case", range(len(CASES)))
@pytest.mark.parametrize("antialias", [False, True])
def test_bytes_are_within_one(case: int, antialias: bool) -> None:
    """torch rounds uint8 pictures between its passes, too."""
    spec = Pipeline(
        size=CASES[case][1],
        color="GRAY",
        sample=Bilinear(antialias),
        profile="torch",
        intermediate="u8",
    )
    got, _ = spec.compile(dtype="uint8")(Frame.from_numpy(picture(case)))
    with np.load(FILE) as kept:
        want = kept[f"{case}_bilinear_{antialias}_u8"]
    np.testing.assert_allclose(got.ravel()[places(case)].astype(int), want, rtol=0, atol=1)


def test_bytes_of_bicubic_are_refused() -> None:
    sample = Bicubic(a=-0.5, antialias=True)
    with pytest.raises(SpecError, match="intermediate"):
        Pipeline(size=(8, 6), sample=sample, profile="torch", intermediate="u8").compile()
