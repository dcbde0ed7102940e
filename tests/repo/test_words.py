"""Words and paths that have no place in the repository, each with the reason."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sources import CODE, ROOT, TEXT, read, tracked

HERE = Path(__file__).relative_to(ROOT)


def anything(path: Path) -> bool:
    return path.suffix in TEXT or not path.suffix


def native(path: Path) -> bool:
    return path.suffix in {".h", ".hpp", ".cc", ".c"}


def core(path: Path) -> bool:
    return native(path) and path.parts[0] in {"sdk_core", "plugins", "imgproc"}


FOLDERS = ["work", "tmp", "home", "root", "Users"]

RULES = [
    (r"\b(TODO|FIXME|XXX|HACK)\b", lambda p: p.suffix in CODE, "do it, or file it"),
    (rf"(?<![\w.])/({'|'.join(FOLDERS)})/", anything, "paths of one machine"),
    (r"\b(pythonhosted|npmjs)\.(org|com)\b", anything, "users configure their registries"),
    (r"\bthrow\b(?! away)", lambda p: core(p) and p.suffix != ".h", "errors are values"),
    (r"\b(dynamic_cast|typeid)\b", core, "built without RTTI"),
    (r"#\s*include <(iostream|regex)>", core, "static initialisers, size"),
    (r"(\bstd::|<)thread\b", lambda p: core(p) and p.stem != "thread_pool", "one pool for all"),
    (r"\busing namespace std\b", native, "names clash"),
    (r"\b(lorem ipsum|placeholder)\b", lambda p: p.suffix in CODE, "build the real thing"),
]


@pytest.mark.parametrize(("pattern", "where", "why"), RULES, ids=[r[0] for r in RULES])
def test_word_is_absent(pattern: str, where, why: str) -> None:  # type: ignore[no-untyped-def]
    found = []
    for path in tracked():
        if path == HERE or not where(path):
            continue
        try:
            text = read(path)
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            code = re.sub(r"//.*|^\s*#.*", "", line) if "throw" in pattern else line
            if re.search(pattern, code):
                found.append(f"{path}:{number}: {line.strip()}")
    assert not found, why


def test_no_binaries_but_pictures() -> None:
    """Models and libraries are fetched or built."""
    heavy = {".so", ".dylib", ".dll", ".a", ".o", ".onnx", ".tflite", ".fvm", ".whl", ".gz", ".zip"}
    assert not [p for p in tracked() if p.suffix in heavy]


def test_header_guards() -> None:
    """FOVEAL_<last parts of the path>_H_, no two alike."""
    guards: dict[str, Path] = {}
    for path in tracked():
        if path.suffix not in {".h", ".hpp"}:
            continue
        guard = re.search(r"#ifndef (FOVEAL_\w+_)\n#define \1\n", read(path))
        name = re.sub(r"\W", "_", path.name).upper()
        assert guard, f"{path} has no guard"
        assert guard[1].endswith(f"_{name}_"), f"{path}: guard is {guard[1]}"
        assert guard[1] not in guards, f"{path} and {guards[guard[1]]} share a guard"
        guards[guard[1]] = path
