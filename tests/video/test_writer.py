"""Videos that are whole or not there, and the statistics of steps."""

import json
import threading
import time

import foveal as fv
import numpy as np
import pytest
from foveal.errors import ArgumentError, FrameError, IOFailure, ShapeError
from foveal.video import FrameStats, _opencv, stats, write_video
from foveal.video.writer import SUFFIXES
from PIL import Image


def read(path):
    with fv.camera(path) as frames:
        return [fv.vision.upright_rgb(frame) for frame in frames]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("size", [(64, 48), (65, 47)])
def test_every_form_of_a_picture(tmp_path, suffix, size):
    width, height = size
    column, row = np.meshgrid(np.arange(width) * 3, np.arange(height) * 4)
    picture = np.stack([column, row, 255 - column], -1).astype(np.uint8)
    sensor = np.ascontiguousarray(np.rot90(picture, 1))
    forms = [
        picture,
        picture[:, ::-1][:, ::-1],
        Image.fromarray(picture),
        Image.fromarray(picture).convert("RGBA"),
        fv.Frame.from_numpy(sensor[..., ::-1].copy(), "BGR", rotation=90),
        lambda: picture,
    ]
    path = tmp_path / f"a{suffix}"
    path.write_bytes(b"what was there before")
    with write_video(path, fps=10) as out:
        for form in forms:
            out.write(form)
    assert out.frames == len(forms)
    found = read(path)
    assert len(found) == len(forms)
    for shown in found:
        assert shown.shape[0] in (height, height + 1) and shown.shape[1] in (width, width + 1)
        assert np.abs(shown[:height, :width].astype(int) - picture).mean() < 6
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("suffix", [".y4m", ".mp4"])
@pytest.mark.parametrize("there", [False, True])
def test_what_fails_leaves_what_was(tmp_path, suffix, there):
    path = tmp_path / f"a{suffix}"
    if there:
        path.write_bytes(b"before")
    picture = np.zeros((8, 8, 3), np.uint8)

    def fails():
        raise ValueError("drawing failed")

    for kind, bad in [
        (ShapeError, np.zeros((8, 10, 3), np.uint8)),
        (ArgumentError, np.zeros((8, 8, 3))),
        (ArgumentError, "picture.png"),
        (ArgumentError, None),
        (FrameError, np.zeros((0, 0, 3), np.uint8)),
        (ValueError, fails),
    ]:
        with pytest.raises(kind), write_video(path) as out:
            for one in [picture, picture, bad] + [picture] * 20:
                out.write(one)
    with pytest.raises(KeyboardInterrupt), write_video(path) as out:
        out.write(picture)
        raise KeyboardInterrupt
    with write_video(path):
        pass
    left = list(tmp_path.iterdir())
    assert left == ([path] if there else [])
    assert not there or path.read_bytes() == b"before"


def test_places_that_cannot_be_written(tmp_path):
    picture = np.zeros((8, 8, 3), np.uint8)
    for name in ("none/a.y4m", "none/a.mp4"):
        with pytest.raises(IOFailure, match="cannot be written"), write_video(tmp_path / name):
            pass
    (tmp_path / "folder.mp4").mkdir()
    with pytest.raises(IOFailure, match="folder"), write_video(tmp_path / "folder.mp4") as out:
        out.write(picture)
    for name in ("a.gif", "a", "a.webm"):
        with pytest.raises(ArgumentError, match="no video format"):
            write_video(tmp_path / name)
    for fps in (0, -1, float("nan"), "x", None, True, 10**9):
        with pytest.raises(ArgumentError, match="fps"):
            write_video(tmp_path / "a.y4m", fps)
    out = write_video(tmp_path / "a.y4m")
    with pytest.raises(ArgumentError, match="not open"):
        out.write(picture)
    with out:
        out.write(picture)
    with pytest.raises(ArgumentError, match="not open"):
        out.write(picture)
    with pytest.raises(ArgumentError, match="written once"), out:
        pass


