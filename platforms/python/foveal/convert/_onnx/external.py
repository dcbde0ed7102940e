"""Tensors whose data lie in files beside the model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from foveal.convert.emit import SHARING
from foveal.errors import ModelError


class ExternalData:
    """The files in a model's folder. folder: None for a model that came without one."""

    def __init__(self, folder: Path | None) -> None:
        self._root = None if folder is None else folder.resolve()
        self._taken: defaultdict[Path, int] = defaultdict(int)

    def read(self, entries: Mapping[str, str], name: str, size: int) -> bytes:
        """The `size` bytes of tensor `name`. entries: location, offset and length, as the model
        says them. Raises ModelError, also when the model takes more than SHARING times a file:
        tensors may share bytes, but few bytes must not become gigabytes."""
        where = entries.get("location", "")
        if self._root is None:
            raise ModelError(
                f"tensor '{name}' keeps its data in the file '{where}'",
                hint="pass the model's path, not its bytes",
            )
        path = (self._root / where).resolve()
        if not where or not path.is_relative_to(self._root) or not path.is_file():
            raise ModelError(
                f"tensor '{name}' keeps its data in '{where}', which is no file beside the model",
                hint="put the weight file into the model's folder",
            )
        try:
            offset, length = int(entries.get("offset", "0")), int(entries.get("length", str(size)))
        except ValueError as e:
            raise ModelError(f"tensor '{name}': offset or length is not a number") from e
        available = path.stat().st_size
        if offset < 0 or length != size or offset + length > available:
            raise ModelError(
                f"tensor '{name}' needs {size} bytes; '{where}' has {available} "
                f"and the model asks for {length} at {offset}"
            )
        self._taken[path] += length
        if self._taken[path] > SHARING * available:
            raise ModelError(
                f"its tensors take more than {SHARING} times the bytes of '{where}'",
                hint="the file is damaged, or made to fill the memory",
            )
        with path.open("rb") as f:
            f.seek(offset)
            return f.read(length)
