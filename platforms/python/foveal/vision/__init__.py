"""Ready tasks on pictures and camera frames.

faces = foveal.vision.Detector("face").detect("photo.jpg")
task = foveal.vision.task("photo-model.fvm")   # the one that the model is for
"""

from __future__ import annotations

from foveal._picture import open_image
from foveal.vision.base import Task, upright_rgb
from foveal.vision.classifier import Classifier
from foveal.vision.detector import Detector
from foveal.vision.landmarker import Landmarker
from foveal.vision.make import check_task, task, task_class
from foveal.vision.results import Class, Detection, Landmarks, Mask, TextLine
from foveal.vision.segmenter import Segmenter
from foveal.vision.text_reader import TextReader

__all__ = [
    "Class",
    "Classifier",
    "Detection",
    "Detector",
    "Landmarker",
    "Landmarks",
    "Mask",
    "Segmenter",
    "Task",
    "TextLine",
    "TextReader",
    "check_task",
    "open_image",
    "task",
    "task_class",
    "upright_rgb",
]
