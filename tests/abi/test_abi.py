"""The binary interface: layout of structs, C99 headers, exported symbols."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
INCLUDE = ROOT / "sdk_core" / "include"
HEADERS = sorted(
    h for folder in (INCLUDE, ROOT / "imgproc" / "include") for h in folder.glob("foveal/*.h")
)
PUBLIC = ["-I", str(INCLUDE), "-I", str(ROOT / "imgproc" / "include")]

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")


def compiles(*args: str) -> None:
    done = subprocess.run(args, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("target", [["-m64"], ["-m32", "-malign-double"]], ids=["64", "32"])
def test_structs_keep_their_layout(target: list[str]) -> None:
    compiles(
        "g++", "-std=c++20", "-ffreestanding", "-fsyntax-only", *target, *PUBLIC,
        str(HERE / "layout.cc"),
    )  # fmt: skip


def test_every_field_is_listed() -> None:
    listed = re.findall(r"AT\((\w+), (\w+)", (HERE / "layout.cc").read_text())
    for header in HEADERS:
        if header.name not in ("types.h", "plugin.h", "foveal.h"):
            continue
        text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
        for struct, body in re.findall(r"typedef struct (\w+) \{(.*?)\} \1;", text, re.S):
            count = 0
            for declaration in filter(None, (" ".join(d.split()) for d in body.split(";"))):
                count += 1 if "(*" in declaration else 1 + declaration.count(",")
            assert count == sum(s == struct for s, _ in listed), (
                f"{struct}: add its fields to layout.cc"
            )


@pytest.mark.parametrize("header", HEADERS, ids=lambda h: h.name)
def test_header_is_c99_alone(header: Path, tmp_path: Path) -> None:
    source = tmp_path / "alone.c"
    source.write_text(f'#include "foveal/{header.name}"\n')
    flags = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only"]
    compiles("gcc", "-std=c99", *flags, *PUBLIC, str(source))
    compiles("g++", "-std=c++20", "-x", "c++", *flags, *PUBLIC, str(source))


def test_history_has_the_current_version() -> None:
    types = (INCLUDE / "foveal" / "types.h").read_text()
    version = ".".join(re.findall(r"#define FV_ABI_M\w+ (\d+)", types))
    assert f"| {version} |" in (INCLUDE / "foveal" / "ABI.md").read_text()


def exported(library: Path) -> list[str]:
    nm = subprocess.run(
        ["nm", "-D", "--defined-only", "-P", str(library)],
        capture_output=True,
        text=True,
        check=True,
    )
    return sorted(line.split()[0].split("@")[0] for line in nm.stdout.splitlines())


def declared(header: str) -> list[str]:
    """Functions that a public C header promises."""
    (path,) = (h for h in HEADERS if h.stem == header)
    text = re.sub(r"/\*.*?\*/|^#.*?(?<!\\)$", "", path.read_text(), flags=re.S | re.M)
    return sorted(re.findall(r"^FV_\w*API [\w* ]*?\b(fv_\w+)\(", text, re.M))


def golden(name: str) -> list[str]:
    return (HERE / f"symbols_{name}.txt").read_text().split()


# A library is the implementation of one header.
LIBRARIES = ["foveal", "imgproc"]


@pytest.mark.parametrize("name", LIBRARIES)
def test_golden_list_is_what_the_header_declares(name: str) -> None:
    assert golden(name) == declared(name)


@pytest.mark.parametrize("name", LIBRARIES)
def test_library_exports_exactly_the_golden_list(name: str, package: Path) -> None:
    stem = "libfoveal" if name == "foveal" else f"libfoveal_{name}"
    (library,) = package.glob(f"{stem}.so*")
    assert exported(library) == golden(name)


def test_plugins_export_one_symbol(plugin_libraries: list[Path]) -> None:
    assert plugin_libraries
    for library in plugin_libraries:
        assert exported(library) == golden("plugin"), library.name
