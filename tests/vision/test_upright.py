"""Whatever way a picture lies in memory or in its file, results are those of the upright one."""

import functools
import io

import foveal as fv
import numpy as np
import pytest
from layouts import stored, yuv
from PIL import Image


@functools.cache
def made(name):
    return fv.vision.task(name, threads=2)


@functools.cache
def known(name, camera):
    """Results of the upright picture, as RGB or as a camera's NV12 frame."""
    return made(name)(nv12(upright(name)) if camera else upright(name))


def upright(name):
    """Wider than high or higher than wide, with even sides, so that NV12 can be turned exactly."""
    with Image.open(fv.zoo.photo("page" if name == "text" else "astronaut")) as photo:
        picture = np.asarray(photo.convert("RGB"))
    return np.ascontiguousarray(picture[:190] if name == "text" else picture[:, :400])


def exif_file(picture, orientation):
    file, exif = io.BytesIO(), Image.Exif()
    exif[0x0112] = orientation
    Image.fromarray(stored(picture, orientation)).save(file, "PNG", exif=exif)
    return file.getvalue()


def nv12(picture, rotation=0, mirror=False):
    """The frame of a camera that is turned and mirrored against `picture`."""
    seen = np.rot90(picture[:, ::-1] if mirror else picture, rotation // 90)
    height, width = seen.shape[:2]
    return fv.Frame(
        format="nv12",
        width=width,
        height=height,
        planes=yuv(seen, "nv12"),
        rotation=rotation,
        mirror=mirror,
        color="bt601-limited",
    )


def check_same(name, found, want):
    """Pixels are the same; only their coordinates are computed another way round."""
    if name == "selfie":
        np.testing.assert_allclose(found.values, want.values, atol=1e-4)
        return
    assert len(found) == len(want) > 0
    for one, other in zip(found, want, strict=True):
        np.testing.assert_allclose(one.box, other.box, atol=0.01)
        if name == "text":
            assert one.text == other.text
            np.testing.assert_allclose(one.quad, other.quad, atol=0.01)
        else:
            np.testing.assert_allclose(one.points, other.points, atol=0.05)


def cases(per_task):
    """Every way for the quick ones; text takes a second a page."""
    return [
        (name, way)
        for name in ("face", "face-mesh", "iris", "selfie", "text")
        for i, way in enumerate(per_task)
        if name != "text" or i in (2, 5)
    ]


@pytest.mark.parametrize(("name", "orientation"), cases(range(1, 9)))
def test_files_of_all_orientations(name, orientation):
    check_same(name, made(name)(exif_file(upright(name), orientation)), known(name, False))


@pytest.mark.parametrize(
    ("name", "way"), cases([(r, m) for m in (False, True) for r in (0, 90, 180, 270)])
)
def test_frames_of_turned_cameras(name, way):
    check_same(name, made(name)(nv12(upright(name), *way)), known(name, True))
