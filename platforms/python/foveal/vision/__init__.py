"""Ready tasks on pictures and camera frames.

faces = foveal.vision.Detector("face").detect("photo.jpg")
"""

from __future__ import annotations

from foveal.vision.detection import Detection
from foveal.vision.detector import Detector
from foveal.vision.picture import open_image, upright_rgb

__all__ = ["Detection", "Detector", "open_image", "upright_rgb"]
