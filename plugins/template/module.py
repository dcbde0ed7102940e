"""A Foveal backend plugin. The entry point group `foveal.plugins` leads here."""

from pathlib import Path


def library() -> Path:
    """Path of the shared library that exports `foveal_plugin`."""
    here = Path(__file__).parent
    return next(here.glob(f"lib{here.name}.*"), here / f"lib{here.name}.so")
