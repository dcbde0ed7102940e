"""Videos from frames and pictures, encoded by a thread of their own."""

from __future__ import annotations

import contextlib
import os
import queue
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from foveal.cache import atomic_path
from foveal.errors import ArgumentError, IOFailure, ShapeError
from foveal.frame import Frame
from foveal.video import _opencv
from foveal.video.sources import checked_fps
from foveal.video.stats import FrameStats
from foveal.video.y4m import Y4mEncoder

CODECS = {".mp4": "mp4v", ".m4v": "mp4v", ".mov": "mp4v", ".mkv": "mp4v", ".avi": "MJPG"}
SUFFIXES = (*CODECS, ".y4m")
_WAITING = 4  # pictures that wait for the encoder


def write_video(
    path: str | os.PathLike[str], fps: float = 30.0, *, stats: FrameStats | None = None
) -> VideoWriter:
    """A video file, to be filled in a `with` block:

    with foveal.video.write_video("out.mp4", fps=25) as out:
        out.write(picture)

    The suffix chooses the codec: MPEG-4 (.mp4, .m4v, .mov, .mkv), Motion JPEG (.avi), both with
    OpenCV, or none (.y4m: BT.601 4:2:0). `stats` gets the step "write", milliseconds per picture.

    The file appears when the block ends well; when it ends in an exception, or nothing was written,
    what was there before stays. Raises ArgumentError for another suffix or fps, NotFoundError
    without OpenCV.
    """
    suffix = Path(os.fsdecode(path)).suffix.lower()
    if suffix not in SUFFIXES:
        raise ArgumentError(
            f"{os.fsdecode(path)}: no video format for '{suffix}'",
            hint=f"end it with {', '.join(SUFFIXES)}",
        )
    if suffix in CODECS:
        _opencv.load(f"writing {suffix}")
    return VideoWriter(os.fsdecode(path), suffix, checked_fps(fps, "write_video"), stats)


class VideoWriter:
    """See `write_video`, which makes it. One thread writes pictures; another one encodes them."""

    def __init__(self, path: str, suffix: str, fps: float, stats: FrameStats | None) -> None:
        self.path = path
        self.fps = fps
        self.frames = 0
        """Pictures encoded so far."""
        self._suffix = suffix
        self._stats = stats
        self._queue: queue.Queue[Any] = queue.Queue(_WAITING)
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None
        self._abandoned = False
        self._file: contextlib.AbstractContextManager[Path] | None = None
        self._target = Path()

    def __enter__(self) -> VideoWriter:
        if self._thread is not None:
            raise ArgumentError(f"{self.path}: a video is written once", hint="open another one")
        self._file = atomic_path(self.path)
        self._target = self._file.__enter__()
        self._thread = threading.Thread(target=self._run, name="foveal video", daemon=True)
        self._thread.start()
        return self

    def write(self, picture: Frame | Any | Callable[[], Any]) -> None:
        """Adds a picture: a Frame (made upright), a PIL image or uint8 RGB [height, width, 3], all
        of one size. A function that returns one is called by the encoding thread.

        Waits while the encoder is four pictures behind. What went wrong with earlier pictures is
        raised here or at the end of the block: ShapeError for another size, ArgumentError for what
        is no picture, IOFailure for a file that cannot be written.
        """
        if self._file is None:
            raise ArgumentError(
                f"{self.path}: the video is not open", hint="write inside `with write_video(...)`"
            )
        self._check()
        self._queue.put(picture)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._file is not None and self._thread is not None
        file, self._file = self._file, None
        self._abandoned = kind is not None
        try:
            self._queue.put(_END)
            self._thread.join()
        except BaseException as interrupt:  # Ctrl-C while the rest was encoded
            self._abandoned = True
            file.__exit__(type(interrupt), interrupt, interrupt.__traceback__)
            raise
        if kind is None:
            try:
                self._check()
                if not self.frames:
                    raise _Nothing
            except BaseException as failure:
                with contextlib.suppress(_Nothing):
                    file.__exit__(type(failure), failure, failure.__traceback__)
                    raise
                return
        file.__exit__(kind, error, trace)

    def _check(self) -> None:
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        encoder: _Encoder | None = None
        size: tuple[int, int] | None = None
        picture: Any = None
        try:
            while (picture := self._queue.get()) is not _END:
                if self._abandoned:
                    continue  # makes room for what is still put
                pixels = _rgb(picture() if callable(picture) else picture)
                begin = time.perf_counter()
                shape = (pixels.shape[1], pixels.shape[0])
                if size is None or encoder is None:
                    size, encoder = shape, self._encoder(shape)
                if shape != size:
                    raise ShapeError(
                        f"{self.path}: picture {self.frames} is {shape[0]} x {shape[1]}, those "
                        f"before were {size[0]} x {size[1]}",
                        hint="a video has one size: scale the pictures, or start another file",
                    )
                encoder.write(pixels)
                self.frames += 1
                if self._stats is not None:
                    self._stats.add({"write": 1e3 * (time.perf_counter() - begin)})
            if encoder is not None:
                done, encoder = encoder, None
                done.close()
                if not self._abandoned and isinstance(done, _CvEncoder):
                    done.verify(self.frames)
        except BaseException as error:
            self._error = error
            while picture is not _END:  # nobody shall wait for room
                picture = self._queue.get()
        finally:
            if encoder is not None:
                with contextlib.suppress(OSError):
                    encoder.close()

    def _encoder(self, size: tuple[int, int]) -> _Encoder:
        if self._suffix == ".y4m":
            return Y4mEncoder(self._target, size, self.fps)
        return _CvEncoder(self._target, self.path, CODECS[self._suffix], size, self.fps)


