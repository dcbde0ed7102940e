"""`foveal needs MODEL...`"""

from __future__ import annotations

import argparse
import json
from typing import Any

from foveal.cli import console, options

NAME = "needs"
HELP = "CMake options for a build with what these models need, and no more"


def configure(parser: argparse.ArgumentParser) -> None:
    """The models of an application."""
    parser.add_argument(
        "models",
        nargs="+",
        metavar="MODEL",
        help="a .fvm, .onnx or .tflite file, or a zoo name: all that the build shall run",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """Prints them in one line, for: cmake -S . -B build $(foveal needs MODEL...)."""
    found: dict[str, set[str]] = {"operators": set(), "profiles": set(), "decoders": set()}
    for name in args.models:
        for what, names in _needs(name).items():
            found[what] |= names
    lists = {what: sorted(names) for what, names in found.items()}
    if args.json:
        console.print_json(lists)
    else:
        print(*(f"-DFOVEAL_{what.upper()}={';'.join(names)}" for what, names in lists.items()))
    return 0


def _needs(name: str) -> dict[str, set[str]]:
    import foveal
    from foveal import image

    model = foveal.load(name)
    session = foveal.Session(model, device="cpu")
    options.fix_shapes(session, {})
    profiles = {"exact"}
    if pipeline := model.meta.get("pipeline"):
        # "cv2_4" and "pillow_12" are versions of their libraries.
        profiles.add(image.Pipeline.from_json(pipeline).profile.split("_")[0])
    return {
        "operators": set(session.explain()["operators"]),
        "profiles": profiles - {"fast"},
        "decoders": _decoders(model.meta.get("decoder")),
    }


def _decoders(spec: str | None) -> set[str]:
    decoder: Any = json.loads(spec) if spec else None
    return {decoder["kind"]} if decoder else set()
