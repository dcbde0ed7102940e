"""What every engine of the bench is."""

from __future__ import annotations

import importlib
import importlib.metadata
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foveal.errors import NotFoundError, UnsupportedOpError

Arrays = dict[str, NDArray[Any]]
Run = Callable[[], object]


@dataclass(frozen=True)
class Source:
    """A model file and the inputs it is timed with.

    path: as published (.onnx, .tflite or .fvm). format: "onnx", "tflite" or "fvm".
    feed: every input by name. fvm: the same model converted to .fvm.
    """

    path: Path
    format: str
    feed: Arrays
    fvm: Path


@dataclass
class Opened:
    """A model that an engine has loaded, its inputs set.

    run: one inference, nothing else. outputs: what the last run gave, by name; engines that lose
    the names give positions ("0", "1", ...).
    """

    run: Run
    outputs: Callable[[], Arrays]


class Engine:
    """An inference engine. Subclasses in this folder are found by scanning it.

    name: as written on the command line. package: what pip installs. formats: of sources.
    """

    name: str
    package: str
    formats: tuple[str, ...]

    def version(self) -> str:
        """Of the installed package. NotFoundError when it is not installed."""
        try:
            return importlib.metadata.version(self.package)
        except importlib.metadata.PackageNotFoundError:
            raise NotFoundError(
                f"bench: the engine '{self.name}' needs the package {self.package}",
                hint=f"pip install {self.package}, or pip install 'foveal[bench]' for all of them",
            ) from None

    def prepare(self, source: Source, folder: Path) -> Path:
        """The file that `open` opens, made in `folder` if the engine has a format of its own. Not
        timed: it happens once, on the developer's machine."""
        return source.path

    def open(self, path: Path, source: Source, threads: int) -> Opened:
        """Loads what `prepare` returned and sets the inputs. float32 arithmetic, `threads` threads.

        Raises whatever the engine raises.
        """
        raise NotImplementedError


def require(module: str, package: str) -> Any:
    """A module of an optional package."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise NotFoundError(
            f"bench: {module} cannot be imported: {error}", hint=f"pip install {package}"
        ) from None


def convert(command: list[str], folder: Path, product: Path) -> Path:
    """Runs an engine's own converter. UnsupportedOpError when it makes no file."""
    done = subprocess.run(
        command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        errors="replace", check=False, timeout=600,
    )  # fmt: skip
    if not product.is_file():
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        raise UnsupportedOpError(
            f"{Path(command[0]).name} does not convert the model: "
            f"{lines[-1].strip() if lines else f'exit code {done.returncode}'}"
        )
    return product


def fixed_onnx(source: Source, folder: Path) -> Path:
    """The .onnx file with the inputs' shapes as they are fed. Some exporters declare those of their
    example input, and engines insist on them."""
    onnx = require("onnx", "onnx")
    model = onnx.load(str(source.path))
    changed = False
    for value in model.graph.input:
        wanted = source.feed[value.name].shape if value.name in source.feed else ()
        for dim, size in zip(value.type.tensor_type.shape.dim, wanted, strict=False):
            changed |= dim.dim_value != size
            dim.dim_value = size
    if not changed:
        return source.path
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    del model.graph.value_info[:]
    path = folder / "fixed.onnx"
    onnx.save(model, str(path))
    return path


def contiguous(feed: Mapping[str, NDArray[Any]]) -> Arrays:
    """The feed as C-contiguous arrays."""
    return {name: np.ascontiguousarray(array) for name, array in feed.items()}
