"""Options that several subcommands share, and their parsing."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from foveal.errors import ArgumentError


def add_device(parser: argparse.ArgumentParser) -> None:
    """--device and --threads."""
    parser.add_argument(
        "--device",
        default="auto",
        help="'auto', a device, or several in order of preference: template,cpu (see: foveal plugins)",
    )
    parser.add_argument(
        "--threads", type=positive, default=None, metavar="N", help="CPU threads (default: all cores)"
    )


def add_model(parser: argparse.ArgumentParser) -> None:
    """The positional MODEL."""
    parser.add_argument("model", help="a .fvm, .onnx or .tflite file, or a zoo name (foveal zoo list)")


def device(args: argparse.Namespace) -> str | list[str]:
    """--device as `Session` takes it: one name, or a list. ArgumentError for an empty name."""
    given: list[str] = [name.strip() for name in args.device.split(",")]
    if not all(given):
        raise ArgumentError(
            f"--device: '{args.device}' has an empty name", hint="write it like: --device template,cpu"
        )
    return given[0] if len(given) == 1 else given


def session(args: argparse.Namespace, model: Any) -> Any:
    """A session of `model` as --device and --threads say."""
    import foveal

    more = {} if args.threads is None else {"threads": args.threads}
    return foveal.Session(model, device=device(args), **more)


def shapes(given: list[str] | None) -> dict[str, tuple[int, ...]] | None:
    """["input=1,3,640,640"] -> {"input": (1, 3, 640, 640)}; None for none. ArgumentError for others."""
    found: dict[str, tuple[int, ...]] = {}
    for text in given or []:
        name, equals, dims = text.rpartition("=")
        try:
            shape = tuple(int(d) for d in dims.replace("x", ",").split(","))
        except ValueError:
            shape = ()
        if not (name and equals and shape) or min(shape) < 1:
            raise ArgumentError(
                f"--input-shape: expected NAME=SIZES, got '{text}'",
                hint="write it like: --input-shape input=1,3,640,640",
            )
        found[name] = shape
    return found or None


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


def read_text(path: str, what: str) -> str:
    """A small UTF-8 text file. ArgumentError that names `what` when it is not text."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ArgumentError(f"{path}: expected {what} as UTF-8 text, got binary data") from error


def positive(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected a number from 1 up, got '{text}'")
    return value


def fraction(text: str) -> float:
    """A number in 0..1, for argparse."""
    try:
        value = float(text)
    except ValueError:
        value = -1
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"expected a number in 0..1, got '{text}'")
    return value


