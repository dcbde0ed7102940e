"""Metadata of .tflite files: what they say becomes the model's pipeline and labels."""

from __future__ import annotations

import contextlib
import io
import json
import random
import zipfile
from pathlib import Path
from typing import Any

import foveal
import numpy as np
import pytest
from foveal.convert import convert
from foveal.errors import FovealError, ModelError, SpecError
from foveal.image import Norm, Pipeline
from foveal.recipes import tflite
from tflite_builder import Table, Writer, one_operator, vector

IMAGE, NORMALIZATION, AXIS_LABELS, VOCABULARY = 2, 1, 2, 5


def floats(values: Any) -> tuple[str, Any]:
    return "array", np.asarray(values, np.float32)


def metadata(
    *,
    color: int = 1,
    mean: Any = (127.5,),
    std: Any = (127.5,),
    files: tuple[tuple[str, int, str], ...] = (),
    pictures: int = 1,
    units: bool = True,
) -> bytes:
    """The FlatBuffer that a model carries: numbers as in its public schema."""
    tensor: Table = {
        0: ("str", "image"),
        3: ("table", {0: ("u8", IMAGE), 1: ("table", {0: ("i8", color)})}),
        4: (
            "tables",
            [{0: ("u8", NORMALIZATION), 1: ("table", {0: floats(mean), 1: floats(std)})}] * units,
        ),
    }
    out: Table = {
        6: (
            "tables",
            [
                {0: ("str", name), 2: ("i8", kind), **({3: ("str", place)} if place else {})}
                for name, kind, place in files
            ],
        )
    }
    graph: Table = {2: ("tables", [tensor] * pictures), 3: ("tables", [out])}
    data = bytearray(Writer().file({0: ("str", "a model"), 3: ("tables", [graph])}))
    data[4:8] = b"M001"
    return bytes(data)


def model(
    described: bytes | None,
    shape: tuple[int, ...] = (1, 6, 8, 3),
    labels: dict[str, str] | None = None,
    dtype: Any = np.float32,
    quantization: tuple[float, int] | None = None,
) -> bytes:
    """One SOFTMAX over a picture, with metadata and an archive behind."""
    code = {"float32": 0, "uint8": 3, "int8": 9}[np.dtype(dtype).name]
    stands_for: Table = {}
    if quantization is not None:
        scale, zero_point = quantization
        zeros = ("array", np.array([zero_point], np.int64))
        stands_for = {4: ("table", {2: floats([scale]), 3: zeros})}
    graph: Table = {
        0: (
            "tables",
            [
                {0: vector(shape), 1: ("i8", code), 3: ("str", "x0"), **stands_for},
                {0: vector(shape), 1: ("i8", code), 3: ("str", "y0")},
            ],
        ),
        1: vector([0]),
        2: vector([1]),
        3: (
            "tables",
            [
                {
                    0: ("u32", 0),
                    1: vector([0]),
                    2: vector([1]),
                    3: ("u8", 9),
                    4: ("table", {0: ("f32", 1.0)}),
                }
            ],
        ),
    }
    root: Table = {
        0: ("u32", 3),
        1: ("tables", [{0: ("i8", 25), 2: ("i32", 1), 3: ("i32", 25)}]),
        2: ("tables", [graph]),
        4: ("tables", [{}, {0: ("array", np.frombuffer(described or b"\0", np.uint8))}]),
    }
    if described is not None:
        root[6] = ("tables", [{0: ("str", "TFLITE_METADATA"), 1: ("u32", 1)}])
    data = Writer().file(root)
    if labels is not None:
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
            for entry, text in labels.items():
                file.writestr(entry, text)
        data += archive.getvalue()
    return data


LABELS = (("labels.txt", AXIS_LABELS, ""),)
FULL = model(metadata(files=LABELS), labels={"labels.txt": "cat\ndog\n"})


def test_pipeline_and_labels() -> None:
    found = tflite.recipe(FULL)
    assert found is not None
    assert found.pipeline == Pipeline(size=(8, 6), norm=Norm(1, 127.5, 127.5))
    assert found.labels == ("cat", "dog")


