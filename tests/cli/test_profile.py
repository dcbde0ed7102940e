"""`foveal profile` and what `foveal info` shows and draws."""

import json
import os
import re
import sys

import foveal as fv
import pytest
from foveal.cli import console, options, spec_words
from foveal.graph import Graph
from foveal.zoo.catalog import catalog
from PIL import Image


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """face.fvm; refused.fvm, which no device runs; open.fvm with an open dimension."""
    folder = tmp_path_factory.mktemp("models")
    from foveal.convert import convert

    convert(fv.zoo.get("face"), meta=fv.zoo.metadata(fv.zoo.find("face"))).save(folder / "face.fvm")
    g = Graph()
    g.outputs = [g.add("sin", [g.input("x", "float64", [3])])]
    g.save(folder / "refused.fvm")
    g = Graph()
    g.outputs = [g.add("relu", [g.input("x", "float32", [2, "width"])])]
    g.save(folder / "open.fvm")
    return folder


def test_table(foveal, folder):
    arguments = ["profile", "face.fvm", "--runs", "3", "--threads", "1", "--device", "cpu"]
    result = foveal(*arguments, "--top", "4", cwd=folder)
    assert result.code == 0 and result.err == ""
    lines = result.out.splitlines()
    assert lines[0] == "face.fvm" and "a run (median of 3;" in lines[1] and "GFLOP/s" in lines[1]
    head = lines.index("") + 1
    assert lines[head].split()[:3] == ["operator", "time", "share"]
    rows = lines[head + 1 : lines.index("", head)]
    assert len(rows) == 5 and re.fullmatch(r"and \d+ more \(see --top\)", rows[-1])
    times = [re.search(r"([\d.]+) (us|ms) ", row).groups() for row in rows[:-1]]
    times = [float(number) * {"us": 1, "ms": 1000}[unit] for number, unit in times]
    assert times == sorted(times, reverse=True)
    assert all("cpu" in row and "%" in row for row in rows[:-1])
    summary = lines[lines.index("", head) + 1 :]
    assert summary[0].startswith("by operator") and "conv2d" in summary[1]


def test_files_and_json(foveal, folder, tmp_path):
    arguments = ["profile", "face.fvm", "--runs", "2", "--trace", tmp_path / "t.json"]
    result = foveal(*arguments, "--html", tmp_path / "p.html", "--json", cwd=folder)
    assert result.code == 0, result.err
    data = json.loads(result.out)
    assert data["model"] == "face.fvm" and data["runs"] == 2
    assert data["inputs"][0]["shape"] == [1, 128, 128, 3]
    assert data["total_us"]["min"] <= data["total_us"]["median"] <= data["total_us"]["p95"]
    times = [part["times"]["median"] for part in data["nodes"] + data["steps"]]
    assert sum(times) == pytest.approx(data["sum_us"])
    for node in data["nodes"]:
        expected = 2 * node["macs"] / node["times"]["median"] / 1000
        assert node["gflops"] == pytest.approx(expected)
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    assert {"name", "ph", "ts", "dur", "pid", "tid", "args"} <= set(events[0])
    assert sum(e["name"] == "run" and e["cat"] == "session" for e in events) >= 2
    page = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>") and "<h1>face.fvm</h1>" in page
    assert sorted(p.name for p in tmp_path.iterdir()) == ["p.html", "t.json"]


def test_input_shape(foveal, folder):
    result = foveal("profile", "open.fvm", "--input-shape", "x=2,64", "--runs", "1", cwd=folder)
    assert result.code == 0 and "2 x 64" in result.out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["open.fvm"], "open dimensions"),
        (["refused.fvm"], "sin"),
        (["face.fvm", "--runs", "0"], "from 1 up"),
        (["face.fvm", "--runs", "100000"], "expected 0 to 10000"),
        (["face.fvm", "--top", "-1"], "from 0 up"),
        (["face.fvm", "--input-shape", "x"], "--input-shape"),
        (["face.fvm", "--input-shape", "x=1,2"], "no input 'x'"),
        (["face.fvm", "--device", "toaster"], "toaster"),
        (["missing.fvm"], "missing.fvm"),
        (["face.fvm", "--html", "o", "--trace", "./o"], "same file"),
        ([], "model"),
    ],
)
def test_bad_arguments(refused, folder, arguments, text):
    before = set(folder.iterdir())
    assert text in refused("profile", *arguments, cwd=folder)
    assert set(folder.iterdir()) == before


