"""Writes op_table.cc: includes every operator header and calls its define_<stem>.

Usage: gen_op_table.py OPS_FOLDER OUTPUT

A header takes part if it contains `void define_<its stem>(`; the others (op.h, window.h) are
helpers. The output is only rewritten when it changes, so that builds stay incremental.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

TEMPLATE = """// Made by gen_op_table.py. Do not edit.
{includes}

namespace foveal {{

const OpTable& op_table() {{
  static const OpTable table = [] {{
    OpTable t;
{calls}
    t.sort();
    return t;
  }}();
  return table;
}}

}}  // namespace foveal
"""


def op_stems(folder: Path) -> list[str]:
    """Stems of the headers in `folder` that define operators, sorted."""
    stems = []
    for header in sorted(folder.glob("*.h")):
        if re.search(rf"\bvoid define_{header.stem}\(", header.read_text(encoding="utf-8")):
            stems.append(header.stem)
    return stems


def main(folder: str, output: str) -> int:
    """Generates the file; returns the exit status."""
    stems = op_stems(Path(folder))
    if not stems:
        print(f"gen_op_table.py: no operator headers in {folder}", file=sys.stderr)
        return 1
    text = TEMPLATE.format(
        includes="\n".join(f'#include "ops/{stem}.h"' for stem in stems),
        calls="\n".join(f"    ops::define_{stem}(t);" for stem in stems),
    )
    target = Path(output)
    if not target.exists() or target.read_text(encoding="utf-8") != text:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
