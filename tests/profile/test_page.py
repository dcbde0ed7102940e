"""The pages: well-formed, self-contained, and indifferent to what names say."""

from __future__ import annotations

import html
import itertools
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import foveal as fv
import pytest
from foveal.graph import Graph
from foveal.profile import Profile, memory_plan, profile, write_memory_page, write_page
from foveal.profile.page import page_data, profile_html
from profile_models import HOSTILE

VOID = {"meta", "br", "input", "link", "img"}


class Page(HTMLParser):
    """Elements with attributes, text by element, and whether every element was closed."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self.open[-1] if self.open else "", []).append(data)

    def data(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.texts["script"][0])
        return found


def hostile_model() -> Any:
    """Every name there is says HOSTILE (without what UTF-8 cannot say)."""
    name = HOSTILE.replace("\ud800", "")
    g = Graph()
    x = g.input(f"x{name}", "float32", [1, 3, 4, 4])
    y = g.add("softmax", [g.add("relu", [x], name=f"r{name}")], name=f"s{name}")
    g.rename(y, f"y{name}")
    g.outputs = [y]
    return g.to_model()


@pytest.fixture(scope="module")
def measured(small: Any) -> Profile:
    return profile(small, device="cpu", threads=1, runs=3, title="small")


@pytest.fixture(scope="module")
def hostile() -> Profile:
    return profile(hostile_model(), device="cpu", threads=1, runs=2, title=HOSTILE)


def test_it_says_what_was_measured(measured: Profile) -> None:
    page = Page(profile_html(measured))
    assert page.texts["title"][0] == "small: profile" and page.texts["h1"] == ["small"]
    text = " ".join(" ".join(found) for found in page.texts.values())
    assert "1 thread" in text and "3 runs" in text and "18.4 k MACs" in text
    data = page.data()
    nodes = data["nodes"]
    assert len(nodes) == len(measured.explained["nodes"])
    for node in measured.nodes:
        assert node.times
        assert nodes[node.index]["us"] == pytest.approx(node.times.median, abs=0.006)
        assert nodes[node.index]["gflops"] == pytest.approx(node.gflops, abs=0.006)
    assert nodes[measured.nodes[0].index]["op"].startswith("conv2d 3x3")
    ends = [tuple(pair) for pair in data["graph"]["ends"]]
    order = [node.index for node in measured.nodes]
    assert set(itertools.pairwise(order)) <= set(ends)
    assert len(data["run"]) == len(measured.median_run)


@pytest.mark.parametrize("which", ["measured", "hostile", "memory"])
def test_it_needs_nothing_else(
    which: str, tmp_path: Path, request: pytest.FixtureRequest, hostile: Profile
) -> None:
    """No element or style loads anything, and the browser is told to load nothing."""
    target = tmp_path / "page.html"
    if which == "memory":
        write_memory_page(memory_plan(hostile.explained), target, HOSTILE)
    else:
        write_page(request.getfixturevalue(which), target)
    text = target.read_text(encoding="utf-8")
    page = Page(text)
    for tag, attributes in page.elements:
        assert tag not in {"link", "img", "iframe", "object", "embed", "base", "form", "a", "image"}
        loading = {"src", "href", "xlink:href", "srcset", "action", "data", "background"}
        assert not loading & set(attributes), tag
        assert not [name for name in attributes if name.startswith("on")], tag
    style = "".join(page.texts["style"])
    assert "url(" not in style and "@import" not in style
    rest = text.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"(https?:)?//[a-z]", re.sub(r"(?m)//.*$", "", rest))
    policy = [a["content"] for t, a in page.elements if t == "meta" and "http-equiv" in a]
    assert policy and str(policy[0]).startswith("default-src 'none'")


def test_hostile_names_are_text(hostile: Profile) -> None:
    page = Page(profile_html(hostile))
    assert [tag for tag, _ in page.elements].count("script") == 2
    assert page.texts["script"][0].count("<") == 0
    assert [tag for tag, _ in page.elements].count("b") == 6  # the figures of the header
    shown = HOSTILE.replace("\x07", "\ufffd").replace("\ud800", "\ufffd")
    assert page.texts["h1"] == [shown]
    data = page.data()
    assert any("</script><script>alert(1)" in node["name"] for node in data["nodes"])
    script = page.texts["script"][1]
    assert "innerHTML" not in script and "document.write" not in script and "eval" not in script


def test_400_nodes(random_model: Any) -> None:
    g = Graph()
    value = g.input("x", "float32", [1, 4, 6, 6])
    for _ in range(200):
        value = g.add("softmax", [g.add("transpose", [value], {"perm": [0, 1, 3, 2]})])
    g.outputs = [value]
    large = profile(g.to_model(), device="cpu", threads=1, runs=2)
    assert len(large.nodes) >= 400
    text = profile_html(large)
    assert len(text) < 1_500_000 and len(Page(text).data()["graph"]["at"]) >= 400


def test_a_graph_too_large_to_draw(measured: Profile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("foveal.profile.page._DRAWN", 1)
    assert page_data(measured)["graph"] is None


@pytest.mark.parametrize("seed", range(6))
def test_random_graphs(random_model: Any, seed: int) -> None:
    found = profile(random_model(seed), device="cpu", threads=1, runs=1)
    data = Page(profile_html(found)).data()
    names = [html.unescape(node["name"]) for node in data["nodes"]]
    assert len(names) == len(data["graph"]["at"])


def test_an_unwritable_page_leaves_nothing(measured: Profile, tmp_path: Path) -> None:
    for target in (tmp_path, tmp_path / "none" / "page.html"):
        with pytest.raises(fv.IOFailure):
            write_page(measured, target)
        with pytest.raises(fv.IOFailure):
            write_memory_page(memory_plan(measured.explained), target, "x")
    assert list(tmp_path.iterdir()) == []
