"""Videos made of a crop that moves over the zoo's photo, one pixel to the right per frame."""

import functools
import os
import subprocess
import sys
import threading
from dataclasses import dataclass
from typing import Any, ClassVar

import foveal as fv
import numpy as np
import pytest
from foveal.video import _opencv, write_video
from PIL import Image
from walk import FPS, FRAMES, crop


@pytest.fixture(scope="session")
def photo():
    with Image.open(fv.zoo.photo("astronaut")) as image:
        return np.asarray(image.convert("RGB"))


@pytest.fixture(scope="session")
def pictures(photo):
    return [np.ascontiguousarray(crop(photo, index)) for index in range(FRAMES)]


@pytest.fixture(scope="session")
def video(pictures, tmp_path_factory):
    """video(".mp4") -> the path of a file with the pictures."""

    @functools.cache
    def made(suffix):
        path = tmp_path_factory.mktemp("videos") / f"walk{suffix}"
        with write_video(path, FPS) as out:
            for picture in pictures:
                out.write(picture)
        return path

    return made


@pytest.fixture(scope="session")
def detector():
    return fv.vision.Detector("face", threads=1)


@pytest.fixture(autouse=True)
def no_thread_stays():
    before = set(threading.enumerate())
    yield
    left = [t for t in threading.enumerate() if t not in before and t.name.startswith("foveal")]
    assert not left


@dataclass
class Result:
    code: int
    out: str
    err: str


@pytest.fixture
def foveal(tmp_path):
    """foveal("detect", "a.mp4") -> Result, run in an empty folder and a process of its own."""

    def run(*args):
        done = subprocess.run(
            [sys.executable, "-m", "foveal", *map(str, args)],
            cwd=tmp_path,
            env={**os.environ, "FOVEAL_PROGRESS": "0"},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return Result(done.returncode, done.stdout, done.stderr)

    return run


class FakeCapture:
    """cv2.VideoCapture of camera 3, which gives what is in `pictures` and is then unplugged."""

    pictures: ClassVar[list[np.ndarray]] = []
    last: ClassVar[Any] = None

    def __init__(self, target, api, wishes):
        assert (target, wishes) == (3, [])
        self.values, self.left, self.released = {}, list(FakeCapture.pictures), False
        FakeCapture.last = self

    def isOpened(self):
        return True

    def set(self, prop, value):
        self.values[prop] = value
        return True

    def get(self, prop):
        return float(self.values.get(prop, 0.0))

    def read(self):
        return (True, self.left.pop(0)) if self.left else (False, None)

    def release(self):
        self.released = True


@pytest.fixture
def fake_camera(monkeypatch):
    """fake_camera(pictures): camera 3 gives them, BGR. The class of the fake, with `last`."""

    def plug(pictures):
        FakeCapture.pictures = list(pictures)
        monkeypatch.setattr(_opencv.load("this test"), "VideoCapture", FakeCapture)
        return FakeCapture

    return plug
