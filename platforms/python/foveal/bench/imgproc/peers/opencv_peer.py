"""OpenCV in the order that people write it: convert, cut, turn, scale, normalise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foveal.bench.engines.engine import require
from foveal.bench.imgproc.cases import PAD, Case, Picture
from foveal.bench.imgproc.peers.peer import Peer, Prepared


class OpenCv(Peer):
    name = "opencv"
    package = "opencv-python"

    def version(self) -> str:
        return str(require("cv2", self.package).__version__)  # several packages hold it

    def prepare(self, case: Case, pictures: Sequence[Picture], threads: int) -> Prepared:
        cv2 = require("cv2", self.package)
        cv2.setNumThreads(threads)
        code = {
            "nv12": cv2.COLOR_YUV2RGB_NV12,
            "nv21": cv2.COLOR_YUV2RGB_NV21,
            "bgra": cv2.COLOR_BGRA2RGB,
        }.get(case.format)
        sources = [stacked(case, picture) for picture in pictures]
        left, top, width, height = case.inner
        right, bottom = case.size[0] - left - width, case.size[1] - top - height
        filter_ = cv2.INTER_AREA if case.antialias else cv2.INTER_LINEAR
        how = ["cvtColor"] if code is not None else []

        def load(i: int) -> Any:
            return sources[i] if code is None else cv2.cvtColor(sources[i], code)

        if case.pixels:
            return Prepared(load, *how)
        if case.turned:
            matrix = index_matrix(case)
            flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
            how.append("warpAffine")
        else:
            how += ["rotate"] * bool(case.rotation)
            how.append("resize INTER_AREA" if case.antialias else "resize INTER_LINEAR")
            how += ["copyMakeBorder"] * case.letterbox
        how.append("dnn.blobFromImage")

        def run(i: int) -> NDArray[np.float32]:
            pixels = load(i)
            if case.turned:
                pixels = cv2.warpAffine(
                    pixels, matrix, case.size, flags=flags, borderMode=cv2.BORDER_REPLICATE
                )
            else:
                if case.crop:
                    x, y = (case.width - case.crop) // 2, (case.height - case.crop) // 2
                    pixels = pixels[y : y + case.crop, x : x + case.crop]
                if case.rotation:
                    pixels = cv2.rotate(pixels, cv2.ROTATE_90_CLOCKWISE)
                pixels = cv2.resize(pixels, (width, height), interpolation=filter_)
                if case.letterbox:
                    bars = (top, bottom, left, right, cv2.BORDER_CONSTANT)
                    pixels = cv2.copyMakeBorder(pixels, *bars, value=(PAD, PAD, PAD))
            blob: NDArray[np.float32] = cv2.dnn.blobFromImage(pixels, 1 / 255)
            return blob

        return Prepared(run, ", ".join(how))


def stacked(case: Case, picture: Picture) -> NDArray[np.uint8]:
    """The picture as cv2 takes it: YUV planes on top of each other."""
    if len(picture.planes) == 1:
        return picture.planes[0]
    return np.frombuffer(picture.data, np.uint8).reshape(case.height * 3 // 2, case.width)


def index_matrix(case: Case) -> NDArray[np.float64]:
    """[2, 3] from pixel indices of the tensor to pixel indices of the frame."""
    assert case.turned is not None
    width, height, degrees = case.turned
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    sx, sy = width / case.size[0], height / case.size[1]
    linear = np.array([[cos * sx, -sin * sy], [sin * sx, cos * sy]])
    centre = np.array([case.width / 2, case.height / 2])
    shift = centre - 0.5 - linear @ (np.array(case.size) / 2 - 0.5)
    return np.column_stack([linear, shift])
