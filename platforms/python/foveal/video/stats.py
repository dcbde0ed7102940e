"""How long the steps of each frame took."""

from __future__ import annotations

import math
import random
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

KEPT = 8192  # values of a step; beyond them, a uniform sample
_HELD = 256  # calls of `add` sorted in at once: between a model's runs each would cost far more


class FrameStats:
    """Collects milliseconds per step and frames per second. Threads may share one.

    Percentiles interpolate linearly (numpy's default). They are exact for the first 8,192 values
    of a step, then those of a uniform sample of that size (Vitter's algorithm R), so that memory
    does not grow with the length of a video.
    """

    def __init__(self) -> None:
        self.frames = 0
        """Frames that are done."""
        self.dropped = 0
        """Frames that nobody looked at; whoever knows sets it."""
        self._held: list[dict[str, float]] = []
        self._steps: dict[str, _Sample] = {}
        self._lock = threading.Lock()
        self._first = self._last = 0.0

    def add(self, steps: Mapping[str, float]) -> None:
        """Milliseconds of steps, by name, beside those of `frame`."""
        with self._lock:
            self._held.append({step: float(ms) for step, ms in steps.items()})
            if len(self._held) >= _HELD:
                self._sort_in()

    def frame(self, steps: Mapping[str, float]) -> None:
        """One frame is done now, and took so many milliseconds in these steps."""
        self.add(steps)
        now = time.perf_counter()
        with self._lock:
            self.frames += 1
            self._first = now if self.frames == 1 else self._first
            self._last = now

    @property
    def seconds(self) -> float:
        """From the end of the first frame to the end of the last."""
        return self._last - self._first

    @property
    def fps(self) -> float:
        """Frames per second between the first and the last; 0 for fewer than two."""
        return (self.frames - 1) / self.seconds if self.frames > 1 and self.seconds > 0 else 0.0

    def percentile(self, step: str, percent: float) -> float:
        """Milliseconds of a step; NaN for a step that never was."""
        with self._lock:
            self._sort_in()
            values = sorted(self._steps[step].values) if step in self._steps else []
        return _percentile(values, percent)

    def table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Head and rows: step, p50, p95 and largest in milliseconds."""
        rows = []
        for step, values, largest in self._snapshot():
            numbers = (_percentile(values, 50), _percentile(values, 95), largest)
            rows.append((step, *(f"{number:.2f}" for number in numbers)))
        return ("step", "p50 ms", "p95 ms", "max ms"), rows

    def summary(self) -> str:
        """Frames, rate and drops in one line."""
        parts = [f"{self.frames} frame{'' if self.frames == 1 else 's'}"]
        parts += [f"{self.fps:.1f} per second"] if self.fps else []
        parts += [f"{self.dropped} dropped"] if self.dropped else []
        return ", ".join(parts)

    def json(self) -> dict[str, Any]:
        """The same as values that JSON can say."""
        steps = {
            step: {
                "p50_ms": round(_percentile(values, 50), 3),
                "p95_ms": round(_percentile(values, 95), 3),
                "max_ms": round(largest, 3),
            }
            for step, values, largest in self._snapshot()
        }
        return {
            "frames": self.frames,
            "dropped": self.dropped,
            "seconds": round(self.seconds, 3),
            "fps": round(self.fps, 2),
            "steps": steps,
        }

    def __str__(self) -> str:
        head, rows = self.table()
        lines = [f"{step:<12}" + "".join(f"{n:>10}" for n in rest) for step, *rest in [head, *rows]]
        return "\n".join([self.summary(), *lines])

    def _snapshot(self) -> list[tuple[str, list[float], float]]:
        with self._lock:
            self._sort_in()
            return [(step, sorted(s.values), s.largest) for step, s in self._steps.items()]

    def _sort_in(self) -> None:
        held, self._held = self._held, []
        for steps in held:
            for step, ms in steps.items():
                sample = self._steps.get(step)
                if sample is None:
                    sample = self._steps[step] = _Sample()
                sample.add(ms)


class _Sample:
    def __init__(self) -> None:
        self.values: list[float] = []
        self.largest = -math.inf
        self._seen = 0
        self._random = random.Random(1)

    def add(self, value: float) -> None:
        self.largest = max(self.largest, value)
        self._seen += 1
        if len(self.values) < KEPT:
            self.values.append(value)
        elif (place := self._random.randrange(self._seen)) < KEPT:
            self.values[place] = value


def _percentile(ordered: Sequence[float], percent: float) -> float:
    if not ordered:
        return math.nan
    place = (len(ordered) - 1) * percent / 100
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)
