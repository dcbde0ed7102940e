"""Building blocks of the operator tests: tables of cases, references, comparison.

A table lives in one module per operator or family (`tests/ops/test_<op>.py`, installed as
`foveal/conformance/ops`) and is the only place where an operator's behaviour is written down
a second time:

    def ref(x, *, kernel, stride=(1, 1)): ...        # numpy, obviously correct

    CASES = op_cases("pool2d", ref, [
        case(rand(1, 3, 7, 5), kernel=(2, 2)),
    ])

Every case is a small graph, `Net`. A net can be evaluated by the references and run on any
device; both must agree. Nothing here needs pytest.
"""

from __future__ import annotations

import importlib.util
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Reference = Callable[..., Any]

REFERENCES: dict[str, Reference] = {}


@dataclass(frozen=True, eq=False)
class Spec:
    """How to make one tensor: seeded random values in [lo, hi), or given `values`."""

    shape: tuple[int, ...]
    dtype: str = "float32"
    lo: float = -2.0
    hi: float = 2.0
    values: Array | None = None
    const: bool = False

    def make(self, seed: int) -> Array:
        if self.values is not None:
            return self.values
        rng = np.random.default_rng(seed)
        if self.dtype == "bool":
            return rng.integers(0, 2, self.shape).astype(bool)
        if np.dtype(self.dtype).kind in "iu":
            return rng.integers(int(self.lo), int(self.hi), self.shape).astype(self.dtype)
        return rng.uniform(self.lo, self.hi, self.shape).astype(self.dtype)

    def __str__(self) -> str:
        short = self.dtype.replace("float", "f").replace("uint", "u").replace("int", "i")
        return short + "x".join(map(str, self.shape)) if self.shape else short + "scalar"


def rand(
    *shape: int, dtype: str = "float32", lo: float = -2.0, hi: float = 2.0, const: bool = False
) -> Spec:
    """A seeded random tensor; integers lie in [lo, hi). `const`: a weight, not an input."""
    return Spec(shape, dtype, lo, hi, None, const)


def data(values: Any, dtype: str = "float32", const: bool = False) -> Spec:
    """A tensor of given values."""
    array = np.asarray(values, dtype=dtype)
    return Spec(array.shape, dtype, values=array, const=const)


def weight(*shape: int, lo: float = -1.0, hi: float = 1.0) -> Spec:
    """A seeded random constant."""
    return Spec(shape, "float32", lo, hi, None, True)


@dataclass
class NetNode:
    op: str
    inputs: list[int | None]
    outputs: list[int]
    attrs: dict[str, Any]


@dataclass
class Net:
    """A small graph: what a case runs. Values are numbered; `specs` says how to feed them."""

    specs: dict[int, Spec] = field(default_factory=dict)
    nodes: list[NetNode] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    values: int = 0

    def add(self, spec: Spec) -> int:
        """Adds an input or, if `spec.const`, a constant."""
        self.specs[self.values] = spec
        self.values += 1
        return self.values - 1

    def op(self, name: str, *inputs: int | Spec | None, outputs: int = 1, **attrs: Any) -> int:
        """Adds a node and returns its first output; further outputs follow it."""
        ids = [self.add(i) if isinstance(i, Spec) else i for i in inputs]
        first = self.values
        self.values += outputs
        self.nodes.append(NetNode(name, ids, list(range(first, first + outputs)), attrs))
        return first

    def result(self, *values: int) -> Net:
        self.outputs = list(values)
        return self

    def feeds(self, seed: int) -> dict[int, Array]:
        return {i: spec.make(seed + i) for i, spec in self.specs.items()}


@dataclass
class Case:
    """One net with the tolerance its results must meet."""

    id: str
    net: Net
    tol: float
    elementwise: bool
    suite: str = ""

    @property
    def seed(self) -> int:
        return zlib.crc32(f"{self.suite}/{self.id}".encode())

    def expected(self, feeds: dict[int, Array]) -> list[Array]:
        """Results by the references, node after node."""
        known: dict[int, Array] = dict(feeds)
        for node in self.net.nodes:
            args = [None if i is None else known[i] for i in node.inputs]
            out = reference(node.op)(*args, **node.attrs)
            results = list(out) if isinstance(out, (list, tuple)) else [out]
            for i, array in zip(node.outputs, results, strict=True):
                known[i] = np.asarray(array)
        return [known[i] for i in self.net.outputs]


@dataclass
class Suite:
    """All cases of one operator, or of one kind of graph (then `op` is a name of ours)."""

    op: str
    cases: list[Case]
    is_op: bool = True

    def __iter__(self) -> Iterator[Case]:
        return iter(self.cases)


