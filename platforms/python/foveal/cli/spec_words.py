"""Pipelines, decoders and tasks of a model file in words. What a file says there is anybody's JSON:
whatever is not as expected is left out or shown as it is, never an error."""

from __future__ import annotations

import math
from typing import Any

from foveal.cli import console

_FITS = {
    "stretch": "stretched to fit",
    "letterbox": "whole picture kept, bars around it",
    "cover": "largest centred part",
    "matrix": "placed by a matrix",
}
_KINDS = {
    "ssd": "boxes from anchors (SSD)",
    "centerface": "boxes from a heat map (CenterFace)",
    "yolov8": "boxes of every cell (YOLOv8)",
    "yolox": "boxes of every cell (YOLOX)",
    "classes": "classes of the whole picture",
    "text_boxes": "places of text",
    "ctc": "characters in reading order (CTC)",
    "mask": "a mask of the picture",
}
_GIVES = {
    "detections": "finds things",
    "classes": "says what a picture shows",
    "landmarks": "finds the points of things",
    "text": "reads text",
    "mask": "separates things from what is behind them",
}


def pipeline(spec: Any) -> str:
    """ "RGB, 300 x 300, stretched to fit, values -1 to 1"."""
    if not isinstance(spec, dict):
        return _short(spec)
    parts = [_text(spec, "color") or "RGB", _size(spec.get("size"))]
    fit = spec.get("fit")
    if isinstance(fit, dict):
        words = _FITS.get(_text(fit, "k"), _text(fit, "k"))
        policy = _text(fit, "policy")
        parts.append(f"{words} ({policy})" if policy else words)
    else:
        parts.append(_FITS["stretch"])
    if spec.get("roi") == "per_call":
        parts.append("of a region given with the picture")
    parts.append(_values(spec.get("norm")))
    return ", ".join(part for part in parts if part)


def _size(size: Any) -> str:
    if isinstance(size, list):
        return _short(" x ".join(_whole(v) for v in size))
    if not isinstance(size, dict):
        return ""
    step = _whole(size.get("multiple", 1))
    step = f", multiples of {step}" if step != "1" else ""
    if size.get("k") == "sides":
        return f"sides from {_whole(size.get('min'))} up to {_whole(size.get('max'))}{step}"
    if size.get("k") == "strip":
        width = size.get("width")
        ends = " to ".join(_whole(v) for v in (width if isinstance(width, list) else [width]))
        return f"{_whole(size.get('height'))} high, {_short(ends)} wide{step}"
    return _short(size)


def _whole(value: Any) -> str:
    number = _number(value)
    return "?" if number is None else f"{number:.0f}"


def _values(norm: Any) -> str:
    """The range that 0..255 becomes, per channel where channels differ."""
    norm = norm if isinstance(norm, dict) else {}
    scale = [*_numbers(norm.get("scale", 1)), 1.0][0]
    means, stds = (
        _numbers(norm.get(key, otherwise)) for key, otherwise in (("mean", 0), ("std", 1))
    )
    if not means or not stds or 0.0 in stds:
        return ""
    ranges = []
    for channel in range(max(len(means), len(stds))):
        mean, std = means[channel % len(means)], stds[channel % len(stds)]
        ends = [(value * scale - mean) / std for value in (0, 255)]
        ranges.append(" to ".join(f"{round(end, 3):g}" for end in ends))
    if len(set(ranges)) == 1:
        ranges = ranges[:1]
    return f"values {', '.join(ranges)}"


def decoder(spec: Any) -> str:
    """ "boxes from anchors (SSD), 6 points each, score at least 0.5, overlaps above 0.3 merged"."""
    if not isinstance(spec, dict):
        return _short(spec)
    kind = _text(spec, "kind")
    parts = [_KINDS.get(kind, kind)]
    points = _number(spec.get("points"))
    if kind == "centerface" and spec.get("landmarks"):
        points = 5
    if points and kind == "landmarks":
        parts = [f"{points:.0f} points of one thing"]
    elif points:
        parts.append(f"{points:.0f} points each")
    if "top" in spec:
        parts.append(f"the best {_short(spec['top'])}")
    low = _number(spec.get("min_score"))
    if low is not None:
        parts.append(f"score at least {low:g}")
    overlap = spec.get("nms")
    if isinstance(overlap, dict) and _number(overlap.get("iou")) is not None:
        merged = "merged" if overlap.get("k") == "weighted" else "dropped"
        parts.append(f"overlaps above {_number(overlap['iou']):g} {merged}")
    return ", ".join(part for part in parts if part)


def task(spec: Any) -> str:
    """ "finds the points of things, given a region by face"."""
    if not isinstance(spec, dict):
        return _short(spec)
    gives = _GIVES.get(_text(spec, "kind"), _text(spec, "kind"))
    helpers = [
        f"{words} {_short(spec[key])}"
        for key, words in (("detector", "given a region by"), ("read", "with"))
        if spec.get(key)
    ]
    return ", ".join([gives, *helpers])


def _text(spec: dict[str, Any], key: str) -> str:
    value = spec.get(key)
    return console.one_line(value) if isinstance(value, str) else ""


def _number(value: Any) -> float | None:
    good = isinstance(value, (int, float)) and not isinstance(value, bool)
    try:
        return float(value) if good and math.isfinite(value) else None
    except OverflowError:
        return None


def _numbers(value: Any) -> list[float]:
    listed = value if isinstance(value, list) else [value]
    return [number for item in listed if (number := _number(item)) is not None]


def _short(value: Any) -> str:
    text = console.one_line(str(value))
    return text if len(text) <= 80 else f"{text[:79]}…"
