"""Ctrl-C while the command `foveal` starts: importing takes a while, and ends in no traceback.

`foveal/__init__.py` imports this first. It does nothing in any other program.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from itertools import pairwise
from types import FrameType


def _is_command() -> bool:
    """Whether this process runs `foveal` or `python -m foveal` and nothing else."""
    name = (getattr(sys, "argv", None) or [""])[0].replace("\\", "/").rpartition("/")[2]
    if name == "-m":  # while python looks for the module
        return ("-m", "foveal") in pairwise(sys.orig_argv)
    return name.lower() in ("foveal", "foveal.exe", "foveal-script.py")


def _end(number: int, frame: FrameType | None) -> None:
    with contextlib.suppress(OSError):
        os.write(2, b"error: interrupted\n")
    os._exit(130)


@contextlib.contextmanager
def as_exceptions() -> Iterator[None]:
    """Within the block Ctrl-C is a KeyboardInterrupt again, so that files are tidied up."""
    if _installed:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        if _installed:
            signal.signal(signal.SIGINT, _end)


_installed = (
    _is_command()
    and threading.current_thread() is threading.main_thread()
    and signal.getsignal(signal.SIGINT) is signal.default_int_handler
)
if _installed:
    signal.signal(signal.SIGINT, _end)
