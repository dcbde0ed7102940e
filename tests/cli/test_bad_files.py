"""Bad files: each is one clear line that says what was expected and what came, never a crash."""

import json
import os
import shutil
import struct

import foveal as fv
import numpy as np
import pytest
from foveal.convert import convert
from PIL import Image


@pytest.fixture(scope="session")
def fvm(tmp_path_factory):
    """A converted model: the face detector."""
    path = tmp_path_factory.mktemp("model") / "face.fvm"
    convert(fv.zoo.get("face"), meta=fv.zoo.metadata(fv.zoo.find("face"))).save(path)
    return path


@pytest.fixture(scope="session")
def picture(tmp_path_factory):
    path = tmp_path_factory.mktemp("picture") / "a.png"
    Image.fromarray(np.full((64, 48, 3), 90, np.uint8)).save(path)
    return path


WRONG = {
    "empty": (b"", "an empty file"),
    "text": (b"this is not a model\n" * 30, "a text file"),
    "json": (b'{"model": 1}', "a text file"),
    "picture": (b"\x89PNG\r\n\x1a\n" + bytes(100), "a PNG picture"),
    "zip": (b"PK\x03\x04" + bytes(100), "a zip archive"),
    "lfs": (b"version https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer"),
    "page": (b"<!DOCTYPE html><html></html>", "a web page"),
}


@pytest.mark.parametrize("suffix", [".fvm", ".onnx", ".tflite", ".bin"])
@pytest.mark.parametrize("kind", WRONG)
def test_files_that_are_no_models(refused, tmp_path, suffix, kind):
    data, text = WRONG[kind]
    path = tmp_path / f"m{suffix}"
    path.write_bytes(data)
    assert text in refused("info", path)
    if kind in ("empty", "text"):
        assert text in refused("run", path)
        assert text in refused("convert", path, "out.fvm")
        assert not (tmp_path / "out.fvm").exists()


def test_missing_things(refused, tmp_path, picture):
    assert "no model file" in refused("info", "missing.fvm")
    assert "neither a model file nor a zoo name" in refused("info", "facee")
    assert "folder" in refused("info", tmp_path)
    assert "no picture 'missing.png'" in refused("detect", "missing.png")
    assert "no picture" in refused("detect", "missing.png", "--model", "objects")
    assert "no model file" in refused("detect", picture, "--model", "missing.onnx")
    assert "no model file" in refused("convert", "missing.onnx", "out.fvm")


def cut(path, count, target):
    target.write_bytes(path.read_bytes()[:count])
    return target


@pytest.mark.parametrize("fraction", [0.001, 0.01, 0.3, 0.9, 0.9999])
@pytest.mark.parametrize("name", ["fvm", "face", "face-center"])
def test_truncated(refused, fvm, tmp_path, name, fraction):
    path = fvm if name == "fvm" else fv.zoo.get(name)
    target = cut(path, int(path.stat().st_size * fraction), tmp_path / f"cut{path.suffix}")
    refused("info", target)


@pytest.mark.parametrize("name", ["fvm", "face", "face-center"])
def test_flipped_bits_never_crash(fvm, tmp_path, name):
    """In process, many flips: a typed error or a model that opens; the fuzzers go deeper."""
    path = fvm if name == "fvm" else fv.zoo.get(name)
    data = path.read_bytes()
    rng = np.random.default_rng(7)
    places = np.concatenate([rng.integers(0, 4096, 40), rng.integers(0, len(data), 10)])
    for place in places:
        broken = bytearray(data)
        broken[place] ^= 1 << int(rng.integers(8))
        target = tmp_path / f"flipped{path.suffix}"
        target.write_bytes(broken)
        try:
            fv.load(target)
        except fv.FovealError as error:
            assert str(error)


def test_unknown_operators_are_all_listed(refused, tmp_path):
    onnx = pytest.importorskip("onnx")
    helper = onnx.helper
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("FirstUnknown", ["a"], ["b"], domain="com.example"),
        helper.make_node("SecondUnknown", ["b"], ["y"], domain="com.example"),
    ]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "g", [value("x", 1, [1, 4])], [value("y", 1, [1, 4])])
    domains = [helper.make_opsetid("", 17), helper.make_opsetid("com.example", 1)]
    path = tmp_path / "unknown.onnx"
    onnx.save(helper.make_model(graph, opset_imports=domains, ir_version=8), path)
    for command in (["info", path], ["convert", path, "out.fvm"]):
        text = refused(*command)
        assert "FirstUnknown" in text and "SecondUnknown" in text
    assert not (tmp_path / "out.fvm").exists()


