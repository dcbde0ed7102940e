"""OpenCV, imported when first needed: it is an extra."""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Iterator
from typing import Any

from foveal.errors import NotFoundError


def load(purpose: str) -> Any:
    """The module cv2. NotFoundError, saying what it is needed for and how to get it.

    opencv-python and opencv-python-headless both give it; only the first can show windows.
    """
    # FFmpeg's own messages; what failed becomes an exception. Read once, when cv2 first opens.
    os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")
    try:
        return importlib.import_module("cv2")
    except ModuleNotFoundError as error:
        raise NotFoundError(
            f"{purpose} needs the package opencv-python",
            hint="pip install 'foveal[camera]', or opencv-python-headless where there is no screen",
        ) from error
    except ImportError as error:  # a system library that it wants, most often libGL
        raise NotFoundError(
            f"{purpose} needs the package opencv-python, which cannot be loaded here: {error}",
            hint="pip uninstall opencv-python, then pip install opencv-python-headless",
        ) from error


@contextlib.contextmanager
def quiet(cv2: Any) -> Iterator[None]:
    """OpenCV writes no messages to stderr meanwhile. Its level belongs to the whole process."""
    logging = getattr(cv2.utils, "logging", None)
    if logging is None:
        yield
        return
    before = logging.getLogLevel()
    logging.setLogLevel(logging.LOG_LEVEL_SILENT)
    try:
        yield
    finally:
        logging.setLogLevel(before)
