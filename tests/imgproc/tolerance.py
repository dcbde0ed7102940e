"""How far a tensor may be from the twin's, in levels of 0..255. Profile "exact" promises 0.1."""

from __future__ import annotations

import re

import format_cases
from foveal.image import Plan

FLOATS = 1e-3  # sums in float32
# Turned regions of bytes: positions of 14 bits along both axes, blends along x cut to 1/128.
WHOLE = 2 * 255 / 2**15 + 1 / 128
# The same as R, G or B: errors of luma and chroma times the largest weights of any matrix.
YUV = 255 / 219 + 2 * (1 - 0.0593) * 255 / 224
WHOLE_YUV = WHOLE * YUV
PROMISE = 0.1  # filters in whole numbers check themselves against it
SIXTEEN = 1 / 512  # what lies between two steps is rounded to 1/256


def of(plan: Plan) -> float:
    """For the frame that the plan has run on last."""
    text = plan.explain()
    if "antialias: first" in text:
        return PROMISE if "in whole numbers" in text else FLOATS + SIXTEEN * YUV
    if not re.search("gather .*in whole numbers", text):
        return FLOATS
    found = re.search(r"last frame: (\w+)", text)
    assert found
    return FLOATS + (WHOLE_YUV if found[1].lower() in format_cases.YUVS else WHOLE)
