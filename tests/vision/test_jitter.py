"""Landmarks of a face in a video that moves smoothly and is noisy: following it makes it calmer."""

import foveal as fv
import numpy as np
import pytest
from PIL import Image

FRAMES, SIDE = 60, 360


@pytest.fixture(scope="module")
def video():
    """Frames of a view that glides over the photo, with a sensor's noise, and where it stands."""
    noise = np.random.default_rng(0)
    with Image.open(fv.zoo.photo("astronaut")) as file:
        photo = file.convert("RGB")
    at = [(30 + 20 * np.sin(i / 25), 10 + 8 * np.cos(i / 18)) for i in range(FRAMES)]
    frames = []
    for x, y in at:
        view = photo.transform(
            (SIDE, SIDE), Image.Transform.AFFINE, (1, 0, x, 0, 1, y), Image.Resampling.BILINEAR
        )
        noisy = np.asarray(view) + noise.normal(0, 6, (SIDE, SIDE, 3))
        frames.append(noisy.clip(0, 255).astype(np.uint8))
    return frames, np.array(at)


def points_in_photo(video, **options):
    frames, at = video
    task = fv.vision.Landmarker("face-mesh", threads=2, **options)
    found = []
    for frame, corner in zip(frames, at, strict=True):
        (face,) = task.find(frame)  # in every frame
        found.append(face.points[:, :2].astype(float) + corner)
    return np.array(found)


def jitter(points):
    """Root mean square of how far a point of the photo moves from a frame to the next, in px."""
    return np.sqrt((np.diff(points, axis=0) ** 2).sum(-1).mean())


def test_followed_landmarks_are_calmer(video):
    alone = points_in_photo(video)
    followed = points_in_photo(video, tracking=True)
    assert jitter(followed) < 0.7 * jitter(alone)
    # And calm is not late: they stay on the face, which moves by up to 0.9 px a frame.
    assert np.abs(followed.mean(1) - alone.mean(1)).max() < 1.5
