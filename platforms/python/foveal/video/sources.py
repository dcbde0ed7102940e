"""Where frames come from: cameras, video files, streams, pictures. Read by one thread at a time."""

from __future__ import annotations

import glob
import logging
import math
import os
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

from foveal.errors import ArgumentError, FrameError, IOFailure, NotFoundError
from foveal.frame import Frame
from foveal.video import _opencv, y4m

VIDEOS = (".mp4", ".m4v", ".mov", ".avi", ".mkv", ".webm", ".y4m", ".mpg", ".mpeg", ".ts", ".wmv")
PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tif", ".tiff", ".ppm", ".pgm")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_NUMBERED = re.compile(r"%0?\d*d")
_OPEN_MS, _READ_MS = 10_000, 5_000  # how long a stream may keep silent

log = logging.getLogger("foveal")


class Source(Protocol):
    """One run through the frames of something.

    name: for messages. live: frames come when they want, not when they are asked for.
    size: width and height of the upright frames, fps and count, as far as the source says.
    """

    name: str
    live: bool
    size: tuple[int, int] | None
    fps: float | None
    count: int | None

    def read(self) -> Frame | None:
        """The next frame, stamped; None at the end. FrameError or IOFailure for damage."""

    def close(self) -> None:
        """Lets go of the camera or file."""


def open_source(source: Any, size: Any = None, fps: Any = None) -> Source:
    """The source that `camera` describes."""
    if isinstance(source, int) and not isinstance(source, bool):
        return _camera(source, size, fps)
    if isinstance(source, (list, tuple)):
        name = f"{len(source)} pictures"
        return PictureSource(name, [Path(_path(item)) for item in source], _rate(size, fps, name))
    text = _path(source)
    if text.isascii() and text.isdecimal() and not Path(text).exists():
        return _camera(int(text[:9]), size, fps)
    if _SCHEME.match(text):
        parts = urlsplit(text)
        if parts.scheme.lower() != "file":
            _no_wishes(size, fps, text)
            over_http = parts.scheme.lower() in ("http", "https")
            live = not (over_http and parts.path.lower().endswith(VIDEOS))
            return CvSource(_without_password(text), text, live=live)
        text = unquote(parts.path)
    path = Path(text).expanduser()
    if not path.exists() and (pictures := _matching(path)) is not None:
        return PictureSource(str(path), pictures, _rate(size, fps, str(path)))
    if path.is_dir():
        pictures = [p for p in path.iterdir() if p.suffix.lower() in PICTURES and p.is_file()]
        return PictureSource(str(path), sorted(pictures, key=_natural), _rate(size, fps, str(path)))
    return _file(path, size, fps)


def is_video(source: str) -> bool:
    """Whether a text on the command line means a video, a camera or a stream and no picture."""
    path = Path(source).expanduser()
    if _SCHEME.match(source):
        return True
    if path.exists():
        return path.is_file() and path.suffix.lower() in VIDEOS
    number = source.isascii() and source.isdecimal()
    return number or path.suffix.lower() in VIDEOS or _NUMBERED.search(path.name) is not None


class PictureSource:
    """Picture files, one after the other, read by Pillow."""

    live = False
    size: tuple[int, int] | None = None

    def __init__(self, name: str, paths: Sequence[Path], fps: float) -> None:
        if not paths:
            raise NotFoundError(
                f"{name}: there are no pictures", hint=f"it takes {', '.join(PICTURES)}"
            )
        self.name = name
        self.fps: float | None = fps
        self.count: int | None = len(paths)
        self._rate = fps
        self._paths = list(paths)
        self._index = 0

    def read(self) -> Frame | None:
        if self._index >= len(self._paths):
            return None
        index = self._index
        self._index += 1
        return Frame.from_file(self._paths[index]).stamped(index, index / self._rate)

    def close(self) -> None:
        self._paths.clear()


