"""Removes nodes that no output needs."""

from foveal.graph import Graph

NAME = "dead_code"
ORDER = 90


def run(graph: Graph) -> int:
    return graph.prune()
