"""Pillow. Its resize always antialiases; its transform never does."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from foveal.bench.engines.engine import require
from foveal.bench.imgproc.cases import PAD, Case, Picture
from foveal.bench.imgproc.peers.opencv_peer import index_matrix
from foveal.bench.imgproc.peers.peer import Peer, Prepared


class Pillow(Peer):
    name = "pillow"
    package = "pillow"

    def prepare(self, case: Case, pictures: Sequence[Picture], threads: int) -> Prepared | None:
        if case.format != "rgb" or not (case.turned or case.antialias):
            return None
        pil = require("PIL.Image", self.package)
        images = [pil.fromarray(picture.planes[0]) for picture in pictures]
        left, top, width, height = case.inner
        matrix: list[float] = []
        if case.turned:  # Pillow's own takes the centres of pixels into account
            rows = index_matrix(case)
            rows[:, 2] += 0.5 - rows[:, :2] @ (0.5, 0.5)
            matrix = rows.ravel().tolist()

        def run(i: int) -> NDArray[np.float32]:
            if matrix:
                how = pil.Transform.AFFINE
                shown = images[i].transform(case.size, how, matrix, pil.Resampling.BILINEAR)
            else:
                shown = images[i].resize((width, height), pil.Resampling.BILINEAR)
            if case.letterbox:
                whole = pil.new("RGB", case.size, (PAD, PAD, PAD))
                whole.paste(shown, (left, top))
                shown = whole
            planar = np.asarray(shown, np.float32).transpose(2, 0, 1) / np.float32(255)
            return np.ascontiguousarray(planar)[None]

        steps = "transform" if matrix else "resize, paste"
        return Prepared(run, f"{steps}, numpy")
