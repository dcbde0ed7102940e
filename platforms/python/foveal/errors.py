"""Exceptions of Foveal. The text says operation, expected, got; ``hint`` says what to do."""

from __future__ import annotations


class FovealError(Exception):
    """Base of all errors Foveal raises on purpose.

    Attributes:
        op: the operator or call concerned, ``""`` if there is none.
        hint: what to do about it, ``""`` if nothing useful can be said.
    """

    def __init__(self, message: str, *, op: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.op = op
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class ArgumentError(FovealError, ValueError):
    """An argument that makes no sense: wrong name, range or type."""


class NotFoundError(FovealError, LookupError):
    """No file, input, device, plugin or model of that name."""


class ModelError(FovealError):
    """A model file or graph that is damaged, foreign or inconsistent."""


class UnsupportedOpError(ModelError):
    """Operators, attributes or types that cannot be run; the message lists all of them."""


class ShapeError(FovealError, ValueError):
    """Shapes that do not fit together."""


class PluginError(FovealError):
    """A plugin that cannot be loaded or used."""


class FrameError(FovealError, ValueError):
    """An image whose planes, strides or size contradict each other, or that is not one."""


class SpecError(FovealError, ValueError):
    """A pipeline or decoder specification that is wrong or cannot be carried out."""


class IOFailure(FovealError, OSError):
    """A file that cannot be read or written."""


class OutOfMemory(FovealError, MemoryError):
    """Not enough memory."""


class DeviceLost(FovealError):
    """The device went away; create the session again."""


class InternalError(FovealError):
    """A defect of Foveal itself: please report it."""


# By fv_code of foveal/types.h.
_CLASSES: dict[int, type[FovealError]] = {
    1: ArgumentError,
    2: OutOfMemory,
    3: NotFoundError,
    4: UnsupportedOpError,
    5: ModelError,
    6: ShapeError,
    7: PluginError,
    8: FrameError,
    9: SpecError,
    10: IOFailure,
    11: DeviceLost,
    12: InternalError,
}


def from_code(code: int, message: str, op: str, hint: str, native: int) -> FovealError:
    """The exception for an error of the core. ``native`` is the system's error number or 0."""
    if native:
        message = f"{message} [{native}]"
    return _CLASSES.get(code, InternalError)(message, op=op, hint=hint)
