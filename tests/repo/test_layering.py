"""Who may include whom: base < ops < graph < plugin < session; plugins and imgproc stand aside."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sources import ROOT, code, read

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)

# Folder of the including file -> first parts of paths that it may include. ".": its own folder
# and, in a plugin, that plugin.
RULES: dict[str, set[str]] = {
    "sdk_core/include": {"foveal", "base"},
    "sdk_core/base": {"base", "foveal"},
    "sdk_core/ops": {"ops", "base", "foveal"},
    "sdk_core/graph": {"graph", "ops", "base", "foveal", "model_generated.h", "flatbuffers"},
    "sdk_core/plugin": {"plugin", "graph", "ops", "base", "foveal"},
    "sdk_core/session": {"session", "plugin", "graph", "ops", "base", "foveal"},
    "plugins": {".", "ops", "base", "foveal"},
    "imgproc": {"imgproc", "base", "foveal"},
    "platforms": {".", "foveal", "base"},
}
# Interfaces by name: plugins see what plugins need, applications what applications need.
FORBIDDEN: dict[str, set[str]] = {
    "sdk_core/base": {"foveal/plugin.hpp"},
    "sdk_core/ops": {"foveal/plugin.h", "foveal/plugin.hpp", "foveal/foveal.h"},
    "plugins": {"foveal/foveal.h", "foveal/imgproc.h"},
    "imgproc": {"foveal/plugin.h", "foveal/plugin.hpp"},
}


def files() -> list[tuple[str, Path]]:
    return [
        (folder, p)
        for p in code()
        for folder in RULES
        if p.suffix != ".py" and p.is_relative_to(folder)
    ]


def test_there_are_files_in_every_layer() -> None:
    assert {folder for folder, _ in files()} == set(RULES)


@pytest.mark.parametrize("folder", RULES)
def test_includes(folder: str) -> None:
    wrong = []
    for where, path in files():
        if where != folder:
            continue
        for name in INCLUDE.findall(read(path)):
            first = name.split("/")[0]
            homes = [path.parent, Path(*path.parts[:2])]
            own = "." in RULES[folder] and any((ROOT / home / name).exists() for home in homes)
            if (first not in RULES[folder] and not own) or name in FORBIDDEN.get(folder, ()):
                wrong.append(f"{path} includes {name}")
    assert not wrong


def test_python_package_has_no_algorithms_in_c() -> None:
    """Only the binding is native code there."""
    native = [p for p in code() if p.is_relative_to("platforms/python") and p.suffix != ".py"]
    assert all(p.is_relative_to("platforms/python/src") for p in native)
