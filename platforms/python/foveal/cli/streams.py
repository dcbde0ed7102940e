"""Standard streams that are closed, full, or speak another alphabet."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import TextIO

_HANDLER = "foveal.names"


@contextlib.contextmanager
def prepared() -> Iterator[None]:
    """Makes stdin, stdout and stderr usable, whatever the caller closed.

    A closed one becomes the null device: else the next file opened would take its number and
    receive what is printed. Within the context file names that are not text print as the bytes
    that they are; characters that a terminal lacks as "?". Afterwards the streams are as before:
    they belong to whoever called main().
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this one
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)
    codecs.register_error(_HANDLER, _names)
    before = []
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            before.append((stream, stream.errors))
            stream.reconfigure(errors=_HANDLER)
    try:
        yield
    finally:
        for stream, errors in before:
            # What a full disk did not take stays in the buffer, and flushing it fails again.
            with contextlib.suppress(OSError, ValueError):
                stream.reconfigure(errors=errors)


def abandon_stdout() -> None:
    """Python flushes stdout once more at exit: gives it a place where that succeeds."""
    _abandon(sys.stdout)


def settle_stderr() -> None:
    """The same for a stderr that cannot be written: the exit code would be Python's 120."""
    try:
        sys.stderr.flush()
    except (OSError, ValueError):
        _abandon(sys.stderr)


def _abandon(stream: TextIO) -> None:
    try:
        number = stream.fileno()
    except (OSError, ValueError):
        return
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, number)
    os.close(null)


def _names(error: UnicodeError) -> tuple[str | bytes, int]:
    if isinstance(error, UnicodeDecodeError):  # somebody reads such a stream back
        return "\ufffd", error.end
    if not isinstance(error, UnicodeEncodeError):
        raise error
    given = error.object[error.start : error.end]
    raw = [ord(c) - 0xDC00 if 0xDC80 <= ord(c) <= 0xDCFF else ord("?") for c in given]
    return bytes(raw), error.end
