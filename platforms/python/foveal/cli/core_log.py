"""What the core logs, collected: it goes to stderr otherwise, past Python."""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
from collections.abc import Iterator
from pathlib import Path

_WARNING = 2  # FV_LOG_WARNING of foveal/types.h
_SINK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p)  # fv_log_sink


@contextlib.contextmanager
def collected() -> Iterator[list[str]]:
    """A list that receives the core's warnings and errors while the block runs.

    Where the core is no shared library beside this package it stays empty, and stderr gets them.
    """
    messages: list[str] = []
    lock = threading.Lock()

    def collect(context: object, level: int, message: bytes) -> None:
        with lock:
            messages.append(os.fsdecode(message))

    sink = _SINK(collect)
    library = _core_library()
    if library is None:
        yield messages
        return
    library.fv_log_set(_WARNING, sink, None)
    try:
        yield messages
    finally:
        library.fv_log_set(_WARNING, None, None)


def _core_library() -> ctypes.CDLL | None:
    import foveal

    for path in Path(foveal.__file__).parent.glob("libfoveal.*"):
        with contextlib.suppress(OSError, AttributeError):
            library = ctypes.CDLL(str(path))
            library.fv_log_set.restype = None
            library.fv_log_set.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
            return library
    return None
