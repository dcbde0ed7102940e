"""Times one model in several engines."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import foveal
from foveal.bench.engines import Arrays, Engine, Opened, Source, find
from foveal.bench.measure import Ratio, Timing, interleave, ratio, timing
from foveal.convert import pick
from foveal.errors import ArgumentError, FovealError

Step = Callable[[str], None]
"""Told what is going on."""

WRONG = 1e-2  # of the output's range: engines that differ more do not compute the same


@dataclass(frozen=True)
class Entry:
    """One engine's figures for one model.

    timing: None when the engine could not run it; then `problem` says why.
    ratio: Foveal's time over this engine's; below 1 Foveal is faster. None for Foveal itself.
    load_ms, first_run_ms: from the engine's own file to the first result, in a fresh process.
    peak_bytes: growth of that process's peak memory. deviation: of the outputs from Foveal's,
    relative to their range; None where outputs cannot be matched.
    """

    engine: str
    version: str
    timing: Timing | None = None
    ratio: Ratio | None = None
    load_ms: float | None = None
    first_run_ms: float | None = None
    peak_bytes: int | None = None
    deviation: float | None = None
    problem: str = ""


@dataclass(frozen=True)
class Row:
    """One model at one number of threads; `entries[0]` is Foveal's."""

    model: str
    shapes: dict[str, tuple[int, ...]]
    threads: int
    entries: list[Entry]


def compare(
    model: str | os.PathLike[str],
    *,
    against: Sequence[str] = (),
    threads: Sequence[int] = (1,),
    rounds: int = 15,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
    fresh: bool = True,
    step: Step = lambda text: None,
) -> list[Row]:
    """One row per number of threads.

    model: zoo name or path. Peers that do not read its format are left out; peers that fail are
    listed with their problem. input_shapes: sizes of open dimensions. fresh: also measure load,
    first run and memory, each engine in a process of its own.

    Raises NotFoundError for an unknown engine or one that is not installed, ArgumentError for open
    dimensions without sizes, and what `foveal.load` raises.
    """
    if rounds < 1 or not threads or min(threads) < 1:
        raise ArgumentError(
            f"bench: expected rounds and threads from 1 up, got {rounds} and {list(threads)}"
        )
    chosen = [find("foveal"), *(find(name) for name in dict.fromkeys(against) if name != "foveal")]
    versions = {engine.name: engine.version() for engine in chosen}
    name = os.fsdecode(model)
    with tempfile.TemporaryDirectory(prefix="foveal-bench-") as folder, _chatter_to_stderr():
        step(f"{name}: converting")
        source = _source(name, Path(folder), input_shapes or {})
        ready: dict[str, Path | str] = {}
        for engine in chosen:
            if source.format in engine.formats:
                ready[engine.name] = _prepared(engine, source, Path(folder) / engine.name)
        chosen = [engine for engine in chosen if engine.name in ready]
        return [
            _row(name, source, chosen, ready, versions, count, rounds, fresh, Path(folder), step)
            for count in threads
        ]


@contextlib.contextmanager
def _chatter_to_stderr() -> Iterator[None]:
    """Engines print to the process's stdout, where results go."""
    try:
        sys.stdout.flush()
        saved = os.dup(1)
    except (OSError, ValueError, AttributeError):  # no stdout to protect
        yield
        return
    try:
        os.dup2(2, 1)
        yield
    finally:
        os.dup2(saved, 1)
        os.close(saved)


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    name = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                name = line.partition(":")[2].strip()
                break
    except OSError:
        pass
    return {
        "cpu": name,
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "foveal": foveal.__version__,
        "python": platform.python_version(),
    }


def source_of(name: str) -> Path:
    """The file as published of a zoo name; a path as it is."""
    from foveal import zoo

    return zoo.get(name) if name in zoo.names() else Path(name).expanduser()


def _source(name: str, folder: Path, shapes: Mapping[str, Sequence[int]]) -> Source:
    """The model's file, its .fvm and random inputs."""
    loaded = foveal.load(name)
    path = source_of(name)
    with path.open("rb") as file:
        head = file.read(512)
    found = "fvm" if head.startswith(b"FOVEALM") else pick(head, path.suffix)[0]
    fvm = path
    if found != "fvm":
        fvm = folder / "model.fvm"
        foveal.Graph.from_model(loaded).save(fvm)
    rng = np.random.default_rng(0)
    feed: Arrays = {}
    for info in loaded.inputs:
        shape = _closed(info.name, info.shape, shapes, loaded.meta)
        if info.dtype.startswith("float"):
            feed[info.name] = rng.standard_normal(shape).astype(info.dtype)
        else:
            feed[info.name] = rng.integers(0, 2, shape).astype(info.dtype)
    return Source(path, found, feed, fvm)


