"""Real models and well-known architectures equal the runtime that they come from.

Within 1e-4 of each output's range (see `equal` for outputs that float32 cannot hold to that); with
1 and 2 threads bit for bit; optimised, unoptimised and unfused alike; and the same after a detour
through a .fvm file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import foveal as fv
import numpy as np
import pytest
from foveal.convert import convert, parity
from PIL import Image

BOUND = 1e-4
onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
exact_run = pytest.importorskip("exact_run")
zoo_arch = pytest.importorskip("zoo_arch")
BUILT_IN = sorted(path.stem for path in (Path(fv.zoo.__file__).parent / "models").glob("*.json"))

Outputs = dict[str, np.ndarray]


def relative(got: Outputs, want: Outputs) -> float:
    return max(row.relative for row in parity.deviations(want, got))


def same_bits(a: Outputs, b: Outputs) -> bool:
    return a.keys() == b.keys() and all(a[k].tobytes() == b[k].tobytes() for k in a)


def run(model: fv.Model, feeds: Outputs, **options: Any) -> Outputs:
    return fv.Session(model, device="cpu", **options).run(feeds)


def equal(ours: Outputs, theirs: Outputs, graph: Any, feeds: Outputs) -> None:
    """Each output is within BOUND of the source runtime's.

    Some models amplify the rounding of float32 so much (a mask's logits behind a dozen layers
    without normalisation) that the source runtime itself is further than that from what float64
    gives, and from its own other kernels. There Foveal may be as wrong as the source runtime is,
    times 4: the largest of 65536 deviations scatters by that.
    """
    rows = parity.deviations(theirs, ours)
    if all(row.relative <= BOUND for row in rows):
        return
    exact = exact_run.run(graph, feeds)
    here = {row.output: row.relative for row in parity.deviations(exact, ours)}
    there = {row.output: row.relative for row in parity.deviations(exact, theirs)}
    for row in rows:
        good = row.relative <= BOUND or here[row.output] <= 4 * there[row.output]
        assert good, (row, here[row.output], there[row.output])


def check_file(source: Path, folder: Path, shapes: Any = None) -> None:
    """Everything this module promises, for one .onnx or .tflite file.

    shapes: of its inputs, when it does not declare them; open dimensions become 64.
    """
    graph = convert(source, input_shapes=shapes)
    graph.save(folder / "model.fvm")
    model = graph.to_model()
    plain = convert(source, input_shapes=shapes, optimize=False)
    feeds = parity.random_feeds(model.inputs, seed=1)
    one = run(model, feeds, threads=1)
    equal(one, parity._RUNTIMES[source.suffix[1:]](source, feeds), plain, feeds)
    assert same_bits(run(model, feeds, threads=2), one), "1 and 2 threads differ"
    assert same_bits(run(fv.load(folder / "model.fvm"), feeds, threads=1), one), ".fvm differs"
    equal(run(model, feeds, threads=1, fuse=False), one, plain, feeds)
    equal(run(plain.to_model(), feeds, threads=1), one, plain, feeds)


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
@pytest.mark.parametrize("name", BUILT_IN)
def test_zoo_model(name: str, tmp_path: Path) -> None:
    source = fv.zoo.get(name)
    if source.suffix == ".tflite":
        pytest.importorskip("ai_edge_litert")
    check_file(source, tmp_path, fv.zoo.find(name).input_shapes)


@pytest.mark.network
@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("text-read", [(48, 160), (48, 320), (48, 640), (48, 160), (48, 321)]),
        ("text-orient", [(48, 160), (48, 320), (48, 640), (48, 160), (48, 192)]),
        ("text", [(192, 384), (96, 192), (384, 192), (192, 384)]),
    ],
)
def test_one_session_many_sizes(name: str, sizes: list[tuple[int, int]]) -> None:
    """Each size is planned anew or taken up again; results never depend on what ran before."""
    source = fv.zoo.get(name)
    model = fv.load(name)
    session = fv.Session(model, device="cpu", threads=2)
    page = Image.open(fv.zoo.photo("page")).convert("RGB")
    for height, width in sizes:
        pixels = np.asarray(page.resize((width, height)), np.float32) / 127.5 - 1
        feeds = {"x": np.ascontiguousarray(pixels.transpose(2, 0, 1))[None]}
        ours = session.run(feeds)
        assert relative(ours, parity._RUNTIMES["onnx"](source, feeds)) <= BOUND, (height, width)
        fresh = fv.Session(model, device="cpu", threads=2)
        assert same_bits(fresh.run(feeds), ours), "a session that saw other sizes differs"


@pytest.mark.network
@pytest.mark.parametrize("name", ["face", "objects", "pose", "selfie", "face-mesh"])
def test_zoo_model_on_a_photo(name: str) -> None:
    """Not noise: the input that the model was trained for, from its own pipeline."""
    pytest.importorskip("ai_edge_litert")
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
    feeds = {session.inputs[0].name: x}
    equal(session.run(feeds), theirs, convert(source, optimize=False), feeds)
