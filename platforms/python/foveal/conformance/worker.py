"""The process that runs cases, so that a plugin that crashes takes down nothing else.

Reads one JSON object from stdin, {"plugin": path | null, "device": .., "ops": [..] | null,
"start": n}, and writes one JSON object per line to stdout: {"start": i, ...} before a case, the
entry behind it, {"end": true} as the last.
Without a device it writes {"plugins": [...]}, what `foveal plugins` shows.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator

from foveal.conformance.kit import Case, load_tables


def jobs(ops: list[str] | None, device: str) -> Iterator[tuple[Case, str]]:
    """Every (case, variant), in an order that is the same in every process."""
    from foveal.conformance.execute import offers_blocked, variants

    blocked = offers_blocked(device)
    for suite in load_tables():
        if ops is None or suite.op in ops:
            for case in suite:
                for variant in variants(case, blocked):
                    yield case, variant


def prefer(library: str) -> None:
    """Lets `library` win over an installed plugin of the same name."""
    from foveal import plugins

    for entry in plugins.listing():
        if entry["state"] == "shadowed" and os.path.realpath(entry["path"]) == library:
            plugins.unload(entry["name"])
            plugins.load(library)
            return


def main() -> None:
    # The plugin may print: keep our lines to ourselves and send its lines to stderr.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def say(**what: object) -> None:
        out.write(json.dumps(what) + "\n")
        out.flush()

    order = json.load(sys.stdin)
    if order["plugin"]:
        prefer(order["plugin"])
    if not order["device"]:
        from foveal import plugins

        say(plugins=plugins.listing())
        say(end=True)
        return

    from foveal.conformance.execute import run_case

    todo = list(jobs(order["ops"], order["device"]))
    say(total=len(todo))
    for i, (case, variant) in enumerate(todo):
        if i >= order["start"]:
            say(start=i, suite=case.suite, case=case.id, variant=variant)
            say(index=i, entry=vars(run_case(case, order["device"], variant)))
    say(end=True)


if __name__ == "__main__":
    main()
