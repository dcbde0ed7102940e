"""Moves zero padding of H and W into the convolution or average pool that follows."""

from __future__ import annotations

from foveal.graph import Graph
from foveal.optimize._match import made_by, replace

NAME = "fold_pad"
ORDER = 35


def run(graph: Graph) -> int:
    changes = 0
    for node in list(graph.nodes):
        if node.op not in ("conv2d", "pool2d") or not node.inputs:
            continue
        pad = made_by(node.input(0), "pad")
        if pad is None or pad.attr("mode") != "constant" or pad.attr("value") != 0:
            continue
        pads = pad.attr("pads")
        if len(pads) != 8 or any(pads[i] for i in (0, 1, 4, 5)) or min(pads) < 0:
            continue
        own = node.attr("pad")
        attrs = dict(node.attrs)
        if node.op == "pool2d":
            # The zeros count in the mean, so the pool must count its own padding too.
            if node.attr("mode") != "average" or node.attr("ceil"):
                continue
            if any(own) and not node.attr("count_pad"):
                continue
            attrs["count_pad"] = 1
        extra = [pads[2], pads[3], pads[6], pads[7]]
        attrs["pad"] = [a + b for a, b in zip(own, extra, strict=True)]
        inputs = [pad.input(0), *node.inputs[1:]]
        changes += replace(graph, node, graph.add(node.op, inputs, attrs, name=node.name))
    return changes
