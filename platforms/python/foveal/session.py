"""Sessions: a model prepared for devices and shapes."""

from __future__ import annotations

import json
import operator
import threading
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foveal import _core, plugins
from foveal.errors import ArgumentError, NotFoundError, ShapeError

Array = NDArray[Any]


@dataclass(frozen=True)
class SessionTensor:
    """An input or output of a session: name, shape (``str`` or -1 where open) and dtype.

    quantization: (scale, zero point) of whole numbers that stand for (number - zero point) * scale;
    ``None`` where they stand for themselves.
    """

    name: str
    shape: tuple[int | str, ...]
    dtype: str
    quantization: tuple[float, int] | None
    _session: weakref.ref[Session] = field(repr=False, compare=False)

    @property
    def session(self) -> Session | None:
        """The session it belongs to, ``None`` once that is gone. An image pipeline compiled for
        it writes that session's memory."""
        return self._session()


class Session:
    """Runs a model.

    Args:
        model: a ``foveal.Model`` (see ``foveal.load``).
        device: ``"auto"``, a device name or names in order of preference (``["template", "cpu"]``).
            Nodes the first device cannot run go to the next; what none of them runs is an error.
        threads: 0 chooses (at most 4).
        fuse: ``False`` runs every operator by itself: slow, for finding faults.
        profile: record events for :meth:`profile`.

    Raises:
        UnsupportedOpError: no given device runs some node; the message says which and why.
        NotFoundError: no such device. PluginError: the device is not usable here.
        ArgumentError: an argument of the wrong type or range.

    A session may be shared between threads: each ``run`` is one turn. Code that writes through
    :meth:`input_view` instead holds ``session.lock`` from there until it has read the outputs.
    """

    def __init__(
        self,
        model: _core.Model,
        device: str | Sequence[str] = "auto",
        threads: int = 0,
        *,
        fuse: bool = True,
        profile: bool = False,
    ) -> None:
        if not isinstance(model, _core.Model):
            raise ArgumentError(
                f"Session: model: expected a foveal.Model, got {type(model).__name__}",
                hint="foveal.load(path) makes one",
            )
        devices = _devices(device)
        count = _integer("threads", threads, 0, 64)
        plugins.discover()
        self.model = model
        self.lock = threading.RLock()
        me = weakref.ref(self)
        self.inputs, self.outputs = (
            [SessionTensor(t.name, t.shape, t.dtype, t.quantization, me) for t in ends]
            for ends in (model.inputs, model.outputs)
        )
        self._inputs = {t.name: i for i, t in enumerate(self.inputs)}
        self._core = _core.Session(model, devices, count, bool(fuse), bool(profile))

    def __repr__(self) -> str:
        ends = [", ".join(t.name for t in ends) for ends in (self.inputs, self.outputs)]
        return f"<foveal.Session {ends[0]} -> {ends[1]}>"

    def _index(self, name: str) -> int:
        index = self._inputs.get(name)
        if index is None:
            raise NotFoundError(
                f"run: the model has no input '{name}'; it has: {', '.join(self._inputs)}",
                op="run",
            )
        return index

    def resize(self, name: str, shape: Sequence[int]) -> None:
        """Sets the shape of an input. Views taken before no longer belong to the session.

        Raises:
            ShapeError: the model does not allow this shape.
        """
        index = self._index(name)
        dims = [_integer(f"resize: dimension {i}", d, 0, 2**31) for i, d in enumerate(shape)]
        self._core.resize(index, dims)

    def input_view(self, name: str, shape: Sequence[int] | None = None) -> Array:
        """The session's own input memory, to be written in place before ``run()``."""
        if shape is not None:
            self.resize(name, shape)
        view: Array = self._core.input(self._index(name))
        return view

    def output_view(self, name: str) -> Array:
        """The session's own output memory: overwritten by the next run."""
        for i, t in enumerate(self.outputs):
            if t.name == name:
                view: Array = self._core.output(i)
                return view
        raise NotFoundError(
            f"the model has no output '{name}'; it has: {', '.join(t.name for t in self.outputs)}"
        )

    def run(self, inputs: Mapping[str, Any] | None = None) -> dict[str, Array]:
        """Runs the model once.

        Args:
            inputs: name → numpy array, or anything with ``__dlpack__`` or ``__array__``, of exactly
                the input's dtype. ``None`` runs on what was written through :meth:`input_view`.

        Returns:
            name → new numpy array, for every output.

        Raises:
            NotFoundError: unknown input name. ArgumentError: missing input or wrong dtype.
            ShapeError: a shape the model does not allow.
        """
        arrays = [] if inputs is None else self._check(inputs)
        with self.lock:
            for index, array in arrays:
                self._core.resize(index, list(array.shape))
            for index, array in arrays:
                np.copyto(self._core.input(index), array, casting="no")
            self._core.run()
            return {t.name: self._core.output(i).copy() for i, t in enumerate(self.outputs)}

    def __call__(self, inputs: Mapping[str, Any]) -> dict[str, Array]:
        return self.run(inputs)

    def _check(self, inputs: Mapping[str, Any]) -> list[tuple[int, Array]]:
        if not isinstance(inputs, Mapping):
            raise ArgumentError(
                f"run: expected a dict of input name to array, got {type(inputs).__name__}",
                op="run",
                hint=f"for example run({{{self.inputs[0].name!r}: array}})" if self.inputs else "",
            )
        arrays: list[tuple[int, Array]] = []
        for name, value in inputs.items():
            index = self._index(name)
            info = self.inputs[index]
            array = _as_array(name, value)
            wanted = "uint16" if info.dtype == "bfloat16" else info.dtype
            if array.dtype.name != wanted or not array.dtype.isnative:
                raise ArgumentError(
                    f"run: input '{name}' expects dtype {wanted}, got {array.dtype}",
                    op="run",
                    hint=f"convert it: array.astype('{wanted}')",
                )
            if array.ndim != len(info.shape):
                raise ShapeError(
                    f"run: input '{name}' expects shape {_shape(info.shape)}, "
                    f"got {_shape(array.shape)}",
                    op="run",
                    hint="add or remove dimensions: array[np.newaxis], array.reshape(...)",
                )
            arrays.append((index, array))
        missing = [t.name for t in self.inputs if t.name not in inputs]
        if missing:
            raise ArgumentError(f"run: missing input {', '.join(map(repr, missing))}", op="run")
        return arrays

    def explain(self) -> dict[str, Any]:
        """Where every node runs, why, in which layout and at what cost; the memory plan; and all
        operators that the model and its decompositions are made of."""
        explained: dict[str, Any] = json.loads(self._core.explain())
        return explained

    def profile(self, path: str | PathLike[str]) -> None:
        """Writes what ``profile=True`` recorded as a Chrome trace (opens in Perfetto)."""
        self._core.profile(path)


