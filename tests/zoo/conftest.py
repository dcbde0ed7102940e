"""Registries that answer from memory, and a cache of the test's own."""

import subprocess
import sys
from pathlib import Path

import pytest
from foveal.zoo import packages

sys.path.insert(0, str(Path(__file__).parent))

from archives import tarball, wheel


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache folder."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("FOVEAL_CACHE", str(folder))
    monkeypatch.setattr(packages, "_verified", {})
    return folder


@pytest.fixture
def registry(monkeypatch, cache):
    """Answers the pip and npm commands: every package has the files `members`. Counts `calls`."""
    calls, members = [], {}

    def run(command, folder):
        calls.append(command)
        if "download" in command:
            wheel(folder / "some_package-1.2-py3-none-any.whl", members)
        elif "pack" in command:
            tarball(folder / "p.tgz", {f"package/{k}": v for k, v in members.items()})
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(packages, "_run", run)
    monkeypatch.setattr(packages.shutil, "which", lambda name: f"/usr/bin/{name}")
    run.calls, run.members = calls, members
    return run
