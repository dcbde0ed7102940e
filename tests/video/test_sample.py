"""The sample runs and stays small."""

import subprocess
import sys
from pathlib import Path

import foveal as fv

SAMPLE = Path(__file__).parents[2] / "samples" / "python_video"


def test_sample(tmp_path):
    done = subprocess.run(
        [sys.executable, SAMPLE / "main.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["0.00", "0.67", "1.33"]
    assert all(line.count("face 0.") == 1 for line in lines[:3])
    assert lines[3].startswith("45 frames, ")
    assert lines[-1] == "annotated video: seen.y4m"
    with fv.camera(tmp_path / "seen.y4m") as frames:
        assert (frames.count, frames.size) == (45, (480, 360))


def test_size():
    assert (SAMPLE / "README.md").is_file()
    assert len((SAMPLE / "main.py").read_text().splitlines()) <= 80
