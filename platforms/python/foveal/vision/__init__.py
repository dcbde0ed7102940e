"""Ready tasks on pictures and camera frames.

faces = foveal.vision.Detector("face").detect("photo.jpg")
"""

from __future__ import annotations

from foveal.vision.base import Task
from foveal.vision.detector import Detector
from foveal.vision.picture import open_image, upright_rgb
from foveal.vision.results import Class, Detection, Landmarks, Mask, TextLine

__all__ = [
    "Class",
    "Detection",
    "Detector",
    "Landmarks",
    "Mask",
    "Task",
    "TextLine",
    "open_image",
    "upright_rgb",
]
