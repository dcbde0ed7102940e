"""Foveal itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import foveal
from foveal import image
from foveal.bench.imgproc.cases import PAD, Case, Picture
from foveal.bench.imgproc.peers.peer import Peer, Prepared


class FovealPipeline(Peer):
    name = "foveal"
    package = "foveal"

    def version(self) -> str:
        return foveal.__version__

    def prepare(self, case: Case, pictures: Sequence[Picture], threads: int) -> Prepared:
        frames = [picture.frame(case) for picture in pictures]
        width, height = frames[0].upright_size
        roi: image.Rect | image.RotatedRect | None = None
        if case.crop:
            x, y = (width - case.crop) // 2, (height - case.crop) // 2
            roi = image.Rect(x, y, x + case.crop, y + case.crop)
        elif case.turned:
            roi = image.RotatedRect(width / 2, height / 2, *case.turned)
        spec = image.Pipeline(
            size=case.size,
            roi="full" if roi is None else "per_call",
            fit=image.Letterbox(PAD) if case.letterbox else image.Stretch(),
            sample=image.Bilinear(antialias=case.antialias),
            norm=image.Norm(1.0 if case.pixels else 1 / 255),
            profile=case.profile,
            intermediate="f32" if case.profile == "exact" else "u8",
        )
        dtype, layout = ("uint8", "nhwc") if case.pixels else ("float32", "nchw")
        plan = spec.compile(dtype=dtype, layout=layout, threads=threads)
        out = np.empty(plan.shape, plan.dtype)

        def run(i: int) -> NDArray[np.generic]:
            plan.run(frames[i], roi, out)
            return out

        return Prepared(run, "Plan.run")
