"""`foveal run MODEL`"""

from __future__ import annotations

import argparse
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
    parser.add_argument(
        "--input-shape",
        action="append",
        metavar="NAME=SIZES",
        help="shape of a random input with open dimensions: input=1,3,640,640",
    )
    parser.add_argument("--seed", type=int, default=0, help="of the random inputs (default: 0)")
    parser.add_argument("--output", metavar="FOLDER", help="write every output as FOLDER/NAME.npy")
    parser.add_argument(
        "--repeat", type=options.positive, default=1, metavar="N", help="run N times, print times"
    )
    parser.add_argument("--profile", metavar="FILE", help="write a trace for ui.perfetto.dev (JSON)")
    options.add_device(parser)


def run(args: argparse.Namespace) -> int:
    """Runs and prints one line per output."""
    files = options.pairs(args.input, "--input")
    shapes = options.shapes(args.input_shape) or {}
    import foveal
    from foveal import progress

    model = foveal.load(args.model)
    inputs = _inputs(model, files, shapes, args.seed)
    session = options.session(args, model)
    times = []
    with progress.show(f"running {args.model}"):
        for i in range(args.repeat):
            if args.profile and i == args.repeat - 1:
                session.profile(args.profile)
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
        print(f"trace: {args.profile} (open it in ui.perfetto.dev)")
    if args.output:
        _write(outputs, Path(args.output))
    return 0


def _inputs(
    model: Any, files: dict[str, str], shapes: dict[str, tuple[int, ...]], seed: int
) -> dict[str, Any]:
    """Arrays from the files; random ones, uniform in -1..1 (whole in 0..255), for the rest."""
    import numpy as np

    known = {info.name: info for info in model.inputs}
    for name in [*files, *shapes]:
        if name not in known:
            raise NotFoundError(
                f"the model has no input '{name}'; its inputs are {', '.join(known)}",
                hint="see: foveal info MODEL",
            )
    generator = np.random.default_rng(seed)
    arrays = {}
    for name, info in known.items():
        if name in files:
            arrays[name] = _load(files[name])
            continue
        shape = shapes.get(name, tuple(info.shape))
        if any(not isinstance(d, int) or d < 0 for d in shape):
            sizes = ",".join(str(d) if isinstance(d, int) else "640" for d in shape)
            raise ArgumentError(
                f"input '{name}' has open dimensions: {console.shape(info.shape)}",
                hint=f"choose them: --input-shape {name}={sizes}",
            )
        dtype = np.dtype(info.dtype)
        if dtype.kind == "f":
            arrays[name] = generator.uniform(-1, 1, shape).astype(dtype)
        else:
            high = 2 if dtype.kind == "b" else min(256, int(np.iinfo(dtype).max) + 1)
            arrays[name] = generator.integers(0, high, shape).astype(dtype)
    return arrays


def _load(path: str) -> Any:
    import numpy as np

    try:
        return np.load(path, allow_pickle=False)
    except FileNotFoundError:
        raise NotFoundError(f"there is no array file '{path}'", hint="check the path") from None
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

    from foveal.cache import atomic_path

    folder.mkdir(parents=True, exist_ok=True)
    for name, array in outputs.items():
        safe = "".join(c if c.isalnum() or c in "-_." else "_" for c in name).lstrip(".") or "output"
        path = folder / f"{safe}.npy"
        with atomic_path(path) as temporary:
            np.save(temporary, array, allow_pickle=False)
        print(f"wrote {path}")
