"""Foveal: camera frames in, answers out.

import foveal as fv
faces = fv.vision.Detector("face").detect("photo.jpg")
"""

import importlib
from typing import Any

from foveal import _interrupts as _interrupts  # first: what follows takes a while
from foveal import errors, image, ops, plugins, vision, zoo
from foveal._core import Model, TensorInfo, __version__
from foveal.errors import (
    ArgumentError,
    DeviceLost,
    FovealError,
    FrameError,
    IOFailure,
    ModelError,
    NotFoundError,
    OutOfMemory,
    PluginError,
    ShapeError,
    SpecError,
    UnsupportedOpError,
)
from foveal.frame import Frame
from foveal.graph import Graph
from foveal.hookspecs import hookimpl
from foveal.loader import load
from foveal.session import Session

__all__ = [
    "ArgumentError",
    "DeviceLost",
    "FovealError",
    "Frame",
    "FrameError",
    "Graph",
    "IOFailure",
    "Model",
    "ModelError",
    "NotFoundError",
    "OutOfMemory",
    "PluginError",
    "Session",
    "ShapeError",
    "SpecError",
    "TensorInfo",
    "UnsupportedOpError",
    "__version__",
    "errors",
    "hookimpl",
    "image",
    "load",
    "ops",
    "plugins",
    "vision",
    "zoo",
]

# Imported when first used: they cost time that a detector does not need to spend.
_LAZY = ("conformance", "convert", "optimize", "profile", "recipes", "video")


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return importlib.import_module(f"foveal.{name}")
    if name == "camera":
        return importlib.import_module("foveal.video").camera
    raise AttributeError(f"module 'foveal' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted([*__all__, *_LAZY, "camera"])
