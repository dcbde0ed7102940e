"""Draws detections on a copy of the upright picture."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from foveal import image
from foveal.frame import Frame
from foveal.vision.detection import Detection
from foveal.vision.picture import upright_rgb

if TYPE_CHECKING:
    from PIL.Image import Image

# Distinct, readable under white text; a label keeps its colour between pictures.
_COLORS = (0x1769AA, 0xB23C17, 0x357A38, 0x7B1FA2, 0x8D6E00, 0x00695F, 0xAB003C, 0x4B5563)
_WHITE = 0xFFFFFF
_CELL = (6, 10)  # pixels of a character at scale 1


def draw(frame: Frame, detections: Sequence[Detection]) -> Image:
    """A new PIL image, RGB: the upright picture with boxes, points, labels and scores."""
    from PIL import Image as pil

    picture = upright_rgb(frame)
    height, width = picture.shape[:2]
    scale = max(1, round(min(width, height) / 400))
    # The best is drawn last, on top.
    for detection in reversed(detections):
        color = _COLORS[zlib.crc32(detection.label.encode()) % len(_COLORS)]
        image.draw_box(picture, detection.box, 2 * scale, color)
        for x, y in detection.points:
            image.draw_point(picture, x, y, 1.5 * scale, color)
        _label(picture, detection, scale, color)
    return pil.fromarray(picture)


def _label(picture: NDArray[np.uint8], detection: Detection, scale: int, color: int) -> None:
    """Text on a filled bar above the box, or inside it at the picture's upper edge."""
    height, width = picture.shape[:2]
    text = f"{detection.label} {detection.score:.2f}"
    bar_width = (len(text) + 1) * _CELL[0] * scale
    bar_height = (_CELL[1] + 2) * scale
    x = int(max(0, min(detection.box[0], width - bar_width)))
    y = int(detection.box[1]) - bar_height
    if y < 0:
        y = max(0, int(detection.box[1]))
    image.fill_box(picture, (x, y, x + bar_width, y + bar_height), color)
    image.draw_text(picture, x + 3 * scale, y + scale, text, scale, _WHITE)
