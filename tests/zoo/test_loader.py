"""`foveal.load`: the cache of imported models, and what it does with files that are none."""

import multiprocessing
import os
import shutil

import foveal as fv
import numpy as np
import pytest
from foveal import loader
from foveal.convert import convert
from foveal.errors import ArgumentError, ModelError, NotFoundError


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache that holds the published face model."""
    published = fv.zoo.get("face")
    monkeypatch.setenv("FOVEAL_CACHE", str(tmp_path))
    place = fv.zoo.find("face").asset.path
    place.parent.mkdir(parents=True)
    shutil.copy(published, place)
    return tmp_path


def entries(cache):
    return sorted((cache / "models").glob("*.fvm"))


def outputs(model):
    info = model.inputs[0]
    x = np.linspace(-1, 1, int(np.prod(info.shape)), dtype=np.float32).reshape(info.shape)
    return fv.Session(model).run({info.name: x})


def test_imported_once(cache, monkeypatch):
    first = fv.load("face")
    (entry,) = entries(cache)
    monkeypatch.setattr("foveal.convert.convert", None)  # no import may happen any more
    second = fv.load("face")
    assert entries(cache) == [entry]
    for name, value in outputs(first).items():
        np.testing.assert_array_equal(value, outputs(second)[name])
    assert second.meta["license"] and "pipeline" in second.meta


def test_options_and_content_make_entries_of_their_own(cache, tmp_path):
    path = tmp_path / "m.tflite"
    shutil.copy(fv.zoo.get("face"), path)
    fv.load("face")
    plain = fv.load(path)
    assert "pipeline" not in plain.meta
    assert len(entries(cache)) == 2
    fv.load(str(path))
    assert len(entries(cache)) == 2


def test_what_was_used_longest_ago_makes_room(cache, tmp_path, monkeypatch):
    path = tmp_path / "m.tflite"
    shutil.copy(fv.zoo.get("face"), path)

    def load(batch):  # an entry of its own
        model = fv.load(path, input_shapes={"input": (batch, 128, 128, 3)})
        after = {e: e.stat().st_mtime for e in entries(cache)}
        return model, after

    _, (first,) = load(1)
    os.utime(first, (1000, 1000))
    monkeypatch.setattr(loader, "_CACHE_BYTES", 2 * first.stat().st_size + 4096)
    _, two = load(2)
    (second,) = set(two) - {first}
    os.utime(second, (2000, 2000))
    used, touched = load(1)  # now `second` is the one used longest ago
    assert touched[first] > 2000
    other = cache / "models" / ".left-1.fvm"
    fresh = cache / "models" / ".written-2.fvm"
    for file in (other, fresh):
        file.write_bytes(b"x")
    os.utime(other, (1000, 1000))
    _, three = load(3)
    assert first in three and second not in three and len(set(three) - {fresh}) == 2
    assert not other.exists() and fresh.exists()
    monkeypatch.setattr(loader, "_CACHE_BYTES", 0)
    model, four = load(4)
    assert len(set(four) - {fresh}) == 1  # what was just made stays
    assert len(outputs(model)) == len(outputs(used)) == 2  # removed under an open model


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes that have names")
@pytest.mark.parametrize("kind", ["pipe", "zeros"])
def test_devices_and_pipes(tmp_path, kind):
    """Reading one waits for ever, or never ends."""
    for name in ("m.fvm", "m.onnx", "m.tflite", "p.png"):
        path = tmp_path / name
        if kind == "pipe":
            os.mkfifo(path)
        else:
            path.symlink_to("/dev/zero")
        for use in (fv.load, convert, fv._core.Model.open, fv.Frame.from_file):
            with pytest.raises(fv.errors.FovealError, match="a device or a pipe"):
                use(str(path))


@pytest.mark.parametrize("damage", ["cut", "flip", "empty"])
def test_damaged_entry_is_rebuilt(cache, damage):
    good = outputs(fv.load("face"))
    (entry,) = entries(cache)
    data = bytearray(entry.read_bytes())
    if damage == "cut":
        del data[len(data) // 2 :]
    elif damage == "flip":
        data[-1000] ^= 64
    else:
        data.clear()
    entry.write_bytes(data)
    again = outputs(fv.load("face"))
    for name in good:
        np.testing.assert_array_equal(good[name], again[name])
    (entry,) = entries(cache)
    assert loader.sha256_file(entry) in entry.name


def _load_in_child(queue):
    queue.put(len(fv.load("face").inputs))


def test_concurrent_processes(cache):
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    children = [context.Process(target=_load_in_child, args=(queue,)) for _ in range(3)]
    for child in children:
        child.start()
    assert [queue.get(timeout=100) for _ in children] == [1, 1, 1]
    for child in children:
        child.join(30)
    assert len(entries(cache)) == 1
    assert not list((cache / "models").glob(".*.fvm"))


def test_without_a_usable_cache(cache, tmp_path, monkeypatch):
    path = tmp_path / "m.tflite"
    shutil.copy(fv.zoo.get("face"), path)
    (tmp_path / "blocked").write_text("")
    monkeypatch.setenv("FOVEAL_CACHE", str(tmp_path / "blocked"))
    assert fv.load(path).inputs


def test_fvm_is_known_by_content(cache, tmp_path):
    path = tmp_path / "renamed.bin"
    convert(fv.zoo.get("face")).save(path)
    assert fv.load(path).inputs
    assert not entries(cache)
    with pytest.raises(ModelError, match="input_shapes"):
        fv.load(path, input_shapes={"input": (1, 3, 64, 64)})


def test_input_shapes(tmp_path):
    model = fv.load("face-center")
    assert list(model.inputs[0].shape) == [1, 3, "height", "width"]
    fixed = fv.load(fv.zoo.get("face-center"), input_shapes={"input.1": (1, 3, 64, 96)})
    assert list(fixed.inputs[0].shape) == [1, 3, 64, 96]
    with pytest.raises(ModelError, match="nothing"):
        fv.load(fv.zoo.get("face-center"), input_shapes={"nothing": (1, 3, 64, 96)})


def test_zoo_name_wins_over_a_file(cache, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "face").write_text("a file that happens to have this name")
    assert fv.load("face").inputs
    with pytest.raises(ModelError, match="text file"):
        fv.load("./face")


def test_names_that_are_nothing():
    with pytest.raises(NotFoundError, match="neither a model file nor a zoo name") as error:
        fv.load("objekts")
    assert "objects" in error.value.hint
    with pytest.raises(NotFoundError, match="no model file"):
        fv.load("missing/objects.onnx")


@pytest.mark.parametrize("value", [None, 3, True, [], "", b"", "a\0b", b"a\0", "\ud800"])
def test_what_is_no_path_at_all(value):
    with pytest.raises(ArgumentError):
        fv.load(value)


def test_a_model_passes_through(cache):
    model = fv.load("face")
    assert fv.load(model) is model
    with pytest.raises(ArgumentError, match="input_shapes"):
        fv.load(model, input_shapes={"input": (1, 1, 1, 1)})


@pytest.mark.skipif(os.name == "nt", reason="names are text there")
def test_names_that_are_not_text(cache, tmp_path):
    odd = os.fsdecode(b"odd\xff")
    convert(fv.zoo.get("face")).save(tmp_path / f"{odd}.fvm")
    shutil.copy(fv.zoo.get("face"), tmp_path / f"{odd}.tflite")
    for name in (f"{odd}.fvm", f"{odd}.tflite"):
        assert len(fv.load(tmp_path / name).outputs) == 2
        assert len(fv.load(os.fsencode(tmp_path / name)).outputs) == 2
