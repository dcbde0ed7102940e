"""The memory plan and its pictures: rectangles never overlap, and the plan is what is drawn."""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import foveal as fv
import numpy as np
import pytest
from foveal.profile import MemoryPlan, Rectangle, memory_plan, words, write_memory_png
from foveal.profile.memory import memory_svg
from PIL import Image
from profile_models import HOSTILE


def planned(model: Any) -> tuple[MemoryPlan, dict[str, Any]]:
    explained = fv.Session(model, device="cpu", threads=1).explain()
    return memory_plan(explained), explained


@pytest.mark.parametrize("seed", range(40))
def test_rectangles_do_not_overlap(random_model: Any, seed: int) -> None:
    """No two buffers hold the same byte at the same step, and all lie within arena and run."""
    plan, _ = planned(random_model(seed))
    assert plan.rectangles
    for box in plan.rectangles:
        assert 0 <= box.first <= box.last < plan.steps
        assert box.offset >= 0 and box.offset + box.bytes <= plan.arena
    for a, b in itertools.combinations(plan.rectangles, 2):
        apart_in_time = a.last < b.first or b.last < a.first
        apart_in_place = a.offset + a.bytes <= b.offset or b.offset + b.bytes <= a.offset
        assert apart_in_time or apart_in_place, (a, b)
    live = plan.live()
    assert max(live) <= plan.arena and live[plan.fullest] == max(live)
    assert sum(box.bytes for box in plan.rectangles) == plan.unshared


@pytest.mark.parametrize("seed", range(40))
def test_every_tensor_lives_while_it_is_needed(random_model: Any, seed: int) -> None:
    """Written and read by nodes only within its rectangle; inputs are there from the start, outputs
    until the end."""
    model = random_model(seed)
    plan, explained = planned(model)
    home = {
        n: box for box in plan.rectangles for n in (box.name, *box.shared_by) if not box.scratch
    }
    for node in explained["nodes"]:
        if node["position"] < 0:
            continue
        for tensor in filter(None, [*node["inputs"], *node["outputs"]]):
            if not tensor["constant"]:
                box = home[tensor["name"]]
                assert box.first <= node["position"] <= box.last, (tensor["name"], node["name"])
    assert all(home[t.name].first == 0 for t in model.inputs if t.name in home)
    positions = [n["position"] for n in explained["nodes"] if n["position"] >= 0]
    assert len(positions) == len(set(positions))


def test_live_by_hand() -> None:
    boxes = (
        Rectangle("a", 0, 100, 0, 1),
        Rectangle("b", 128, 50, 1, 2),
        Rectangle("c", 0, 7, 2, 3),
    )
    plan = MemoryPlan(178, 157, 0, 0, 4, {1: "relu"}, boxes)
    assert plan.live() == [100, 150, 57, 7] and plan.fullest == 1
    assert "178 B of buffers" in plan.words() and "157 B without sharing" in plan.words()
    assert "at most 150 B in use at once, at step 1 (relu)" in plan.words()


def test_svg_by_hand() -> None:
    """Two buffers of 100 bytes, one after the other in the lower half, one in the upper."""
    boxes = (
        Rectangle("a", 0, 100, 0, 0),
        Rectangle("b", 0, 100, 1, 3),
        Rectangle("c", 100, 100, 0, 3),
    )
    plan = MemoryPlan(200, 300, 0, 0, 4, {}, boxes)
    svg = ET.fromstring(memory_svg(plan, 476, 246))  # a plot of 400 x 200 at (64, 12)
    name = "{http://www.w3.org/2000/svg}"
    found = {
        group.findtext(f"{name}title", "").split("\n")[0]: tuple(
            float(group.find(f"{name}rect").attrib[k])  # type: ignore[union-attr]
            for k in ("x", "y", "width", "height")
        )
        for group in svg.findall(f"{name}g")
    }
    assert found == {
        "a": (64, 112, 100, 100),
        "b": (164, 112, 300, 100),
        "c": (64, 12, 400, 100),
    }


def test_hostile_names() -> None:
    boxes = tuple(Rectangle(HOSTILE, i * 64, 64, 0, 9, (HOSTILE,) * 20) for i in range(3))
    plan = MemoryPlan(192, 192, 0, 0, 10, {0: HOSTILE}, boxes)
    text = memory_svg(plan)
    ET.fromstring(text)
    assert "<script" not in text and "</script" not in text and "and 12 more" in text
    text.encode()


@pytest.mark.parametrize("seed", [0, 3])
def test_png_shows_the_plan(random_model: Any, tmp_path: Path, seed: int) -> None:
    plan, _ = planned(random_model(seed))
    target = tmp_path / "plan.png"
    write_memory_png(plan, target, HOSTILE)
    with Image.open(target) as image:
        assert image.format == "PNG" and image.size == (1080, 460)
        pixels = np.asarray(image.convert("RGB")).astype(int)
    coloured = (pixels.max(2) - pixels.min(2) > 40).mean()
    area = sum(b.bytes * (b.last - b.first + 1) for b in plan.rectangles if not b.scratch)
    plot = (1080 - 76) * (460 - 58 - 46) / (1080 * 460)
    assert coloured == pytest.approx(area / (plan.arena * plan.steps) * plot, abs=0.03)
    assert target.stat().st_size < 60_000


def test_no_buffers(tmp_path: Path) -> None:
    plan = MemoryPlan(0, 0, 0, 0, 0, {}, ())
    assert plan.words() == "no buffers" and plan.live() == [] and plan.fullest == 0
    assert "no buffers" in memory_svg(plan)
    write_memory_png(plan, tmp_path / "none.png")


def test_an_unwritable_picture_leaves_nothing(tmp_path: Path, random_model: Any) -> None:
    plan, _ = planned(random_model(1))
    with pytest.raises(fv.IOFailure):
        write_memory_png(plan, tmp_path / "none" / "plan.png")
    with pytest.raises(fv.IOFailure):
        write_memory_png(plan, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_words() -> None:
    sizes = [0, 1, 999, 999.6, 1000, 1234567, 10**13]
    assert [words.size(n) for n in sizes] == [
        "0 B",
        "1 B",
        "999 B",
        "1 kB",
        "1 kB",
        "1.23 MB",
        "10 TB",
    ]
    assert [words.count(n) for n in (0, 7, 0.5, 12.345, 1e9)] == ["0", "7", "0.5", "12.3", "1 G"]
    assert words.duration(12.5) == "12.5 µs" and words.duration(12345) == "12.3 ms"
    assert words.shortened("abcdefghij", 6) == "abc…ij" and words.shortened("abcdef", 3) == ""
    assert words.several(["a"] * 3, 2) == "a, a and 1 more" and words.shape(()) == "scalar"
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]", words.plain(
        "".join(map(chr, range(0x110000)))))  # fmt: skip
    assert words.ticks(100, 5) == [0, 20, 40, 60, 80, 100] and words.ticks(0, 5) == [0]
    assert words.ticks(3, 10, whole=True) == [0, 1, 2, 3]
    assert words.tails(["a/b/c/d;e", "x", "a/b/c"]) == ["…/b/c/d", "x", "a/b/c"]
