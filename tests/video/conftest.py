"""Videos made of a crop that moves over the zoo's photo, one pixel to the right per frame."""

import functools
import threading

import foveal as fv
import numpy as np
import pytest
from foveal.video import write_video
from PIL import Image

WIDTH, HEIGHT, FRAMES, FPS = 320, 256, 20, 25.0


def crop(photo, index):
    return photo[20 : 20 + HEIGHT, 60 + index : 60 + index + WIDTH]


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