def _closed(
    name: str,
    declared: Sequence[int | str],
    chosen: Mapping[str, Sequence[int]],
    meta: Mapping[str, str],
) -> tuple[int, ...]:
    from foveal.cli.options import closed_shape

    shape = tuple(chosen[name]) if name in chosen else closed_shape(tuple(declared), dict(meta))
    if shape is None:
        shown = " x ".join(str(d) for d in declared)
        raise ArgumentError(
            f"bench: input '{name}' has open dimensions: {shown}",
            hint=f"choose them: --input-shape {name}=1,3,640,640",
        )
    return shape


def _prepared(engine: Engine, source: Source, folder: Path) -> Path | str:
    """The file the engine opens, or why it has none."""
    folder.mkdir()
    try:
        return engine.prepare(source, folder)
    except Exception as error:  # a peer's failure is a result, not ours to pass on
        return _reason(error)


def _reason(error: BaseException) -> str:
    text = error.message if isinstance(error, FovealError) else f"{error}"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0][:200] if lines else type(error).__name__


def _row(
    name: str,
    source: Source,
    engines: Sequence[Engine],
    ready: Mapping[str, Path | str],
    versions: Mapping[str, str],
    threads: int,
    rounds: int,
    fresh: bool,
    folder: Path,
    step: Step,
) -> Row:
    opened: dict[str, Opened] = {}
    problems: dict[str, str] = {}
    outputs: dict[str, Arrays] = {}
    for engine in engines:
        path = ready[engine.name]
        step(f"{name}: opening in {engine.name} (threads: {threads})")
        try:
            if isinstance(path, str):
                raise FovealError(path)
            opened[engine.name] = engine.open(path, source, threads)
            outputs[engine.name] = opened[engine.name].outputs()
        except Exception as error:  # a peer's failure is a result
            if engine.name == "foveal":
                raise
            opened.pop(engine.name, None)
            problems[engine.name] = _reason(error)
    times = interleave(
        {engine: one.run for engine, one in opened.items()},
        rounds,
        on_round=lambda done: step(f"{name} (threads: {threads}): round {done} of {rounds}"),
    )
    opened.clear()
    entries = []
    for engine in engines:
        label, version = engine.name, versions[engine.name]
        if label in problems:
            entries.append(Entry(label, version, problem=problems[label]))
            continue
        alone: dict[str, Any] = {}
        if fresh:
            step(f"{name}: {label} in a fresh process")
            alone = _alone(engine, source, Path(ready[label]), threads, folder)
        deviation = ours = None
        if label != "foveal":
            deviation = _deviation(outputs["foveal"], outputs[label])
            ours = ratio(times["foveal"], times[label])
        entries.append(
            Entry(label, version, timing(times[label]), ours, deviation=deviation, **alone)
        )
    shapes = {key: tuple(array.shape) for key, array in source.feed.items()}
    return Row(name, shapes, threads, entries)


def _alone(
    engine: Engine, source: Source, path: Path, threads: int, folder: Path
) -> dict[str, Any]:
    """Load, first run and peak memory in a process of its own; nothing when that fails."""
    feed, job = folder / "feed.npz", folder / "job.json"
    if not feed.exists():
        with zipfile.ZipFile(feed, "w") as archive:
            for i, array in enumerate(source.feed.values()):
                with archive.open(f"{i}.npy", "w") as member:
                    np.save(member, array, allow_pickle=False)
    facts = {
        "engine": engine.name,
        "path": str(path),
        "source": str(source.path),
        "format": source.format,
        "fvm": str(source.fvm),
        "feed": str(feed),
        "inputs": list(source.feed),
        "threads": threads,
    }
    job.write_text(json.dumps(facts), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "foveal.bench.worker", str(job)],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    for line in reversed(done.stdout.splitlines()):
        if line.startswith("{"):
            found: dict[str, Any] = json.loads(line)
            return found
    return {}


def _deviation(ours: Arrays, theirs: Arrays) -> float | None:
    """Largest difference relative to the output's range over outputs that can be matched: by name,
    else by order when all sizes agree. None when nothing matches."""
    pairs = [(a, theirs[name]) for name, a in ours.items() if name in theirs]
    if len(pairs) < len(ours) and len(ours) == len(theirs):
        pairs = list(zip(ours.values(), theirs.values(), strict=True))
    pairs = [(a, b) for a, b in pairs if a.size == b.size]
    worst: float | None = None
    for a, b in pairs:
        x, y = np.asarray(a, np.float64).ravel(), np.asarray(b, np.float64).ravel()
        span = float(np.ptp(x)) or 1.0
        largest = float(np.abs(x - y).max(initial=0.0)) / span
        worst = max(worst or 0.0, largest if np.isfinite(largest) else float("inf"))
    return worst
