"""Runs one case on one device, in this process."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import foveal
from foveal import _core
from foveal.conformance.kit import Array, Case, Spec, case, compare, op_cases, rand, reference
from foveal.conformance.report import PASS, REFUSED, WRONG, Entry
from foveal.errors import FovealError, UnsupportedOpError

# The one operator that backends with a blocked layout always run in that layout; a window of
# one pixel changes nothing. Put before inputs and behind outputs, it brings a case into it.
IDENTITY: dict[str, Any] = {"mode": "average", "kernel": [1, 1]}

Type = tuple[str, list[int]]


def is_image(spec: Spec) -> bool:
    return len(spec.shape) == 4 and spec.dtype == "float32" and not spec.const


def variants(case: Case, blocked: bool = True) -> list[str]:
    """How a case is run: "plain" and, where it has images as inputs, "blocked"."""
    images = any(is_image(s) for s in case.net.specs.values())
    return ["plain", "blocked"] if blocked and images and case.suite != "pool2d" else ["plain"]


def offers_blocked(device: str) -> bool:
    """Whether the device can run the "blocked" variants at all."""
    x = rand(1, 5, 3, 3)
    (probe,) = op_cases("pool2d", reference("pool2d"), [case(x, **IDENTITY)])
    return run_case(probe, device, threads=(1,)).status != REFUSED


class Builder:
    """Turns the net of a case into a model."""

    def __init__(self, case: Case, feeds: dict[int, Array], variant: str) -> None:
        self.graph = _core.GraphBuilder()
        self.blocked = variant == "blocked"
        self.ids: dict[int, int] = {}  # value of the net -> value of the graph
        self.types: dict[int, Type] = {}
        self.inputs: dict[str, Array] = {}
        self.outputs: list[str] = []
        inputs = [self._feed(v, spec, feeds[v]) for v, spec in case.net.specs.items()]
        for node in case.net.nodes:
            self._node(node.op, node.inputs, node.outputs, node.attrs)
        outputs = [self._result(v) for v in case.net.outputs]
        self.graph.set_io([i for i in inputs if i is not None], outputs)

    def _feed(self, v: int, spec: Spec, array: Array) -> int | None:
        self.types[v] = (spec.dtype, list(spec.shape))
        if spec.const:
            self.ids[v] = self.graph.add_constant(f"const{v}", array)
            return None
        name = f"in{v}"
        self.inputs[name] = array
        self.types[v] = (spec.dtype, self._declared(spec))
        value = int(self.graph.add_value(name, *self.types[v], []))
        self.ids[v] = value
        if self.blocked and is_image(spec):
            self.ids[v] = self._identity(f"blocked{v}", value, self.types[v])
        return value

    def _declared(self, spec: Spec) -> list[int]:
        """Shape of an input in the model file; -1: known at run time only."""
        return list(spec.shape)

    def _identity(self, name: str, value: int, kind: Type) -> int:
        out = int(self.graph.add_value(name, *kind, []))
        self.graph.add_node("pool2d", name, [value], [out], IDENTITY)
        return out

    def _node(
        self, op: str, inputs: Sequence[int | None], outputs: Sequence[int], attrs: dict[str, Any]
    ) -> None:
        attrs = {k: list(v) if isinstance(v, tuple) else v for k, v in attrs.items()}
        kinds = [None if i is None else self.types[i] for i in inputs]
        for v, (dtype, dims) in zip(
            outputs, _core.infer(op, kinds, attrs, len(outputs)), strict=True
        ):
            self.types[v] = (dtype, list(dims))
            self.ids[v] = self.graph.add_value(f"v{v}", dtype, list(dims), [])
        args = [-1 if i is None else self.ids[i] for i in inputs]
        self.graph.add_node(op, f"{op}_{outputs[0]}", args, [self.ids[v] for v in outputs], attrs)

    def _result(self, v: int) -> int:
        dtype, dims = self.types[v]
        if self.blocked and dtype == "float32" and len(dims) == 4:
            self.outputs.append(f"out{v}")
            return self._identity(f"out{v}", self.ids[v], self.types[v])
        self.outputs.append(f"in{v}" if f"in{v}" in self.inputs else f"v{v}")
        return self.ids[v]


def reason_of(e: FovealError) -> str:
    """The refusal without the names that `Builder` made up for the nodes."""
    text = re.sub(r" '\w*?\d+'(?= \()", "", " ".join(e.message.split()))
    return text.removeprefix("no chosen device runs ")


def same_bits(a: Array, b: Array) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def run_case(
    job: Case,
    device: str | list[str] = "cpu",
    variant: str = "plain",
    threads: Sequence[int] = (1, 2),
) -> Entry:
    """Runs `job` on `device` with each number of threads, twice each, and judges the results.

    Returns:
        An entry with status pass, refused or wrong. Nothing is raised: a FovealError of the
        session is a refusal if it is an UnsupportedOpError, else it is wrong.
    """
    name = device if isinstance(device, str) else ",".join(device)

    def verdict(status: str, detail: str = "") -> Entry:
        return Entry(job.suite, job.id, variant, name, status, detail)

    feeds = job.net.feeds(job.seed)
    want = job.expected(feeds)
    try:
        built = Builder(job, feeds, variant)
        model = built.graph.model()
        sessions = [foveal.Session(model, device=device, threads=n) for n in threads]
        runs = [s.run(built.inputs) for s in sessions for _ in range(2)]
    except UnsupportedOpError as e:
        return verdict(REFUSED, reason_of(e))
    except FovealError as e:
        return verdict(WRONG, f"{type(e).__name__}: {e}")
    for output, expected in zip(built.outputs, want, strict=True):
        problem = compare(runs[0][output], expected, job.tol, job.elementwise)
        if problem:
            return verdict(WRONG, problem)
        if not all(same_bits(r[output], runs[0][output]) for r in runs[1:]):
            return verdict(WRONG, "results differ between runs or between 1 and 2 threads")
    return verdict(PASS)
