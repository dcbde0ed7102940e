"""Measures a model node by node.

Two sessions of the same model run in turn: a plain one, whose time is the truth, and one that
records events (`Session(profile=True)`). Node times are medians over the recorded runs. On a
machine that does something else meanwhile, their sum is less than the median of whole runs:
interruptions lengthen every run, but each time another node.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from foveal._random_inputs import random_input
from foveal.errors import ArgumentError, IOFailure
from foveal.loader import load
from foveal.session import Session

if TYPE_CHECKING:
    from foveal._core import Model

_WARM_UP = 3  # runs that fill caches and tell how long one takes
_SECONDS = 2.0  # how long to measure when nobody says how often
_FEWEST, _MOST = 5, 200
_RUNS = 10_000  # more than this and the record would be cut off


@dataclass(frozen=True)
class Times:
    """Microseconds over the runs."""

    median: float
    min: float
    p95: float
    """The time that 95 % of the runs do not exceed (nearest rank)."""


@dataclass(frozen=True)
class Node:
    """One node as it runs, with its pointwise operators fused behind it.

    `index` is its place in `Profile.explained["nodes"]`, `position` its place in the order of
    execution (the unit of the memory plan's steps). `bytes` counts inputs, weights and outputs once
    each in plain layout, so `gbs` is a lower bound of the traffic; a multiply-add is two
    operations. `times` is None where the device records no events: see the segments in `steps`.
    """

    index: int
    name: str
    op: str
    posts: tuple[str, ...]
    device: str
    segment: int
    position: int
    layout: str
    shapes_in: tuple[tuple[int, ...], ...]
    shapes_out: tuple[tuple[int, ...], ...]
    macs: float
    bytes: float
    why: str
    """Why the devices asked before did not take it; "" if the first one did."""
    remark: str
    variant: str
    """The operator with what makes it another kernel: "conv2d 3x3 depthwise"."""
    times: Times | None
    share: float
    """Of the sum of all nodes and steps, 0..1."""

    @property
    def gflops(self) -> float:
        """10^9 operations per second; 0 where nothing is multiplied or nothing was measured."""
        return self._per_second(2 * self.macs)

    @property
    def gbs(self) -> float:
        """10^9 bytes per second."""
        return self._per_second(self.bytes)

    def _per_second(self, amount: float) -> float:
        return amount / self.times.median / 1e3 if self.times and self.times.median > 0 else 0.0


@dataclass(frozen=True)
class Step:
    """What runs outside of nodes: "relayout" (a conversion between two layouts), "upload",
    "download", and "segment" for devices that do not record their nodes."""

    kind: str
    name: str
    device: str
    node: int | None
    """Index of a relayout in `Profile.explained["nodes"]`, else None."""
    bytes: float
    times: Times
    share: float


@dataclass(frozen=True)
class Event:
    """Something that took time in one run: "run", "node" or a kind of `Step` (here every segment
    is one). `facts` is what the core recorded with it."""

    kind: str
    name: str
    start_us: float
    """Since the run began."""
    duration_us: float
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class Profile:
    """What `profile` found."""

    model: str
    device: str
    """As asked for: "auto" or names."""
    threads: int
    """As asked for; 0: the session chose."""
    runs: int
    inputs: tuple[tuple[str, tuple[int, ...], str], ...]
    """Name, shape and dtype of what was run on."""
    total: Times
    """Whole runs of the plain session."""
    recorded: Times
    """Whole runs of the session that records: slower by what recording costs."""
    overhead_us: float
    """What a recorded run spends between nodes and steps (median): session and recording."""
    nodes: tuple[Node, ...]
    steps: tuple[Step, ...]
    median_run: tuple[Event, ...]
    """The events of the recorded run whose length is the median, from 0."""
    explained: dict[str, Any] = field(repr=False)
    """`Session.explain()`: also nodes that only rename memory, and the memory plan."""
    trace: str = field(repr=False)
    """All recorded runs as a Chrome trace."""

    warm_up: int = _WARM_UP

    def _parts(self) -> list[Node | Step]:
        return [*self.nodes, *self.steps]

    @property
    def sum_us(self) -> float:
        """Medians of all nodes and steps, added."""
        return sum(part.times.median for part in self._parts() if part.times)

    @property
    def macs(self) -> float:
        """Multiply-adds of a run."""
        return sum(node.macs for node in self.nodes)

    @property
    def gflops(self) -> float:
        """10^9 operations per second over the whole run."""
        return 2 * self.macs / self.total.median / 1e3 if self.total.median > 0 else 0.0

    def by_operator(self, *, variants: bool = False) -> list[dict[str, Any]]:
        """Per operator (fused ones count with the node that carries them) and kind of step:
        "operator", "count", "us", "share", "macs", "gflops"; the slowest first. `variants` tells
        `Node.variant` apart."""
        rows: dict[str, dict[str, Any]] = {}
        for part in self._parts():
            if isinstance(part, Node):
                name, macs = part.variant if variants else part.op, part.macs
            else:
                name, macs = part.kind, 0.0
            row = rows.setdefault(
                name, {"operator": name, "count": 0, "us": 0.0, "share": 0.0, "macs": 0.0}
            )
            row["count"] += 1
            row["us"] += part.times.median if part.times else 0.0
            row["share"] += part.share
            row["macs"] += macs
        for row in rows.values():
            row["gflops"] = 2 * row["macs"] / row["us"] / 1e3 if row["us"] > 0 else 0.0
        return sorted(rows.values(), key=lambda row: (-row["us"], row["operator"]))


def profile(
    model: str | os.PathLike[str] | Model,
    *,
    device: str | Sequence[str] = "auto",
    threads: int = 0,
    runs: int = 0,
    input_shape: Mapping[str, Sequence[int]] | None = None,
    title: str = "",
) -> Profile:
    """Measures `model` on random inputs (floats in -1..1, whole numbers in 0..255).

    Args:
        model: what `foveal.load` takes.
        device, threads: as `foveal.Session`.
        runs: how many runs to measure, up to 10000; 0: as many as fit in two seconds (5 to 200).
        input_shape: input name → sizes, for inputs with open dimensions; those not named get the
            size of the model's own pipeline.
        title: what `Profile.model` shall say; the name or path of the model if it is one.

    Raises:
        ArgumentError: a wrong argument, or an input whose dimensions remain open.
        Whatever `foveal.load`, `foveal.Session` and its `run` raise.
    """
    shapes = {} if input_shape is None else input_shape
    if not isinstance(shapes, Mapping) or not all(isinstance(s, Sequence) for s in shapes.values()):
        raise ArgumentError(
            f"profile: input_shape: expected a dict of input name to sizes, got {shapes!r}",
            hint='for example {"input": (1, 3, 640, 640)}',
        )
    if isinstance(runs, bool) or not isinstance(runs, (int, np.integer)) or not 0 <= runs <= _RUNS:
        raise ArgumentError(f"profile: runs: expected 0 to {_RUNS}, got {runs!r}")
    opened = load(model)
    sessions = [_ready(opened, device, threads, shapes, record) for record in (0, 1)]
    plain, recording = sessions
    for _ in range(_WARM_UP):
        once, _ = (_run(session) for session in sessions)
    wanted = int(runs) or round(min(max(_SECONDS * 0.5e6 / max(once, 1), _FEWEST), _MOST))
    times = []
    for _ in range(wanted):
        times.append(_run(plain))
        _run(recording)
    trace = _trace(recording)
    return _evaluate(
        trace,
        _WARM_UP,
        total=_times(times),
        model=title or _name(model),
        device=device if isinstance(device, str) else ",".join(device),
        threads=int(threads),
        inputs=_inputs(recording),
        explained=recording.explain(),
    )


def _name(model: Any) -> str:
    return os.fsdecode(model) if isinstance(model, (str, os.PathLike)) else "model"


def _ready(
    model: Model,
    device: str | Sequence[str],
    threads: int,
    shapes: Mapping[str, Sequence[int]],
    record: int,
) -> Session:
    """A session with its shapes decided and its inputs written."""
    from foveal.cli import options

    session = Session(model, device=device, threads=threads, profile=bool(record))
    options.fix_shapes(session, {name: tuple(shape) for name, shape in shapes.items()})
    generator = np.random.default_rng(0)
    for tensor in session.inputs:
        session.input_view(tensor.name)[...] = random_input(session, tensor.name, generator)
    return session


def _run(session: Session) -> float:
    """Microseconds of one run on what the inputs hold."""
    with session.lock:
        begin = time.perf_counter()
        session._core.run()
        return (time.perf_counter() - begin) * 1e6


def _inputs(session: Session) -> tuple[tuple[str, tuple[int, ...], str], ...]:
    views = ((t, session.input_view(t.name)) for t in session.inputs)
    return tuple((t.name, tuple(int(d) for d in view.shape), t.dtype) for t, view in views)


def _trace(session: Session) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        try:
            session.profile(path)
        except IOFailure as error:
            raise IOFailure(
                f"profile: the record of the runs: {error.message}",
                hint="make room there, or set TMPDIR to another folder",
            ) from error
        return path.read_text(encoding="utf-8", errors="replace")


def _evaluate(trace: str, skip: int, **known: Any) -> Profile:
    """The profile of the runs in `trace` after the first `skip`."""
    runs = split_runs(json.loads(trace)["traceEvents"])[skip:]
    if not runs:
        raise ArgumentError("profile: too many events to record", hint="ask for fewer runs")
    explained = known["explained"]["nodes"]
    spent: dict[tuple[str, int, str], list[float]] = {}
    first: dict[tuple[str, int, str], Event] = {}
    between = []
    for run in runs:
        leaves = _leaves(run, explained)
        between.append(run[-1].duration_us - sum(event.duration_us for event in leaves))
        for event in leaves:
            key = _key(event)
            spent.setdefault(key, []).append(event.duration_us)
            first.setdefault(key, event)
    times = {key: _times(found) for key, found in spent.items()}
    whole = sum(found.median for found in times.values()) or 1.0
    order = sorted(enumerate(explained), key=lambda item: item[1]["position"])
    totals = [run[-1].duration_us for run in runs]
    middle = sorted(range(len(runs)), key=totals.__getitem__)[(len(runs) - 1) // 2]
    return Profile(
        **known,
        runs=len(runs),
        recorded=_times(totals),
        overhead_us=_times(between).median,
        nodes=tuple(
            _node(index, facts, times.get(("node", index, "")), whole)
            for index, facts in order
            if facts["segment"] >= 0
        ),
        steps=tuple(
            _step(event, times[key], whole, explained)
            for key, event in first.items()
            if event.kind != "node"
        ),
        median_run=tuple(sorted(runs[middle], key=lambda event: event.start_us)),
        trace=trace,
    )


def split_runs(events: Sequence[Mapping[str, Any]]) -> list[list[Event]]:
    """The events of a Chrome trace run by run, each ending with its "run"; what a full record cut
    off is left out."""
    runs: list[list[Event]] = []
    current: list[Mapping[str, Any]] = []
    for raw in events:
        current.append(raw)
        if raw["cat"] != "session" or raw["name"] != "run":
            continue
        runs.append(
            [
                Event(
                    e["name"] if e["cat"] == "session" else "node",
                    e["name"],
                    e["ts"] - raw["ts"],
                    e["dur"],
                    e["args"],
                )
                for e in current
            ]
        )
        current = []
    return runs


def variant(facts: Mapping[str, Any]) -> str:
    """`Node.variant` of a node that `Session.explain()` tells of."""
    op: str = facts["op"]
    tensors = facts["inputs"]
    if not op.startswith("conv") or len(tensors) < 2 or not all(tensors[:2]):
        return op
    data, weights = (t["shape"] for t in tensors[:2])
    if len(weights) != 4 or len(data) != 4:
        return op
    # [out, in / groups, height, width]
    depthwise = " depthwise" if weights[1] == 1 and data[1] > 1 else ""
    return f"{op} {weights[2]}x{weights[3]}{depthwise}"


def _leaves(run: Sequence[Event], explained: Sequence[Mapping[str, Any]]) -> list[Event]:
    """The events that contain no other: nodes, steps, and segments that record no nodes."""
    told = {explained[e.facts["node"]]["segment"] for e in run if e.kind == "node"}
    return [
        e
        for e in run
        if e.kind != "run" and not (e.kind == "segment" and e.facts["segment"] in told)
    ]


def _key(event: Event) -> tuple[str, int, str]:
    facts = event.facts
    index = next(facts[k] for k in ("node", "value", "segment") if k in facts)
    return event.kind, index, facts.get("device", "")


def _node(index: int, facts: Mapping[str, Any], times: Times | None, whole: float) -> Node:
    def shapes(tensors: Sequence[Mapping[str, Any] | None]) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(t["shape"]) for t in tensors if t)

    output = next((t for t in facts["outputs"] if t), None)
    return Node(
        index,
        facts["name"],
        facts["op"],
        tuple(facts["posts"]),
        facts["device"],
        facts["segment"],
        facts["position"],
        output["layout"] if output else "",
        shapes(facts["inputs"]),
        shapes(facts["outputs"]),
        facts["macs"] or 0.0,
        facts["bytes"] or 0.0,
        facts["why"],
        facts["remark"],
        variant(facts),
        times,
        times.median / whole if times else 0.0,
    )


def _step(event: Event, times: Times, whole: float, explained: Sequence[Mapping[str, Any]]) -> Step:
    facts, share = event.facts, times.median / whole
    if event.kind == "relayout":
        node = explained[facts["node"]]
        ends = " to ".join(t["layout"] for t in (node["inputs"][0], node["outputs"][0]))
        name = f"{node['inputs'][0]['name']}: {ends}"
        return Step("relayout", name, "core", facts["node"], node["bytes"] or 0.0, times, share)
    name = facts.get("tensor") or f"segment {facts['segment']}"
    moved = float(facts.get("bytes", 0))
    return Step(event.kind, name, facts["device"], None, moved, times, share)


def _times(found: Sequence[float]) -> Times:
    ordered = sorted(found)
    middle = len(ordered) // 2
    median = ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
    return Times(median, ordered[0], ordered[math.ceil(0.95 * len(ordered)) - 1])
