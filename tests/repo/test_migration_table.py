"""The page of profiles: what its table calls equal is computed and compared."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import PIL
import pytest

PAGE = Path(__file__).resolve().parents[2] / "platforms/python/docs/image_profiles.md"
ROW = re.compile(r"\| `(.+?)` \| `(.+?)` \| ([\d.e-]+) \|")


def rows() -> list[tuple[str, str, float]]:
    text = PAGE.read_text(encoding="utf-8")
    return [(before, after, float(most)) for before, after, most in ROW.findall(text)]


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """What the page's code sees: its own preamble and pictures of noise with prime sides."""
    cv2 = pytest.importorskip("cv2")
    from PIL import Image, ImageOps

    rng = np.random.default_rng(3)
    img = rng.integers(0, 256, (97, 131, 3), np.uint8)
    found: dict[str, Any] = {
        "cv2": cv2, "np": np, "Image": Image, "ImageOps": ImageOps,
        "img": img, "photo": Image.fromarray(img),
        "nv12": rng.integers(0, 256, (96 * 3 // 2, 130), np.uint8),
        "M": np.array([[0.4, 0.1, 3], [-0.12, 0.5, 7]]),
        "H": np.array([[0.4, 0.1, 3], [-0.12, 0.5, 7], [1e-3, -2e-3, 1]]),
    }  # fmt: skip
    (preamble,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    exec(preamble, found)
    return found


def test_the_table_is_read() -> None:
    assert len(rows()) >= 15


@pytest.mark.parametrize(("before", "after", "most"), rows())
def test_every_row(before: str, after: str, most: float, names: dict[str, Any]) -> None:
    if "warp" in before and int(names["cv2"].__version__.split(".")[0]) < 5:
        pytest.skip("OpenCV 4 warps in another way: profile cv2_4")
    if int(PIL.__version__.split(".")[0]) < 13:
        after = after.replace('"pillow"', '"pillow_12"')
    want, got = np.asarray(eval(before, names)), np.asarray(eval(after, names))
    assert got.shape == want.shape and got.dtype == want.dtype
    assert np.abs(got.astype(np.float64) - want.astype(np.float64)).max() <= most
