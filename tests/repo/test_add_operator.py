"""Adding an operator touches a definition, a test and, unless it decomposes, a kernel per backend.

Two trial operators are added to copies of the folders: the build's generators and the test kit
must find them without any other file being touched.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sources import ROOT

DEFINITION = """#ifndef FOVEAL_OPS_{STEM}_H_
#define FOVEAL_OPS_{STEM}_H_

#include "ops/op.h"

namespace foveal::ops {{

struct {Name} {{
  static constexpr OpInfo kInfo{{"{stem}", 1, "x", "y", "x * x * x * gain."{traits}}};
  double gain = 1;

  template <class V>
  void fields(V& v) {{
    v("gain", gain, "factor");
  }}
  Status infer(InferContext& c) const {{
    c.out(0, c.in(0));
    return ok();
  }}
{decomposition}}};

inline void define_{stem}(OpTable& t) {{ t.add<{Name}>(); }}

}}  // namespace foveal::ops
#endif  // FOVEAL_OPS_{STEM}_H_
"""
DECOMPOSITION = """  Status decompose(Decomposer& d) const {
    const auto square = d.op("mul", {d.in(0), d.in(0)});
    const auto cube = d.op("mul", {square, d.in(0)});
    d.out(0, d.op("mul", {cube, d.scalar(static_cast<float>(gain))}));
    return ok();
  }
"""
TEST = '''"""Trial."""
from foveal.conformance.kit import case, op_cases, rand

CASES = op_cases("{stem}", lambda x, *, gain=1.0: (x * x * x * gain).astype(x.dtype), [
    case(rand(1, 3, 5, 7)), case(rand(9), gain=0.5),
])
'''
KERNEL = """namespace foveal::cpu {
inline namespace FV_ISA {
void define_trial_cube(Kernels&) {}
}
}
"""
LIST = """#include <cstdio>

#include "ops/op.h"

int main() {
  for (const foveal::OpDef& d : foveal::op_table().defs())
    std::printf("%s %zu %d\\n", d.name.c_str(), d.attrs.size(), d.decompose ? 1 : 0);
}
"""
LIMIT = 4


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Path]]:
    """Copies of the folders with both trial operators, and the files added per operator."""
    root = tmp_path_factory.mktemp("trial")
    for folder in ("sdk_core/ops", "tests/ops", "plugins/cpu"):
        shutil.copytree(ROOT / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"))
    added = [
        (root / "sdk_core/ops/trial_cube.h", definition("trial_cube", "TrialCube", "")),
        (root / "tests/ops/test_trial_cube.py", TEST.format(stem="trial_cube")),
        (root / "plugins/cpu/kernels/trial_cube.cc", KERNEL),
        (root / "sdk_core/ops/trial_sum.h", definition("trial_sum", "TrialSum", DECOMPOSITION)),
        (root / "tests/ops/test_trial_sum.py", TEST.format(stem="trial_sum")),
    ]
    for path, text in added:
        path.write_text(text)
    return root, [path for path, _ in added]


def definition(stem: str, name: str, decomposition: str) -> str:
    return DEFINITION.format(
        stem=stem, STEM=stem.upper(), Name=name, traits=", kPointwise", decomposition=decomposition
    )


def test_few_files(trial: tuple[Path, list[Path]]) -> None:
    _, added = trial
    for stem in ("trial_cube", "trial_sum"):
        assert sum(stem in path.stem for path in added) <= LIMIT


def test_op_table_finds_it(trial: tuple[Path, list[Path]], tmp_path: Path) -> None:
    """Compiles the generated table and lists it."""
    if shutil.which("g++") is None:
        pytest.skip("needs g++")
    root, _ = trial
    table, program = tmp_path / "op_table.cc", tmp_path / "list"
    generator = ROOT / "sdk_core" / "tools" / "gen_op_table.py"
    subprocess.run([sys.executable, generator, root / "sdk_core" / "ops", table], check=True)
    (tmp_path / "list.cc").write_text(LIST)
    core = ROOT / "sdk_core"
    subprocess.run(
        ["g++", "-std=c++20", "-O0", "-I", root / "sdk_core", "-I", core, "-I", core / "include",
         table, tmp_path / "list.cc", "-o", program],
        check=True,
    )  # fmt: skip
    listed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    assert "trial_cube 1 0\n" in listed and "trial_sum 1 1\n" in listed
    assert "conv2d" in listed


def test_kernel_table_finds_it(trial: tuple[Path, list[Path]], tmp_path: Path) -> None:
    root, _ = trial
    cpu, table = root / "plugins" / "cpu", tmp_path / "kernel_table.cc"
    subprocess.run(
        [
            sys.executable,
            cpu / "gen_table.py",
            table,
            "sse4,avx2",
            cpu / "kernels",
            cpu / "generic",
        ],
        check=True,
    )
    text = table.read_text()
    for isa in ("sse4", "avx2"):
        assert f"{isa}::define_trial_cube(k);" in text


def test_kit_finds_its_cases(trial: tuple[Path, list[Path]]) -> None:
    """In a process of its own: tables register their references."""
    pytest.importorskip("foveal._core")
    root, _ = trial
    code = (
        "import sys; from pathlib import Path; from foveal.conformance import kit\n"
        "names = [s.op for s in kit.load_tables(Path(sys.argv[1]))]\n"
        "assert {'trial_cube', 'trial_sum', 'relu'} <= set(names), names\n"
        "assert 'trial_cube' in kit.REFERENCES"
    )
    subprocess.run([sys.executable, "-c", code, root / "tests" / "ops"], check=True)


@pytest.mark.parametrize("scanned", ["sdk_core", "plugins/cpu"])
def test_build_scans_folders(scanned: str) -> None:
    """No list of sources to be edited."""
    text = (ROOT / scanned / "CMakeLists.txt").read_text()
    assert "GLOB" in text and "CONFIGURE_DEPENDS" in text
    stems = [p.stem for p in (ROOT / "plugins" / "cpu" / "kernels").glob("*.cc")]
    assert not [s for s in stems if f"{s}.cc" in text or f"{s}.h" in text]


def test_schema_knows_no_operator() -> None:
    schema = (ROOT / "sdk_core" / "schema" / "model.fbs").read_text()
    assert "conv" not in schema.lower() and "pool" not in schema.lower()
