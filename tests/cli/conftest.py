"""Runs the command as users do: in a process of its own."""

import os
import subprocess
import sys
from dataclasses import dataclass

import pytest


@dataclass
class Result:
    code: int
    out: str
    err: str


@pytest.fixture
def foveal(tmp_path):
    """foveal("zoo", "list") -> Result, run in an empty folder."""

    def run(*args, cwd=tmp_path, env=None, timeout=120):
        done = subprocess.run(
            [sys.executable, "-m", "foveal", *map(str, args)],
            cwd=cwd,
            env={**os.environ, "FOVEAL_PROGRESS": "0", **(env or {})},
            capture_output=True,
            text=True,
            timeout=timeout,
        )
        return Result(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def refused(foveal):
    """Runs a command that must be refused: exit code 2, one `error:` line, at most one `hint:`."""

    def run(*args, **kwargs):
        result = foveal(*args, **kwargs)
        assert result.code == 2, (result.code, result.out, result.err)
        assert result.out == ""
        assert "Traceback" not in result.err
        lines = result.err.splitlines()
        assert lines[0].startswith("error: ") and len(lines[0]) > 15, result.err
        assert len(lines) <= 2 and all(line.startswith("hint: ") for line in lines[1:]), result.err
        return result.err

    return run