class _Nothing(Exception):
    """No picture was written: there shall be no file."""


_END = object()


class _Encoder(Protocol):
    def write(self, rgb: NDArray[np.uint8]) -> None: ...
    def close(self) -> None: ...


class _CvEncoder:
    """OpenCV's VideoWriter. 4:2:0 needs even sides: at odd ones the last pixels are repeated."""

    def __init__(
        self, target: Path, name: str, codec: str, size: tuple[int, int], fps: float
    ) -> None:
        self._cv2 = cv2 = _opencv.load(f"writing {name}")
        self._target, self._name = str(target), name
        self._odd = (size[1] % 2, size[0] % 2)
        even = (size[0] + self._odd[1], size[1] + self._odd[0])
        with _opencv.quiet(cv2):
            fourcc = cv2.VideoWriter.fourcc(*codec)
            try:
                self._writer = cv2.VideoWriter(self._target, fourcc, fps, even)
                opened = self._writer.isOpened()
            except cv2.error:
                opened = False
        if not opened:
            raise IOFailure(
                f"{name}: OpenCV cannot write {codec} of {even[0]} x {even[1]} here",
                hint="write .avi or .y4m instead, or smaller pictures",
            )

    def write(self, rgb: NDArray[np.uint8]) -> None:
        bgr = self._cv2.cvtColor(rgb, self._cv2.COLOR_RGB2BGR)
        if any(self._odd):
            bgr = np.pad(bgr, ((0, self._odd[0]), (0, self._odd[1]), (0, 0)), mode="edge")
        self._writer.write(bgr)

    def close(self) -> None:
        self._writer.release()

    def verify(self, frames: int) -> None:
        """OpenCV tells nobody that the disk was full: IOFailure unless the file has all frames."""
        cv2 = self._cv2
        with _opencv.quiet(cv2):
            video = cv2.VideoCapture(self._target)
            count = video.get(cv2.CAP_PROP_FRAME_COUNT) if video.isOpened() else 0
            video.release()
        if count < frames:  # of a file without an end, OpenCV's guess may be below zero
            raise IOFailure(
                f"{self._name}: cannot be written: {max(int(count), 0)} of {frames} frames arrived",
                hint="check that the disk has room",
            )


def _rgb(picture: Any) -> NDArray[np.uint8]:
    """uint8 RGB [height, width, 3], contiguous."""
    from foveal.vision import open_image, upright_rgb

    plain = isinstance(picture, np.ndarray) and picture.ndim == 3 and picture.shape[2] == 3
    if plain and picture.dtype == np.uint8 and picture.size:
        return np.ascontiguousarray(picture)
    if isinstance(picture, (str, os.PathLike)):
        raise ArgumentError("write_video: expected a picture, got a path")
    if getattr(picture, "mode", None) == "RGB" and hasattr(picture, "tobytes"):
        return np.ascontiguousarray(picture, np.uint8)
    return upright_rgb(open_image(picture))
