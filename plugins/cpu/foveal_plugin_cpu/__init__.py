"""Where the CPU plugin's library lies; found through the entry point group foveal.plugins."""

from pathlib import Path


def library() -> Path:
    """Returns the path of the shared library that Foveal opens."""
    here = Path(__file__).parent
    return next(here.glob("libfoveal_plugin_cpu.*"), here / "libfoveal_plugin_cpu.so")
