"""Random graphs, evaluated by the operators' references and run in every way there is.

Fused and unfused, on one and two threads, on plain and blocked layouts, with shapes known in
the file or only at run time: all give the reference's result, and runs on the same device the
same bits whatever the number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("foveal._core")

import foveal as fv
from foveal.conformance.execute import Builder, same_bits
from foveal.conformance.kit import Array, Case, Net, Spec, compare, rand, reference, weight

TOL = 3e-5  # a dozen operators deep
UNARY: list[tuple[str, dict[str, Any]]] = [
    ("relu", {}), ("sigmoid", {}), ("tanh", {}), ("clip", {"min": -1.0, "max": 2.0}), ("abs", {}),
    ("silu", {}), ("hardswish", {}), ("leaky_relu", {"alpha": 0.1}), ("elu", {}), ("neg", {}),
    ("hardsigmoid", {}), ("gelu", {}), ("softplus", {}), ("square", {}), ("sin", {}),
]  # fmt: skip


# How often each kind of operator is chosen.
KINDS = {
    "conv": 3, "unary": 3, "binary": 2, "depthwise": 1, "pool": 1, "constant": 1, "concat": 1,
    "slice": 1, "pad": 1, "resize": 1, "reduce": 1, "softmax": 1, "transpose": 1, "reshape": 1,
    "split": 1, "gate": 1, "prelu": 1,
}  # fmt: skip
CHOICES = [kind for kind, n in KINDS.items() for _ in range(n)]


class Grower:
    """Appends random operators to a net; knows every value, because it evaluates as it goes."""

    def __init__(self, seed: int, dynamic: bool) -> None:
        self.rng = np.random.default_rng(seed)
        self.net, self.known = Net(), {}
        self.dynamic = dynamic  # only operators whose attributes do not depend on H and W
        c = int(self.rng.choice([1, 3, 4, 5, 8, 9, 16, 17]))
        h, w = int(self.rng.integers(4, 10)), int(self.rng.integers(4, 10))
        self.images = [self.add(rand(int(self.rng.integers(1, 3)), c, h, w))]
        if self.rng.random() < 0.3:
            self.images.append(self.add(rand(*self.shape(self.images[0]))))
        for _ in range(int(self.rng.integers(3, 13))):
            getattr(self, f"grow_{self.rng.choice(CHOICES)}")()
        used = {i for n in self.net.nodes for i in n.inputs}
        ends = [o for n in self.net.nodes for o in n.outputs if o not in used]
        inner = [o for n in self.net.nodes for o in n.outputs if o in used]
        if inner and self.rng.random() < 0.4:
            ends.append(int(self.rng.choice(inner)))
        self.net.result(*ends)

    def add(self, spec: Spec) -> int:
        v = self.net.add(spec)
        self.known[v] = spec.make(v + 1)
        return v

    def shape(self, v: int) -> tuple[int, ...]:
        return self.known[v].shape

    def pick(self) -> int:
        """Late values more often, and sometimes one that was used before."""
        n = len(self.images)
        return self.images[max(n - 1 - int(self.rng.geometric(0.5)) + 1, 0)]

    def op(self, name: str, *args: int | Spec | None, outputs: int = 1, **attrs: Any) -> int:
        ids = [self.add(a) if isinstance(a, Spec) else a for a in args]
        given = [None if i is None else self.known[i] for i in ids]
        out = reference(name)(*given, **attrs)
        first = self.net.op(name, *ids, outputs=outputs, **attrs)
        for i, array in enumerate(out if isinstance(out, (list, tuple)) else [out]):
            self.known[first + i] = array
        return first

    def keep(self, v: int) -> None:
        """Further operators may use it. Large values would only lose digits."""
        if np.abs(self.known[v]).max(initial=0) > 50:
            v = self.op("tanh", v)
        self.images.append(v)

    def grow_conv(self) -> None:
        x = self.pick()
        c = self.shape(x)[1]
        o, k = int(self.rng.choice([1, 3, 4, 6, 8, 16, 17])), int(self.rng.choice([1, 1, 3, 3, 5]))
        group = int(self.rng.choice([g for g in (1, 1, 2, 3, 4) if c % g == 0 and o % g == 0]))
        bias = weight(o) if self.rng.random() < 0.7 else None
        scale = 1 / max(1, (c // group * k * k) ** 0.5)
        w = weight(o, c // group, k, k, lo=-2 * scale, hi=2 * scale)
        stride = (1, 1) if min(self.shape(x)[2:]) < 4 or self.rng.random() < 0.7 else (2, 2)
        y = self.op("conv2d", x, w, bias, stride=stride, pad=(k // 2,) * 4, group=group)
        self.keep(y)

    def grow_depthwise(self) -> None:
        x = self.pick()
        c = self.shape(x)[1]
        self.keep(self.op("conv2d", x, weight(c, 1, 3, 3), weight(c), pad=(1, 1, 1, 1), group=c))

    def grow_pool(self) -> None:
        x = self.pick()
        mode = str(self.rng.choice(["max", "average"]))
        stride = (2, 2) if min(self.shape(x)[2:]) >= 4 and self.rng.random() < 0.5 else (1, 1)
        self.keep(self.op("pool2d", x, mode=mode, kernel=(3, 3), stride=stride, pad=(1, 1, 1, 1)))

    def grow_unary(self) -> None:
        name, attrs = UNARY[int(self.rng.integers(0, len(UNARY)))]
        self.keep(self.op(name, self.pick(), **attrs))

    def grow_prelu(self) -> None:
        x = self.pick()
        self.keep(self.op("prelu", x, weight(self.shape(x)[1], 1, 1)))

    def grow_binary(self) -> None:
        """With any value of the same shape: residuals, values used twice, x with itself."""
        x = self.pick()
        same = [v for v in self.images if self.shape(v) == self.shape(x)]
        name = str(self.rng.choice(["add", "add", "mul", "sub", "max", "min"]))
        self.keep(self.op(name, x, int(self.rng.choice(same))))

    def grow_constant(self) -> None:
        x = self.pick()
        c = self.shape(x)[1]
        shape = [(), (1,), (c, 1, 1), (1, c, 1, 1)][int(self.rng.integers(0, 4))]
        pair: list[int | Spec] = [x, weight(*shape)]
        if self.rng.random() < 0.3:
            pair.reverse()
        self.keep(self.op(str(self.rng.choice(["add", "mul", "sub", "max", "min"])), *pair))

    def grow_gate(self) -> None:
        """x * sigmoid of something: the spelling that must not be computed in place."""
        x = self.pick()
        self.keep(self.op("mul", x, self.op("sigmoid", x)))

    def grow_concat(self) -> None:
        x = self.pick()
        size = self.shape(x)
        fitting = [
            v
            for v in self.images
            if self.shape(v)[::2] == size[::2] and self.shape(v)[3] == size[3]
        ]
        parts = [int(v) for v in self.rng.choice(fitting, int(self.rng.integers(1, 4)))]
        if sum(self.shape(p)[1] for p in [x, *parts]) <= 64:
            self.keep(self.op("concat", x, *parts, axis=1))

    def grow_slice(self) -> None:
        x = self.pick()
        c = self.shape(x)[1]
        begin = int(self.rng.integers(0, c))
        end = int(self.rng.integers(begin + 1, c + 1))
        self.keep(self.op("slice", x, axes=(1,), begin=(begin,), end=(end,), step=(1,)))

    def grow_split(self) -> None:
        x = self.pick()
        c = self.shape(x)[1]
        if c > 1:
            cut = int(self.rng.integers(1, c))
            first = self.op("split", x, outputs=2, axis=1, sizes=(cut, c - cut))
            self.keep(first)
            self.keep(first + 1)

    def grow_pad(self) -> None:
        pads = (0, int(self.rng.integers(0, 3)), 1, 0, 0, int(self.rng.integers(0, 3)), 0, 1)
        x = self.pick()
        mode = str(self.rng.choice(["constant", "edge"]))
        if max(self.shape(x)[2:]) < 24:
            self.keep(self.op("pad", x, pads=pads, mode=mode))

    def grow_resize(self) -> None:
        x = self.pick()
        if max(self.shape(x)[2:]) <= 12:
            mode = str(self.rng.choice(["nearest", "bilinear"]))
            self.keep(self.op("resize", x, scale=(2.0, 2.0), mode=mode))

    def grow_reduce(self) -> None:
        """Squeeze and excite without the weights."""
        x = self.pick()
        self.keep(self.op("mul", x, self.op("sigmoid", self.op("reduce_mean", x, axes=(2, 3)))))

    def grow_softmax(self) -> None:
        self.keep(self.op("softmax", self.pick(), axis=int(self.rng.choice([1, 3]))))

    def grow_transpose(self) -> None:
        y = self.op("transpose", self.pick(), perm=(0, 2, 3, 1))
        if self.rng.random() < 0.5:
            y = self.op("relu", y)
        self.keep(self.op("transpose", y, perm=(0, 3, 1, 2)))

    def grow_reshape(self) -> None:
        x = self.pick()
        n, c, h, w = self.shape(x)
        if not self.dynamic and c % 2 == 0:
            y = self.op("reshape", x, shape=(n, 2, c // 2, h, w))
            y = self.op("transpose", y, perm=(0, 2, 1, 3, 4))
            self.keep(self.op("reshape", y, shape=(n, c, h, w)))


class DynamicBuilder(Builder):
    """Only the number of channels is in the file."""

    def _declared(self, spec: Spec) -> list[int]:
        return [d if i == 1 else -1 for i, d in enumerate(spec.shape)]


def judge(got: dict[str, Array], names: list[str], want: list[Array], what: str) -> None:
    for name, array in zip(names, want, strict=True):
        problem = compare(got[name], array, TOL)
        assert problem is None, f"{what}: {name}: {problem}"


@pytest.mark.parametrize("seed", range(60))
def test_random_graph(seed: int) -> None:
    grown = Grower(seed, dynamic=False)
    job = Case(f"random {seed}", grown.net, TOL, False, "random")
    feeds = job.net.feeds(job.seed)
    want = job.expected(feeds)
    for variant in ("plain", "blocked"):
        built = Builder(job, feeds, variant)
        model = built.graph.model()
        one = fv.Session(model, device="cpu", threads=1).run(built.inputs)
        judge(one, built.outputs, want, variant)
        two = fv.Session(model, device="cpu", threads=2)
        for _ in range(2):
            again = two.run(built.inputs)
            assert all(same_bits(again[n], one[n]) for n in one), f"{variant}: threads differ"
        plain = fv.Session(model, device="cpu", threads=1, fuse=False).run(built.inputs)
        judge(plain, built.outputs, want, f"{variant} unfused")


@pytest.mark.parametrize("seed", range(100, 130))
def test_shapes_known_at_run_time(seed: int) -> None:
    """One session, several shapes back and forth: as a session made for each shape."""
    grown = Grower(seed, dynamic=True)
    job = Case(f"random {seed}", grown.net, TOL, False, "random")
    feeds = job.net.feeds(job.seed)
    built = DynamicBuilder(job, feeds, "plain")
    session = fv.Session(built.graph.model(), device="cpu", threads=1)
    inputs = [v for v, s in job.net.specs.items() if not s.const]
    rng = np.random.default_rng(seed)
    n, c, h, w = job.net.specs[inputs[0]].shape
    sizes = [(n, c, h, w), (1, c, h + 3, w), (3, c, 8, 8), (n, c, h, w), (1, c, h + 3, w)]
    for size in sizes:
        arrays = {v: rng.uniform(-2, 2, size).astype(np.float32) for v in inputs}
        want = job.expected({**feeds, **arrays})
        got = session.run({f"in{v}": a for v, a in arrays.items()})
        judge(got, built.outputs, want, str(size))