def _devices(device: object) -> str:
    names = [device] if isinstance(device, str) else device
    if (
        not isinstance(names, Sequence)
        or not names
        or not all(isinstance(n, str) and n.strip(" ,") for n in names)
    ):
        raise ArgumentError(
            f"Session: device: expected a name or a list of names, got {device!r}",
            hint='"auto", "cpu" or ["template", "cpu"]; `foveal plugins` lists them',
        )
    return ",".join(names)


def _integer(what: str, value: object, low: int, high: int) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ArgumentError(f"{what}: expected an int, got {value!r}")
    number = operator.index(value)
    if not low <= number <= high:
        raise ArgumentError(f"{what}: expected {low} to {high}, got {number}")
    return number


def _shape(shape: Sequence[Any]) -> str:
    return "[" + ", ".join("?" if d == -1 else str(d) for d in shape) + "]"


def _as_array(name: str, value: Any) -> Array:
    if isinstance(value, np.ndarray):
        return value
    try:
        if hasattr(value, "__dlpack__"):
            return np.from_dlpack(value)
        return np.asarray(value)
    except (TypeError, ValueError, BufferError, RuntimeError) as e:
        raise ArgumentError(
            f"run: input '{name}' of type {type(value).__name__} is not an array: {e}", op="run"
        ) from e
