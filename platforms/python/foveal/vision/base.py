"""What all tasks have in common."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from foveal import image, zoo
from foveal._core import Model
from foveal._picture import Picture, open_image
from foveal.errors import ArgumentError, FovealError, ModelError
from foveal.frame import Frame
from foveal.vision import batch
from foveal.vision.stage import STEPS, DecoderSpec, PipelineSpec, Stage, brief

if TYPE_CHECKING:
    from PIL.Image import Image


class Task(ABC):
    """A model that is ready to look at pictures. All that it needs comes from its metadata.

    model: a zoo name, a path (.fvm, .onnx, .tflite) or a loaded Model.
    device, threads: as `foveal.Session`.
    min_score: drops what scores below it (0..1); None leaves what the model's specs say.
    pipeline, decoder, labels: for models that carry none, or to replace theirs.

    Threads may share a task: their pictures take turns. Tasks that share a Model run side by side.
    A task can be pickled (as its constructor's arguments; the model's file must be there, the zoo
    fetches its own) and is the callable that Ray Data and Dask want: see `__call__`.

    Raises ArgumentError for an argument of the wrong type, ModelError for a model without pipeline
    or decoder or of another task, SpecError for a spec that is wrong or does not fit the model,
    and everything `foveal.load` and `foveal.Session` raise.
    """

    kind: ClassVar[str]
    """The kind of its task specs: "detections", "classes", "landmarks", "mask" or "text"."""
    gives: ClassVar[tuple[str, ...]]
    """What the decoders of this task's models give."""

    def __init__(
        self,
        model: str | os.PathLike[str] | Model,
        device: str | Sequence[str] = "auto",
        *,
        threads: int = 0,
        min_score: float | None = None,
        pipeline: PipelineSpec | None = None,
        decoder: DecoderSpec | None = None,
        labels: Sequence[str] | None = None,
    ) -> None:
        name = type(self).__name__
        specs = {"pipeline": pipeline, "decoder": decoder, "labels": labels}
        self._stage = Stage(model, device, threads, task=name, min_score=min_score, **specs)  # type: ignore[arg-type]
        if self._stage.gives not in self.gives:
            raise ModelError(
                f"{self._stage.name}: a {name} needs a model that gives "
                f"{' or '.join(self.gives)}, this one gives {self._stage.gives}",
                hint="foveal.vision.task(model) makes the task that fits",
            )
        self.model = self._stage.model
        self.labels = self._stage.labels
        self._arguments: dict[str, Any] = {
            "model": model,
            "device": device,
            "threads": threads,
            "min_score": min_score,
            **specs,
        }
        self.timings: dict[str, float] = dict.fromkeys(STEPS, 0.0)
        """Milliseconds of the call that ended last, summed over its pictures and stages."""

    def __repr__(self) -> str:
        return f"<foveal.vision.{type(self).__name__} {self._stage.name}>"

    @property
    def session(self) -> Any:
        """The session that runs the (first) model; it belongs to the task."""
        return self._stage.session

    def __reduce__(self) -> Any:
        return _remade, (type(self), {**self._arguments, "model": _portable(self._arguments)})

    def __call__(self, picture: Any) -> Any:
        """The task's own verb, for a picture or a list of pictures; or a table of pictures.

        A table is a dict of arrays or lists with a column "image" (Ray Data's batches) or a pandas
        DataFrame with one (Dask's partitions), of arrays uint8 [H, W, 3], paths, or the bytes of
        picture files. The result is a table of the same kind with a column "results" (plain values
        as `plain` gives, one list or dict per picture), without "image" unless that holds paths.
        """
        if batch.is_table(picture):
            return batch.run(picture, lambda pictures: [self.plain(r) for r in self._run(pictures)])
        return self._run(picture)

    def draw(self, picture: Picture, results: Any = None) -> Image:
        """The upright picture as a PIL image with the results drawn in.

        Without `results` they are found first. ArgumentError for what is no result of this task.
        """
        from PIL import Image as pil

        if results is not None:
            self._check_results(results)
        frame = open_image(picture)
        found = self._run(frame) if results is None else results
        pixels = upright_rgb(frame)
        self._draw(pixels, found)
        return pil.fromarray(pixels)

    @abstractmethod
    def plain(self, results: Any) -> Any:
        """The results of one picture as values that JSON can say."""

    @abstractmethod
    def _one(self, frame: Frame, timings: dict[str, float], roi: Any = None) -> Any:
        """The results of one frame; adds to `timings`."""

    @abstractmethod
    def _check_results(self, results: Any) -> None:
        """ArgumentError for what `_draw` cannot draw."""

    @abstractmethod
    def _draw(self, pixels: NDArray[np.uint8], results: Any) -> None:
        """Draws the results of one picture into it, RGB [H, W, 3]."""

    def _run(self, picture: Any, *arguments: Any) -> Any:
        if isinstance(picture, Iterator) and not hasattr(picture, "read"):
            picture = list(picture)
        timings = dict.fromkeys(STEPS, 0.0)
        found = (
            [self._one(_opened(i, one), timings, *arguments) for i, one in enumerate(picture)]
            if isinstance(picture, (list, tuple))
            else self._one(open_image(picture), timings, *arguments)
        )
        self.timings = timings
        return found


def upright_rgb(frame: Frame) -> NDArray[np.uint8]:
    """The upright picture, (H, W, 3) RGB, of a frame in any format. Copies."""
    return image.convert(frame, "rgb")


def _opened(index: int, picture: Picture) -> Frame:
    """The frame of a picture among several; an error says which one it was."""
    try:
        return open_image(picture)
    except FovealError as error:
        raise type(error)(f"picture {index}: {error.message}", hint=error.hint) from error


def check_items(results: object, parts: Sequence[str], what: str, verb: str) -> None:
    """ArgumentError unless `results` is a sequence of things that have all `parts`."""
    good = isinstance(results, Sequence) and all(
        all(hasattr(item, part) for part in parts) for item in results
    )
    if not good:
        raise ArgumentError(
            f"draw: expected a list of {what}, got {brief(results)}",
            hint=f"pass what {verb}() returned, or nothing",
        )


def _portable(arguments: Mapping[str, Any]) -> Any:
    """The model as another process can open it: a zoo name, an absolute path, or its bytes."""
    model = arguments["model"]
    if isinstance(model, Model):
        return _ModelBytes(model)
    text = os.fsdecode(model)
    return text if text in zoo.names() else str(Path(text).expanduser().absolute())


class _ModelBytes:
    """A Model that pickles as the bytes of its .fvm file."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def __reduce__(self) -> Any:
        import tempfile

        from foveal.graph import Graph

        with tempfile.TemporaryDirectory(prefix="foveal-") as folder:
            path = Path(folder) / "model.fvm"
            Graph.from_model(self.model).save(path)
            return _from_bytes, (path.read_bytes(),)


def _from_bytes(data: bytes) -> Model:
    return Model.from_bytes(data)


def _remade(kind: type[Task], arguments: dict[str, Any]) -> Task:
    model = arguments["model"]
    if isinstance(model, _ModelBytes):  # a copy that never was bytes
        arguments = {**arguments, "model": model.model}
    return kind(**arguments)
