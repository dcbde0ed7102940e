"""Where the CPU plugin's library lies; found through the entry point group foveal.plugins."""

from pathlib import Path


def library() -> Path:
    """Returns the path of the shared library that Foveal opens."""
    return Path(__file__).with_name("foveal_plugin_cpu.so")
