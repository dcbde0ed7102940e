"""The cache folder and the writes that happen whole or not at all."""

import os
import stat
import sys
from pathlib import Path

import pytest
from foveal.cache import atomic_path, cache_dir, lock, sha256_file, write_bytes, write_text
from foveal.errors import IOFailure


def test_folder_is_chosen(monkeypatch, tmp_path):
    monkeypatch.setenv("FOVEAL_CACHE", str(tmp_path))
    assert cache_dir("a", "b") == tmp_path / "a" / "b"
    monkeypatch.delenv("FOVEAL_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    if sys.platform == "linux":
        assert cache_dir() == tmp_path / "xdg" / "foveal"
        monkeypatch.setenv("XDG_CACHE_HOME", "relative/is/ignored")
        monkeypatch.setenv("HOME", str(tmp_path))
        assert cache_dir() == tmp_path / ".cache" / "foveal"


def test_write_replaces_whole(tmp_path):
    target = tmp_path / "a.txt"
    write_text(target, "one")
    write_text(target, "zwölf")
    assert target.read_text(encoding="utf-8") == "zwölf"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(target.stat().st_mode) == 0o666 & ~mask


def test_failed_write_leaves_the_old_file(tmp_path):
    target = tmp_path / "a.bin"
    write_bytes(target, b"old")
    with pytest.raises(RuntimeError), atomic_path(target) as temporary:
        assert temporary.suffix == ".bin"
        temporary.write_bytes(b"half")
        raise RuntimeError
    assert target.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.bin"]


def test_link_is_followed_and_device_is_written(tmp_path):
    write_bytes(tmp_path / "real", b"1")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_bytes(tmp_path / "link", b"2")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_bytes() == b"2"
    before = Path(os.devnull).stat()
    write_bytes(os.devnull, b"gone")
    assert Path(os.devnull).stat().st_mode == before.st_mode


@pytest.mark.parametrize("place", ["missing/a.txt", "."])
def test_places_that_cannot_be_written(tmp_path, place):
    with pytest.raises(IOFailure) as error:
        write_bytes(tmp_path / place, b"x")
    assert error.value.hint


def test_lock_without_a_folder_goes_on(tmp_path):
    with lock(tmp_path / "missing" / ".lock"):
        pass


def test_sha256(tmp_path):
    (tmp_path / "abc").write_bytes(b"abc")
    assert sha256_file(tmp_path / "abc") == (
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )
