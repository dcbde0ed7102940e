"""Uncompressed video: exact planes in and out, and files that are none."""

import foveal as fv
import numpy as np
import pytest
from foveal.errors import FrameError
from foveal.video import write_video, y4m

HEAD = b"YUV4MPEG2 W4 H2 F30:1 Ip A1:1 C420jpeg\n"


def planes_one_pixel_at_a_time(rgb):
    """BT.601 limited range as the standard's text says it."""
    height, width = rgb.shape[:2]
    y = np.zeros((height, width))
    chroma = np.zeros((2, (height + 1) // 2, (width + 1) // 2))
    count = np.zeros(chroma.shape[1:])
    for row in range(height + height % 2):
        for column in range(width + width % 2):
            at = min(row, height - 1), min(column, width - 1)
            r, g, b = (float(v) / 255 for v in rgb[at])
            luma = 0.299 * r + 0.587 * g + 0.114 * b
            y[at] = 16 + 219 * luma
            half = row // 2, column // 2
            chroma[0][half] += 128 + 224 * (b - luma) / (2 * (1 - 0.114))
            chroma[1][half] += 128 + 224 * (r - luma) / (2 * (1 - 0.299))
            count[half] += 1
    return [y, *(chroma / count)]


@pytest.mark.parametrize("size", [(1, 1), (2, 2), (5, 3), (8, 7), (16, 10)])
def test_planes(size):
    rgb = np.random.default_rng(3).integers(0, 256, (size[1], size[0], 3), np.uint8)
    for made, exact in zip(y4m.planes_from_rgb(rgb), planes_one_pixel_at_a_time(rgb), strict=True):
        assert made.shape == exact.shape
        np.testing.assert_allclose(made, exact, atol=0.51)


@pytest.mark.parametrize("size", [(1, 1), (5, 3), (64, 48)])
def test_written_frames_come_back_exactly(tmp_path, size):
    random = np.random.default_rng(4)
    pictures = random.integers(0, 256, (3, size[1], size[0], 3), np.uint8)
    path = tmp_path / "a.y4m"
    with write_video(path, 29.97) as out:
        for picture in pictures:
            out.write(picture)
    with fv.camera(path) as frames:
        assert (frames.size, frames.count, frames.live) == (size, 3, False)
        assert abs(frames.fps - 29.97) < 1e-3
        for index, (frame, picture) in enumerate(zip(frames, pictures, strict=True)):
            assert (frame.format, frame.color, frame.index) == ("i420", "bt601-limited", index)
            for plane, wanted in zip(frame.planes, y4m.planes_from_rgb(picture), strict=True):
                assert bytes(plane) == wanted.tobytes()


@pytest.mark.parametrize(
    ("tags", "format", "color", "length"),
    [
        (b"", "i420", "bt601-limited", 12),
        (b" C420mpeg2 XCOLORRANGE=FULL", "i420", "bt601-full", 12),
        (b" XYSCSS=420JPEG C420paldv XCOLORRANGE=LIMITED", "i420", "bt601-limited", 12),
        (b" Cmono", "gray", "bt601-limited", 8),
    ],
)
def test_headers(tmp_path, tags, format, color, length):
    pixels = bytes(range(length))
    path = tmp_path / "a.y4m"
    path.write_bytes(
        b"YUV4MPEG2 H2 W4 F30000:1001" + tags + b"\nFRAME\n" + pixels + b"FRAME Ip\n" + pixels
    )
    with fv.camera(path) as frames:
        assert frames.fps == pytest.approx(29.97, abs=1e-3)
        found = list(frames)
    assert [(f.index, f.format, f.color, f.width, f.height) for f in found] == [
        (i, format, color, 4, 2) for i in range(2)
    ]
    assert b"".join(map(bytes, found[1].planes)) == pixels
    assert found[1].timestamp == pytest.approx(1001 / 30000)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "empty file"),
        (b"YUV4MPEG2 W4 H2", "expected a Y4M video"),
        (b"YUV4MPEG2 W4\n", "height"),
        (b"YUV4MPEG2 W0 H2\n", "width: expected 1 to 32768, got '0'"),
        (b"YUV4MPEG2 W99999999999999999999 H2\n", "width"),
        (b"YUV4MPEG2 W-4 H2\n", "got '-4'"),
        (b"YUV4MPEG2 " + b"X" * 5000 + b" W4 H2\n", "expected a Y4M video"),
        (HEAD, "no frames"),
    ],
)
def test_headers_that_are_none(tmp_path, data, says):
    path = tmp_path / "a.y4m"
    path.write_bytes(data)
    with pytest.raises(FrameError, match=says):
        fv.camera(path)


@pytest.mark.parametrize(
    ("tail", "says"),
    [
        (b"FRAME\n" + bytes(11), "expected 12 bytes of pixels, got 11"),
        (b"FRAME\n", "got 0"),
        (b"FRAM", "expected FRAME"),
        (b"FRAMES\n" + bytes(12), "expected FRAME"),
        (b"FRAME" + b" " * 5000 + b"\n" + bytes(12), "expected FRAME"),
        (bytes(18), "expected FRAME"),
    ],
)
def test_damage_comes_after_the_good_frames(tmp_path, tail, says):
    path = tmp_path / "a.y4m"
    path.write_bytes(HEAD + (b"FRAME\n" + bytes(12)) * 3 + tail)
    seen = []
    with fv.camera(path) as frames, pytest.raises(FrameError, match=says) as error:
        seen.extend(frame.index for frame in iter(frames.__next__, None))
    assert "frame 3" in str(error.value)


def test_a_huge_size_needs_no_memory(tmp_path):
    path = tmp_path / "a.y4m"
    path.write_bytes(b"YUV4MPEG2 W32768 H32768 F1:1\nFRAME\n" + bytes(100))
    with fv.camera(path) as frames, pytest.raises(FrameError, match="got 100"):
        next(frames)


@pytest.mark.parametrize("rate", [b"", b" F0:0", b" F0:1", b" F5", b" Fx:y", b" F1:99999999999"])
def test_no_rate(tmp_path, rate):
    path = tmp_path / "a.y4m"
    path.write_bytes(b"YUV4MPEG2 W4 H2" + rate + b"\nFRAME\n" + bytes(12))
    with fv.camera(path) as frames:
        assert frames.fps is None and next(frames).timestamp is None


def test_other_pixel_formats_are_left_to_ffmpeg(tmp_path):
    path = tmp_path / "a.y4m"
    path.write_bytes(b"YUV4MPEG2 W16 H16 F30:1 C444\n" + (b"FRAME\n" + bytes([128]) * 768) * 3)
    with fv.camera(path) as frames:
        found = list(frames)
    assert [f.format for f in found] == ["bgr"] * 3
    assert np.ptp(fv.vision.upright_rgb(found[2])) == 0
