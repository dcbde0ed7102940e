"""What `foveal detect` does with a video, a camera or a stream, frame after frame.

One thread reads and decodes, the main thread runs the task, and one draws and encodes, so that the
task need not wait for the others.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from foveal.cli import _results, console, options
from foveal.errors import ArgumentError, FovealError

if TYPE_CHECKING:
    from foveal.frame import Frame
    from foveal.video import FrameStats
    from foveal.vision import Task

_PROGRESS_S = 0.1  # between two updates
_LEAVE = (27, ord("q"))  # Esc and q close the window
_HELD = 64  # frames


def configure(parser: argparse.ArgumentParser) -> None:
    """What only videos and cameras have."""
    parser.add_argument(
        "--camera", metavar="N", type=options.natural, help="frames of a camera (0 is the first)"
    )
    parser.add_argument(
        "--view", action="store_true", help="show the annotated video while it runs; q ends it"
    )
    parser.add_argument(
        "--frames", metavar="N", type=options.positive, help="end after N frames of a video"
    )


def is_video(args: argparse.Namespace, images: Sequence[str]) -> bool:
    """Whether the command line names a camera, a video or a stream."""
    from foveal.video.sources import is_video

    return args.camera is not None or any(is_video(image) for image in images)


def run_video(
    args: argparse.Namespace, images: Sequence[str], make_task: Callable[[], Task]
) -> int:
    """Runs the task over the frames. Ctrl-C ends it like the end of the video does: with whole
    files and statistics; the exit code is 130 then, and 0 for what has no end of its own."""
    import foveal
    from foveal.video import FrameStats, write_video

    source = _source(args, images)
    if args.out:
        options.refuse_input("--out", args.out, images)
    stats = FrameStats()
    ended = _Ended()
    with contextlib.ExitStack() as stack:
        # In this order: arguments are refused before anything slow happens.
        out = args.out and write_video(args.out, stats=stats)
        frames = stack.enter_context(foveal.camera(source))
        show = stack.enter_context(_window(frames.name)) if args.view else None
        task = make_task()
        look = _looker(task)
        if out:
            out.fps = frames.fps or out.fps
            stack.enter_context(out)
        lines = stack.enter_context(_lines(args.json, task))
        update = stack.enter_context(_progress(frames, quiet=args.json == "-"))
        size: tuple[int, int] | None = None
        seen = 0
        try:
            for frame in _timed(frames, stats, ended, args.frames):
                size = frame.upright_size
                found = look(frame)
                seen += task.kind != "mask" and bool(found)
                draw = functools.partial(_draw, task, frame, found, stats)
                picture = draw() if show else draw
                if out:
                    out.write(picture)
                if lines:
                    lines(frame, found)
                stats.frame(task.timings)
                update(stats)
                if show and not show(picture):
                    break
        except KeyboardInterrupt:
            ended.interrupted = True
        stats.dropped = frames.dropped
    _report(args, frames.name, size, stats, None if task.kind == "mask" else seen)
    if ended.error is not None:
        raise ended.error
    return 130 if ended.interrupted and not frames.live else 0


class _Ended:
    """How the frames came to an end: by themselves if neither is set."""

    def __init__(self) -> None:
        self.interrupted = False
        self.error: FovealError | None = None


def _source(args: argparse.Namespace, images: Sequence[str]) -> int | str:
    sources = [*images, *([] if args.camera is None else [f"camera {args.camera}"])]
    if len(sources) > 1:
        raise ArgumentError(
            f"a video is looked at by itself, got {len(sources)}: {', '.join(sources)}",
            hint="run foveal detect once per video, camera or stream",
        )
    return sources[0] if args.camera is None else int(args.camera)


def _timed(frames: Any, stats: FrameStats, ended: _Ended, limit: int | None) -> Iterator[Frame]:
    """The frames, and how long they were waited for. Damage ends them: what came before counts."""
    while limit is None or stats.frames < limit:
        begin = time.perf_counter()
        try:
            frame = next(frames, None)
        except FovealError as error:
            if not stats.frames:
                raise
            ended.error = error
            return
        if frame is None:
            return
        stats.add({"wait": 1e3 * (time.perf_counter() - begin)})
        yield frame


def _looker(task: Task) -> Callable[[Frame], Any]:
    """What to call with every frame: landmarks are followed from one to the next."""
    from foveal.vision import Landmarker

    if not isinstance(task, Landmarker):
        return task
    task.tracking = True
    return lambda frame: task.find(frame, timestamp=frame.timestamp)


def _draw(task: Task, frame: Frame, found: Any, stats: FrameStats) -> Any:
    begin = time.perf_counter()
    picture = task.draw(frame, found)
    stats.add({"draw": 1e3 * (time.perf_counter() - begin)})
    return picture


@contextlib.contextmanager
def _lines(target: str | None, task: Task) -> Iterator[Callable[[Frame, Any], None] | None]:
    """A function that writes what was found in a frame as a line of JSON Lines: its number, time in
    seconds, size, results and timings. To a file or ("-", at once) stdout; None without target."""
    from foveal.cache import atomic_path

    if target is None:
        yield None
    elif target == "-":
        yield _LineWriter(sys.stdout, task, held=1)
    else:
        with atomic_path(target) as temporary, temporary.open("w", encoding="utf-8") as stream:
            lines = _LineWriter(stream, task, held=1 if task.kind == "mask" else _HELD)
            yield lines
            lines.flush()


class _LineWriter:
    """Makes lines of `held` frames at a time: in turns with a model's run, which pushes this code
    out of the processor's caches, each line costs three times as much. Masks are too large to hold.
    """

    def __init__(self, stream: TextIO, task: Task, held: int) -> None:
        self._stream = stream
        self._task = task
        self._held = held
        self._waiting: list[tuple[int | None, float | None, tuple[int, int], Any, Any]] = []

    def __call__(self, frame: Frame, found: Any) -> None:
        size, timings = frame.upright_size, self._task.timings
        self._waiting.append((frame.index, frame.timestamp, size, found, timings))
        if len(self._waiting) >= self._held:
            self.flush()

    def flush(self) -> None:
        key, plain = _results.KEYS[self._task.kind], self._task.plain
        waiting, self._waiting = self._waiting, []
        for index, seconds, size, found, timings in waiting:
            line = {
                "frame": index,
                "time": None if seconds is None else round(seconds, 4),
                "size": size,
                key: plain(found),
                "timing_ms": {step: round(ms, 3) for step, ms in timings.items()},
            }
            self._stream.write(json.dumps(line) + "\n")
        self._stream.flush()


@contextlib.contextmanager
def _progress(frames: Any, *, quiet: bool) -> Iterator[Callable[[FrameStats], None]]:
    """A bar; not where the results of every frame go to the same terminal."""
    from foveal import progress

    if quiet and sys.stdout.isatty():
        yield lambda stats: None
        return
    last = time.monotonic()
    with progress.bar(frames.name) as bar:

        def update(stats: FrameStats) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last >= _PROGRESS_S:
                last = now
                bar(stats.frames, frames.count, f"{stats.fps:.1f} frames per second")

        yield update


@contextlib.contextmanager
def _window(name: str) -> Iterator[Callable[[Any], bool]]:
    """A function that shows a picture and says whether the user wants more."""
    from foveal.video import _opencv

    cv2 = _opencv.load("--view")
    # Qt ends the process where there is no display, so this is asked first.
    somewhere = sys.platform in ("darwin", "win32") or any(
        os.environ.get(key) for key in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    if not somewhere:
        raise ArgumentError(
            "--view: there is no display here", hint="write a video instead: --out seen.mp4"
        )
    title = f"foveal {name}"
    try:
        cv2.namedWindow(title, cv2.WINDOW_NORMAL | cv2.WINDOW_KEEPRATIO)
    except cv2.error as error:
        raise ArgumentError(
            "--view: this OpenCV cannot show windows",
            hint="pip uninstall opencv-python-headless, then pip install opencv-python",
        ) from error

    def show(picture: Any) -> bool:
        import numpy as np

        cv2.imshow(title, cv2.cvtColor(np.asarray(picture), cv2.COLOR_RGB2BGR))
        key = cv2.waitKey(1) & 0xFF
        return key not in _LEAVE and cv2.getWindowProperty(title, cv2.WND_PROP_VISIBLE) >= 1

    try:
        yield show
    finally:
        cv2.destroyAllWindows()


def _report(
    args: argparse.Namespace,
    name: str,
    size: tuple[int, int] | None,
    stats: FrameStats,
    seen: int | None,
) -> None:
    """The statistics: a table on stdout, or lines on stderr where stdout is for results."""
    frames = f"{name}  {size[0]} x {size[1]}: " if size else f"{name}: "
    frames += stats.summary()
    if seen is not None and stats.frames:
        frames += f"; something found in {seen}"
    head, rows = stats.table()
    written = bool(args.out) and stats.frames > 0
    if args.json:
        console.note(frames)
        if rows:
            steps = (f"{step} {p50} / {p95}" for step, p50, p95, _ in rows)
            console.note(f"p50 / p95 ms: {', '.join(steps)}")
        if args.json != "-":
            console.note(f"results: {args.json}")
        if written:
            console.note(f"annotated video: {args.out}")
        return
    console.title(frames)
    if rows:
        console.table(head, rows, right=(1, 2, 3))
    if written:
        print(f"annotated video: {Path(args.out)}")
