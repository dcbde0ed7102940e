"""What the sources of recipes share."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from foveal.errors import IOFailure, NotFoundError, SpecError
from foveal.image import Crop, Pipeline, Stretch

MAX_BYTES = 4 << 20
"""Of a recipe's file, and of a list of labels."""


@dataclass(frozen=True)
class Recipe:
    """What a source says of a model's input.

    pipeline: as the model wants its pictures. labels: names of the classes, empty if the source
    has none.
    """

    pipeline: Pipeline
    labels: tuple[str, ...] = field(default=())

    def meta(self) -> dict[str, str]:
        """As entries of a model file's metadata."""
        found = {"pipeline": self.pipeline.json()}
        return found | ({"labels": json.dumps(list(self.labels))} if self.labels else {})


def refuse(source: str, what: str, hint: str = "") -> SpecError:
    """The error for what a pipeline cannot say exactly."""
    return SpecError(f"{source} recipe: {what}", hint=hint)


def whole(source: str, what: str, value: Any) -> int:
    """A side in pixels."""
    integral = not isinstance(value, bool) and (
        isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    )
    if not integral or not 1 <= value <= 16384:
        raise refuse(source, f"{what}: expected a whole number in 1..16384, got {value!r:.80}")
    return int(value)


def number(source: str, what: str, value: Any) -> float:
    """A finite number."""
    real = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not real or not abs(value) < 1e300:  # neither NaN nor what no float can say
        raise refuse(source, f"{what}: expected a finite number, got {value!r:.80}")
    return float(value)


def levels(source: str, what: str, value: Any) -> tuple[float, float, float]:
    """One number for all channels, or three."""
    given = value if _is_list(value) else [value] * 3
    if len(given) == 1:
        given = list(given) * 3
    if len(given) != 3:
        raise refuse(source, f"{what}: expected one number or three, got {len(given)}")
    red, green, blue = (number(source, what, v) for v in given)
    return red, green, blue


def pair(source: str, what: str, value: Any) -> tuple[int, int]:
    """(height, width) of one number, [height, width] or {"height": .., "width": ..}."""
    if isinstance(value, Mapping):
        if set(value) != {"height", "width"}:
            raise refuse(
                source, f"{what}: expected height and width, got {', '.join(map(str, value))}"
            )
        value = value["height"], value["width"]
    given = list(value) if _is_list(value) else [value]
    if len(given) not in (1, 2):
        raise refuse(source, f"{what}: expected one side or two, got {value!r:.80}")
    return whole(source, what, given[0]), whole(source, what, given[-1])


def resized_then_cropped(
    source: str, short: int | None, resized: tuple[int, int], crop: tuple[int, int], policy: str
) -> Crop | Stretch:
    """The fit of a picture resized to a short side, or to (height, width), and cropped after."""
    least = (short, short) if short else resized
    if crop[0] > least[0] or crop[1] > least[1]:
        raise refuse(
            source,
            f"the crop {crop[1]}x{crop[0]} is larger than the resized picture "
            f"({'short side ' + str(short) if short else f'{resized[1]}x{resized[0]}'}); "
            "it would be padded",
        )
    if not short and crop == resized:
        return Stretch()
    return Crop(short or (resized[1], resized[0]), policy)


def open_size(source: str, what: str) -> SpecError:
    return refuse(
        source,
        f"{what}: the tensor's size follows from the picture, as no size rule says",
        "export the model for a fixed size and write its pipeline by hand",
    )


def read_file(source: str, path: str) -> bytes:
    """A file of at most MAX_BYTES. Raises NotFoundError, IOFailure, SpecError."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise NotFoundError(f"{source} recipe: there is no file '{path}'") from None
    except (OSError, ValueError) as error:
        raise IOFailure(f"{source} recipe: {path}: cannot be read: {error}") from error
    if len(data) > MAX_BYTES:
        raise refuse(source, f"{path}: expected at most {MAX_BYTES} bytes")
    return data


def json_object(source: str, text: str | bytes) -> dict[str, Any]:
    """The object that a text says. Raises SpecError."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise refuse(source, f"expected JSON: {error}") from None
    if not isinstance(value, dict):
        raise refuse(source, f"expected an object, got {type(value).__name__}")
    return value


def sides(source: str, text: str) -> tuple[int, int] | None:
    """(height, width) of "640" or "640x480" (width x height); None for other texts."""
    parts = text.lower().split("x")
    if len(parts) > 2 or not all(p.isascii() and p.isdecimal() and len(p) < 9 for p in parts):
        return None
    width, height = whole(source, "size", int(parts[0])), whole(source, "size", int(parts[-1]))
    return height, width


def names(source: str, value: Any) -> tuple[str, ...]:
    """Class names: a list, or a mapping of all indices from 0 on to names."""
    if isinstance(value, Mapping):
        try:
            indexed = {int(k): str(v) for k, v in value.items()}
        except (TypeError, ValueError):
            raise refuse(source, "names: expected indices from 0 on") from None
        if set(indexed) != set(range(len(indexed))):
            raise refuse(source, "names: expected every index from 0 on")
        return tuple(indexed[i] for i in range(len(indexed)))
    if not _is_list(value):
        raise refuse(source, f"names: expected a list, got {type(value).__name__}")
    return tuple(str(v) for v in value)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))
