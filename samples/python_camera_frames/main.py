"""Detects faces in camera frames: NV12, rotated, as a phone's camera delivers them.

There is no camera here: the frames are made from a photo that drifts through the view. What
matters is `Frame`: planes with their strides, the rotation that makes them upright and the colour
matrix go in as the camera has them. Nothing is converted or turned beforehand, and the boxes come
back upright.
"""

import sys
import time
from collections.abc import Iterator

import foveal as fv
import numpy as np
from PIL import Image

WIDTH, HEIGHT, STRIDE = 640, 480, 704  # sensor pixels; rows are padded, as on many phones


def nv12(rgb: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """RGB (H, W, 3) -> Y (H, STRIDE) and interleaved UV (H/2, STRIDE), BT.601 limited."""
    r, g, b = np.moveaxis(rgb.astype(np.float32), -1, 0)
    y = 16 + 0.256788 * r + 0.504129 * g + 0.097906 * b
    u = 128 - 0.148223 * r - 0.290993 * g + 0.439216 * b
    v = 128 + 0.439216 * r - 0.367788 * g - 0.071427 * b
    height, width = y.shape
    halves = [c.reshape(height // 2, 2, width // 2, 2).mean((1, 3)) for c in (u, v)]
    luma = np.zeros((height, STRIDE), np.uint8)
    chroma = np.zeros((height // 2, STRIDE), np.uint8)
    luma[:, :width] = y.round()
    chroma[:, :width] = np.stack(halves, -1).reshape(height // 2, width).round()
    return luma, chroma


def camera(count: int) -> Iterator[fv.Frame]:
    """Frames of a camera held upright whose sensor lies on its side: 90 degrees to turn."""
    photo = Image.open(fv.zoo.photo("astronaut")).convert("RGB")
    for i in range(count):
        view = Image.new("RGB", (HEIGHT, WIDTH), (40, 60, 80))  # upright: 480 x 640
        view.paste(photo, (-16 - 2 * i, 40 + i))
        sensor = np.rot90(np.asarray(view), 1)  # counter-clockwise: undone by rotation=90
        luma, chroma = nv12(sensor)
        yield fv.Frame(
            format="nv12",
            width=WIDTH,
            height=HEIGHT,
            planes=[luma, chroma],
            rotation=90,
            color="bt601-limited",
        )


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    detector = fv.vision.Detector("face", threads=2)
    spent = 0.0
    for i, frame in enumerate(camera(count)):
        begin = time.perf_counter()
        faces = detector.detect(frame)
        spent += time.perf_counter() - begin
        if i % 10 == 0:
            print(f"frame {i}: " + (", ".join(map(str, faces)) or "no face"))
    print(f"{count} frames, {1e3 * spent / count:.1f} ms each")


if __name__ == "__main__":
    try:
        main()
    except fv.FovealError as error:
        sys.exit(f"error: {error}\n{error.hint}")
