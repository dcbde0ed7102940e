"""Frames of files, cameras and pictures: order, count, drops, damage, threads that end."""

import functools
import gc
import http.server
import pickle
import subprocess
import sys
import threading
import time

import foveal as fv
import numpy as np
import pytest
from foveal.errors import ArgumentError, FovealError, FrameError, IOFailure, NotFoundError
from foveal.video import sources
from foveal.video.capture import Camera
from PIL import Image
from walk import FPS, FRAMES, HEIGHT, WIDTH

FACE = (179, 82, 274, 177)  # the astronaut's, in the photo


@pytest.mark.parametrize("suffix", [".y4m", ".mp4", ".avi", ".mkv", ".mov", ".m4v"])
def test_the_face_is_found_in_every_frame(video, pictures, detector, suffix):
    with fv.camera(video(suffix)) as frames:
        assert (frames.size, frames.count, frames.fps) == ((WIDTH, HEIGHT), FRAMES, FPS)
        found = list(frames)
        assert frames.dropped == 0
    assert [f.index for f in found] == list(range(FRAMES))
    np.testing.assert_allclose([f.timestamp for f in found], np.arange(FRAMES) / FPS, atol=2e-3)
    for frame, picture in zip(found, pictures, strict=True):
        assert frame.format == ("i420" if suffix == ".y4m" else "bgr")
        shown = fv.vision.upright_rgb(frame).astype(int)
        # Between neighbours the photo differs by much more: this frame and no other.
        assert np.abs(shown - picture).mean() < 6
        (face,) = detector.detect(frame)
        x0, y0, x1, y1 = face.box
        assert abs((x0 + x1) / 2 + 60 + frame.index - (FACE[0] + FACE[2]) / 2) < 8
        assert abs((y0 + y1) / 2 + 20 - (FACE[1] + FACE[3]) / 2) < 8


