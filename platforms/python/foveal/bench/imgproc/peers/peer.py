"""What every library of the image bench is."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from foveal.bench.imgproc.cases import Case, Picture
from foveal.errors import NotFoundError


@dataclass
class Prepared:
    """One case in one library.

    run: makes the tensor of the picture of that number, nothing else; the result is overwritten by
    the next run. how: the library's functions, in order.
    """

    run: Callable[[int], NDArray[Any] | None]
    how: str


class Peer:
    """A library. Subclasses in this folder are found by scanning it.

    name: as written on the command line. package: what pip installs.
    """

    name: str
    package: str

    def version(self) -> str:
        """Of the installed package. NotFoundError when it is not installed."""
        try:
            return importlib.metadata.version(self.package)
        except importlib.metadata.PackageNotFoundError:
            raise NotFoundError(
                f"bench: '{self.name}' needs the package {self.package}",
                hint=f"pip install {self.package}",
            ) from None

    def prepare(self, case: Case, pictures: Sequence[Picture], threads: int) -> Prepared | None:
        """None when the library has no way to compute this case. Raises whatever it raises."""
        raise NotImplementedError
