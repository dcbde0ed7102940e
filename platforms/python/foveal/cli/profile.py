"""`foveal profile MODEL`"""

from __future__ import annotations

import argparse
import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from foveal.cli import console, options
from foveal.errors import ArgumentError

if TYPE_CHECKING:
    from foveal.profile import Profile

NAME = "profile"
HELP = "measure a model node by node: where the time and the memory go"

_BAR = 16  # characters


def configure(parser: argparse.ArgumentParser) -> None:
    """Model, how to run it, and what to write."""
    options.add_model(parser)
    parser.add_argument(
        "--runs",
        type=options.positive,
        default=0,
        metavar="N",
        help="runs to measure (default: what fits in 2 s)",
    )
    options.add_input_shape(parser)
    options.add_device(parser)
    parser.add_argument(
        "--top", type=options.natural, default=20, metavar="N", help="nodes to show (0: all)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--trace", metavar="FILE", help="write a trace for ui.perfetto.dev (JSON)")
    parser.add_argument(
        "--html", metavar="FILE", help="write one page with timeline, graph and memory plan"
    )


def run(args: argparse.Namespace) -> int:
    """Measures, writes what was asked for, prints tables."""
    shapes = options.shapes(args.input_shape)
    for option in ("trace", "html"):
        if path := getattr(args, option):
            options.check_output(f"--{option}", path, [args.model])
    if args.trace and args.html and os.path.realpath(args.trace) == os.path.realpath(args.html):
        raise ArgumentError("--trace and --html name the same file", hint="write to two files")
    import foveal
    from foveal import progress
    from foveal.cache import write_text
    from foveal.profile import profile, write_page

    with progress.show(f"measuring {args.model}"):
        measured = profile(
            foveal.load(args.model),
            device=options.device(args),
            threads=args.threads or 0,
            runs=args.runs,
            input_shape=shapes,
            title=args.model,
        )
    if args.trace:
        write_text(args.trace, measured.trace)
    if args.html:
        write_page(measured, args.html)
    if args.json:
        console.print_json(as_data(measured))
        return 0
    _print(measured, args.top)
    if args.trace:
        print(f"trace: {args.trace} (open it in ui.perfetto.dev)")
    if args.html:
        print(f"page: {args.html}")
    return 0


def as_data(measured: Profile) -> dict[str, Any]:
    """The profile as plain values, times in microseconds."""
    return {
        "model": measured.model,
        "device": measured.device,
        "threads": measured.threads,
        "runs": measured.runs,
        "inputs": [
            {"name": name, "shape": list(shape), "dtype": dtype}
            for name, shape, dtype in measured.inputs
        ],
        "total_us": asdict(measured.total),
        "recorded_us": asdict(measured.recorded),
        "sum_us": measured.sum_us,
        "overhead_us": measured.overhead_us,
        "macs": measured.macs,
        "gflops": measured.gflops,
        "nodes": [
            {**asdict(node), "gflops": node.gflops, "gbs": node.gbs} for node in measured.nodes
        ],
        "steps": [asdict(step) for step in measured.steps],
        "operators": measured.by_operator(),
        "memory": measured.explained["memory"],
    }


def _print(measured: Profile, top: int) -> None:
    from foveal.profile import words

    total = measured.total
    console.title(measured.model)
    print(
        f"  {_time(total.median)} a run (median of {measured.runs}; least "
        f"{_time(total.min)}, p95 {_time(total.p95)}), "
        f"{words.count(measured.macs)} multiply-adds: {words.count(measured.gflops)} GFLOP/s"
    )
    print(f"  nodes and steps {_time(measured.sum_us)}, between them {_time(measured.overhead_us)}")
    print()
    parts = sorted(
        [_node(node) for node in measured.nodes] + [_step(step) for step in measured.steps],
        key=lambda row: -row[0],
    )
    shown = parts[: top or None]
    console.table(
        ("operator", "time", "share", "", "GFLOP/s", "GB/s", "output", "layout", "device", "name"),
        [row for _, row in shown],
        right=(1, 2, 4, 5),
        hide_empty=True,
    )
    if len(parts) > len(shown):
        print(f"and {len(parts) - len(shown)} more (see --top)")
    print()
    rows = measured.by_operator(variants=True)
    most = max((row["share"] for row in rows), default=0.0)
    console.table(
        ("by operator", "count", "time", "share", "", "MACs", "GFLOP/s"),
        [
            (
                row["operator"],
                row["count"],
                _time(row["us"]),
                f"{row['share']:.1%}",
                console.bar(row["share"], most, _BAR),
                words.count(row["macs"]) if row["macs"] else "-",
                words.count(row["gflops"]) if row["gflops"] else "-",
            )
            for row in rows
        ],
        right=(1, 2, 3, 5, 6),
    )


def _time(us: float) -> str:
    """In letters that every terminal has."""
    from foveal.profile import words

    return words.duration(us).replace("µ", "u")


_Row = tuple[float, tuple[str, ...]]


def _node(node: Any) -> _Row:
    from foveal.profile import words

    us = node.times.median if node.times else 0.0
    name = words.tails([node.name])[0]
    return us, (
        " + ".join([node.variant, *node.posts]),
        _time(us) if node.times else "-",
        f"{node.share:.1%}",
        console.bar(node.share, 0.25, 8),
        words.count(node.gflops) if node.gflops else "-",
        words.count(node.gbs) if node.gbs else "-",
        console.shape(node.shapes_out[0]) if node.shapes_out else "",
        node.layout,
        node.device,
        console.one_line(name),
    )


def _step(step: Any) -> _Row:
    from foveal.profile import words

    us = step.times.median
    return us, (
        step.kind,
        _time(us),
        f"{step.share:.1%}",
        console.bar(step.share, 0.25, 8),
        "-",
        words.count(step.bytes / us / 1e3) if step.bytes and us > 0 else "-",
        "",
        "",
        step.device,
        console.one_line(step.name),
    )
