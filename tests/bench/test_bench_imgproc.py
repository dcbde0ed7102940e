"""`foveal bench --imgproc`: all libraries compute the same picture; names, tables, JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from foveal.bench import imgproc
from foveal.bench.imgproc import camera
from foveal.bench.imgproc import peers as peer_table
from foveal.bench.imgproc.cases import CASES, Case, Picture, ring, ring_bytes
from foveal.bench.imgproc.peers import Peer, Prepared, find, peers
from foveal.cli import main
from foveal.errors import ArgumentError, NotFoundError

QUICK: dict[str, Any] = {"rounds": 1, "least_ring": 0, "slice_s": 0, "pause_s": 0}
LIBRARIES = ["opencv", "pillow", "libyuv", "torch"]
DOES = {
    "opencv": set(CASES),
    "pillow": {"rotated-roi", "photo-antialias", "photo-pillow"},
    "libyuv": {"nv12", "bgra-turned", "photo", "nv21-rgb"},
    "torch": {"photo", "photo-antialias", "photo-pillow"},
}


def installed(name: str) -> Peer:
    library = find(name)
    try:
        library.version()
    except NotFoundError as error:
        pytest.skip(error.message)
    return library


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("library", LIBRARIES)
def test_libraries_compute_the_same_picture(library: str, name: str) -> None:
    case = CASES[name].scaled(0.2)
    pictures = ring(case, 0)
    other = installed(library).prepare(case, pictures, 1)
    assert (other is not None) == (name in DOES[library])
    if other is None:
        return
    ours = find("foveal").prepare(case, pictures, 1)
    assert ours is not None
    scale = 1 if case.pixels else 255
    for i in range(len(pictures)):
        a, b = ours.run(i), other.run(i)
        assert a is not None and b is not None
        a = np.squeeze(a)
        assert a.shape == np.squeeze(b).shape
        far = np.abs(a.astype(np.float64) - np.squeeze(b)) * scale
        if case.profile == library:
            assert far.max() < 1e-4
        # Colour before sampling, short fixed-point weights, libyuv's matrix: a level or two.
        assert far.mean() < 2 and np.percentile(far, 99) < 8
        assert np.ptp(a) * scale > 60  # they show something


def test_pictures_of_a_ring_differ() -> None:
    for case in CASES.values():
        small = case.scaled(0.1)
        first, second = ring(small, 0)
        assert first.data != second.data and 255 not in first.data + second.data
        assert len(first.data) == sum(plane.size for plane in first.planes)
        many = ring(small, 10 * small.touched)
        assert len(many) == 10
        second.planes[0][0, 0] = 7  # planes are views of the data
        assert second.data[0] == 7
    assert ring_bytes() >= 64 << 20


@pytest.mark.parametrize(
    ("name", "touched"),
    [
        ("nv12", 1920 * 1080 * 3 // 2),
        ("bgra-turned", 640 * 640 * 4),
        ("rotated-roi", 260 * 260 * 3),
        ("photo", 36_000_000),
        ("nv21-rgb", 1920 * 1080 * 3 // 2),
    ],
)
def test_bytes_that_a_case_must_read(name: str, touched: int) -> None:
    assert CASES[name].touched == touched
    assert CASES[name].touched <= len(ring(CASES[name], 0)[0].data)


def test_the_bars_of_a_letterbox() -> None:
    assert CASES["photo"].inner == (0, 80, 640, 480)
    assert CASES["nv12"].inner == (0, 0, 320, 320)


def test_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong(Peer):
        name = "wrong"

        def version(self) -> str:
            return "7"

        def prepare(self, case: Case, pictures: Sequence[Picture], threads: int) -> Prepared | None:
            if case.pixels:
                raise ValueError("cannot")
            if case.letterbox:
                return None
            return Prepared(lambda i: np.ones((1, 3, *case.size[::-1]), np.float32), "ones")

    known = {**peers(), "wrong": Wrong()}
    monkeypatch.setattr(peer_table, "peers", lambda: known)
    cases = [CASES[n].scaled(0.1) for n in ("nv12", "nv21-rgb", "photo")]
    rows = imgproc.compare(cases, against=["wrong"], threads=[1, 2], **QUICK)
    assert [(row.model, row.threads) for row in rows] == [
        (case.title, threads) for case in cases for threads in (1, 2)
    ]
    names = [[entry.engine for entry in row.entries] for row in rows[::2]]
    assert names == [["foveal", "floor", "wrong"]] * 2 + [["foveal", "floor"]]
    first, second = rows[0].entries, rows[2].entries
    assert first[0].timing and first[1].timing and first[1].ratio and not first[0].ratio
    assert first[0].deviation is None and first[1].deviation is None
    assert first[2].version == "7" and (first[2].deviation or 0) > 0.2
    assert second[2].timing is None and second[2].problem == "cannot"
    lines = imgproc.cells(rows)
    assert lines[0][0] == cases[0].title and lines[1][6] == "100%" and lines[8][3] == "fails"
    assert all(len(line) == len(imgproc.HEAD) for line in lines)
    assert imgproc.table(rows).startswith("case")
    found = json.loads(json.dumps(imgproc.as_json(rows)))
    assert found["rows"][0]["entries"][2]["engine"] == "wrong" and found["machine"]["cores"]


def test_every_library_is_listed() -> None:
    known = [name for name in peers() if name != "wrong"]  # of the test above
    assert known == ["foveal", "floor", "libyuv", "opencv", "pillow", "torch"]


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"cases": ["nosuch"]}, NotFoundError, "nosuch.*nv12.*camera"),
        ({"against": ["nosuch"]}, NotFoundError, "nosuch.*opencv"),
        ({"rounds": 0}, ArgumentError, "from 1 up"),
        ({"threads": [0]}, ArgumentError, "from 1 up"),
    ],
)
def test_errors(arguments: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        imgproc.compare(**{"cases": ["nv12"], **QUICK, **arguments})


def test_command_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def quick(cases: Sequence[str], **arguments: Any) -> Any:
        arguments.pop("rounds")
        small = [CASES[name].scaled(0.1) for name in cases]
        return compare(small, **{**arguments, **QUICK})

    compare = imgproc.compare
    monkeypatch.setattr(imgproc, "compare", quick)
    assert main(["bench", "--imgproc", "rotated-roi", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["rows"][0]["model"] == CASES["rotated-roi"].title
    assert main(["bench", "--imgproc", "rotated-roi"]) == 0
    shown = capsys.readouterr().out
    assert "floor" in shown and "of floor" in shown and "100%" in shown
    assert main(["bench"]) == 2
    assert "--imgproc" in capsys.readouterr().err


def test_camera_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(camera, "MODEL", "no-such-model.tflite")
    monkeypatch.setattr(camera, "ring_bytes", lambda: 0)
    row = camera.row(1, {"rounds": 1, "slice_s": 0, "pause_s": 0})
    assert [entry.engine for entry in row.entries] == ["foveal", camera.PEER]
    assert all(entry.timing is None and entry.problem for entry in row.entries)
