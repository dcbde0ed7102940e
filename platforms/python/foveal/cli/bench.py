"""`foveal bench MODEL...`"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path
from typing import Any

from foveal.cli import console, options
from foveal.errors import ArgumentError, FovealError, NotFoundError

NAME = "bench"
HELP = "time models beside other engines: one process, rounds interleaved, ratios"


def configure(parser: argparse.ArgumentParser) -> None:
    """Models, engines, and how to measure."""
    parser.add_argument(
        "models", nargs="*", metavar="MODEL", help="zoo name, .onnx, .tflite or .fvm file"
    )
    parser.add_argument(
        "--imgproc",
        action="store_true",
        help="time frames to tensors instead, beside opencv, libyuv, pillow, torch; the arguments "
        "are names of cases (default: all)",
    )
    parser.add_argument(
        "--against",
        default="",
        metavar="ENGINES",
        help="onnxruntime,litert,openvino,mnn,ncnn, or 'all' that are installed (default: none)",
    )
    parser.add_argument(
        "--threads", default="1", metavar="N,N", help="numbers of threads (default: 1)"
    )
    parser.add_argument(
        "--rounds", type=options.positive, default=15, metavar="N", help="default: 15"
    )
    options.add_input_shape(parser)
    parser.add_argument(
        "--no-fresh",
        action="store_true",
        help="leave out load time, first run and memory, which need a process per engine",
    )
    parser.add_argument(
        "--json", nargs="?", const="-", metavar="FILE.json", help="JSON to a file or to stdout"
    )
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table of ratios")


def run(args: argparse.Namespace) -> int:
    """Prints a table. A model that cannot be measured is reported and the others still done."""
    if not args.models and not args.imgproc:
        raise ArgumentError("bench: expected a model", hint="or --imgproc, which needs none")
    if args.json not in (None, "-") and not args.json.lower().endswith(".json"):
        args.models.append(args.json)  # `bench --json MODEL`: a model must never be overwritten
        args.json = "-"
    if args.json not in (None, "-"):
        options.check_output("--json", args.json)
    counts = _threads(args.threads)
    if args.imgproc:
        return _images(args, counts)
    shapes = options.shapes(args.input_shape)
    from foveal import bench, progress
    from foveal.bench.report import HEAD, RIGHT, cells, problems

    engines = _engines(args.against)
    rows: list[Any] = []
    failed = 0
    with progress.bar("bench") as update:
        for done, model in enumerate(args.models):
            try:
                rows += bench.compare(
                    model,
                    against=engines,
                    threads=counts,
                    rounds=args.rounds,
                    input_shapes=shapes,
                    fresh=not args.no_fresh,
                    step=lambda text, done=done: update(done, len(args.models), text),  # type: ignore[misc]
                )
            except FovealError as error:
                if len(args.models) == 1:
                    raise
                failed += 1
                message, hint = console.describe(error)
                console.error(f"{model}: {message}", hint)
    if args.markdown and args.json != "-":
        print(bench.markdown(rows))
        _end(args, bench.as_json(rows), problems(rows))
    else:
        legend = ["ratio: Foveal's time over the engine's; below 1 Foveal is faster"]
        table = (HEAD, cells(rows), RIGHT)
        _show(args, bench.as_json(rows), table, legend if engines else [], problems(rows))
    return 2 if failed else 0


def _images(args: argparse.Namespace, counts: list[int]) -> int:
    """The cases of the image pipeline."""
    from foveal import progress
    from foveal.bench import imgproc
    from foveal.bench.imgproc.peers import find, peers
    from foveal.bench.report import problems

    if args.against == "all":
        libraries = [name for name in peers() if _installed(find(name))]
    else:
        libraries = [name.strip() for name in args.against.split(",") if name.strip()]
    total = len(args.models or (*imgproc.CASES, "camera")) * len(counts)
    done = itertools.count()
    with progress.bar("bench") as update:
        rows = imgproc.compare(
            args.models,
            against=libraries,
            threads=counts,
            rounds=args.rounds,
            step=lambda text: update(next(done), total, text),
        )
    legend = [
        "ratio: Foveal's time over the library's; below 1 Foveal is faster",
        "of floor: time to read the input and fill the output once, over the library's",
    ]
    table = (imgproc.HEAD, imgproc.cells(rows), imgproc.RIGHT)
    _show(args, imgproc.as_json(rows), table, legend, problems(rows))
    return 0


def _show(
    args: argparse.Namespace,
    data: dict[str, Any],
    table: tuple[Any, Any, Any],
    legend: list[str],
    problems: list[str],
) -> None:
    """The rows as JSON or as a table with the machine above and the legend below."""
    if args.json == "-":
        console.print_json(data)
    else:
        facts = data["machine"]
        console.title(f"{facts['cpu']}, {facts['cores']} cores, foveal {facts['foveal']}")
        console.table(*table, hide_empty=True)
        if legend:
            print("\n" + "\n".join(legend))
    _end(args, data, problems)


def _end(args: argparse.Namespace, data: dict[str, Any], problems: list[str]) -> None:
    """What went wrong, and the JSON file if one was asked for."""
    for line in problems:
        console.note(line)
    if args.json not in (None, "-"):
        from foveal.cache import write_text

        write_text(Path(args.json), console.as_json(data) + "\n")
        console.note(f"results: {args.json}")


def _installed(library: Any) -> bool:
    try:
        library.version()
    except NotFoundError as error:
        console.note(f"not installed: {library.name} ({error.hint})")
        return False
    return True


def _threads(text: str) -> list[int]:
    counts = [int(part) if part.strip().isdecimal() else 0 for part in text.split(",")]
    if not all(1 <= count <= 64 for count in counts):
        raise ArgumentError(
            f"--threads: expected numbers from 1 to 64, got '{text}'",
            hint="write them like: --threads 1,2",
        )
    return counts


def _engines(text: str) -> list[str]:
    """The names given; for 'all' those that are installed."""
    from foveal.bench.engines import engines, find

    if text == "all":
        found = []
        for name, engine in engines().items():
            try:
                engine.version()
                found.append(name)
            except NotFoundError:
                console.note(f"not installed: {name} (pip install {engine.package})")
        return found
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        find(name)
    return names
