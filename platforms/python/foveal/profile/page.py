"""The pages: one HTML file each that needs nothing else, neither network nor fonts nor scripts.

Names in a model are anybody's text. In markup they go through `html.escape`; data for the script is
JSON without any "<", ">" or "&", and the script writes text, never markup.
"""

from __future__ import annotations

import html
import json
import os
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from foveal.cache import write_text
from foveal.profile import layered, words
from foveal.profile.measure import Node, Profile, Step, variant
from foveal.profile.memory import MemoryPlan, memory_plan, memory_svg

_DRAWN = 2000  # nodes; a larger graph is no picture any more

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def write_page(profile: Profile, path: str | os.PathLike[str]) -> None:
    """Writes `profile_html`, whole or not at all. IOFailure when it cannot be written."""
    write_text(path, profile_html(profile))


def write_memory_page(plan: MemoryPlan, path: str | os.PathLike[str], title: str) -> None:
    """Writes the memory plan alone as a page, whole or not at all. IOFailure when it cannot be
    written."""
    body = (
        f'<header><p class="brand">foveal memory plan</p><h1>{_text(title)}</h1></header>'
        f"{_memory_section(plan)}"
    )
    write_text(path, _document(f"{title}: memory plan", body, {}))


def profile_html(profile: Profile) -> str:
    """The page of a profile: totals, the median run as a timeline, nodes by time, the graph with
    hot nodes coloured, operators, what runs outside of nodes, and the memory plan."""
    body = "".join(
        (
            _header(profile),
            "<section><h2>Timeline <small>the median of the recorded runs</small></h2>"
            '<div id="timeline" class="card"></div></section>',
            '<div class="columns"><section><h2>Nodes by time</h2>'
            '<div id="bars" class="card scroll"></div></section>'
            "<section><h2>Graph <small>the hotter, the slower</small></h2>"
            '<div class="card"><div id="graph"></div><div id="details"></div></div></section>'
            '</div><div class="columns"><section><h2>By operator</h2><div class="card">'
            f"{_operators(profile)}</div></section><section><h2>Outside of nodes</h2>"
            f'<div class="card">{_outside(profile)}</div></section></div>',
            _memory_section(memory_plan(profile.explained)),
            f"<footer>{_footer(profile)}</footer>",
        )
    )
    return _document(f"{profile.model}: profile", body, page_data(profile))


def page_data(profile: Profile) -> dict[str, Any]:
    """What the page's script draws: nodes with times and places, edges, and the median run."""
    explained = profile.explained["nodes"]
    timed = {node.index: node for node in profile.nodes}
    moved = {step.node: step for step in profile.steps if step.node is not None}
    names = words.plain
    tails = words.tails([facts["name"] for facts in explained])
    items = [
        {
            "name": names(facts["name"]),
            "short": names(tails[index]),
            "op": names(" + ".join([variant(facts), *facts["posts"]])),
            "kind": names(variant(facts)),
            "device": names(facts["device"]),
            "layout": names(next((t["layout"] for t in facts["outputs"] if t), "")),
            "in": _tensors(facts["inputs"]),
            "out": _tensors(facts["outputs"]),
            "why": names("; ".join(t for t in (facts["why"], facts["remark"]) if t)),
            "view": facts["position"] < 0,
            **_measured(timed.get(index) or moved.get(index)),
        }
        for index, facts in enumerate(explained)
    ]
    operators = [names(row["operator"]) for row in profile.by_operator(variants=True)]
    data: dict[str, Any] = {"nodes": items, "operators": operators, "graph": None}
    data["run"] = [
        {
            "kind": event.kind,
            "name": names(event.name),
            "node": event.facts.get("node", -1),
            "at": round(event.start_us, 2),
            "us": round(event.duration_us, 2),
            "device": names(event.facts.get("device", "")),
        }
        for event in profile.median_run
    ]
    if len(items) <= _DRAWN:
        data["graph"] = _graph(explained)
    return data


def _measured(part: Node | Step | None) -> dict[str, Any]:
    if part is None or part.times is None:
        return {"us": None}
    shown = {
        "us": round(part.times.median, 2),
        "min": round(part.times.min, 2),
        "p95": round(part.times.p95, 2),
        "share": round(part.share, 5),
        "bytes": part.bytes,
    }
    if isinstance(part, Node):
        shown |= {"macs": part.macs, "gflops": round(part.gflops, 2), "gbs": round(part.gbs, 2)}
    return shown


def _tensors(tensors: Sequence[Mapping[str, Any] | None]) -> list[str]:
    return [
        f"{words.shape(t['shape'])} {t['dtype']}"
        + (" constant" if t["constant"] else f" {words.plain(t['layout'])}")
        + f"  {words.shortened(t['name'], 60)}"
        for t in tensors
        if t
    ]


