"""Models to profile, made on the spot."""

from __future__ import annotations

import numpy as np
from foveal.graph import Graph

HOSTILE = "</script><script>alert(1)</script>\"'&<b>\u2028\x07\ud800]]>-->"
"""A name as a hostile file may have it; lone surrogates only where no UTF-8 is needed."""


def weights(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.uniform(-1, 1, shape).astype(np.float32)


def grown(seed: int) -> Graph:
    """A random graph of convolutions, pointwise operators, concatenations, splits and views."""
    rng = np.random.default_rng(seed)
    g = Graph()
    known = [g.input("x", "float32", [1, int(rng.integers(1, 20)), 12, 10])]
    if rng.random() < 0.3:
        known.append(g.input("z", "float32", list(known[0].shape)))
    for _ in range(int(rng.integers(1, 25))):
        value = known[-1 - min(int(rng.geometric(0.5)) - 1, len(known) - 1)]
        shape = [int(d) for d in value.shape]
        kind = rng.choice(
            ["conv", "depthwise", "relu", "softmax", "add", "concat", "view", "slice"]
        )
        if kind == "conv":
            out = int(rng.integers(1, 40))
            made = g.add("conv2d", [value, g.constant(weights(rng, out, shape[1], 1, 1))])
        elif kind == "depthwise":
            taps = g.constant(weights(rng, shape[1], 1, 3, 3))
            made = g.add("conv2d", [value, taps], {"pad": [1, 1, 1, 1], "group": shape[1]})
        elif kind in ("relu", "softmax"):
            made = g.add(str(kind), [value])
        elif kind == "add":
            same = [other for other in known if list(other.shape) == shape]
            made = g.add("add", [value, same[int(rng.integers(len(same)))]])
        elif kind == "concat":
            made = g.add("concat", [value, value], {"axis": 1})
        elif kind == "view":
            flat = g.add("reshape", [value], {"shape": [1, shape[1], shape[2] * shape[3]]})
            made = g.add("reshape", [g.add("relu", [flat])], {"shape": shape})
        else:
            made = g.add(
                "slice",
                [value],
                {"axes": [1], "begin": [0], "end": [max(shape[1] // 2, 1)], "step": [1]},
            )
        known.append(made)
    used = {id(v) for node in g.nodes for v in node.inputs}
    g.outputs = [v for v in known if id(v) not in used] or [known[-1]]
    return g
