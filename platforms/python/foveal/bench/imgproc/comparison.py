"""Times the cases in several libraries: one process, rounds interleaved, ratios."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foveal.bench.comparison import Entry, Row, Step
from foveal.bench.imgproc import camera
from foveal.bench.imgproc.cases import CASES, Case, Picture, ring, ring_bytes
from foveal.bench.imgproc.peers import Peer, Prepared, find
from foveal.bench.measure import interleave, ratio, timing
from foveal.errors import ArgumentError, FovealError, NotFoundError


def compare(
    cases: Sequence[str | Case] = (),
    *,
    against: Sequence[str] = (),
    threads: Sequence[int] = (1,),
    rounds: int = 15,
    least_ring: int | None = None,
    slice_s: float = 0.06,
    pause_s: float = 0.02,
    step: Step = lambda text: None,
) -> list[Row]:
    """One row per case and number of threads; its entries are Foveal's, the memory's own time
    ("floor") and those of the libraries in `against` that have a way to compute the case.

    cases: names from `CASES` or "camera" (a frame to boxes), or Cases; none: all of them. An
    entry's deviation is the mean difference from Foveal's result, relative to the range of a
    pixel: other orders of the same steps and other filters show there. least_ring: bytes of the
    frames, see `ring`; slice_s, pause_s: see `interleave`.

    Raises NotFoundError for an unknown case, or a library that is unknown or not installed.
    """
    if rounds < 1 or not threads or min(threads) < 1:
        raise ArgumentError(
            f"bench: expected rounds and threads from 1 up, got {rounds} and {list(threads)}"
        )
    # The camera first: with torch in the process,
    # OpenCV's part took up to three times as long.
    chosen = [_case(one) for one in cases or (camera.NAME, *CASES)]
    names = [name for name in dict.fromkeys(against) if name not in ("foveal", "floor")]
    libraries = [find(name) for name in ("foveal", "floor", *names)]
    versions = {library.name: library.version() for library in libraries}
    size = ring_bytes() if least_ring is None else least_ring
    timed = {"rounds": rounds, "slice_s": slice_s, "pause_s": pause_s}
    rows = []
    for case in chosen:
        for number in threads:
            if isinstance(case, Case):
                step(f"{case.title}, threads: {number}")
                rows.append(_row(case, libraries, versions, number, ring(case, size), timed))
            else:
                step(f"{camera.TITLE}, threads: {number}")
                rows.append(camera.row(number, timed))
    return rows


def _case(one: str | Case) -> Case | None:
    """A case; None is the camera's."""
    if isinstance(one, Case):
        return one
    if one == camera.NAME:
        return None
    if one not in CASES:
        known = ", ".join((*CASES, camera.NAME))
        raise NotFoundError(f"bench: there is no image case '{one}'; known: {known}")
    return CASES[one]


def _row(
    case: Case,
    libraries: Sequence[Peer],
    versions: dict[str, str],
    threads: int,
    pictures: Sequence[Picture],
    timed: dict[str, Any],
) -> Row:
    ready: dict[str, Prepared] = {}
    problems: dict[str, str] = {}
    results: dict[str, NDArray[Any] | None] = {}
    for library in libraries:
        try:
            prepared = library.prepare(case, pictures, threads)
            if prepared is None:
                continue
            result = prepared.run(0)
            results[library.name] = None if result is None else np.array(result)
            ready[library.name] = prepared
        except Exception as error:  # a library's failure is a result; so is ours to do a case
            text = error.message if isinstance(error, FovealError) else str(error)
            problems[library.name] = (text or type(error).__name__).splitlines()[0][:200]
    times = interleave({name: _turns(p, len(pictures)) for name, p in ready.items()}, **timed)
    ours = times.get("foveal")
    entries = []
    for library in libraries:
        name = library.name
        if name in problems:
            entries.append(Entry(name, versions[name], problem=problems[name]))
        elif name in ready:
            compared = None if name == "foveal" or ours is None else ratio(ours, times[name])
            far = _deviation(results.get("foveal"), results[name], 255 if case.pixels else 1)
            far = None if name == "foveal" else far
            entries.append(
                Entry(name, versions[name], timing(times[name]), compared, deviation=far)
            )
    return Row(case.title, {"size": case.size}, threads, entries)


def _turns(prepared: Prepared, pictures: int) -> Callable[[], object]:
    """Runs on one picture after the other, around and around."""
    numbers = count()
    return lambda: prepared.run(next(numbers) % pictures)


def _deviation(ours: NDArray[Any] | None, theirs: NDArray[Any] | None, span: float) -> float | None:
    """Mean difference, relative to the range; infinite when the shapes differ."""
    if ours is None or theirs is None:
        return None
    if ours.size != theirs.size:
        return float("inf")
    a, b = ours.astype(np.float64).ravel(), theirs.astype(np.float64).ravel()
    return float(np.abs(a - b).mean()) / span
