"""torch: uint8 antialiased interpolation, as torchvision's v2 transforms do it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from foveal.bench.engines.engine import require
from foveal.bench.imgproc.cases import PAD, Case, Picture
from foveal.bench.imgproc.peers.peer import Peer, Prepared


class Torch(Peer):
    name = "torch"
    package = "torch"

    def prepare(self, case: Case, pictures: Sequence[Picture], threads: int) -> Prepared | None:
        if case.format != "rgb" or case.turned:
            return None
        torch = require("torch", self.package)
        functional = require("torch.nn.functional", self.package)
        torch.set_num_threads(threads)
        # The channels of the picture stay the innermost: torch's fast path.
        tensors = [torch.from_numpy(p.planes[0]).permute(2, 0, 1)[None] for p in pictures]
        left, top, width, height = case.inner
        bars = (left, case.size[0] - left - width, top, case.size[1] - top - height)

        def run(i: int) -> NDArray[np.float32]:
            small = functional.interpolate(
                tensors[i], (height, width), mode="bilinear", antialias=case.antialias
            )
            if case.letterbox:
                small = functional.pad(small, bars, value=PAD)
            result: NDArray[np.float32] = small.contiguous().to(torch.float32).div_(255).numpy()
            return result

        return Prepared(run, "interpolate, pad, to float32")
