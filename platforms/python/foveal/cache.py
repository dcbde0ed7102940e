"""The folder where Foveal keeps what it fetched or made, and safe ways to write into it.

Everything here can be deleted at any time: it is fetched or made again. Files appear by rename
only, so that a reader never sees half of one and concurrent processes may write the same entry.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from foveal.errors import IOFailure


def cache_dir(*parts: str) -> Path:
    """Path below the cache folder; nothing is created.

    The folder is ``$FOVEAL_CACHE`` when set, else the platform's user cache:
    ``~/Library/Caches/foveal`` (macOS), ``%LOCALAPPDATA%\\foveal\\cache`` (Windows),
    ``$XDG_CACHE_HOME/foveal`` or ``~/.cache/foveal``.
    """
    chosen = os.environ.get("FOVEAL_CACHE")
    if chosen:
        root = Path(chosen).expanduser()
    elif sys.platform == "darwin":
        root = Path.home() / "Library" / "Caches" / "foveal"
    elif os.name == "nt":
        root = Path(os.environ.get("LOCALAPPDATA") or Path.home()) / "foveal" / "cache"
    else:
        xdg = Path(os.environ.get("XDG_CACHE_HOME", ""))
        root = (xdg if xdg.is_absolute() else Path.home() / ".cache") / "foveal"
    return root.joinpath(*parts)


def sha256_file(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file's bytes, in hex. OSError when it cannot be read."""
    digest = hashlib.sha256()
    with Path(path).open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def make_dir(path: Path) -> Path:
    """Creates the folder and its parents. IOFailure, naming FOVEAL_CACHE, when that fails."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise IOFailure(
            f"cache folder {path}: cannot be created: {error.strerror or error}",
            hint="set FOVEAL_CACHE to a folder you may write to",
        ) from error
    return path


@contextlib.contextmanager
def atomic_path(target: str | os.PathLike[str]) -> Iterator[Path]:
    """Gives a temporary path beside `target`: on success it becomes `target`, else it is removed.

    The temporary name keeps the target's suffix, for writers that choose a format by it. A link is
    followed; a device or pipe (``/dev/stdout``) is written, not replaced. IOFailure for a folder or
    a place that cannot be written.
    """
    final = Path(os.path.realpath(target))
    if final.is_dir():
        raise IOFailure(f"{target}: expected a file to write, got a folder", hint="add a file name")
    if final.exists() and not final.is_file():
        with tempfile.TemporaryDirectory() as folder:
            temporary = Path(folder) / f"data{final.suffix}"
            yield temporary
            with final.open("wb") as device:
                device.write(temporary.read_bytes())
        return
    temporary = final.with_name(f".{final.stem[:40]}-{secrets.token_hex(6)}{final.suffix}")
    try:
        temporary.touch(exist_ok=False)
    except OSError as error:
        raise IOFailure(
            f"{target}: cannot be written: {error.strerror or error}",
            hint="check that the folder exists and that you may write to it",
        ) from error
    try:
        yield temporary
        temporary.replace(final)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def write_bytes(target: str | os.PathLike[str], data: bytes) -> None:
    """Writes a whole file or nothing. IOFailure when the folder cannot be written."""
    with atomic_path(target) as temporary:
        temporary.write_bytes(data)


def write_text(target: str | os.PathLike[str], text: str) -> None:
    """UTF-8 `write_bytes`."""
    write_bytes(target, text.encode())


@contextlib.contextmanager
def lock(path: Path) -> Iterator[None]:
    """Holds an inter-process lock on the file `path`, waiting for it as long as needed.

    It only saves duplicate work (correctness comes from the renames), so a file system without
    locks, or a folder that cannot be written, goes on without.
    """
    try:
        file: IO[bytes] = path.open("ab")
    except OSError:
        yield
        return
    with file:
        with contextlib.suppress(OSError):
            _lock_file(file)
        yield


if os.name == "nt":

    def _lock_file(file: IO[bytes]) -> None:
        import msvcrt

        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined,unused-ignore]

else:

    def _lock_file(file: IO[bytes]) -> None:
        import fcntl

        fcntl.flock(file.fileno(), fcntl.LOCK_EX)