@pytest.mark.parametrize(
    ("made", "want"),
    [
        (model(metadata(mean=(), std=())), Pipeline(size=(8, 6))),
        (
            model(metadata(mean=(1, 2, 3), std=(4, 5, 6))),
            Pipeline(size=(8, 6), norm=Norm(1, (1, 2, 3), (4, 5, 6))),
        ),
        (model(metadata(), dtype=np.uint8), Pipeline(size=(8, 6))),  # bytes as they are
        (
            model(metadata(color=2), (1, 5, 7, 1)),
            Pipeline(size=(7, 5), color="GRAY", norm=Norm(1, 127.5, 127.5)),
        ),
        (model(metadata(color=0)), Pipeline(size=(8, 6), norm=Norm(1, 127.5, 127.5))),
        (
            model(metadata(), dtype=np.int8, quantization=(0.5, -1)),
            Pipeline(size=(8, 6), norm=Norm(1, 127.5, 127.5)),
        ),
        (  # bytes as they are, whatever they stand for
            model(metadata(units=False), dtype=np.uint8, quantization=(0.5, 3)),
            Pipeline(size=(8, 6), norm=Norm(0.5, 1.5)),
        ),
    ],
    ids=range(7),
)
def test_values(made: bytes, want: Pipeline) -> None:
    found = tflite.recipe(made)
    assert found is not None
    assert (found.pipeline, found.labels) == (want, ())


def test_labels_of_no_locale_come_first() -> None:
    files = (
        ("words.txt", VOCABULARY, ""),
        ("de.txt", AXIS_LABELS, "de"),
        ("en.txt", AXIS_LABELS, ""),
    )
    texts = {"words.txt": "x", "de.txt": "Katze\nHund", "en.txt": "cat\ndog"}
    found = tflite.recipe(model(metadata(files=files), labels=texts))
    assert found is not None
    assert found.labels == ("cat", "dog")


def test_models_that_say_nothing_of_pictures() -> None:
    assert tflite.recipe(model(None)) is None
    assert tflite.recipe(model(metadata(pictures=0))) is None
    assert tflite.recipe(model(metadata(pictures=2))) is None
    plain, _ = one_operator("SOFTMAX", [np.zeros((1, 4), np.float32)], [("float32", (1, 4))], {})
    assert tflite.recipe(plain) is None


@pytest.mark.parametrize(
    ("made", "error"),
    [
        (model(metadata(color=2)), SpecError),
        (model(metadata(), (1, 6, 8, 4)), SpecError),
        (model(metadata(), (2, 6, 8, 3)), SpecError),
        (model(metadata(), (6, 8, 3)), SpecError),
        (model(metadata(), (1, 0, 8, 3)), SpecError),
        (model(metadata(), (1, 20000, 8, 3)), SpecError),
        (model(metadata(std=(0,))), SpecError),
        (model(metadata(std=(float("nan"),))), SpecError),
        (model(metadata(mean=(1, 2))), SpecError),
        (model(metadata(files=LABELS)), SpecError),
        (model(metadata(files=LABELS), labels={"other.txt": ""}), SpecError),
        (model(metadata(files=LABELS), labels={"labels.txt": "x\n" * (3 << 20)}), SpecError),
        (model(b"\0" * 64), ModelError),
        (b"", ModelError),
        (b"\0" * 8, ModelError),
        (model(metadata(), dtype=np.int8), SpecError),
        (model(metadata(units=False), dtype=np.int8, quantization=(0.5, 3)), SpecError),
        (
            model(metadata(units=False), dtype=np.uint8, quantization=(float("inf"), 3)),
            SpecError,
        ),
    ],
    ids=range(18),
)
def test_what_is_refused(made: bytes, error: type[FovealError]) -> None:
    with pytest.raises(error):
        tflite.recipe(made)


def test_damaged_metadata_are_refused_and_nothing_else_happens() -> None:
    """Bytes changed at random: an error of ours, or some recipe."""
    choose = random.Random(3)
    for _ in range(400):
        made = bytearray(FULL)
        for _ in range(choose.randint(1, 6)):
            made[choose.randrange(8, len(made))] = choose.randrange(256)
        with contextlib.suppress(FovealError):
            tflite.recipe(bytes(made))
    for end in range(0, len(FULL), 7):
        with contextlib.suppress(FovealError):
            tflite.recipe(FULL[:end])


def test_convert_uses_them_when_nothing_else_is_given() -> None:
    found = convert(FULL).meta
    assert Pipeline.from_json(found["pipeline"]).norm == Norm(1, 127.5, 127.5)
    assert json.loads(found["labels"]) == ["cat", "dog"]
    own = Pipeline(size=(8, 6)).json()
    given = convert(FULL, meta={"pipeline": own}).meta
    assert given["pipeline"] == own
    assert "labels" not in given


def test_metadata_that_cannot_be_said_do_not_stop_the_model(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level("WARNING", "foveal.convert"):
        assert "pipeline" not in convert(model(metadata(std=(0,)))).meta
    assert "metadata are not used" in caplog.text


def test_load(tmp_path: Path) -> None:
    path = tmp_path / "described.tflite"
    path.write_bytes(FULL)
    loaded = foveal.load(path)
    assert Pipeline.from_json(loaded.meta["pipeline"]).size == (8, 6)