def test_wrong_inputs(refused, fvm, tmp_path):
    name, shape = fv.load(fvm).inputs[0].name, tuple(fv.load(fvm).inputs[0].shape)
    np.save(tmp_path / "small.npy", np.zeros((1, 3, 4, 4), np.float32))
    np.save(tmp_path / "double.npy", np.zeros(shape, np.float64))
    np.save(tmp_path / "object.npy", np.array([{}], dtype=object), allow_pickle=True)
    (tmp_path / "text.npy").write_text("1 2 3")
    (tmp_path / "empty.npy").write_bytes(b"")
    assert "no input 'x'" in refused("run", fvm, "--input", "x=small.npy")
    text = refused("run", fvm, "--input", f"{name}=small.npy")
    assert name in text and "4" in text
    text = refused("run", fvm, "--input", f"{name}=double.npy")
    assert "float64" in text and "float32" in text
    for file in ("text.npy", "empty.npy", "object.npy"):
        assert ".npy array" in refused("run", fvm, "--input", f"{name}={file}")
    assert "no array file" in refused("run", fvm, "--input", f"{name}=missing.npy")
    assert "NAME=VALUE" in refused("run", fvm, "--input", name)
    for bad in ("1,2,3", "x=", "x=1,two", "x=0,1", "x=1,-2"):
        assert "--input-shape" in refused("run", fvm, "--input-shape", bad)


def test_unknown_device(refused, fvm, picture):
    for command in (["run", fvm], ["detect", picture, "--model", fvm]):
        assert "nonsense" in refused(*command, "--device", "nonsense")
        assert "empty name" in refused(*command, "--device", "cpu,,auto")


def zero_png():
    """A PNG that says 0 x 0 pixels."""
    import zlib

    def chunk(kind, data):
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", 0, 0, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b""))
        + chunk(b"IEND", b"")
    )


def test_bad_pictures(refused, fvm, picture, tmp_path):
    cases = {
        "text.png": b"hello\n",
        "empty.jpg": b"",
        "cut.png": picture.read_bytes()[:60],
        "zero.png": zero_png(),
        "model.png": fvm.read_bytes(),
    }
    for name, data in cases.items():
        (tmp_path / name).write_bytes(data)
        assert name in refused("detect", name, "--model", fvm)
        assert name in refused("detect", name, "--model", fvm, "--json")


def test_one_bad_picture_among_good_ones(foveal, fvm, picture):
    result = foveal("detect", picture, "missing.png", picture, "--model", fvm, "--json")
    assert result.code == 2 and "missing.png" in result.err and "Traceback" not in result.err
    assert len(json.loads(result.out)) == 2


def test_model_that_detects_nothing(refused, picture, tmp_path):
    path = tmp_path / "plain.fvm"
    convert(fv.zoo.get("face")).save(path)
    text = refused("detect", picture, "--model", path)
    assert "carries no pipeline" in text and "--pipeline" in text


def test_bad_specs(refused, tmp_path):
    source = fv.zoo.get("face")
    (tmp_path / "spec.json").write_text('{"sizes": [4, 4]}')
    (tmp_path / "noise.json").write_bytes(bytes(range(128, 255)))
    (tmp_path / "empty.txt").write_text("")
    assert "sizes" in refused("convert", source, "o.fvm", "--pipeline", "spec.json")
    assert "decoder spec" in refused("convert", source, "o.fvm", "--decoder", "spec.json")
    assert "UTF-8" in refused("convert", source, "o.fvm", "--pipeline", "noise.json")
    assert "empty" in refused("convert", source, "o.fvm", "--labels", "empty.txt")
    assert "no.json" in refused("convert", source, "o.fvm", "--pipeline", "no.json")
    assert not (tmp_path / "o.fvm").exists()


def test_places_that_cannot_be_written(refused, fvm, picture, tmp_path):
    source = fv.zoo.get("face")
    assert "cannot be written" in refused("convert", source, "missing/o.fvm")
    assert "no picture format" in refused("detect", picture, "--model", fvm, "--out", "a.xyz")
    assert "one file" in refused("detect", picture, picture, "--model", fvm, "--out", "a.png")
    (tmp_path / "file").write_text("")
    refused("detect", picture, "--model", fvm, "--out", "file/")
    assert (tmp_path / "file").read_text() == ""


@pytest.mark.parametrize(
    "command",
    [
        ("profile", "missing.fvm", "--html"),
        ("profile", "missing.fvm", "--trace"),
        ("info", "missing.fvm", "--html"),
        ("info", "missing.fvm", "--png"),
        ("bench", "missing.fvm", "--json"),
        ("convert", "missing.onnx"),
        ("detect", "missing.png", "--model", "missing.fvm", "--json"),
    ],
)
def test_a_missing_folder_is_told_before_anything_is_read(refused, tmp_path, command):
    name = {"--html": "o.html", "--png": "o.png", "missing.onnx": "o.fvm"}.get(
        command[-1], "o.json"
    )
    text = refused(*command, f"nowhere/{name}")
    assert f"nowhere/{name}: cannot be written: No such file or directory" in text
    (tmp_path / name).mkdir()
    assert "expected a file to write, got a folder" in refused(*command, name)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read all")
def test_unreadable_file(refused, fvm, tmp_path):
    target = tmp_path / "secret.fvm"
    shutil.copy(fvm, target)
    target.chmod(0)
    assert "ermission" in refused("info", target)
