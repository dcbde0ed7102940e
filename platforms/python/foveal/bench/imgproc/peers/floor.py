"""The memory's own time: every byte that the case must read is read once, the result filled."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from foveal.bench.imgproc.cases import Case, Picture
from foveal.bench.imgproc.peers.peer import Peer, Prepared


class Floor(Peer):
    name = "floor"
    package = ""

    def version(self) -> str:
        return ""

    def prepare(self, case: Case, pictures: Sequence[Picture], threads: int) -> Prepared:
        out = np.empty(case.size[0] * case.size[1] * 3, np.uint8 if case.pixels else np.float32)

        def run(i: int) -> None:
            pictures[i].data.find(b"\xff", 0, case.touched)  # there is none: reads all of them
            out.fill(0)

        return Prepared(run, "read the input, fill the output")