def test_an_alphabet_without_blocks_and_micro(foveal, folder):
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for arguments in (["profile", "face.fvm", "--runs", "1"], ["info", "face.fvm"]):
        result = foveal(*arguments, cwd=folder, env=plain)
        assert result.code == 0 and "####" in result.out and result.out.isascii()
        assert "?" not in result.out


def test_info_in_words(foveal, folder):
    result = foveal("info", "face.fvm", cwd=folder)
    lines = {line.split()[0]: line for line in result.out.splitlines() if line.strip()}
    assert lines["from"].endswith("face_detection_short_range.tflite (tflite)")
    assert lines["licence"].endswith("Apache-2.0 (model), MIT (package)")
    assert lines["pipeline"].endswith(
        "RGB, 128 x 128, whole picture kept, bars around it (mediapipe), values -1 to 1"
    )
    assert lines["decoder"].endswith(
        "boxes from anchors (SSD), 6 points each, score at least 0.5, overlaps above 0.3 merged"
    )
    assert lines["labels"].endswith("1 (face)")
    assert re.search(r"conv2d +\d+ +\d+\.\d M  █+", result.out)
    assert "in 1 segment:" in result.out


def test_info_counts_multiply_adds(foveal, folder):
    data = json.loads(foveal("info", "face.fvm", "--json", cwd=folder).out)
    assert sum(data["operator_macs"].values()) == data["macs"] > 1e7
    assert set(data["operator_macs"]) <= set(data["operators"])


def test_info_counts_multiply_adds_of_open_shapes(foveal, tmp_path):
    """As many as the text says: those of the size that the pipeline makes, or that is given."""
    data = json.loads(foveal("info", "text-read", "--json").out)
    assert data["macs"] == sum(data["operator_macs"].values()) > 1e8
    counts = []
    for shape in ("1,3,320,320", "1,3,640,320"):
        result = foveal("info", "face-center", "--json", "--input-shape", f"input.1={shape}")
        counts.append(json.loads(result.out)["macs"])
    assert counts[1] == 2 * counts[0] > 1e8


def test_info_refuses_what_it_cannot_do(foveal, folder):
    for arguments, text in (
        (["--input-shape", "nope=1,2"], "no input 'nope'"),
        (["--input-shape", "input=2,2"], "[2, 2]"),
        (["--device", "nope"], "no device 'nope'"),
        (["--png", "picture.gif"], ".png"),
    ):
        result = foveal("info", "face.fvm", *arguments, cwd=folder)
        assert result.code == 2 and text in result.err, result.err
    assert not (folder / "picture.gif").exists()


def test_info_on_what_would_not_run_is_json(foveal, folder):
    for name, text in (("refused.fvm", "sin"), ("open.fvm", "open dimensions")):
        data = json.loads(foveal("info", name, "--json", cwd=folder).out)
        assert text in data["would_not_run"]
        assert "it would not run: " in foveal("info", name, cwd=folder).out
    assert "would_not_run" not in json.loads(foveal("info", "face.fvm", "--json", cwd=folder).out)


def test_info_draws(foveal, folder, tmp_path):
    arguments = ["--png", tmp_path / "m.png", "--html", tmp_path / "m.html"]
    result = foveal("info", "face.fvm", *arguments, "--json", cwd=folder)
    assert result.code == 0 and json.loads(result.out)["model"] == "face.fvm"
    with Image.open(tmp_path / "m.png") as image:
        assert image.size == (1080, 460)
    page = (tmp_path / "m.html").read_text(encoding="utf-8")
    assert "<h1>face.fvm</h1>" in page and page.count('<g class="buffer">') > 20


def test_info_does_not_draw_what_does_not_run(refused, folder, tmp_path):
    target = tmp_path / "m.png"
    assert "sin" in refused("info", "refused.fvm", "--png", target, cwd=folder)
    assert "open dimensions" in refused("info", "open.fvm", "--html", target, cwd=folder)
    assert not target.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="names are text elsewhere")
def test_names_that_are_not_text(foveal, folder, tmp_path):
    odd = os.fsdecode(b"odd\xff")
    (tmp_path / f"{odd}.fvm").write_bytes((folder / "face.fvm").read_bytes())
    result = foveal("profile", f"{odd}.fvm", "--runs", "1", "--html", f"{odd}.html", "--json")
    assert result.code == 0, result.err
    assert "odd\ufffd.fvm" in (tmp_path / f"{odd}.html").read_text(encoding="utf-8")
    arguments = ["info", f"{odd}.fvm", "--png", f"{odd}.png", "--html", f"{odd}.html", "--json"]
    assert foveal(*arguments).code == 0 and (tmp_path / f"{odd}.png").exists()