@pytest.mark.parametrize("counted", [None, -2.3e17])
def test_a_full_disk_is_told(tmp_path, monkeypatch, counted):
    """OpenCV's writer is silent about it: a file without all its frames does not appear."""
    cv2 = _opencv.load("this test")

    class Full:
        fourcc = cv2.VideoWriter.fourcc

        def __init__(self, *arguments):
            pass

        def isOpened(self):
            return True

        def write(self, picture):
            pass

        def release(self):
            pass

    class Cut:  # a file without an end: OpenCV guesses
        def __init__(self, *arguments):
            pass

        isOpened = Full.isOpened
        release = Full.release

        def get(self, what):
            return counted

    monkeypatch.setattr(cv2, "VideoWriter", Full)
    if counted is not None:
        monkeypatch.setattr(cv2, "VideoCapture", Cut)
    with (
        pytest.raises(IOFailure, match=": 0 of 3 frames arrived"),
        write_video(tmp_path / "a.avi") as out,
    ):
        for _ in range(3):
            out.write(np.zeros((16, 16, 3), np.uint8))
    assert not list(tmp_path.iterdir())


def test_writing_overlaps_with_other_work(tmp_path):
    """Pictures are made by the encoding thread; a writer that is behind makes `write` wait."""
    here, made = threading.current_thread(), []

    def picture():
        assert threading.current_thread() is not here
        time.sleep(0.02)
        made.append(1)
        return np.zeros((8, 8, 3), np.uint8)

    with write_video(tmp_path / "a.y4m") as out:
        for number in range(12):
            out.write(picture)
            assert number + 1 - len(made) <= 6  # four wait, one is made, one is on its way
        assert len(made) >= 6
    assert len(made) == out.frames == 12


def test_percentiles_are_numpys():
    random = np.random.default_rng(6)
    for count in (1, 2, 3, 100, 5000):
        values = random.gamma(2, 5, count)
        counted = FrameStats()
        for value in values:
            counted.frame({"inference": value, "decode": 1.0})
        for percent in (0, 5, 50, 95, 100):
            expected = np.percentile(values, percent)
            assert counted.percentile("inference", percent) == pytest.approx(expected)
        assert counted.frames == count
        assert counted.json()["steps"]["inference"]["max_ms"] == pytest.approx(
            values.max(), abs=1e-3
        )
    assert np.isnan(counted.percentile("none", 50))


def test_long_videos_need_no_more_memory():
    counted = FrameStats()
    for value in range(10 * stats.KEPT):
        counted.add({"step": float(value)})
    assert len(counted._steps["step"].values) == stats.KEPT
    for percent in (5, 50, 95):  # 3 standard errors of a sample of that size
        expected = 10 * stats.KEPT * percent / 100
        assert abs(counted.percentile("step", percent) - expected) < 0.017 * 10 * stats.KEPT
    assert counted.json()["steps"]["step"]["max_ms"] == 10 * stats.KEPT - 1


def test_rate_table_and_json(monkeypatch):
    clock = iter([10.0, 10.5, 11.0, 12.0])
    monkeypatch.setattr(stats.time, "perf_counter", lambda: next(clock))
    counted = FrameStats()
    assert counted.json() == {"frames": 0, "dropped": 0, "seconds": 0, "fps": 0, "steps": {}}
    for ms in (1.0, 2.0, 3.0, 4.0):
        counted.frame({"inference": ms})
    counted.dropped = 2
    assert (counted.seconds, counted.fps) == (2.0, 1.5)
    assert counted.summary() == "4 frames, 1.5 per second, 2 dropped"
    head, rows = counted.table()
    assert head == ("step", "p50 ms", "p95 ms", "max ms")
    assert rows == [("inference", "2.50", "3.85", "4.00")]
    assert "3.85" in str(counted) and json.loads(json.dumps(counted.json()))["fps"] == 1.5
