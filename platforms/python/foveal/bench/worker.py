"""One engine alone in a process of its own: load, first run, memory.

    python -m foveal.bench.worker JOB.json     prints one JSON object

A process that has run other engines can tell none of these.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from pathlib import Path

import numpy as np

from foveal.bench.engines import Source, find


def peak_bytes() -> int:
    """The process's highest resident memory since it began; 0 where the system does not say.

    Not getrusage: on Linux its figure starts at that of the process that started this one.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        found = re.search(r"^VmHWM:\s*(\d+) kB", status, re.MULTILINE)
        return int(found[1]) * 1024 if found else 0
    except OSError:
        pass
    try:
        import resource
    except ImportError:
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def main() -> int:
    """Reads the job, opens the model, runs it once."""
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    with np.load(job["feed"], allow_pickle=False) as arrays:
        feed = {name: arrays[f"{i}"] for i, name in enumerate(job["inputs"])}
    engine = find(job["engine"])
    engine.version()
    source = Source(Path(job["source"]), job["format"], feed, Path(job["fvm"]))
    _import(job["engine"])
    before = peak_bytes()
    begin = time.perf_counter()
    opened = engine.open(Path(job["path"]), source, job["threads"])
    loaded = time.perf_counter()
    opened.run()
    ran = time.perf_counter()
    for _ in range(3):
        opened.run()
    facts = {
        "load_ms": (loaded - begin) * 1e3,
        "first_run_ms": (ran - loaded) * 1e3,
        "peak_bytes": peak_bytes() - before,
    }
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()
    os._exit(0)  # some engines crash while the interpreter ends


def _import(engine: str) -> None:
    """The engine's libraries, so that loading them counts neither as time nor as memory."""
    modules = {"litert": "ai_edge_litert.interpreter", "mnn": "MNN"}
    __import__(modules.get(engine, engine))


if __name__ == "__main__":
    sys.exit(main())