def _text(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "(" + ",".join(map(_text, value)) + ")"
    return f"{value:g}" if isinstance(value, float) else str(value)


@dataclass
class Row:
    inputs: tuple[Spec | None, ...]
    attrs: dict[str, Any]
    outputs: int
    tol: float | None


def case(*inputs: Spec | None, outputs: int = 1, tol: float | None = None, **attrs: Any) -> Row:
    """One row of an operator's table. None: an optional input left out."""
    return Row(inputs, attrs, outputs, tol)


def op_cases(
    op: str, ref: Reference, cases: Iterable[Row], tol: float = 1e-5, elementwise: bool = False
) -> Suite:
    """The table of one operator; registers `ref` as its meaning.

    `ref(*inputs, **attrs)` gets numpy arrays (None if omitted) and returns an array or a list.
    Floats may deviate by `tol` of the largest result, or, with `elementwise`, of each result;
    integers and booleans must be equal.
    """
    REFERENCES[op] = ref
    made: list[Case] = []
    for row in cases:
        net = Net()
        first = net.op(op, *row.inputs, outputs=row.outputs, **row.attrs)
        net.result(*range(first, first + row.outputs))
        words = ["none" if s is None else str(s) + ("c" if s.const else "") for s in row.inputs] + [
            f"{k}={_text(v)}" for k, v in row.attrs.items()
        ]
        tolerance = tol if row.tol is None else row.tol
        made.append(_unique(made, Case(" ".join(words), net, tolerance, elementwise, op)))
    return Suite(op, made)


def net_cases(name: str, nets: dict[str, Net], tol: float = 1e-5) -> Suite:
    """Cases made of several operators; each is evaluated by the references of its operators."""
    return Suite(name, [Case(k, net, tol, False, name) for k, net in nets.items()], is_op=False)


def _unique(others: Sequence[Case], new: Case) -> Case:
    same = sum(o.id == new.id or o.id.startswith(new.id + " #") for o in others)
    if same:
        new.id += f" #{same + 1}"
    return new


# ---- Finding the tables -----------------------------------------------------------------------

_suites: list[Suite] = []


def tables_folder() -> Path:
    """Installed: beside this file. In a checkout: tests/ops."""
    here = Path(__file__).parent
    return here / "ops" if (here / "ops").is_dir() else here.parents[3] / "tests" / "ops"


def load_tables(folder: Path | None = None) -> list[Suite]:
    """All suites, in the order of the file names."""
    if folder is None and _suites:
        return _suites
    found: list[Suite] = []
    for path in sorted((folder or tables_folder()).glob("test_*.py")):
        if path.stem == "test_references":  # tests of the references themselves
            continue
        spec = importlib.util.spec_from_file_location(f"foveal_conformance_{path.stem}", path)
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found.extend(module_suites(module))
    if folder is None:
        _suites.extend(found)
    return found


def module_suites(module: ModuleType) -> list[Suite]:
    """Suites among the module's names, and in lists among them."""
    out: list[Suite] = []
    for name, value in vars(module).items():
        if isinstance(value, Suite):
            out.append(value)
        elif name.isupper() and isinstance(value, list):
            out.extend(v for v in value if isinstance(v, Suite))
    return out


def reference(op: str) -> Reference:
    """The numpy meaning of an operator.

    Raises:
        KeyError: no table defines it.
    """
    if op not in REFERENCES:
        load_tables()
    return REFERENCES[op]


# ---- Comparing --------------------------------------------------------------------------------


def compare(got: Array, want: Array, tol: float, elementwise: bool = False) -> str | None:
    """None if equal within `tol` (see op_cases), else one line that says where they differ."""
    if got.shape != want.shape:
        return f"shape is {got.shape}, expected {want.shape}"
    if got.dtype != want.dtype:
        return f"type is {got.dtype}, expected {want.dtype}"
    if want.dtype.kind not in "f":
        bad = got != want
        if not bad.any():
            return None
        at = tuple(int(i) for i in np.argwhere(bad)[0])
        return (
            f"{int(bad.sum())} of {bad.size} differ, first at {at}: {got[at]}, expected {want[at]}"
        )
    g, w = got.astype(np.float64), want.astype(np.float64)
    special = ~np.isfinite(w)
    same = (g == w) | (np.isnan(g) & np.isnan(w))
    finite = np.abs(w[~special])
    top = float(finite.max()) if finite.size else 0.0
    # One part in 2^23 of an element near 1 is the grain of float32: allow that much around zero.
    with np.errstate(invalid="ignore", over="ignore"):
        limit = tol * np.abs(w) + min(tol, 1.2e-7) if elementwise else np.full(w.shape, tol * top)
        bad = np.where(special, ~same, ~(np.abs(g - w) <= limit))
    if not bad.any():
        return None
    with np.errstate(invalid="ignore", over="ignore"):
        excess = np.where(bad, np.where(np.isfinite(g - w), np.abs(g - w), np.inf), -1)
    at = tuple(int(i) for i in np.unravel_index(int(excess.argmax()), excess.shape))
    return (
        f"{int(bad.sum())} of {bad.size} differ by more than {tol:g}, worst at {at}: "
        f"{g[at]:.9g}, expected {w[at]:.9g} (largest {top:.3g})"
    )