def _graph(explained: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Places of the nodes (by index) and paths of the edges, in units of the drawing."""
    producer = {t["name"]: i for i, n in enumerate(explained) for t in n["outputs"] if t}
    edges = sorted(
        {
            (producer[t["name"]], index)
            for index, node in enumerate(explained)
            for t in node["inputs"]
            if t and not t["constant"] and t["name"] in producer
        }
    )
    drawing = layered.draw(len(explained), edges)
    return {
        "at": [[round(x, 3), y] for x, y in drawing.nodes],
        "edges": [[[round(x, 3), y] for x, y in path] for path in drawing.edges],
        "ends": edges,
        "width": round(drawing.width, 3),
        "layers": drawing.layers,
    }


# ---- Markup --------------------------------------------------------------------------------


def _text(text: object) -> str:
    return html.escape(words.plain(str(text)))


def _document(title: str, body: str, data: Mapping[str, Any]) -> str:
    files = resources.files("foveal.profile")
    style, script = (
        files.joinpath(name).read_text(encoding="utf-8") for name in ("page.css", "page.js")
    )
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    for mark in "<>&":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{_text(title)}</title><style>\n{style}</style></head>\n<body><main>{body}</main>"
        f'<div id="tip" hidden></div><script type="application/json" id="data">{text}</script>'
        f"<script>\n{script}</script></body></html>\n"
    )


def _header(profile: Profile) -> str:
    memory = profile.explained["memory"]
    threads = f"{profile.threads} thread{'s' if profile.threads != 1 else ''}"
    inputs = "; ".join(f"{name}: {words.shape(dims)} {kind}" for name, dims, kind in profile.inputs)
    devices = sorted({node.device for node in profile.nodes}) or [profile.device]
    facts = [
        "on " + ", ".join(devices),
        threads if profile.threads else "threads as the session chose",
        f"{profile.runs} runs",
        inputs,
    ]
    total, segments = profile.total, profile.explained["segments"]
    speed = f"{words.count(1e6 / total.median)} runs/s" if total.median > 0 else ""
    spread = f"least {words.duration(total.min)}, p95 {words.duration(total.p95)}"
    cards = [
        ("per run", words.duration(total.median), spread),
        ("speed", speed, "one after the other"),
        (
            "arithmetic",
            f"{words.count(profile.gflops)} GFLOP/s",
            f"{words.count(profile.macs)} MACs",
        ),
        ("nodes", str(len(profile.nodes)), f"in {segments} segment{'s' if segments != 1 else ''}"),
        (
            "buffers",
            words.size(memory["arena_bytes"]),
            f"{words.size(memory['unshared_bytes'])} unshared",
        ),
        (
            "weights",
            words.size(memory["weight_bytes"] or 0),
            f"{words.size(memory['packed_bytes'])} packed",
        ),
    ]
    shown = "".join(
        f'<div class="fact"><span>{_text(label)}</span><b>{_text(value)}</b>'
        f"<small>{_text(more)}</small></div>"
        for label, value, more in cards
    )
    return (
        f'<header><p class="brand">foveal profile</p><h1>{_text(profile.model)}</h1>'
        f'<p class="dim">{_text(" · ".join(facts))}</p><div class="facts">{shown}</div></header>'
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Cells are markup; the first column aligns left, the others right."""
    top = "".join(f"<th>{_text(cell)}</th>" for cell in head)
    lines = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{lines}</tbody></table>"


def _operators(profile: Profile) -> str:
    rows = profile.by_operator(variants=True)
    most = max((row["share"] for row in rows), default=0.0) or 1.0
    return _table(
        ("operator", "count", "time", "share", "MACs", "GFLOP/s"),
        [
            (
                f'<i class="dot" data-op="{_text(row["operator"])}"></i>{_text(row["operator"])}',
                str(row["count"]),
                _text(words.duration(row["us"])),
                f'<span class="bar" data-op="{_text(row["operator"])}" '
                f'style="--w:{row["share"] / most:.4f}"></span>{row["share"]:.1%}',
                _text(words.count(row["macs"])) if row["macs"] else "-",
                _text(words.count(row["gflops"])) if row["gflops"] else "-",
            )
            for row in rows
        ],
    )


def _outside(profile: Profile) -> str:
    nodes = sum(node.times.median for node in profile.nodes if node.times)
    rows = [("all nodes", "", words.duration(nodes))]
    rows += [
        (
            f"{step.kind} {words.shortened(step.name, 60)}",
            words.size(step.bytes) if step.bytes else "",
            words.duration(step.times.median),
        )
        for step in sorted(profile.steps, key=lambda step: -step.times.median)
    ]
    rest = profile.total.median - profile.sum_us - profile.overhead_us
    why = "interruptions" if rest >= 0 else "what recording costs"
    rows += [
        ("between them: session and recording", "", words.duration(profile.overhead_us)),
        (f"the rest: {why}", "", f"{'-' if rest < 0 else ''}{words.duration(abs(rest))}"),
        ("a run", "", words.duration(profile.total.median)),
    ]
    return _table(("", "bytes", "time"), [tuple(map(_text, row)) for row in rows])


def _memory_section(plan: MemoryPlan) -> str:
    return (
        f'<section><h2>Memory plan <small>{_text(plan.words())}</small></h2><div class="card">'
        f'{memory_svg(plan)}<p class="dim">Every rectangle is a buffer: from the step that writes '
        "it to the last one that reads it, at its place in the arena. The line is what is in use; "
        "the arena cannot be smaller than its highest point.</p></div></section>"
    )


def _footer(profile: Profile) -> str:
    return _text(
        f"Medians of {profile.runs} runs on random inputs, after {profile.warm_up} to warm up. "
        "Runs alternate between a session that records and one that does not; the totals are of "
        "the one that does not. A multiply-add (MAC) is two operations. GB/s counts inputs, "
        "weights and outputs once each."
    )
