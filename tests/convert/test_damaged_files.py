"""Truncated and altered model files: a typed error or a valid graph, never anything else."""

from __future__ import annotations

import random
import resource
import time

import numpy as np
import pytest
import zoo_arch
from foveal.convert import convert
from foveal.errors import ModelError
from harness import one_node
from tflite_builder import one_operator

RNG = np.random.default_rng(3)


def f(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def i32(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def onnx_files() -> dict[str, bytes]:
    models = {
        "conv": one_node("Conv", [f(1, 3, 5, 5), f(2, 3, 3, 3), f(2)], {"pads": [1] * 4},
                         constant=[1, 2]),
        "resize": one_node("Resize", [f(1, 2, 3, 4), None, np.array([1, 1, 2, 2], np.float32)],
                           opset=13, constant=[2]),
        "split": one_node("Split", [f(2, 6), np.array([2, 4])], {"axis": 1}, outputs=2,
                          constant=[1]),
        "tile": one_node("Tile", [f(2, 3), np.array([2, 1])], constant=[0, 1]),
        "pad": one_node("Pad", [f(2, 3), np.array([0, 1, 1, 0])], constant=[0, 1]),
        "shape": one_node("ConstantOfShape", [np.array([2, 3])], constant=[0]),
        "expand": one_node("Expand", [f(3, 1), np.array([2, 3, 4])], constant=[0, 1]),
    }  # fmt: skip
    return {name: m.SerializeToString() for name, (m, _) in models.items()}


def tflite_files() -> dict[str, bytes]:
    conv = {0: ("i8", 0), 1: ("i32", 2), 2: ("i32", 2)}
    rows = {0: ("array", i32(0, 1)), 2: ("tables", [
        {0: ("i8", 0), 1: ("i32", 3)},
        {0: ("i8", 1), 2: ("u8", 1), 3: ("table", {0: ("array", i32(0, 2, 2, 4))}), 4: ("u8", 1),
         5: ("table", {0: ("array", i32(1, 3, 0, 3))})},
    ])}  # fmt: skip
    models = {
        "conv": one_operator("CONV_2D", [f(1, 5, 5, 3), f(2, 3, 3, 3), f(2)],
                             [("float32", (1, 3, 3, 2))], conv, constant=[1, 2]),
        "slice": one_operator("STRIDED_SLICE", [f(4, 5), i32(1, 0), i32(4, 5), i32(2, 1)],
                              [("float32", (2, 5))], {0: ("i32", 0)}, constant=[1, 2, 3]),
        "sparse": one_operator("DENSIFY", [f(4)], [("float32", (3, 4))], constant=[0],
                               sparsity={0: rows}, shapes={0: (3, 4)}),
        "tile": one_operator("TILE", [f(2, 3), i32(2, 1)], [("float32", (4, 3))],
                             constant=[0, 1]),
        "fill": one_operator("FILL", [i32(2, 3), np.float32(1)], [("float32", (2, 3))],
                             constant=[0, 1]),
    }  # fmt: skip
    return {name: data for name, (data, _) in models.items()}


FILES = {f"{name}.onnx": d for name, d in onnx_files().items()}
FILES |= {f"{name}.tflite": d for name, d in tflite_files().items()}


def mutations(data: bytes, count: int, seed: int) -> list[bytes]:
    rng = random.Random(seed)
    made = []
    for i in range(count):
        d = bytearray(data)
        kind = i % 4
        if kind == 0:
            del d[rng.randrange(len(d)) :]
        elif kind == 1:
            for _ in range(rng.choice((1, 1, 1, 3, 20))):
                d[rng.randrange(len(d))] ^= 1 << rng.randrange(8)
        elif kind == 2:
            at = rng.randrange(len(d))
            d[at : at + 4] = rng.choice((b"\xff\xff\xff\xff", b"\0\0\0\x80", b"\xff\xff\xff\x7f"))
        else:
            a, b, n = rng.randrange(len(d)), rng.randrange(len(d)), rng.choice((2, 4, 16))
            d[a : a + n] = data[b : b + n]
        made.append(bytes(d))
    return made


def survive(data: bytes) -> bool:
    """Whether the file still makes a model. Anything but a ModelError fails the test."""
    start = time.monotonic()
    try:
        convert(data).build()
        converted = True
    except ModelError:
        converted = False
    assert time.monotonic() - start < 2
    return converted


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", FILES)
def test_altered_files(name: str) -> None:
    assert survive(FILES[name])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    results = [survive(d) for d in mutations(FILES[name], 400, seed=len(name))]
    assert not all(results)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 300_000, f"{grown} KB were allocated"


@pytest.mark.parametrize("name", FILES)
def test_every_truncation(name: str) -> None:
    data = FILES[name]
    step = max(1, len(data) // 300)
    for length in range(0, len(data) - 1, step):
        survive(data[:length])


@pytest.mark.slow
def test_altered_network() -> None:
    data = zoo_arch.build("squeezenet1_1", size=64).SerializeToString()
    results = [survive(d) for d in mutations(data, 150, seed=5)]
    assert not all(results)


def test_small_files_that_claim_a_lot() -> None:
    """Sizes that a few bytes can claim must not be believed."""
    big = np.array([1 << 20, 1 << 20], np.int64)
    huge = [
        one_node("Tile", [f(2, 3), big], constant=[0, 1]),
        one_node("Expand", [f(1, 1), big], constant=[0, 1]),
        one_node("ConstantOfShape", [big], constant=[0]),
        one_node("Pad", [f(2, 3), np.array([0, 0, 1 << 40, 0])], constant=[0, 1]),
        one_node("Range", [np.int64(0), np.int64(1 << 60), np.int64(1)], constant=[0, 1, 2]),
    ]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for model, _ in huge:
        survive(model.SerializeToString())
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000