class CvSource:
    """Whatever OpenCV's VideoCapture opens: `target` is a camera's number, a path or a URL."""

    def __init__(
        self,
        name: str,
        target: int | str,
        *,
        live: bool,
        size: tuple[int, int] | None = None,
        fps: float | None = None,
    ) -> None:
        cv2 = _opencv.load(f"reading {name}")
        self.name = name
        self.live = live
        self._cv2 = cv2
        self._is_camera = isinstance(target, int)
        self._capture = capture = self._open(target)
        try:
            if size is not None:
                capture.set(cv2.CAP_PROP_FRAME_WIDTH, size[0])
                capture.set(cv2.CAP_PROP_FRAME_HEIGHT, size[1])
            if fps is not None:
                capture.set(cv2.CAP_PROP_FPS, fps)
            # Frames say how they are to be turned: turning pixels would be a pass of its own.
            turns = bool(capture.set(cv2.CAP_PROP_ORIENTATION_AUTO, 0))
            turn = self._number(cv2.CAP_PROP_ORIENTATION_META) if turns else None
            self._rotation = int(turn) % 360 if turn is not None and turn % 90 == 0 else 0
            rate = self._number(cv2.CAP_PROP_FPS)
            self.fps: float | None = rate if rate is not None and 0 < rate <= 1000 else None
            count = None if live else self._number(cv2.CAP_PROP_FRAME_COUNT)
            self.count: int | None = int(count) if count is not None and 0 < count < 2e9 else None
            sides = [self._number(p) for p in (cv2.CAP_PROP_FRAME_WIDTH, cv2.CAP_PROP_FRAME_HEIGHT)]
            width, height = (int(side or 0) for side in sides)
            self.size: tuple[int, int] | None = None
            if width > 0 and height > 0:
                self.size = (height, width) if self._rotation % 180 else (width, height)
            self._index = 0
            self._begin: float | None = None
            self._last = -math.inf
            self._first: Frame | None = None if live else self._grab()
            if not live and self._first is None:
                raise FrameError(
                    f"{name}: no frame can be decoded", hint="the file is damaged, or has no video"
                )
        except BaseException:
            capture.release()
            raise

    def _open(self, target: int | str) -> Any:
        cv2 = self._cv2
        wishes: list[list[int]] = [[]]
        if self.live and not self._is_camera:
            timeouts = [cv2.CAP_PROP_OPEN_TIMEOUT_MSEC, _OPEN_MS]
            wishes = [[*timeouts, cv2.CAP_PROP_READ_TIMEOUT_MSEC, _READ_MS]]
        elif not self.live and hasattr(cv2, "CAP_PROP_N_THREADS"):
            # The decoder leaves a core to the task. What is no FFmpeg does not know the wish.
            wishes.insert(0, [cv2.CAP_PROP_N_THREADS, max(1, (os.cpu_count() or 2) - 1)])
        with _opencv.quiet(cv2):
            try:
                for wish in wishes:
                    capture = cv2.VideoCapture(target, cv2.CAP_ANY, wish)
                    if opened := capture.isOpened():
                        break
            except (cv2.error, UnicodeError, TypeError, SystemError) as error:
                raise FrameError(f"{self.name}: cannot be opened: {error}") from error
        if opened:
            return capture
        if self._is_camera:
            raise NotFoundError(
                f"{self.name} cannot be opened",
                hint="is it plugged in, in use by another program, and may you read it? "
                "Cameras count from 0",
            )
        if self.live:
            raise IOFailure(
                f"{self.name}: the stream cannot be opened",
                hint="check the address and that the server is up",
            )
        if _SCHEME.match(self.name):
            raise IOFailure(
                f"{self.name}: the video cannot be opened",
                hint="check the address, that the server is up, and that this is a video",
            )
        raise FrameError(
            f"{self.name}: expected a video, got something that cannot be decoded",
            hint="the file is cut off or damaged, is no video, or needs a codec that is not there",
        )

    def _number(self, prop: int) -> float | None:
        value = float(self._capture.get(prop))
        return value if math.isfinite(value) else None

    def read(self) -> Frame | None:
        frame, self._first = self._first, None
        if frame is not None:
            return frame
        frame = self._grab()
        if frame is None and self._is_camera:
            raise IOFailure(
                f"{self.name}: gives no more frames", hint="it was unplugged, or went to sleep"
            )
        # Headers may promise too much for good reasons (edit lists, estimates): no error.
        if frame is None and self.count is not None and self._index < 0.95 * self.count - 1:
            log.warning(
                "%s: ends after %d of %d frames: it may be damaged",
                self.name,
                self._index,
                self.count,
            )
        return frame

    def _grab(self) -> Frame | None:
        try:
            got, pixels = self._capture.read()
        except self._cv2.error as error:
            raise FrameError(f"{self.name}: frame {self._index}: {error.err or error}") from error
        if not got or pixels is None or not pixels.size:
            return None
        order = "GRAY" if pixels.ndim == 2 else "BGR"
        frame = Frame.from_numpy(pixels, order, rotation=self._rotation)
        index = self._index
        self._index += 1
        return frame.stamped(index, self._time(index))

    def _time(self, index: int) -> float | None:
        """Seconds: the clock for what is live, else what the file says as long as that grows."""
        if self.live:
            now = time.monotonic()
            self._begin = now if self._begin is None else self._begin
            return now - self._begin
        said = self._number(self._cv2.CAP_PROP_POS_MSEC)
        if said is None or said / 1e3 <= self._last:
            if self.fps is None:
                return None
            said = 1e3 * max(index / self.fps, self._last + 1 / self.fps)
        self._last = said / 1e3
        return self._last

    def close(self) -> None:
        self._capture.release()


