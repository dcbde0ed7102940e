"""The folder where Foveal keeps what it fetched or made, and safe ways to write files.

Everything in the cache can be deleted at any time: it is fetched or made again. Files appear by
rename only, so that a reader never sees half of one and concurrent processes may write the same
entry. Imported models may take 2 GiB together: what was loaded longest ago makes room.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import secrets
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from foveal.errors import FovealError, IOFailure


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


def data_dir(*parts: str) -> Path:
    """Path below the folder of what users made and nothing can make again; nothing is created.

    The folder is ``$FOVEAL_DATA`` when set, else ``foveal`` in the platform's place for a user's
    data: ``~/Library/Application Support`` (macOS), ``%APPDATA%`` (Windows), ``$XDG_DATA_HOME`` or
    ``~/.local/share``.
    """
    chosen = os.environ.get("FOVEAL_DATA")
    if chosen:
        root = Path(chosen).expanduser()
    elif sys.platform == "darwin":
        root = Path.home() / "Library" / "Application Support" / "foveal"
    elif os.name == "nt":
        root = Path(os.environ.get("APPDATA") or Path.home()) / "foveal"
    else:
        xdg = Path(os.environ.get("XDG_DATA_HOME", ""))
        root = (xdg if xdg.is_absolute() else Path.home() / ".local" / "share") / "foveal"
    return root.joinpath(*parts)


def is_device(path: Path) -> bool:
    """Whether reading `path` may wait for ever or never end: a device, a pipe or a socket."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def trim(folder: Path, pattern: str, limit: int, keep: Path) -> None:
    """Removes the files of a cache folder that were touched longest ago until all of them together
    take at most `limit` bytes, and hidden ones that a process left behind a day ago. `keep` stays.
    """
    entries: list[tuple[float, int, Path]] = []
    for path in folder.glob(pattern):
        with contextlib.suppress(OSError):
            info = path.stat()
            if not path.name.startswith("."):
                entries.append((info.st_mtime, info.st_size, path))
            elif info.st_mtime < time.time() - 86400:
                path.unlink()
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if total <= limit:
            break
        if path != keep:
            with contextlib.suppress(OSError):  # open in another process, on some platforms
                path.unlink()
                total -= size


def sha256_file(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file's bytes, in hex. OSError when it cannot be read."""
    digest = hashlib.sha256()
    with Path(path).open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def make_dir(
    path: Path,
    what: str = "cache folder ",
    hint: str = "set FOVEAL_CACHE to a folder you may write to",
) -> Path:
    """Creates the folder and its parents. IOFailure when that fails, by default naming
    FOVEAL_CACHE."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise IOFailure(
            f"{what}{path}: cannot be created: {error.strerror or error}", hint=hint
        ) from error
    return path


def output_dir(path: Path) -> Path:
    """The folder of something to be written, created if need be. IOFailure when that fails."""
    return make_dir(path, "folder ", "check the path and that you may write there")


def cannot_write(target: object, error: OSError) -> IOFailure:
    """What to tell about an output that could not be written."""
    hints = {
        None: "check that the disk has room",  # numpy's short writes carry no number
        errno.ENOSPC: "make room on that disk, or write to another place",
        errno.EDQUOT: "your quota there is used up: make room, or write to another place",
        errno.EFBIG: "the file is larger than allowed there: write to another place",
        errno.ENAMETOOLONG: "choose a shorter name",
        errno.EROFS: "write to another place",
    }
    return IOFailure(
        f"{target}: cannot be written: {error.strerror or error}",
        hint=hints.get(error.errno, "check that the folder exists and that you may write to it"),
    )


def check_target(target: str | os.PathLike[str]) -> Path:
    """Where a file written to `target` would lie, links followed. For use before slow work:
    IOFailure for a folder, and for one in a folder that is missing or cannot be written."""
    final = Path(os.path.realpath(target))
    if final.is_dir():
        raise IOFailure(f"{target}: expected a file to write, got a folder", hint="add a file name")
    if final.exists() and not final.is_file():  # a device
        return final
    if not final.parent.is_dir():
        raise cannot_write(target, OSError(errno.ENOENT, os.strerror(errno.ENOENT)))
    if not os.access(final.parent, os.W_OK):
        raise cannot_write(target, OSError(errno.EACCES, os.strerror(errno.EACCES)))
    return final


@contextlib.contextmanager
def atomic_path(target: str | os.PathLike[str]) -> Iterator[Path]:
    """Gives a temporary path beside `target`: on success it becomes `target`, else it is removed.

    The temporary name keeps the target's suffix, for writers that choose a format by it. A link is
    followed; a device or pipe (``/dev/stdout``) is written, not replaced. IOFailure, naming
    `target`, for a folder, a place that cannot be written and a disk that is full.
    """
    final = check_target(target)
    if final.exists() and not final.is_file():
        with tempfile.TemporaryDirectory() as folder:
            temporary = Path(folder) / f"data{final.suffix}"
            with _failures_name(target, temporary):
                yield temporary
                with final.open("wb") as device:
                    device.write(temporary.read_bytes())
        return
    temporary = final.with_name(f".{final.stem[:40]}-{secrets.token_hex(6)}{final.suffix}")
    with _failures_name(target, temporary):
        temporary.touch(exist_ok=False)
        try:
            yield temporary
            temporary.replace(final)
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink()


@contextlib.contextmanager
def _failures_name(target: str | os.PathLike[str], temporary: Path) -> Iterator[None]:
    """Failures to write speak of `target`; the temporary file's name says nothing to anybody."""
    try:
        yield
    except BrokenPipeError:
        raise
    except IOFailure as error:
        name = str(temporary)
        if name not in error.message:
            raise
        raise IOFailure(
            error.message.replace(name, os.fspath(target)), op=error.op, hint=error.hint
        ) from error
    except OSError as error:
        ours = (None, str(temporary), os.path.realpath(target))
        if isinstance(error, FovealError) or error.filename not in ours:
            raise
        raise cannot_write(target, error) from error


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
