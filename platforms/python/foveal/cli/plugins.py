"""`foveal plugins`"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

from foveal.cli import console

NAME = "plugins"
HELP = "list the plugins, their devices, and which one wins"


def configure(parser: argparse.ArgumentParser) -> None:
    """How to print."""
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("-v", "--verbose", action="store_true", help="also print every path")


def run(args: argparse.Namespace) -> int:
    """Prints devices, best first, then every plugin that is not used and why, a line each."""
    from foveal import plugins
    from foveal.cli.core_log import collected

    with warnings.catch_warnings(), collected() as messages:
        # Broken plugins are part of the table; no need to warn of them as well.
        warnings.simplefilter("ignore", RuntimeWarning)
        found = plugins.listing()
    failed = [plugin for plugin in found if plugin["state"] == "failed"]
    for message in messages:
        if not any(f"'{plugin['path']}'" in message for plugin in failed):
            console.note(f"warning: {message}")
    if args.json:
        console.print_json(found)
        return 0
    devices = [
        (plugin, device) for plugin in found for device in plugin["devices"] if _used(plugin)
    ]
    devices.sort(key=lambda pair: -pair[1]["score"])
    if devices:
        console.table(
            ("device", "score", "plugin", "version", "what it is"),
            [(d["name"], d["score"] or "-", p["name"], p["version"], _what(d)) for p, d in devices],
            right=(1,),
        )
    else:
        print("no usable plugin was found")
    for plugin in found:
        if not _used(plugin):
            print(f"{plugin['state']}: {_label(plugin)}: {_why(plugin, found)}")
    if args.verbose:
        print()
        console.table(
            ("plugin", "state", "path"), [(p["name"], p["state"], p["path"]) for p in found]
        )
    elif devices:
        best = next((d["name"] for _, d in devices if d["score"] > 0), "none")
        print(f"auto chooses {best}; --verbose shows the paths")
    return 0


def _used(plugin: dict[str, Any]) -> bool:
    return bool(plugin["state"] == "ready")


def _label(plugin: dict[str, Any]) -> str:
    name = " ".join(part for part in (plugin["name"], plugin["version"]) if part)
    path: str = plugin["path"]
    return f"{name} ({path})" if name and path not in ("", plugin["name"]) else name or path


def _why(plugin: dict[str, Any], found: list[dict[str, Any]]) -> str:
    """The reason without the path, which stands before it."""
    if plugin["state"] == "shadowed":
        winner = next(p for p in found if p["name"] == plugin["name"] and _used(p))
        equal = winner["version"] == plugin["version"]
        rule = "the same version, found first" if equal else f"version {winner['version']}, newer"
        return f"{winner['path']} wins ({rule})"
    path, reason = plugin["path"], console.one_line(plugin["reason"])
    for prefix in (f"plugin '{path}': ", f"plugin path '{path}' "):
        reason = reason.removeprefix(prefix)
    return str(reason.replace(f"{path}: ", ""))


def _what(device: dict[str, Any]) -> str:
    detail: str = device["detail"]
    if device["score"] > 0:
        return detail
    return f"{detail}; not usable here: {device['reason']}".lstrip("; ")
