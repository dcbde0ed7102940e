"""`foveal convert IN OUT`"""

from __future__ import annotations

import argparse
from pathlib import Path

from foveal.cli import console, options
from foveal.errors import ArgumentError

NAME = "convert"
HELP = "turn an .onnx or .tflite model into a .fvm file"


def configure(parser: argparse.ArgumentParser) -> None:
    """Source, target and what the file is to carry."""
    parser.add_argument("source", metavar="IN", help="an .onnx or .tflite file, or a zoo name")
    parser.add_argument("target", metavar="OUT", help="the .fvm file to write")
    parser.add_argument(
        "--input-shape",
        action="append",
        metavar="NAME=SIZES",
        help="replace an input's shape: input=1,3,640,640 (repeat for more inputs)",
    )
    parser.add_argument("--no-optimize", action="store_true", help="skip the rewrite passes")
    parser.add_argument(
        "--check",
        action="store_true",
        help="run both models on random input and print the largest deviation of each output "
        "(needs onnxruntime or ai-edge-litert); exit code 1 above 1e-4 of the output's range",
    )
    options.add_specs(parser)


def run(args: argparse.Namespace) -> int:
    """Converts, writes whole or not at all, then checks if asked to."""
    target = Path(args.target)
    if target.suffix.lower() != ".fvm":
        raise ArgumentError(
            f"OUT: expected a name ending in .fvm, got '{args.target}'",
            hint="write it like: foveal convert model.onnx model.fvm",
        )
    from foveal import progress, zoo
    from foveal.cache import atomic_path
    from foveal.convert import convert

    options.check_output("OUT", target)
    shapes: dict[str, tuple[int | str, ...]] = {**options.shapes(args.input_shape)}
    meta: dict[str, str] = {}
    if args.source in zoo.names():
        entry = zoo.find(args.source)
        source = zoo.get(args.source, step=progress.show)
        meta = zoo.metadata(entry)
        shapes = {**entry.input_shapes, **shapes}
    else:
        source = _source(args.source)
    meta |= options.specs(args)
    with progress.show(f"converting {source.name}"):
        graph = convert(
            source, input_shapes=shapes or None, optimize=not args.no_optimize, meta=meta
        )
        with atomic_path(target) as temporary:
            graph.save(temporary)
    print(
        f"{target}: {len(graph.nodes)} operators, {console.size(target.stat().st_size)}"
        f" (source: {console.size(source.stat().st_size)})"
    )
    return _check(source, target, options.shapes(args.input_shape)) if args.check else 0


def _source(given: str) -> Path:
    from foveal.loader import is_fvm, read_head, refuse_other_files

    path = Path(given)
    head = read_head(path, given)
    if is_fvm(head):
        raise ArgumentError(f"{given}: is a .fvm file already", hint="see: foveal info FILE")
    refuse_other_files(path, head)
    return path


def _check(source: Path, target: Path, shapes: dict[str, tuple[int, ...]]) -> int:
    import foveal
    from foveal import progress
    from foveal.convert.parity import compare

    with progress.show("comparing with the source runtime"):
        rows = compare(source, foveal.load(target), input_shapes=shapes)
    console.table(
        ("output", "shape", "largest deviation", "of its range"),
        [
            (row.output, console.shape(row.shape), f"{row.largest:.2e}", f"{row.relative:.2e}")
            for row in rows
        ],
        right=(2, 3),
    )
    good = all(row.relative <= 1e-4 for row in rows)
    print("equal within 1e-4 of the range" if good else "NOT equal within 1e-4 of the range")
    return 0 if good else 1
