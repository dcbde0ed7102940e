"""Options that several subcommands share, and their parsing."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from foveal.errors import ArgumentError, IOFailure, NotFoundError


def add_device(parser: argparse.ArgumentParser) -> None:
    """--device and --threads."""
    parser.add_argument(
        "--device",
        default="auto",
        help="'auto', a device, or several in order of preference: template,cpu "
        "(see: foveal plugins)",
    )
    parser.add_argument(
        "--threads", type=positive, metavar="N", help="CPU threads (default: the cores, at most 4)"
    )


def add_model(parser: argparse.ArgumentParser) -> None:
    """The positional MODEL."""
    parser.add_argument(
        "model", help="a .fvm, .onnx or .tflite file, or a zoo name (foveal zoo list)"
    )


def add_input_shape(parser: argparse.ArgumentParser) -> None:
    """--input-shape."""
    parser.add_argument(
        "--input-shape",
        action="append",
        metavar="NAME=SIZES",
        help="sizes of an input with open dimensions: input=1,3,640,640 (repeat for more)",
    )


def device(args: argparse.Namespace) -> str | list[str]:
    """--device as `Session` takes it: one name, or a list. ArgumentError for an empty name."""
    given: list[str] = [name.strip() for name in args.device.split(",")]
    if not all(given):
        raise ArgumentError(
            f"--device: '{args.device}' has an empty name",
            hint="write it like: --device template,cpu",
        )
    return given[0] if len(given) == 1 else given


def session(args: argparse.Namespace, model: Any, *, profile: bool = False) -> Any:
    """A session of `model` as --device and --threads say."""
    import foveal

    return foveal.Session(model, device=device(args), threads=args.threads or 0, profile=profile)


def fix_shapes(session: Any, chosen: dict[str, tuple[int, ...]]) -> None:
    """Gives every input of `session` whole sizes: those chosen, else the declared ones; open ones
    come from the model's own pipeline. ArgumentError for inputs that remain open."""
    known = {info.name: tuple(info.shape) for info in session.inputs}
    for name in chosen:
        if name not in known:
            raise NotFoundError(
                f"the model has no input '{name}'; its inputs are {', '.join(known)}",
                hint="see: foveal info MODEL",
            )
    for name, declared in known.items():
        shape = chosen.get(name) or closed_shape(declared, session.model.meta)
        if shape is None:
            shown = " x ".join(str(d) for d in declared)
            sizes = ",".join(str(d) if isinstance(d, int) and d >= 0 else "640" for d in declared)
            raise ArgumentError(
                f"input '{name}' has open dimensions: {shown}",
                hint=f"choose them: --input-shape {name}={sizes}",
            )
        session.resize(name, shape)


def closed_shape(declared: tuple[int | str, ...], meta: dict[str, str]) -> tuple[int, ...] | None:
    """The declared shape if it is whole; (1, C, open, open) gets the pipeline's size; else None."""
    whole = tuple(d for d in declared if isinstance(d, int) and d >= 0)
    if len(whole) == len(declared):
        return whole
    if len(declared) == 4 and whole == declared[:2] and (size := _pipeline_size(meta)):
        return (*whole, size[1], size[0])
    return None


def _pipeline_size(meta: dict[str, str]) -> tuple[int, int] | None:
    """[width, height] of the pipeline in a model file, which may say anything, or nothing."""
    try:
        spec = json.loads(meta.get("pipeline", ""))
    except (ValueError, RecursionError):
        return None
    size = spec.get("size") if isinstance(spec, dict) else None
    if not isinstance(size, list) or [type(v) for v in size] != [int, int] or min(size) < 1:
        return None
    return size[0], size[1]


def shapes(given: list[str] | None) -> dict[str, tuple[int, ...]]:
    """["input=1,3,640,640"] -> {"input": (1, 3, 640, 640)}. ArgumentError for anything else."""
    found: dict[str, tuple[int, ...]] = {}
    for text in given or []:
        name, equals, dims = text.rpartition("=")
        sizes = [size.strip() for size in dims.split(",")]
        shape = tuple(int(size) for size in sizes if size.isdecimal())
        if not (name and equals) or len(shape) != len(sizes) or min(shape) < 1:
            raise ArgumentError(
                f"--input-shape: expected NAME=SIZES, got '{text}'",
                hint="write it like: --input-shape input=1,3,640,640",
            )
        found[name] = shape
    return found


def pairs(given: list[str] | None, option: str) -> dict[str, str]:
    """["a=b"] -> {"a": "b"}. ArgumentError for text without '='."""
    found = {}
    for text in given or []:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise ArgumentError(
                f"{option}: expected NAME=VALUE, got '{text}'",
                hint=f"write it like: {option} input=data.npy",
            )
        found[name] = value
    return found


def read_text(option: str, path: str, what: str) -> str:
    """The UTF-8 text file that `option` names; errors say that it should hold `what`."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise NotFoundError(f"{option}: there is no file '{path}'", hint="check the path") from None
    except IsADirectoryError:
        raise ArgumentError(
            f"{option}: {path}: expected a file with {what}, got a folder",
            hint="name a file inside it",
        ) from None
    except UnicodeDecodeError as error:
        raise ArgumentError(
            f"{option}: {path}: expected {what} as UTF-8 text, got binary data"
        ) from error
    except OSError as error:
        raise IOFailure(f"{option}: {path}: cannot be read: {error.strerror or error}") from error


def positive(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected a number from 1 up, got '{text}'")
    return value


def natural(text: str) -> int:
    """A whole number from 0 up, for argparse."""
    if not text.isascii() or not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a whole number from 0 up, got '{text}'")
    return int(text[:400])


def fraction(text: str) -> float:
    """A number in 0..1, for argparse."""
    try:
        value = float(text)
    except ValueError:
        value = -1
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"expected a number in 0..1, got '{text}'")
    return value
