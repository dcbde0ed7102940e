"""Photos and detectors of the zoo, fetched into the user's cache once and made once per run."""

import functools

import foveal as fv
import numpy as np
import pytest
from PIL import Image


@functools.cache
def load_photo(name):
    with Image.open(fv.zoo.photo(name)) as image:
        return np.asarray(image.convert("RGB"))


@pytest.fixture(scope="session")
def photo():
    """photo("astronaut") -> (H, W, 3) uint8 RGB."""
    return load_photo


@pytest.fixture(scope="session")
def detector():
    """detector("face") -> the Detector of a zoo model."""
    return functools.cache(lambda name: fv.vision.Detector(name, threads=2))
