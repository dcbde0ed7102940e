"""`foveal conformance --plugin PATH`"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from foveal.cli import console
from foveal.errors import ArgumentError, PluginError

NAME = "conformance"
HELP = "run a plugin through the operator tests and say what passes"

_REASONS = 20  # shown, most frequent first


def configure(parser: argparse.ArgumentParser) -> None:
    """Which plugin, which operators, how to print."""
    parser.add_argument(
        "--plugin", metavar="PATH", help="the plugin's library (default: what is installed)"
    )
    parser.add_argument("--device", help="one device (default: the plugin's usable ones, or cpu)")
    parser.add_argument(
        "--op", action="append", metavar="NAME", help="only this operator (repeat for more)"
    )
    parser.add_argument("--json", action="store_true", help="print every case as JSON")


def run(args: argparse.Namespace) -> int:
    """0: conforms; 1: something is wrong or crashed; PluginError when it cannot be used at all."""
    from foveal import conformance, progress
    from foveal.conformance.kit import load_tables

    known = {suite.op for suite in load_tables()} if args.op else set()
    for op in args.op or []:
        if op not in known:
            raise ArgumentError(
                f"--op: there are no cases for '{op}'",
                hint=f"there are: {', '.join(sorted(known))}",
            )
    with progress.bar("running the operator tests") as update:
        report = conformance.run(args.plugin, args.device, args.op, update)
    if report.error:
        if not args.plugin:
            raise PluginError(report.error, hint="see: foveal plugins")
        path = Path(args.plugin).resolve()
        reason = report.error.replace(f"plugin '{path}': ", "").replace(f"{path}: ", "")
        raise PluginError(
            f"{args.plugin}: {reason}",
            hint="a plugin is a library called foveal_plugin_<name>, made from plugins/template",
        )
    if args.json:
        console.print_json(json.loads(json.dumps(report.to_dict(), default=str)))
        return 0 if report.ok else 1
    console.title(f"{report.plugin or 'installed plugins'}: {', '.join(report.devices)}")
    console.table(
        ("operator", "pass", "refused", "wrong", "crash"),
        [(suite, *(n or "-" for n in counts)) for suite, *counts in report.table()],
        right=(1, 2, 3, 4),
    )
    if reasons := report.reasons():
        print()
        shown = [(n, why) for why, n in reasons[:_REASONS]]
        console.table(("cases", "refused because"), shown, right=(0,))
        if len(reasons) > _REASONS:
            print(f"... and {len(reasons) - _REASONS} more reasons (--json has all)")
    bad = [e for e in report.entries if e.status in (conformance.WRONG, conformance.CRASH)]
    if bad:
        print()
        console.table(
            ("", "device", "case", "what happened"),
            [(e.status, e.device, f"{e.suite} [{e.case}] {e.variant}", e.detail) for e in bad],
        )
    print()
    print(f"{report.summary()}: {'conforms' if report.ok else 'does NOT conform'}")
    return 0 if report.ok else 1
