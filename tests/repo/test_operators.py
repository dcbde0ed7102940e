"""Operator, kernel, test and Python function carry the same stem; nothing is left out."""

from __future__ import annotations

import json
import re

import pytest
from sources import ROOT

_core = pytest.importorskip("foveal._core")
from foveal.conformance.kit import REFERENCES, load_tables  # noqa: E402

OPS = {op["name"]: op for op in json.loads(_core.ops_json())}
# Inserted by the core between layouts, refused in files: every mixed case of tests/ops runs it.
INTERNAL = {"relayout"}


def test_every_operator_has_cases() -> None:
    tables = {s.op: s for s in load_tables() if s.is_op}
    assert set(tables) == set(OPS) - INTERNAL
    assert not [op for op, suite in tables.items() if len(suite.cases) < 2]


def test_every_operator_has_a_reference() -> None:
    load_tables()
    assert set(REFERENCES) == set(OPS) - INTERNAL


def test_every_attribute_is_exercised() -> None:
    """Some case sets it to something other than its default."""
    unused = []
    for suite in load_tables():
        for attr in OPS[suite.op]["attrs"] if suite.is_op else []:
            name, default = attr["name"], attr["default"]
            values = [c.net.nodes[0].attrs.get(name, default) for c in suite]
            if all(_plain(v) == _plain(default) for v in values):
                unused.append(f"{suite.op}.{name}")
    assert not unused


def _plain(value: object) -> object:
    if isinstance(value, (list, tuple)):
        return [float(v) for v in value]
    return float(value) if isinstance(value, (int, float)) else value


@pytest.mark.parametrize(
    "family", sorted((ROOT / "sdk_core" / "ops").glob("*.h")), ids=lambda p: p.stem
)
def test_definition_file_is_named_after_what_it_defines(family) -> None:  # type: ignore[no-untyped-def]
    text = family.read_text()
    defines = re.findall(r"^inline void define_(\w+)\(OpTable", text, re.M)
    assert defines in ([], [family.stem])


def test_every_cpu_kernel_file_serves_an_operator() -> None:
    """A kernel's stem is an operator or the family that defines several."""
    stems = {p.stem for p in (ROOT / "sdk_core" / "ops").glob("*.h")} | set(OPS)
    folder = ROOT / "plugins" / "cpu" / "kernels"
    unknown = [
        p.stem for p in folder.glob("*.cc") if not any(p.stem.startswith(stem) for stem in stems)
    ]
    assert not unknown


def test_documentation_is_complete() -> None:
    for name, op in OPS.items():
        assert op["doc"], name
        assert all(a["doc"] for a in op["attrs"]), name
