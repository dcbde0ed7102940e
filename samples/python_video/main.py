"""Detects faces in a video, a camera or a stream and writes the annotated video.

`fv.camera` reads ahead in a thread: every frame of a file, the newest one of a camera. The writer
draws and encodes in another thread. The detector has this one to itself.
"""

import functools
import sys
from collections.abc import Iterator
from pathlib import Path

import foveal as fv
from foveal.video import FrameStats, write_video
from PIL import Image

FRAMES = 45


def drifting_photo() -> Iterator[Image.Image]:
    """A view of 480 x 360 that moves over a photo."""
    photo = Image.open(fv.zoo.photo("astronaut")).convert("RGB")
    for i in range(FRAMES):
        yield photo.crop((i // 2, i, i // 2 + 480, i + 360))


def detect(source: str, target: str) -> FrameStats:
    detector = fv.vision.Detector("face", threads=2)
    stats = FrameStats()
    with fv.camera(source) as frames, write_video(target, frames.fps or 30, stats=stats) as out:
        for frame in frames:
            faces = detector.detect(frame)
            out.write(functools.partial(detector.draw, frame, faces))
            stats.frame(detector.timings)
            if frame.index % 20 == 0:
                print(f"{frame.timestamp:.2f} s: " + (", ".join(map(str, faces)) or "no face"))
        stats.dropped = frames.dropped
    return stats


def main() -> None:
    source = sys.argv[1] if len(sys.argv) > 1 else "drift.y4m"
    target = sys.argv[2] if len(sys.argv) > 2 else "seen.y4m"
    if len(sys.argv) < 2 and not Path(source).exists():
        with write_video(source, fps=30) as out:
            for picture in drifting_photo():
                out.write(picture)
    print(detect(source, target))
    print(f"annotated video: {target}")


if __name__ == "__main__":
    try:
        main()
    except fv.FovealError as error:
        sys.exit(f"error: {error}")
