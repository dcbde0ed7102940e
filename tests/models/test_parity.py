"""Real models and well-known architectures equal the runtime that they come from.

Within 1e-4 of each output's range; with 1 and 2 threads bit for bit; optimised, unoptimised and
unfused alike; and the same after a detour through a .fvm file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import foveal as fv
import numpy as np
import pytest
from foveal.convert import convert, parity

BOUND = 1e-4
onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
zoo_arch = pytest.importorskip("zoo_arch")

Outputs = dict[str, np.ndarray]


def relative(got: Outputs, want: Outputs) -> float:
    return max(row.relative for row in parity.deviations(want, got))


def same_bits(a: Outputs, b: Outputs) -> bool:
    return a.keys() == b.keys() and all(a[k].tobytes() == b[k].tobytes() for k in a)


def run(model: fv.Model, feeds: Outputs, **options: Any) -> Outputs:
    return fv.Session(model, device="cpu", **options).run(feeds)


def check_file(source: Path, folder: Path) -> None:
    """Everything this module promises, for one .onnx or .tflite file."""
    graph = convert(source)
    graph.save(folder / "model.fvm")
    model = graph.to_model()
    rows = parity.compare(source, model, threads=1)
    assert rows and max(r.relative for r in rows) <= BOUND, parity.table(rows)
    feeds = parity.random_feeds(model.inputs, seed=1)
    one = run(model, feeds, threads=1)
    assert same_bits(run(model, feeds, threads=2), one), "1 and 2 threads differ"
    assert same_bits(run(fv.load(folder / "model.fvm"), feeds, threads=1), one), ".fvm differs"
    assert relative(run(model, feeds, threads=1, fuse=False), one) <= BOUND
    plain = convert(source, optimize=False).to_model()
    assert relative(run(plain, feeds, threads=1), one) <= BOUND, "optimised and unoptimised differ"


@pytest.mark.parametrize("name", list(zoo_arch.ARCHITECTURES))
def test_architecture(name: str, tmp_path: Path) -> None:
    source = tmp_path / f"{name}.onnx"
    onnx.save(zoo_arch.build(name, size=128), source)
    check_file(source, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(zoo_arch.ARCHITECTURES))
def test_architecture_at_full_size(name: str, tmp_path: Path) -> None:
    source = tmp_path / f"{name}.onnx"
    onnx.save(zoo_arch.build(name, size=320 if name == "yolov8n" else 224), source)
    assert max(r.relative for r in parity.compare(source, threads=2)) <= BOUND


def test_batch_of_two(tmp_path: Path) -> None:
    source = tmp_path / "batch.onnx"
    onnx.save(zoo_arch.build("mobilenet_v2", size=96, batch=2), source)
    check_file(source, tmp_path)


@pytest.mark.network
@pytest.mark.parametrize("name", ["face", "face-full-range", "face-center", "objects"])
def test_zoo_model(name: str, tmp_path: Path) -> None:
    source = fv.zoo.get(name)
    if source.suffix == ".tflite":
        pytest.importorskip("ai_edge_litert")
    check_file(source, tmp_path)


@pytest.mark.network
@pytest.mark.parametrize("name", ["face", "objects"])
def test_zoo_model_on_a_photo(name: str) -> None:
    """Not noise: the input that the model was trained for, from its own pipeline."""
    pytest.importorskip("ai_edge_litert")
    from PIL import Image

    photo = np.asarray(Image.open(fv.zoo.photo("astronaut")).convert("RGB"))
    model = fv.load(name)
    session = fv.Session(model, device="cpu", threads=1)
    plan = fv.image.Pipeline.from_json(model.meta["pipeline"]).compile(session.inputs[0])
    shape = [d if isinstance(d, int) else 1 for d in session.inputs[0].shape]
    x = np.empty(shape, session.inputs[0].dtype)
    frame = fv.Frame(format="rgb", width=photo.shape[1], height=photo.shape[0], planes=[photo])
    plan.run(frame, out=x)
    source = fv.zoo.get(name)
    theirs = parity._RUNTIMES[source.suffix[1:]](source, {session.inputs[0].name: x})
    ours = session.run({session.inputs[0].name: x})
    assert relative(ours, theirs) <= BOUND