JUNK = [
    None,
    3,
    -1e400,
    "x\ny",
    [],
    {},
    True,
    [[1]],
    {"k": []},
    "\ud800",
    10**400,
    [0],
    {"iou": {}},
]
KEYS = """size color fit roi norm kind points top min_score nms landmarks detector read decoder
policy scale mean std k min max multiple height width iou"""


@pytest.mark.parametrize("speak", [spec_words.pipeline, spec_words.decoder, spec_words.task])
def test_any_json_has_words(speak):
    """A file may say anything under a known key; words are one line, whatever it says."""
    for junk in JUNK:
        assert "\n" not in speak(junk)
        for key in KEYS.split():
            assert "\n" not in speak({key: junk})
            for outer in ("fit", "norm", "nms", "size"):
                assert "\n" not in speak({outer: {key: junk}, "kind": "ssd"})
                assert "\n" not in speak({outer: {"k": "strip", key: junk}})
                assert "\n" not in speak({outer: {"k": "sides", key: junk}})


def test_zoo_entries_have_words():
    for entry in catalog("model").values():
        if isinstance(entry.pipeline, dict):
            assert "values" in spec_words.pipeline(entry.pipeline)
        if isinstance(entry.decoder, dict):
            assert spec_words.decoder(entry.decoder)


@pytest.mark.parametrize(
    ("norm", "text"),
    [
        ({}, "values 0 to 255"),
        ({"scale": 1 / 255}, "values 0 to 1"),
        ({"scale": 0.00784313725490196, "mean": 1}, "values -1 to 1"),
        ({"mean": [0, 127.5, 0], "std": [1, 127.5, 255]}, "values 0 to 255, -1 to 1, 0 to 1"),
        ({"std": 0}, ""),
    ],
)
def test_ranges_of_values(norm, text):
    words = spec_words.pipeline({"size": [8, 9], "color": "BGR", "norm": norm})
    assert words == ", ".join(t for t in ("BGR", "8 x 9", "stretched to fit", text) if t)


def test_tasks():
    task = {"kind": "landmarks", "detector": "face", "edges": [[0, 1]]}
    assert spec_words.task(task) == "finds the points of things, given a region by face"
    assert spec_words.task({"kind": "text", "read": "text-read"}) == "reads text, with text-read"
    assert spec_words.decoder({"kind": "landmarks", "points": 468}) == "468 points of one thing"


def test_flexible_sizes():
    sides = {"k": "sides", "min": 736, "max": 2000, "multiple": 32}
    assert "sides from 736 up to 2000, multiples of 32" in spec_words.pipeline({"size": sides})
    strip = {"k": "strip", "height": 48, "width": [320, 3200], "multiple": 1}
    assert "48 high, 320 to 3200 wide" in spec_words.pipeline({"size": strip})


@pytest.mark.parametrize("meta", [{}, {"pipeline": "{"}, {"pipeline": "[" * 10**5}, *(
    {"pipeline": json.dumps({"size": size})}
    for size in (None, 3, [1], [1, 2, 3], [0, 5], ["1", 2], [1.5, 2], [True, 1], {"k": "sides"}, -1)
)])  # fmt: skip
def test_a_pipeline_without_a_plain_size_closes_no_dimension(meta):
    assert options.closed_shape((1, 3, "h", "w"), meta) is None
    assert options.closed_shape((1, 3, 4, 5), meta) == (1, 3, 4, 5)
    good = {"pipeline": json.dumps({"size": [64, 48]})}
    assert options.closed_shape((1, 3, "h", -1), good) == (1, 3, 48, 64)


def test_bars(monkeypatch):
    class Out:
        encoding = "utf-8"

    monkeypatch.setattr("sys.stdout", Out())
    assert [console.bar(v, 8, 2) for v in (0, 0.5, 4, 6, 8, 9)] == ["", "▏", "█", "█▌", "██", "██"]
    assert console.bar(1, 0, 9) == "" and console.bar(-1, 1, 9) == ""
    Out.encoding = "ascii"
    assert console.bar(4, 8, 10) == "#####"
