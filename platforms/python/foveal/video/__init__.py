"""Frames from cameras and videos, videos from frames, and how long each step took.

with foveal.camera(0) as frames:
    for frame in frames:
        print(frame.index, detector.detect(frame))
"""

from __future__ import annotations

from foveal.video.capture import Camera, camera
from foveal.video.stats import FrameStats
from foveal.video.writer import VideoWriter, write_video

__all__ = ["Camera", "FrameStats", "VideoWriter", "camera", "write_video"]
