"""Says what takes long: nothing for short work, a spinner on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

Step = Callable[[str], AbstractContextManager[None]]
"""A function that shows `text` while its block runs: `with step("fetching face"): ...`"""

_DELAY_S = 0.7  # work shorter than this shows nothing
_LINE_EVERY_S = 5.0
_depth = threading.local()


@contextlib.contextmanager
def quiet(text: str) -> Iterator[None]:
    """A step that shows nothing."""
    yield


@contextlib.contextmanager
def show(text: str) -> Iterator[None]:
    """Shows `text` on stderr once the block has run for 0.7 s, and the seconds it took.

    A terminal with `rich` installed gets a spinner. A block within a shown block stays silent.
    """
    if getattr(_depth, "busy", False) or os.environ.get("FOVEAL_PROGRESS") == "0":
        yield
        return
    _depth.busy = True
    begin = time.monotonic()
    shown = _Shown(text)
    timer = threading.Timer(_DELAY_S, shown.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        _depth.busy = False
        timer.cancel()
        shown.stop(time.monotonic() - begin)


@contextlib.contextmanager
def on_terminal(text: str) -> Iterator[None]:
    """`show` when stderr is a terminal, `quiet` otherwise: for library calls."""
    with show(text) if _is_terminal() else quiet(text):
        yield


Update = Callable[[int, int | None, str], None]
"""update(done, total, what) of a `bar`; total is None where nobody knows it."""


@contextlib.contextmanager
def bar(text: str) -> Iterator[Update]:
    """Gives a function to call with counts: a bar on a terminal with `rich`, elsewhere a line on
    stderr every 5 s."""
    if os.environ.get("FOVEAL_PROGRESS") == "0":
        yield lambda done, total, what: None
        return
    if _is_terminal():
        try:
            from rich.console import Console
            from rich.progress import Progress
        except ImportError:
            pass
        else:
            with Progress(console=Console(stderr=True), transient=True) as shown:
                task = shown.add_task(text, total=None)
                yield lambda done, total, what: shown.update(task, completed=done, total=total)
            return
    last = time.monotonic()

    def update(done: int, total: int | None, what: str) -> None:
        nonlocal last
        if time.monotonic() - last >= _LINE_EVERY_S:
            last = time.monotonic()
            of = "" if total is None else f" of {total}"
            _write(f"{text}: {done}{of} ({what})")

    yield update


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


class _Shown:
    """The lines or the spinner of one step; `start` may come from the timer's thread."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lock = threading.Lock()
        self._ended = False
        self._started = False
        self._spinner: AbstractContextManager[object] | None = None

    def start(self) -> None:
        with self._lock:
            if self._ended:
                return
            self._started = True
            if _is_terminal():
                with contextlib.suppress(ImportError):
                    from rich.console import Console

                    self._spinner = Console(stderr=True).status(f"{self._text} ...")
                    self._spinner.__enter__()
                    return
            _write(f"{self._text} ...")

    def stop(self, seconds: float) -> None:
        with self._lock:
            self._ended = True
            if self._spinner is not None:
                self._spinner.__exit__(None, None, None)
            if self._started:
                _write(f"{self._text}: {seconds:.1f} s")


def _write(line: str) -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(line + "\n")
        sys.stderr.flush()
