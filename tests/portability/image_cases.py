"""Pipelines whose bytes are the same on every machine, as lines of image_bytes.cc."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

FORMATS = ("rgb", "bgr", "rgba", "bgra", "gray", "nv12", "nv21", "i420")
SIZES = ([57, 41], [300, 211], [131, 97], [1, 1])
FILTERS = (
    {"k": "bilinear", "antialias": True},
    {"k": "bicubic", "antialias": True},
    {"k": "lanczos3", "antialias": True},
    {"k": "area"},
)
TURNED = "60.5,40.25,70,50,25"
TURNED_INSIDE = "50.5,60.25,40,50,25"
MATRIX = [2.1, 0.3, 1.5, -0.2, 1.9, 4.25, 0, 0, 1]
PERSPECTIVE = [2.1, 0.3, 1.5, -0.2, 1.9, 4.25, 1e-3, 2e-3, 1]


def _spec(**parts: Any) -> dict[str, Any]:
    return {"imgproc": 1, "intermediate": "u8", **parts}


def _whole() -> Iterator[dict[str, Any]]:
    """Specs of whole frames."""
    nearest = {"k": "nearest", "grid": "asymmetric"}
    for size in SIZES:
        for profile in ("cv2", "cv2_4"):
            yield _spec(size=size, profile=profile)
            yield _spec(size=size, profile=profile, sample=nearest)
        yield _spec(size=size, sample={"k": "nearest"})
        yield _spec(size=size)
        for sample in FILTERS:
            yield _spec(size=size, sample=sample)
            yield _spec(size=size, sample=sample, profile="pillow")
    for profile in ("cv2", "cv2_4"):
        yield _spec(size=[64, 64], profile=profile, fit={"k": "letterbox"})
        yield _spec(size=[64, 64], profile=profile, fit={"k": "matrix", "m": MATRIX})
    yield _spec(size=[64, 64], profile="cv2_4", fit={"k": "matrix", "m": PERSPECTIVE})
    yield _spec(size=[131, 97], profile="fast")
    for size in SIZES:
        triangle = {"k": "bilinear", "antialias": True}
        yield _spec(size=size, profile="torch", sample=triangle)
        yield _spec(size=size, profile="torch", sample={"k": "bicubic", "a": -0.75})


def _filters() -> Iterator[dict[str, Any]]:
    """Filters of whole frames, fractions included."""
    for sample in (
        {"k": "bilinear", "antialias": True},
        {"k": "bicubic", "antialias": True},
        {"k": "bicubic", "a": -0.75},
        {"k": "area"},
        {"k": "lanczos3", "antialias": True},
    ):
        for size in SIZES:
            yield {"imgproc": 1, "size": size, "sample": sample}


def _floats() -> Iterator[dict[str, Any]]:
    """Specs of whole frames, sampled in whole numbers, colour and normalisation in floats."""
    norm = {"scale": 1 / 255, "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}
    for size in ([57, 41], [300, 211], [64, 97]):
        yield {"imgproc": 1, "size": size, "norm": norm}
        yield {"imgproc": 1, "size": size, "intermediate": "u8", "color": "GRAY"}
    fit = {"k": "matrix", "m": [0.73, 0, -9.1, 0, 1.31, -7.7, 0, 0, 1]}
    yield {"imgproc": 1, "size": [190, 80], "fit": fit, "border": {"k": "constant", "v": 77}}
    yield {"imgproc": 1, "size": [50, 64], "fit": {"k": "letterbox"}, "norm": norm}
    linear = {"chroma": "linear", "siting": "left"}
    yield {"imgproc": 1, "size": [61, 83], "yuv": linear, "profile": "fast"}


def lines() -> Iterator[str]:
    """format width height rotation dtype roi spec"""
    for spec in _filters():
        for fmt in ("rgb", "bgra", "gray", "nv21"):
            for rotation in (0, 90, 180):
                yield f"{fmt} 131 97 {rotation} f32 - {json.dumps(spec)}"
    for spec in _whole():
        for fmt in FORMATS:
            for rotation in (0, 90):
                if rotation and (spec["size"] == [1, 1] or fmt in ("rgba", "bgr", "i420")):
                    continue
                yield f"{fmt} 131 97 {rotation} u8 - {json.dumps(spec)}"
    for spec in _floats():
        for fmt in FORMATS:
            for rotation in (180, 270):
                yield f"{fmt} 131 97 {rotation} f32 - {json.dumps(spec)}"
    norm = {"scale": 1 / 255}
    turned = [_spec(size=[48, 32], profile=p) for p in ("cv2", "cv2_4", "exact")]
    turned.append(_spec(size=[48, 32], border={"k": "constant", "v": 99}))
    turned.append({"imgproc": 1, "size": [12, 9], "sample": FILTERS[0], "norm": norm})
    for spec in turned:
        for fmt in FORMATS:
            for roi in (TURNED, TURNED_INSIDE):
                yield f"{fmt} 131 97 0 u8 {roi} {json.dumps({**spec, 'roi': 'per_call'})}"
    inside = {"imgproc": 1, "size": [48, 32], "roi": "per_call", "norm": norm}
    for fmt in FORMATS:
        yield f"{fmt} 131 97 90 f32 {TURNED_INSIDE} {json.dumps(inside)}"


def text() -> str:
    return "\n".join(lines()) + "\n"
