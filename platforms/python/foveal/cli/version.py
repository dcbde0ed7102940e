"""`foveal version`"""

from __future__ import annotations

import argparse
import platform

NAME = "version"
HELP = "print the versions of foveal, Python and the plugin interface"


def configure(parser: argparse.ArgumentParser) -> None:
    """No options."""


def run(args: argparse.Namespace) -> int:
    """Prints one line per part."""
    import foveal

    print(f"foveal {foveal.__version__}")
    print(f"Python {platform.python_version()} on {platform.system()} {platform.machine()}")
    print(f"plugin interface {foveal._core.abi}")
    return 0
