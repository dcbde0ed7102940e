"""Interleaved timing of engines that share one process, and the statistics of it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from foveal.bench.engines.engine import Run

SLICE_S = 0.06  # how long one engine runs before the next one's turn
PAUSE_S = 0.02  # before a turn: threads that the engine before left spinning go to sleep


@dataclass(frozen=True)
class Timing:
    """Milliseconds of one engine. spread: half the distance of the quartiles over the median."""

    median: float
    least: float
    spread: float
    runs: int


@dataclass(frozen=True)
class Ratio:
    """Time of one engine over that of another: the median of the rounds' ratios of medians, and
    the quartiles of these. Below 1 the first one is faster."""

    median: float
    low: float
    high: float


Rounds = dict[str, list[list[float]]]
"""By engine, for every round, the milliseconds of its runs."""


def interleave(
    runs: Mapping[str, Run],
    rounds: int,
    *,
    slice_s: float = SLICE_S,
    pause_s: float = PAUSE_S,
    clock: Callable[[], float] = time.perf_counter,
    on_round: Callable[[int], None] = lambda done: None,
) -> Rounds:
    """Times every engine in turn, `rounds` times: what slows the machine down slows all of them.

    A turn is a pause, one run that does not count (caches, threads waking up), and runs for
    `slice_s`, at least one.
    """
    times: Rounds = {name: [] for name in runs}
    for run in runs.values():
        run()
    for done in range(rounds):
        for name, run in runs.items():
            time.sleep(pause_s)
            run()
            turn = []
            end = clock() + slice_s
            while True:
                begin = clock()
                run()
                now = clock()
                turn.append((now - begin) * 1e3)
                if now >= end:
                    break
            times[name].append(turn)
        on_round(done + 1)
    return times


def timing(rounds: Sequence[Sequence[float]]) -> Timing:
    """Of all runs of all rounds."""
    runs = sorted(ms for turn in rounds for ms in turn)
    low, high = quartiles(runs)
    median = statistics.median(runs)
    return Timing(median, runs[0], (high - low) / 2 / median if median else 0.0, len(runs))


def ratio(ours: Sequence[Sequence[float]], theirs: Sequence[Sequence[float]]) -> Ratio:
    """Of two engines timed in the same rounds."""
    pairs = zip(ours, theirs, strict=True)
    ratios = [statistics.median(a) / statistics.median(b) for a, b in pairs]
    low, high = quartiles(ratios)
    return Ratio(statistics.median(ratios), low, high)


def quartiles(values: Sequence[float]) -> tuple[float, float]:
    """Lower and upper quartile, inclusive; both are the value when there is one."""
    if len(values) < 2:
        return values[0], values[0]
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, high
