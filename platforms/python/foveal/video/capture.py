"""Cameras, videos and streams as an iterator of frames that a thread reads ahead."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from foveal.errors import ArgumentError
from foveal.frame import Frame
from foveal.video.sources import Source, open_source


def camera(
    source: Any = 0,
    size: tuple[int, int] | None = None,
    fps: float | None = None,
    newest: bool = True,
    *,
    read_ahead: int = 4,
) -> Camera:
    """Frames of a camera, video file, stream or sequence of pictures.

    with foveal.camera("walk.mp4") as frames:
        for frame in frames: ...

    Args:
        source: a camera's number (0 is the first one), a video file, a URL (rtsp, http ...), a
            folder of pictures or a pattern (``frame-%03d.png``, ``*.jpg``) in the order of the
            numbers in their names, or a list of picture files.
        size, fps: what a camera is asked for, width and height in pixels; it may give something
            else. For pictures, fps sets the timestamps (default 30).
        newest: of cameras and streams, a consumer that is slower gets the newest frame and the
            others are dropped and counted; False gives every frame that the driver keeps. Files
            give every frame in order, always.
        read_ahead: frames of a file that are decoded before they are asked for, at most.

    Cameras, streams and compressed files need opencv-python (``pip install 'foveal[camera]'``);
    pictures and 8-bit 4:2:0 Y4M files do not. A video's rotation becomes the frames' rotation.

    Raises:
        NotFoundError: no such file or camera; OpenCV is missing.
        FrameError: no video, a damaged one, or a picture that is damaged.
        IOFailure: a camera or stream that stops, a file that cannot be read.
        ArgumentError: a wrong argument.
    """
    if not isinstance(newest, bool):
        raise ArgumentError(f"camera: newest: expected True or False, got {newest!r}")
    if isinstance(read_ahead, bool) or not isinstance(read_ahead, int) or not 1 <= read_ahead <= 64:
        raise ArgumentError(f"camera: read_ahead: expected 1 to 64, got {read_ahead!r}")
    return Camera(open_source(source, size, fps), newest=newest, read_ahead=read_ahead)


class Camera:
    """An iterator of frames, see `camera`, which makes it. A context manager; `close` may be
    called from any thread. Threads that share one get different frames.

    There is one run through the frames: iterating goes on where it stopped, and raises
    ArgumentError once the end was reached. It cannot be pickled.
    """

    def __init__(self, source: Source, *, newest: bool, read_ahead: int) -> None:
        self.name = source.name
        self.live: bool = source.live
        """Whether frames come when they want."""
        self.size: tuple[int, int] | None = source.size
        """Width and height of the upright frames, None if unknown."""
        self.fps: float | None = source.fps
        """Frames per second, None if unknown."""
        self.count: int | None = source.count
        """How many frames the source promises, None if unknown."""
        self._reader = _Reader(source, 0 if newest and source.live else read_ahead)
        self._finalizer = weakref.finalize(self, self._reader.close)

    @property
    def dropped(self) -> int:
        """Frames that were read and replaced by newer ones."""
        return self._reader.dropped

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._reader.closed

    def __repr__(self) -> str:
        size = f" {self.size[0]}x{self.size[1]}" if self.size else ""
        return f"<foveal.Camera {self.name}{size}{' closed' if self.closed else ''}>"

    def __enter__(self) -> Camera:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __iter__(self) -> Iterator[Frame]:
        if self._reader.exhausted and not self.closed:
            raise ArgumentError(
                f"{self.name}: its frames were all read", hint="open it again to start over"
            )
        return self

    def __next__(self) -> Frame:
        frame = self._reader.next()
        if frame is None:
            raise StopIteration
        return frame

    def __reduce__(self) -> Any:
        raise ArgumentError(
            f"{self.name}: an open camera or video cannot be pickled",
            hint="send the frames, or open it where they are needed",
        )

    def close(self) -> None:
        """Ends the thread and lets go of the camera or file. Asking for more frames is an
        ArgumentError then. May be called twice."""
        self._finalizer()


class _Reader:
    """The thread that reads and what it has read. depth: frames kept; 0 keeps the newest one.

    Knows nothing of `Camera`, so that a forgotten one is collected and ends it.
    """

    def __init__(self, source: Source, depth: int) -> None:
        self._source = source
        self._depth = depth
        self._frames: deque[Frame] = deque()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None
        self._ended = False
        self.exhausted = False
        self.closed = False
        self.dropped = 0

    def next(self) -> Frame | None:
        """The next frame, or None at the end; raises what the source raised."""
        with self._changed:
            if self._thread is None and not self.closed:
                name = f"foveal {self._source.name}"
                self._thread = threading.Thread(target=self._run, name=name, daemon=True)
                self._thread.start()
            while not (self._frames or self._ended or self.closed):
                self._changed.wait(1.0)  # without a limit, Ctrl-C waits too on some systems
            if self.closed:
                raise ArgumentError(f"{self._source.name}: it is closed", hint="open it again")
            if self._frames:
                frame = self._frames.popleft()
                # Not for every frame: each time that threads change costs the consumer time.
                if len(self._frames) <= self._depth // 2:
                    self._changed.notify_all()
                return frame
            self.exhausted = True
            error, self._error = self._error, None
        if error is not None:
            raise error
        return None

    def _run(self) -> None:
        try:
            while (frame := self._source.read()) is not None:
                with self._changed:
                    if not self._depth:
                        self.dropped += len(self._frames)
                        self._frames.clear()
                    while self._depth and len(self._frames) >= self._depth and not self.closed:
                        self._changed.wait()
                    if self.closed:
                        return
                    self._frames.append(frame)
                    self._changed.notify_all()
        except BaseException as error:
            self._error = error
        finally:
            self._source.close()
            with self._changed:
                self._ended = True
                self._changed.notify_all()

    def close(self) -> None:
        with self._changed:
            self.closed = True
            self._frames.clear()
            self._changed.notify_all()
            thread = self._thread
        if thread is None:
            self._source.close()
        elif thread is not threading.current_thread():
            thread.join()
