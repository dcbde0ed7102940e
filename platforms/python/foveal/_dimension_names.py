"""Carries names of symbolic dimensions from a node's inputs to its outputs.

The core infers sizes; a dimension it cannot know is -1. Where an operator plainly leaves a
dimension alone, the result keeps its name ("batch"), so that shapes print well and reshapes can
tell which unknown dimension is which. A name that is not certain is not given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Shape = Sequence[int | str]

_LEADING = frozenset(("conv2d", "conv_transpose2d", "pool2d", "resize", "depth_to_space",
                      "space_to_depth"))  # fmt: skip
_SAME = frozenset(("softmax", "log_softmax", "batch_norm", "instance_norm", "layer_norm",
                   "l2_normalize", "prelu"))  # fmt: skip


def named(
    op: str, traits: Sequence[str], inputs: Sequence[Shape | None], attrs: Mapping[str, Any],
    out: Sequence[int],
) -> list[int | str]:  # fmt: skip
    """`out` with names instead of -1 where they are certain. Only for single results."""
    if -1 not in out or not any(isinstance(d, str) for s in inputs if s for d in s):
        return list(out)
    source = inputs[0] or ()
    found: Sequence[int | str] = ()
    if "pointwise" in traits:
        found = _broadcast(inputs, len(out))
    elif op in _SAME:
        found = source
    elif op in _LEADING:
        found = source[:1]
    elif op == "transpose":
        perm = attrs.get("perm") or range(len(source))[::-1]
        found = [source[p] for p in perm]
    elif op == "concat":
        axis = int(attrs.get("axis", 0)) % len(source)
        found = [-1 if i == axis else d for i, d in enumerate(source)]
    elif op == "reshape":
        found = [source[i] if d == 0 else -1 for i, d in enumerate(attrs["shape"])]
    elif op == "flatten":
        found = source[:1] if attrs.get("axis", 1) == 1 else ()
    elif op == "unsqueeze":
        axes = {a % len(out) for a in attrs["axes"]}
        rest = iter(source)
        found = [1 if i in axes else next(rest) for i in range(len(out))]
    elif op == "squeeze":
        axes = {a % len(source) for a in attrs.get("axes", ())}
        found = [d for i, d in enumerate(source) if i not in axes] if axes else ()
    elif op == "slice":
        axes = {a % len(source) for a in attrs["axes"]}
        found = [-1 if i in axes else d for i, d in enumerate(source)]
    elif op == "matmul" and len(source) == len(out) and not attrs.get("transpose_a"):
        second = inputs[1] or ()
        found = source[:-1] if len(second) <= 2 else ()
    elif op.startswith("reduce_") and attrs.get("keepdims", 1):
        found = source if attrs.get("axes") else ()  # a reduced dimension is 1, never -1
    elif op == "pad":
        pads = attrs["pads"]
        half = len(pads) // 2
        found = [d if not pads[i] and not pads[i + half] else -1 for i, d in enumerate(source)]
    names = list(found) + [-1] * (len(out) - len(found))
    return [n if d == -1 and isinstance(n, str) else d for d, n in zip(out, names, strict=False)]


def _broadcast(inputs: Sequence[Shape | None], rank: int) -> list[int | str]:
    """Per axis the one name there is, if everything else there is 1."""
    result: list[int | str] = []
    for i in range(rank):
        dims = [s[i - rank] for s in inputs if s and len(s) >= rank - i]
        other = {d for d in dims if d != 1}
        result.append(other.pop() if len(other) == 1 else -1)
    return result
