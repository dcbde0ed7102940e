"""Where the time and the memory of a model go.

    from foveal.profile import profile
    measured = profile("face", threads=1)
    for node in sorted(measured.nodes, key=lambda n: -n.share)[:5]:
        print(node.name, node.op, node.times.median, node.gflops)
    foveal.profile.write_page(measured, "face.html")

`profile` measures, `write_page` draws what it found, `memory_plan` and its pictures need no run.
"""

from __future__ import annotations

from foveal.profile.measure import Node, Profile, Step, Times, profile
from foveal.profile.memory import MemoryPlan, Rectangle, memory_plan, write_memory_png
from foveal.profile.page import write_memory_page, write_page

__all__ = [
    "MemoryPlan",
    "Node",
    "Profile",
    "Rectangle",
    "Step",
    "Times",
    "memory_plan",
    "profile",
    "write_memory_page",
    "write_memory_png",
    "write_page",
]
