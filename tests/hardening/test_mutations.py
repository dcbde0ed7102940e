"""Damaged model files and specifications: a typed error or a result, never a crash or a hang.

What a number stands for, and how to make one again: tests/fuzz/mutate.py.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import mutate
import pytest

FUZZ = Path(__file__).parents[1] / "fuzz"
FORMATS = ("fvm", "onnx", "tflite", "pipeline", "decoder", "roi_rule", "task")


def try_mutations(kind: str, first: int, count: int) -> None:
    command = [sys.executable, str(FUZZ / "mutate.py"), "--formats", kind]
    command += ["--first", str(first), "--count", str(count)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    # Most damage is refused; where nothing or everything is, nothing was tested.
    valid = int(done.stdout.rsplit(" valid", 1)[0].rsplit(" ", 1)[1])
    assert 0 < valid < count, done.stdout


@pytest.mark.parametrize("kind", FORMATS)
def test_some(kind: str) -> None:
    try_mutations(kind, 0, 500)


@pytest.mark.slow
@pytest.mark.parametrize("kind", FORMATS)
def test_many(kind: str) -> None:
    try_mutations(kind, 500, 10000)


def test_findings_are_found(tmp_path: Path) -> None:
    """The driver sees exceptions, crashes and hangs, names them and goes on."""
    worker = tmp_path / "worker.py"
    worker.write_text(
        "import os, sys, json\n"
        "first, count = int(sys.argv[4]), int(sys.argv[6])\n"
        "for n in range(first, first + count):\n"
        "    print(n, flush=True)\n"
        "    if n == 3: print('error ' + json.dumps('KeyError'), flush=True)\n"
        "    if n == 5: os.abort()\n"
        "    if n == 7: import time; time.sleep(99)\n"
        "print('valid 2', flush=True)\n"
    )
    said: list[str] = []
    findings = mutate.run("any", 0, 10, said.append, program=str(worker), hang=2.0)
    assert findings == 3
    assert said[0] == "any 3: KeyError"
    assert said[1].startswith("any 5: ends the process (-6)")
    assert said[2].startswith("any 7: hangs")
    assert said[3].startswith("any: 10 mutations, 2 valid, 3 findings")
