"""`foveal run MODEL`"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from pathlib import Path
from typing import Any

from foveal.cli import console, options
from foveal.errors import ArgumentError, NotFoundError

NAME = "run"
HELP = "run a model on arrays or random numbers and print what comes out"


def configure(parser: argparse.ArgumentParser) -> None:
    """Model, inputs, device and outputs."""
    options.add_model(parser)
    parser.add_argument(
        "--input",
        action="append",
        metavar="NAME=FILE",
        help="a .npy file for an input (default: random numbers for every input)",
    )
    options.add_input_shape(parser)
    parser.add_argument(
        "--seed", type=options.natural, default=0, help="of the random inputs (default: 0)"
    )
    parser.add_argument("--output", metavar="FOLDER", help="write every output as FOLDER/NAME.npy")
    parser.add_argument(
        "--repeat", type=options.positive, default=1, metavar="N", help="run N times, print times"
    )
    parser.add_argument(
        "--profile", metavar="FILE", help="write a trace for ui.perfetto.dev (JSON)"
    )
    options.add_device(parser)


def run(args: argparse.Namespace) -> int:
    """Runs and prints one line per output."""
    files = options.pairs(args.input, "--input")
    shapes = options.shapes(args.input_shape)
    import foveal
    from foveal import progress

    model = foveal.load(args.model)
    session = options.session(args, model, profile=bool(args.profile))
    inputs = _inputs(session, files, shapes, args.seed)
    times = []
    with progress.show(f"running {args.model}"):
        for _ in range(args.repeat):
            begin = time.perf_counter()
            outputs = session.run(inputs)
            times.append((time.perf_counter() - begin) * 1e3)
    _print(outputs)
    if args.repeat > 1:
        later = times[1:]
        print(
            f"first run {times[0]:.2f} ms; the other {len(later)}: "
            f"median {statistics.median(later):.2f} ms, least {min(later):.2f} ms"
        )
    else:
        print(f"first run {times[0]:.2f} ms (with preparation; see --repeat)")
    if args.profile:
        session.profile(os.fsencode(args.profile))  # a name need not be text
        print(f"trace: {args.profile} (open it in ui.perfetto.dev)")
    if args.output:
        _write(outputs, Path(args.output))
    return 0


def _inputs(
    session: Any, files: dict[str, str], shapes: dict[str, tuple[int, ...]], seed: int
) -> dict[str, Any]:
    """Arrays from the files; random ones, uniform in -1..1 (whole in 0..255), for the rest."""
    import numpy as np

    from foveal._random_inputs import random_input

    known = [info.name for info in session.inputs]
    for name in files:
        if name not in known:
            raise NotFoundError(
                f"the model has no input '{name}'; its inputs are {', '.join(known)}",
                hint="see: foveal info MODEL",
            )
    arrays = {name: _load(path) for name, path in files.items()}
    options.fix_shapes(session, {**shapes, **{name: a.shape for name, a in arrays.items()}})
    generator = np.random.default_rng(seed)
    for name in known:
        if name not in arrays:
            arrays[name] = random_input(session, name, generator)
    return arrays


def _load(path: str) -> Any:
    import numpy as np

    try:
        array = np.load(path, allow_pickle=False)
        if not isinstance(array, np.ndarray):
            raise ValueError("an archive of several arrays")
        return array
    except FileNotFoundError:
        raise NotFoundError(f"there is no array file '{path}'", hint="check the path") from None
    except IsADirectoryError:
        raise ArgumentError(
            f"{path}: expected a .npy array, got a folder", hint="name a file inside it"
        ) from None
    except (ValueError, EOFError) as error:
        raise ArgumentError(
            f"{path}: expected a .npy array, got something else ({error})",
            hint="write it with numpy.save",
        ) from error


def _print(outputs: dict[str, Any]) -> None:
    import numpy as np

    rows = []
    for name, array in outputs.items():
        stats = ["-"] * 4
        if array.size and array.dtype.kind in "fiu":
            values = array.astype(np.float64)
            bad = int(array.size - np.isfinite(values).sum())
            finite = values[np.isfinite(values)] if bad else values
            if finite.size:
                stats[:3] = [f"{v:.5g}" for v in (finite.min(), finite.mean(), finite.max())]
            stats[3] = str(bad)
        rows.append((name, console.shape(array.shape), array.dtype, *stats))
    console.table(
        ("output", "shape", "type", "min", "mean", "max", "NaN or Inf"), rows, right=(3, 4, 5, 6)
    )


def _write(outputs: dict[str, Any], folder: Path) -> None:
    import numpy as np

    from foveal.cache import atomic_path, output_dir

    output_dir(folder)
    for name, array in outputs.items():
        safe = (
            "".join(c if c.isalnum() or c in "-_." else "_" for c in name).lstrip(".") or "output"
        )
        path = folder / f"{safe}.npy"
        with atomic_path(path) as temporary, temporary.open("wb") as file:
            np.save(file, array, allow_pickle=False)
        print(f"wrote {path}")