def turned(data, degrees):
    """The MP4 with a display matrix in its track header that turns pictures clockwise."""
    a, b, c, d = {90: (0, 1, -1, 0), 180: (-1, 0, 0, -1), 270: (0, -1, 1, 0)}[degrees]
    matrix = b"".join(
        value.to_bytes(4, "big", signed=True)
        for value in (a << 16, b << 16, 0, c << 16, d << 16, 0, 0, 0, 1 << 30)
    )
    at = data.index(b"tkhd") + 4 + 40  # version 0: times, track, duration, layer ... come before
    return data[:at] + matrix + data[at + 36 :]


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_rotation_of_a_video_becomes_that_of_its_frames(video, pictures, tmp_path, degrees):
    path = tmp_path / "turned.mp4"
    path.write_bytes(turned(video(".mp4").read_bytes(), degrees))
    with fv.camera(path) as frames:
        frame = next(frames)
        size = frames.size
    assert (frame.width, frame.height, frame.rotation) == (WIDTH, HEIGHT, degrees)
    assert frame.upright_size == size == ((HEIGHT, WIDTH) if degrees != 180 else (WIDTH, HEIGHT))
    upright = np.rot90(pictures[0], -degrees // 90)
    assert np.abs(fv.vision.upright_rgb(frame).astype(int) - upright).mean() < 6


def test_pictures_in_a_folder(tmp_path):
    for number in (10, 9, 1):
        Image.fromarray(np.full((4, 4 + number, 3), number, np.uint8)).save(
            tmp_path / f"shot-{number}.png"
        )
    (tmp_path / "notes.txt").write_text("no picture")
    (tmp_path / "also.png").mkdir()
    for source in (
        tmp_path,
        str(tmp_path / "shot-%d.png"),
        tmp_path / "shot-%03d.png",
        str(tmp_path / "*.png"),
        tmp_path.as_uri(),
    ):
        if str(source).endswith("*.png"):
            (tmp_path / "also.png").rmdir()
        with fv.camera(source, fps=10) as frames:
            found = list(frames)
            assert frames.count == 3 and frames.size is None
        assert [f.width for f in found] == [5, 13, 14]
        assert [f.timestamp for f in found] == [0, 0.1, 0.2]
    with fv.camera([tmp_path / "shot-9.png", str(tmp_path / "shot-1.png")]) as frames:
        assert [f.width for f in frames] == [13, 5]


def test_a_damaged_picture_comes_after_the_good_ones(tmp_path):
    Image.fromarray(np.zeros((4, 4, 3), np.uint8)).save(tmp_path / "1.png")
    (tmp_path / "2.png").write_bytes(b"\x89PNG, but no picture")
    with fv.camera(tmp_path) as frames:
        assert next(frames).index == 0
        with pytest.raises(FrameError, match=r"2\.png"):
            next(frames)


class Fake:
    """A source that gives a numbered frame each time that it is told to."""

    name, size, fps, count = "a fake", (2, 2), None, None

    def __init__(self, frames, live=True, pause=0.0, error=None):
        self.live, self.pause, self.error = live, pause, error
        self.left, self.index = frames, 0
        self.closed = threading.Event()

    def read(self):
        time.sleep(self.pause)
        if self.index >= self.left:
            if self.error:
                raise self.error
            return None
        self.index += 1
        pixels = np.zeros((2, 2, 3), np.uint8)
        return fv.Frame.from_numpy(pixels).stamped(self.index - 1, 0.0)

    def close(self):
        self.closed.set()


def test_a_slow_consumer_gets_the_newest_frame():
    source = Fake(40, pause=0.005)
    seen = []
    with Camera(source, newest=True, read_ahead=4) as frames:
        for frame in frames:
            # Newest: what was read when it was asked for, or the one after.
            assert source.index - 1 <= frame.index + 1
            seen.append(frame.index)
            time.sleep(0.03)
        assert seen == sorted(set(seen)) and seen[-1] == 39
        assert len(seen) + frames.dropped == 40
        assert frames.dropped > 15
    assert source.closed.is_set()


def test_a_quick_consumer_gets_all():
    with Camera(Fake(20, pause=0.01), newest=True, read_ahead=4) as frames:
        assert [f.index for f in frames] == list(range(20)) and frames.dropped == 0


@pytest.mark.parametrize("depth", [1, 4])
def test_files_wait_for_a_slow_consumer(depth):
    source = Fake(30, live=False)
    with Camera(source, newest=True, read_ahead=depth) as frames:
        for number, frame in enumerate(frames):
            assert frame.index == number
            if number in (3, 10):
                time.sleep(0.05)
            # Read ahead: those that wait, and one that wants to.
            assert source.index <= number + 1 + depth + 1
        assert number == 29 and frames.dropped == 0


def test_live_frames_that_are_all_wanted_are_not_dropped():
    with Camera(Fake(20), newest=False, read_ahead=2) as frames:
        for number, frame in enumerate(frames):
            time.sleep(0.002)
            assert frame.index == number
        assert number == 19 and frames.dropped == 0


@pytest.mark.parametrize("error", [IOFailure("unplugged"), ValueError("a defect")])
def test_an_error_of_the_source_comes_after_its_frames(error):
    source = Fake(3, live=False, error=error)
    with Camera(source, newest=False, read_ahead=4) as frames:
        assert [next(frames).index for _ in range(3)] == [0, 1, 2]
        with pytest.raises(type(error)) as raised:
            next(frames)
        assert raised.value is error
        assert next(frames, None) is None
    assert source.closed.is_set()


def test_iterating_goes_on_and_ends_once(video):
    with fv.camera(video(".y4m")) as frames:
        first = [f.index for f, _ in zip(frames, range(3), strict=False)]
        rest = [f.index for f in frames]
        assert first == [0, 1, 2] and rest[-1] == FRAMES - 1 and len(rest) >= FRAMES - 4
        assert next(frames, None) is None
        with pytest.raises(ArgumentError, match="its frames were all read"):
            iter(frames)
    with pytest.raises(ArgumentError, match="closed"):
        next(frames)
    with pytest.raises(ArgumentError, match="closed"):
        list(frames)
    frames.close()
    assert frames.closed and "closed" in repr(frames)


def test_closing_ends_whoever_waits():
    source = Fake(10**9, pause=0.001)
    frames = Camera(source, newest=True, read_ahead=4)
    raised = []

    def consume():
        try:
            for _ in frames:
                pass
        except ArgumentError as error:
            raised.append(error)

    thread = threading.Thread(target=consume)
    thread.start()
    time.sleep(0.05)
    frames.close()
    thread.join(5)
    assert not thread.is_alive() and len(raised) == 1 and source.closed.is_set()


def test_a_forgotten_camera_is_closed():
    source = Fake(10**9, pause=0.001)
    frames = Camera(source, newest=True, read_ahead=4)
    next(frames)
    del frames
    gc.collect()
    assert source.closed.wait(5)
    unread = Fake(1)
    Camera(unread, newest=True, read_ahead=4).close()
    assert unread.closed.is_set()


def test_threads_share_the_frames():
    with Camera(Fake(200, live=False), newest=False, read_ahead=4) as frames:
        seen = [[] for _ in range(4)]

        def consume(mine):
            for frame in iter(lambda: next(frames, None), None):
                mine.append(frame.index)

        threads = [threading.Thread(target=consume, args=(mine,)) for mine in seen]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
    assert sorted(index for mine in seen for index in mine) == list(range(200))
    assert all(mine == sorted(mine) for mine in seen)


def test_pickling_is_refused(video):
    with fv.camera(video(".y4m")) as frames, pytest.raises(ArgumentError, match="pickled"):
        pickle.dumps(frames)


@pytest.mark.parametrize("suffix", [".mp4", ".avi", ".mkv", ".y4m"])
@pytest.mark.parametrize("part", [0.0, 0.01, 0.3, 0.7, 0.99])
def test_files_that_are_cut_off(video, tmp_path, suffix, part):
    """What can be decoded comes, in order; then a typed error or the end; never a crash."""
    data = video(suffix).read_bytes()
    path = tmp_path / f"cut{suffix}"
    path.write_bytes(data[: int(len(data) * part)])
    seen = []
    try:
        with fv.camera(path) as frames:
            while (frame := next(frames, None)) is not None:
                seen.append(frame.index)
    except FrameError as error:
        assert str(path) in str(error)
    assert seen == list(range(len(seen))) and len(seen) <= FRAMES
    if suffix in (".avi", ".y4m") and part >= 0.3:
        assert part * FRAMES - 3 < len(seen)


def test_a_short_end_is_told(video, tmp_path, caplog):
    data = video(".avi").read_bytes()
    path = tmp_path / "cut.avi"
    path.write_bytes(data[: len(data) // 2])
    with fv.camera(path) as frames:
        assert 5 < len(list(frames)) < 15
    assert "of 20 frames: it may be damaged" in caplog.text


@pytest.mark.parametrize("suffix", [".mp4", ".avi", ".mkv"])
def test_files_with_damage_inside(video, tmp_path, suffix):
    """Random bytes overwritten: decoders conceal or refuse; frames keep their order."""
    data = video(suffix).read_bytes()
    random = np.random.default_rng(5)
    for trial in range(12):
        damaged = bytearray(data)
        for at in random.integers(0, len(data), 20):
            damaged[at] = random.integers(256)
        path = tmp_path / f"{trial}{suffix}"
        path.write_bytes(damaged)
        try:
            with fv.camera(path) as frames:
                seen = [f.index for f in frames]
        except FovealError:
            continue
        assert seen == list(range(len(seen)))


def test_sources_that_are_none(tmp_path):
    (tmp_path / "a.mp4").write_bytes(b"no video at all" * 100)
    (tmp_path / "empty").mkdir()
    for source, kind, says in [
        (tmp_path / "a.mp4", FrameError, "expected a video"),
        (tmp_path / "b.mp4", NotFoundError, "no such file"),
        (tmp_path / "empty", NotFoundError, "no pictures"),
        (tmp_path / "x-%d.png", NotFoundError, "no pictures"),
        ([], NotFoundError, "no pictures"),
        (-1, ArgumentError, "from 0 up"),
        (None, ArgumentError, "NoneType"),
        (True, ArgumentError, "bool"),
        (1.5, ArgumentError, "float"),
        ([1], ArgumentError, "int"),
        (9876, NotFoundError, "camera 9876 cannot be opened"),
        ("9876", NotFoundError, "camera 9876 cannot be opened"),
    ]:
        with pytest.raises(kind, match=says):
            fv.camera(source)


def test_wrong_arguments(video):
    path = video(".y4m")
    for kwargs, says in [
        ({"size": (640, 480)}, "size: .* has its own"),
        ({"fps": 30}, "fps: .* has its own"),
        ({"newest": 2}, "newest"),
        ({"read_ahead": 0}, "read_ahead"),
        ({"read_ahead": 4.0}, "read_ahead"),
        ({"source": 0, "size": (640,)}, r"size: expected \(width, height\)"),
        ({"source": 0, "size": (0, 5)}, "size"),
        ({"source": 0, "fps": float("nan")}, "fps"),
        ({"source": [str(path)], "fps": 0}, "fps"),
    ]:
        with pytest.raises(ArgumentError, match=says):
            fv.camera(**{"source": path, **kwargs})


def test_a_camera_is_asked_and_may_be_unplugged(fake_camera):
    fake = fake_camera(np.full((240, 320, 3), number, np.uint8) for number in (1, 2, 3))
    with fv.camera("3", size=(320, 240), fps=15, newest=False) as frames:
        assert (frames.live, frames.size, frames.fps) == (True, (320, 240), 15.0)
        found = [next(frames) for _ in range(3)]
        assert [f.planes[0][0, 0, 0] for f in found] == [1, 2, 3]
        times = [f.timestamp for f in found]
        assert times[0] == 0 and times == sorted(times)
        with pytest.raises(IOFailure, match="camera 3: gives no more frames"):
            next(frames)
    assert fake.last.released


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


@pytest.mark.parametrize("suffix", [".mp4", ".avi"])
def test_a_video_file_on_a_server(video, suffix):
    """It waits, so that every frame comes."""
    path = video(suffix)
    handler = functools.partial(Quiet, directory=path.parent)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            with fv.camera(f"http://127.0.0.1:{server.server_port}/{path.name}") as frames:
                assert not frames.live
                assert [f.index for f in frames] == list(range(FRAMES))
            with pytest.raises(IOFailure, match=r"none\.mp4: the video cannot be opened"):
                fv.camera(f"http://127.0.0.1:{server.server_port}/none.mp4")
        finally:
            server.shutdown()


def test_a_stream_that_is_not_there():
    with pytest.raises(IOFailure, match=r"rtsp://127\.0\.0\.1:1/none: the stream cannot be opened"):
        fv.camera("rtsp://me:secret@127.0.0.1:1/none")


def test_without_opencv(monkeypatch, video, tmp_path):
    clip, plain = video(".mp4"), video(".y4m")
    monkeypatch.setitem(sys.modules, "cv2", None)
    for source in (0, clip, "rtsp://127.0.0.1:1/none"):
        with pytest.raises(NotFoundError, match="opencv-python") as error:
            fv.camera(source)
        assert "foveal[camera]" in error.value.hint
    with pytest.raises(NotFoundError, match="opencv-python"):
        fv.video.write_video(tmp_path / "a.mp4")
    with fv.camera(plain) as frames:
        assert len(list(frames)) == FRAMES


def test_a_password_is_not_shown():
    assert sources._without_password("rtsp://me:secret@host/a") == "rtsp://host/a"
    assert sources._without_password("rtsp://host/a@b") == "rtsp://host/a@b"


def test_what_is_a_video(tmp_path):
    (tmp_path / "7").write_bytes(b"")
    for text, expected in [
        ("a.mp4", True),
        ("A.AVI", True),
        ("0", True),
        ("rtsp://host/a", True),
        ("file:///a.png", True),
        ("shot-%03d.png", True),
        ("a.png", False),
        ("astronaut", False),
        ("100%.png", False),
        ("", False),
        (str(tmp_path), False),
        (str(tmp_path / "7"), False),
    ]:
        assert sources.is_video(text) is expected, text


def test_nothing_is_printed_when_opening_fails(video, tmp_path):
    """FFmpeg and OpenCV like to write to stderr."""
    path = tmp_path / "cut.mp4"
    path.write_bytes(video(".mp4").read_bytes()[:2000])
    code = f"""
import foveal as fv
for source in ({str(path)!r}, 9876):
    try:
        fv.camera(source)
    except fv.FovealError:
        print("refused")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("refused\n" * 2, "")


def test_stamps_of_a_frame():
    frame = fv.Frame.from_numpy(np.zeros((2, 2, 3), np.uint8), rotation=90)
    assert (frame.index, frame.timestamp) == (None, None)
    stamped = frame.stamped(np.int64(3), 1)
    assert (stamped.index, stamped.timestamp, stamped.rotation) == (3, 1.0, 90)
    assert frame.index is None and stamped.planes is frame.planes
    for bad in (float("nan"), float("inf"), "x", 10**400):
        with pytest.raises(FrameError, match="timestamp"):
            frame.stamped(0, bad)
    with pytest.raises(FrameError, match="index"):
        frame.stamped(1.5, None)
