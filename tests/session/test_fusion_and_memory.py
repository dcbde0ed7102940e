"""Random graphs: fused = unfused = numpy, on any number of threads.

Fusion, layouts, in-place results and the memory plan interact; graphs nobody would write by hand
find what single operators do not.
"""

from __future__ import annotations

import numpy as np
import pytest

import foveal as fv
from foveal import _core

UNARY = {
    "relu": lambda x: np.maximum(x, 0),
    "neg": lambda x: -x,
    "abs": np.abs,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "hardswish": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
}
BINARY = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "max": np.maximum}


class RandomGraph:
    """Builds a graph and its value in float64 side by side."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.builder = _core.GraphBuilder()
        channels = int(self.rng.choice([1, 3, 4, 7, 16, 17, 33]))
        size = int(self.rng.integers(1, 7))
        shape = (int(self.rng.integers(1, 3)), channels, size, int(self.rng.integers(1, 7)))
        self.feed = self.rng.standard_normal(shape).astype(np.float32)
        self.input = self.builder.add_value("x", "float32", list(shape))
        self.values: list[tuple[int, np.ndarray]] = [(self.input, self.feed.astype(np.float64))]
        self.count = 0

    def new(self) -> int:
        self.count += 1
        return self.builder.add_value(f"v{self.count}", "", [])

    def pick(self, rank: int | None = None) -> tuple[int, np.ndarray]:
        # Late values more often than early ones: chains, but with long-lived branches.
        found = [v for v in self.values if rank is None or v[1].ndim == rank]
        return found[max(int(self.rng.integers(len(found))), int(self.rng.integers(len(found))))]

    def node(self, op: str, inputs: list[int], result: np.ndarray, **attrs: object) -> None:
        out = self.new()
        self.builder.add_node(op, f"n{self.count}", inputs, [out], attrs)
        self.values.append((out, np.clip(result, -50, 50) if op == "mul" else result))
        if op == "mul":  # keeps values in a range where float32 means something
            clipped = self.new()
            self.builder.add_node("clip", "", [out], [clipped], {"min": -50.0, "max": 50.0})
            self.values[-1] = (clipped, np.clip(result, -50, 50))

    def constant(self, array: np.ndarray) -> int:
        self.count += 1
        return self.builder.add_constant(f"c{self.count}", array.astype(np.float32))

    def step(self) -> None:
        kind = self.rng.choice(
            ["unary", "binary", "scalar", "channel", "conv", "transpose", "concat", "reshape", "mean"],
            p=[0.25, 0.2, 0.05, 0.1, 0.15, 0.1, 0.05, 0.05, 0.05],
        )
        v, x = self.pick()
        if kind == "unary":
            op = str(self.rng.choice(list(UNARY)))
            self.node(op, [v], UNARY[op](x))
        elif kind == "binary":
            same = [w for w in self.values if w[1].shape == x.shape]
            w, y = same[int(self.rng.integers(len(same)))]
            op = str(self.rng.choice(list(BINARY)))
            self.node(op, [v, w], BINARY[op](x, y))
        elif kind == "scalar":
            c = np.float32(self.rng.uniform(-2, 2))
            self.node("add", [self.constant(np.array(c)), v], x + float(c))
        elif kind == "channel" and x.ndim == 4:
            c = self.rng.standard_normal((1, x.shape[1], 1, 1)).astype(np.float32)
            op = str(self.rng.choice(["add", "mul"]))
            self.node(op, [v, self.constant(c)], BINARY[op](x, c.astype(np.float64)))
        elif kind == "conv" and x.ndim == 4:
            out = int(self.rng.choice([1, 5, 16, 20]))
            w = (self.rng.standard_normal((out, x.shape[1], 1, 1)) / np.sqrt(x.shape[1])).astype(
                np.float32
            )
            result = np.einsum("oi,nihw->nohw", w[:, :, 0, 0].astype(np.float64), x)
            self.node("conv2d", [v, self.constant(w)], result)
        elif kind == "transpose":
            perm = [int(i) for i in self.rng.permutation(x.ndim)]
            self.node("transpose", [v], x.transpose(perm), perm=perm)
        elif kind == "concat" and x.ndim > 1:
            self.node("concat", [v, v], np.concatenate([x, x], 1), axis=1)
        elif kind == "reshape":
            self.node("reshape", [v], x.reshape(x.shape[0], -1), shape=[0, -1])
        elif kind == "mean" and x.ndim == 4:
            self.node("reduce_mean", [v], x.mean((2, 3), keepdims=True), axes=[2, 3])


@pytest.mark.parametrize("block", range(8))
def test_random_graphs(block: int) -> None:
    for seed in range(block * 25, block * 25 + 25):
        graph = RandomGraph(seed)
        for _ in range(int(graph.rng.integers(2, 25))):
            graph.step()
        n = len(graph.values)
        outputs = sorted({n - 1, int(graph.rng.integers(n)), int(graph.rng.integers(n))})
        graph.builder.set_io([graph.input], [graph.values[i][0] for i in outputs])
        model = graph.builder.model()
        runs = [
            fv.Session(model, device="cpu", threads=threads, fuse=fuse).run({"x": graph.feed})
            for threads, fuse in ((1, True), (2, True), (1, False))
        ]
        for i, info in zip(outputs, model.outputs, strict=True):
            expected = graph.values[i][1]
            bound = 2e-5 * max(1.0, float(np.abs(expected).max()))
            for run in runs:
                assert run[info.name].shape == expected.shape, f"seed {seed}"
                worst = float(np.abs(run[info.name] - expected).max())
                assert worst <= bound, f"seed {seed}: output {info.name} differs by {worst}"
            np.testing.assert_array_equal(runs[0][info.name], runs[1][info.name], f"seed {seed}")
