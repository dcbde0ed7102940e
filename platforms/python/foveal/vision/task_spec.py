"""The JSON text under "task" in a model's metadata: which task the model is for, and how."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foveal import zoo
from foveal._core import Model
from foveal.errors import ModelError, SpecError

TaskSpec = str | Mapping[str, Any]
"""JSON text, or the object that it says."""


def read(text: TaskSpec, kinds: Sequence[str]) -> dict[str, Any]:
    """The object, of one of `kinds`. SpecError otherwise."""
    try:
        spec = json.loads(text) if isinstance(text, str) else json.loads(json.dumps(dict(text)))
    except (ValueError, TypeError, RecursionError) as error:
        raise SpecError(f"task spec: not JSON: {error}") from None
    if not isinstance(spec, dict) or spec.get("task") != 1:
        raise SpecError('task spec: expected an object with "task": 1')
    if spec.get("kind") not in kinds:
        raise SpecError(
            f'task spec: key "kind": expected {" or ".join(kinds)}, got {spec.get("kind")!r:.60}'
        )
    return spec


@dataclass(frozen=True)
class Smooth:
    """Arguments of `OneEuro`."""

    min_cutoff: float
    beta: float
    derivative_cutoff: float


@dataclass(frozen=True)
class LandmarksSpec:
    """How a landmark model is fed and shown; each field is the key of that name.

    detector: zoo name or file beside the model, of what finds the things. detection_roi: ROI rules
    that make regions of what it finds. tracking_roi: ROI rule that makes the next frame's region
    of the landmarks. min_presence: what scores below it is lost. max: things at once. names, edges:
    of the landmarks, for showing them.
    """

    detector: str | None = None
    detection_roi: tuple[str, ...] = ()
    tracking_roi: str | None = None
    min_presence: float = 0.5
    max: int = 1
    names: tuple[str, ...] = ()
    edges: tuple[tuple[int, int], ...] = ()
    smooth: Smooth | None = None


@dataclass(frozen=True)
class TextSpec:
    """How text is read.

    read: zoo name or file beside the model, of what recognises a line. orient: of what tells lines
    that stand on their head, or None. tall: quads taller than this times their width are turned.
    min_score: lines that score less are dropped.
    """

    read: str | None = None
    orient: str | None = None
    tall: float = 1.5
    min_score: float = 0.5


def landmarks(text: TaskSpec) -> LandmarksSpec:
    """Reads a spec of kind "landmarks". SpecError names the key that is wrong."""
    spec = _Reader(read(text, ["landmarks"]))
    rules = spec.take("detection_roi", None)
    rules = rules if isinstance(rules, list) else [rules] if rules is not None else []
    edges = spec.take("edges", [])
    good = isinstance(edges, list) and all(
        isinstance(e, list) and len(e) == 2 and all(_whole(v, 0, 1 << 20) for v in e) for e in edges
    )
    if not good:
        raise SpecError('task spec: key "edges": expected pairs of landmark numbers')
    names = spec.take("names", [])
    if not isinstance(names, list) or not all(isinstance(n, str) for n in names):
        raise SpecError('task spec: key "names": expected a list of texts')
    given, smooth = spec.take("smooth", None), None
    if given is not None:
        if not isinstance(given, dict):
            raise SpecError('task spec: key "smooth": expected an object')
        inner = _Reader(given, "smooth.")
        smooth = Smooth(
            inner.number("min_cutoff", 1.0, 1e-6, 1e6),
            inner.number("beta", 0.0, 0.0, 1e9),
            inner.number("derivative_cutoff", 1.0, 1e-6, 1e6),
        )
        inner.done()
    found = LandmarksSpec(
        detector=spec.text("detector"),
        detection_roi=tuple(_rule("detection_roi", rule) for rule in rules),
        tracking_roi=spec.rule("tracking_roi"),
        min_presence=spec.number("min_presence", 0.5, 0, 1),
        max=int(spec.number("max", 1, 1, 1000)),
        names=tuple(names),
        edges=tuple((int(a), int(b)) for a, b in edges),
        smooth=smooth,
    )
    spec.done()
    return found


def text(text: TaskSpec) -> TextSpec:
    """Reads a spec of kind "text". SpecError names the key that is wrong."""
    spec = _Reader(read(text, ["text"]))
    found = TextSpec(
        read=spec.text("read"),
        orient=spec.text("orient"),
        tall=spec.number("tall", 1.5, 0, 1e6),
        min_score=spec.number("min_score", 0.5, 0, 1),
    )
    spec.done()
    return found


def companion(name: str, of: str | os.PathLike[str] | Model, key: str) -> str:
    """The zoo name or path of another model that a spec names."""
    if name in zoo.names():
        return name
    plain = Path(name).name == name and name not in ("", ".", "..") and "\0" not in name
    if plain and not isinstance(of, Model):
        own = Path(os.fsdecode(of)).expanduser()
        if os.fsdecode(of) not in zoo.names():
            return str(own.parent / name)
    raise ModelError(
        f"task spec: key \"{key}\": '{name}' is neither a zoo name nor a file beside the model",
        hint=f"pass {key}=..., or open the model by its path",
    )


class _Reader:
    """Takes the keys of an object; `done` refuses what nobody took."""

    def __init__(self, spec: Mapping[str, Any], where: str = "") -> None:
        self._left = {k: v for k, v in spec.items() if where or k not in ("task", "kind")}
        self._where = where

    def take(self, key: str, default: Any) -> Any:
        return self._left.pop(key, default)

    def text(self, key: str) -> str | None:
        value = self.take(key, None)
        if value is not None and not isinstance(value, str):
            raise SpecError(f'task spec: key "{key}": expected a text or null, got {value!r:.60}')
        return value

    def number(self, key: str, default: float, low: float, high: float) -> float:
        value = self.take(key, default)
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not math.isfinite(value) or not low <= value <= high:
            raise SpecError(
                f'task spec: key "{self._where}{key}": expected a number in {low:g}..{high:g}, '
                f"got {value!r:.60}"
            )
        return float(value)

    def rule(self, key: str) -> str | None:
        value = self.take(key, None)
        return None if value is None else _rule(key, value)

    def done(self) -> None:
        if self._left:
            raise SpecError(f'task spec: unknown key "{self._where}{min(self._left)}"')


def _whole(value: object, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value < high


def _rule(key: str, value: object) -> str:
    if not isinstance(value, dict):
        raise SpecError(f'task spec: key "{key}": expected a ROI rule, got {value!r:.60}')
    return json.dumps(value)