def _camera(number: int, size: Any, fps: Any) -> Source:
    if not 0 <= number < 10_000:
        raise ArgumentError(f"camera: source: expected a number from 0 up, got {number}")
    if size is not None:
        good = isinstance(size, (list, tuple)) and len(size) == 2
        if not (good and all(isinstance(s, int) and 1 <= s <= 32768 for s in size)):
            raise ArgumentError(f"camera: size: expected (width, height), got {size!r}")
    rate = None if fps is None else checked_fps(fps, "camera")
    return CvSource(f"camera {number}", number, live=True, size=size, fps=rate)


def _file(path: Path, size: Any, fps: Any) -> Source:
    name = str(path)
    if not path.exists():
        raise NotFoundError(f"{name}: there is no such file", hint="check the path")
    _no_wishes(size, fps, name)
    try:
        with path.open("rb") as file:
            start = file.read(len(y4m.MAGIC))
        if not start:
            raise FrameError(f"{name}: expected a video, got an empty file")
        if start == y4m.MAGIC:
            try:
                return y4m.Y4mSource(path, name)
            except y4m.Unsupported:
                pass  # what FFmpeg converts
    except FrameError:
        raise
    except OSError as error:
        raise IOFailure(f"{name}: cannot be read: {error.strerror or error}") from error
    # Absolute: FFmpeg takes the beginning of "a:b.mp4" for a protocol.
    return CvSource(name, str(path.absolute()), live=False)


def _path(source: Any) -> str:
    try:
        return os.fsdecode(source)
    except TypeError:
        raise ArgumentError(
            f"camera: source: expected a camera's number, a path, a URL or a list of pictures, "
            f"got {type(source).__name__}"
        ) from None


def _rate(size: Any, fps: Any, name: str) -> float:
    _no_wishes(size, None, name)
    return 30.0 if fps is None else checked_fps(fps, "camera")


def _no_wishes(size: Any, fps: Any, name: str) -> None:
    for what, value in (("size", size), ("fps", fps)):
        if value is not None:
            raise ArgumentError(
                f"camera: {what}: {name} has its own, got {value!r}",
                hint=f"only cameras can be asked for a {what}; pipelines scale frames",
            )


def checked_fps(fps: Any, what: str) -> float:
    """A number of frames per second, more than 0 and at most 1000. ArgumentError otherwise."""
    try:
        rate = math.nan if isinstance(fps, bool) else float(fps)
    except (TypeError, ValueError, OverflowError):
        rate = math.nan
    if not 0.01 <= rate <= 1000:
        raise ArgumentError(f"{what}: fps: expected 0.01 to 1000, got {fps!r}")
    return rate


def _natural(path: Path) -> list[tuple[int, int, str]]:
    """Sorts 2.png before 10.png."""
    parts = re.split(r"(\d+)", path.name)
    return [(0, int(p), "") if p.isdecimal() and p.isascii() else (1, 0, p) for p in parts]


def _matching(path: Path) -> list[Path] | None:
    """The pictures of a pattern (frame-%03d.png, *.jpg) in order; None for what is no pattern."""
    if _NUMBERED.search(path.name):
        before, after = _NUMBERED.split(path.name, maxsplit=1)
        numbered = re.compile(re.escape(before) + r"(\d+)" + re.escape(after))
        folder = path.parent
        names = (
            [p for p in folder.iterdir() if numbered.fullmatch(p.name)] if folder.is_dir() else []
        )
        return sorted(names, key=_natural)
    if glob.has_magic(path.name):
        return sorted(path.parent.glob(path.name), key=_natural)
    return None


def _without_password(url: str) -> str:
    parts = urlsplit(url)
    if "@" not in parts.netloc:
        return url
    return url.replace(parts.netloc, parts.netloc.rpartition("@")[2], 1)
