"""What the tests of plugins share: building them, and the prelude of their scripts."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = Path(__file__).parent / "src"
STRICT = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror"]

Mini = Callable[..., Path]
Script = Callable[..., subprocess.CompletedProcess[str]]

# What every script may use: a model of one relu, and a check that it still runs on the CPU.
PRELUDE = """
import gc, json, sys, warnings
import numpy as np
import foveal as fv
from foveal import _core, plugins

X = np.linspace(-2, 2, 60, dtype=np.float32).reshape(1, 3, 4, 5)

def model(*ops, shape=(1, 3, 4, 5)):
    g = _core.GraphBuilder()
    x = v = g.add_value("x", "float32", list(shape), [])
    for i, op in enumerate(ops):
        y = g.add_value(f"y{i}" if i + 1 < len(ops) else "y", "float32", list(shape), [])
        g.add_node(op, f"{op}{i}", [v], [y], {})
        v = y
    g.set_io([x], [v])
    return g.model()

def relu_on(device, n=1):
    session = fv.Session(model(*["relu"] * n), device=device)
    assert np.array_equal(session.run({"x": X})["y"], np.maximum(X, 0))
    return session

def entry(name):
    return next(p for p in plugins.listing() if name in (p["name"], p["path"]))
"""


def tool(name: str) -> str | None:
    """A program of this environment, whether or not it is activated, or of the system."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return shutil.which(name, path=path)


def build_with_cmake(cmake: str, source: Path, build: Path) -> Path:
    """The library of a plugin's folder."""
    configure = [cmake, "-S", str(source), "-B", str(build), "-DCMAKE_BUILD_TYPE=Release"]
    for command in (configure, [cmake, "--build", str(build), "-j2"]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return next(build.glob("foveal_plugin_*.so"))
