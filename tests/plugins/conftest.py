"""Builds the plugins of these tests and runs scripts that use them in processes of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from plugin_builds import PRELUDE, ROOT, SOURCES, STRICT, Mini, Script, build_with_cmake, tool


@pytest.fixture
def mini(tmp_path: Path) -> Mini:
    """mini(name, **macros): src/mini.c with these macros, as foveal_plugin_<name>.so."""
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")

    def build(name: str = "mini", folder: Path = tmp_path, **macros: object) -> Path:
        folder.mkdir(exist_ok=True)
        library = folder / f"foveal_plugin_{name}.so"
        defines = [f'-DMINI_NAME="{name}"'] + [f"-DMINI_{k.upper()}={v}" for k, v in macros.items()]
        flags = [*STRICT, "-O1", "-shared", "-fPIC", "-fvisibility=hidden"]
        include = ["-I", str(ROOT / "sdk_core" / "include")]
        subprocess.run(
            ["gcc", *flags, *include, *defines, str(SOURCES / "mini.c"), "-o", str(library)],
            check=True,
        )
        return library

    return build


@pytest.fixture
def script() -> Script:
    """script(code, *plugin_path, site=None): runs `code` behind the prelude; fails if it fails.

    `site`: a folder of further Python packages.
    """

    def run(
        code: str, *plugin_path: Path, site: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        given = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
        done = subprocess.run(
            [sys.executable, "-c", PRELUDE + code],
            env={
                **os.environ,
                "FOVEAL_PLUGIN_PATH": os.pathsep.join(map(str, plugin_path)),
                "PYTHONPATH": os.pathsep.join([str(site), *given] if site else given),
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return done

    return run


@pytest.fixture(scope="session")
def copied_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`cp -r plugins/template plugins/mynpu`, built unedited."""
    cmake = tool("cmake")
    if cmake is None or shutil.which("g++") is None:
        pytest.skip("needs cmake and g++")
    checkout = tmp_path_factory.mktemp("checkout")
    (checkout / "sdk_core").symlink_to(ROOT / "sdk_core")
    plugin = checkout / "plugins" / "mynpu"
    shutil.copytree(ROOT / "plugins" / "template", plugin)
    return build_with_cmake(cmake, plugin, checkout / "build")
