"""Options that several subcommands share, and their parsing."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from foveal.errors import ArgumentError, FovealError, IOFailure, NotFoundError, SpecError


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


def add_specs(parser: argparse.ArgumentParser) -> None:
    """--pipeline, --decoder, --task and --labels: what a model carries besides its graph."""
    parser.add_argument("--pipeline", metavar="FILE", help="image pipeline spec to carry (JSON)")
    parser.add_argument(
        "--recipe",
        metavar="NAME:TEXT",
        help="carry the pipeline (and labels) of a recipe: hf:preprocessor_config.json, "
        "ultralytics:640, yolox:416, opencv:blob.json, tflite:other.tflite, "
        "torchvision:ResNet50_Weights.DEFAULT",
    )
    parser.add_argument("--decoder", metavar="FILE", help="decoder spec to carry (JSON)")
    parser.add_argument("--task", metavar="FILE", help="task spec to carry (JSON)")
    parser.add_argument("--labels", metavar="FILE", help="class labels to carry, one a line")


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
    """The declared shape if it is whole; open sizes of (1, C, height, width) come from the
    pipeline; else None."""
    whole = tuple(d for d in declared if isinstance(d, int) and d >= 0)
    if len(whole) == len(declared):
        return whole
    if len(declared) == 4 and whole[:2] == declared[:2] and (size := _pipeline_size(meta)):
        sides = zip(declared[2:], reversed(size), strict=True)
        return (*whole[:2], *(d if isinstance(d, int) and d >= 0 else side for d, side in sides))
    return None


def _pipeline_size(meta: dict[str, str]) -> tuple[int, int] | None:
    """[width, height] of the pipeline in a model file, which may say anything, or nothing. One
    that follows the picture is asked for a picture of 640 x 480."""
    from foveal import image
    from foveal.frame import Frame

    try:
        pipeline = image.Pipeline.from_json(meta.get("pipeline", ""))
        if isinstance(pipeline.size, tuple):
            return pipeline.size
        frame = Frame(format="gray", width=640, height=480, planes=[bytes(640 * 480)])
        roi = None if pipeline.roi == "full" else image.Rect(0, 0, 640, 480)
        return pipeline.size_for(frame, roi)
    except FovealError:
        return None


def specs(args: argparse.Namespace) -> dict[str, str]:
    """The JSON texts that `add_specs`'s options name, checked, as a model's metadata has them."""
    found: dict[str, str] = {}
    if args.recipe:
        if args.pipeline:
            raise ArgumentError("--recipe: --pipeline says the same, give one of them")
        from foveal import recipes

        found |= recipes.read(args.recipe).meta()
    if args.pipeline or args.decoder or args.task:
        from foveal import image, vision

        for key, read in (
            ("pipeline", lambda text: image.Pipeline.from_json(text).json()),
            ("decoder", lambda text: image.Decoder.from_json(text).json()),
            ("task", vision.check_task),
        ):
            if path := getattr(args, key):
                text = read_text(f"--{key}", path, f"a {key} spec")
                try:
                    found[key] = read(text)
                except SpecError as error:
                    raise SpecError(f"--{key}: {path}: {error.message}", hint=error.hint) from error
    if args.labels:
        lines = read_text("--labels", args.labels, "class labels").splitlines()
        if not any(line.strip() for line in lines):
            raise ArgumentError(f"{args.labels}: expected one label a line, got an empty file")
        found["labels"] = json.dumps([line.strip() for line in lines])
    return found


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


def check_output(option: str, target: str | os.PathLike[str], inputs: Iterable[str] = ()) -> None:
    """Raises, before anything slow, what would keep the file `target` from being written, and
    ArgumentError if it is one of the files that are read."""
    from foveal.cache import check_target

    refuse_input(option, target, inputs)
    check_target(target)


def refuse_input(option: str, target: str | os.PathLike[str], inputs: Iterable[str]) -> None:
    """ArgumentError if `target`, about to be written, is one of the files that are read."""
    if any(_same_file(path, target) for path in inputs):
        raise ArgumentError(
            f"{option}: '{os.fspath(target)}' is the file to read, it would be overwritten",
            hint="name another file",
        )


def _same_file(one: str, other: str | os.PathLike[str]) -> bool:
    try:
        return Path(one).samefile(other)
    except (OSError, ValueError):  # no such file; no file at all, like a stream's address
        return False


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
