"""The Python samples run and stay small."""

import subprocess
import sys
from pathlib import Path

import pytest

SAMPLES = Path(__file__).parents[2] / "samples"


def run(name, folder, *arguments):
    done = subprocess.run(
        [sys.executable, SAMPLES / name / "main.py", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_detect(tmp_path):
    lines = run("python_detect", tmp_path)
    assert lines[0].startswith("face 0.9")
    assert lines[-1] == f"annotated picture: {tmp_path / 'astronaut-detected.png'}"
    assert (tmp_path / "astronaut-detected.png").stat().st_size > 10_000


def test_camera_frames(tmp_path):
    lines = run("python_camera_frames", tmp_path, "11")
    assert [line.split(": ")[0] for line in lines[:2]] == ["frame 0", "frame 10"]
    assert all("face 0." in line for line in lines[:2])
    assert lines[-1].startswith("11 frames, ")


@pytest.mark.parametrize(
    "name", ["python_detect", "python_camera_frames", "python_ray", "python_dask"]
)
def test_size(name):
    assert (SAMPLES / name / "README.md").is_file()
    assert len((SAMPLES / name / "main.py").read_text().splitlines()) <= 150
