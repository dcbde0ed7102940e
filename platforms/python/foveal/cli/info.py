"""`foveal info MODEL`"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from typing import Any

from foveal.cli import console, options, spec_words
from foveal.errors import ArgumentError, FovealError, NotFoundError

NAME = "info"
HELP = "show what a model takes, gives and is made of, and where it would run"


def configure(parser: argparse.ArgumentParser) -> None:
    """The model, and how much to show."""
    options.add_model(parser)
    parser.add_argument(
        "--explain", action="store_true", help="where every node runs, in which layout, and why"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--html", metavar="FILE", help="write the memory plan as a page")
    parser.add_argument("--png", metavar="FILE", help="write the memory plan as a picture")
    options.add_input_shape(parser)
    options.add_device(parser)


def run(args: argparse.Namespace) -> int:
    """Prints the model's facts."""
    import foveal

    if args.png and not args.png.lower().endswith(".png"):
        raise ArgumentError(f"--png: expected a name that ends in .png, got '{args.png}'")
    for option in ("html", "png"):
        if path := getattr(args, option):
            options.check_output(f"--{option}", path, [args.model])
    model = foveal.load(args.model)
    facts = describe(model)
    placement, refusal = _placement(args, model)
    if placement:  # knows all shapes
        facts["operator_macs"] = _macs(placement["nodes"])
        facts["macs"] = sum(facts["operator_macs"].values())
    if args.html or args.png:
        if refusal:
            raise refusal
        _draw(args, placement or {})
    if args.json:
        facts = {"model": args.model, **facts}
        if args.explain:
            facts["explain"] = placement
        if refusal:
            facts["would_not_run"] = console.one_line(refusal.message)
        console.print_json(facts)
    else:
        _print(args.model, facts)
        if placement:
            _print_placement(placement, full=args.explain)
    if refusal:
        if args.explain:
            raise refusal
        if not args.json:
            print(f"\nit would not run: {console.one_line(refusal.message)}")
    return 0


def _draw(args: argparse.Namespace, placement: dict[str, Any]) -> None:
    from foveal.profile import memory_plan, write_memory_page, write_memory_png

    plan = memory_plan(placement)
    if args.html:
        write_memory_page(plan, args.html, args.model)
    if args.png:
        write_memory_png(plan, args.png, args.model)


def _placement(
    args: argparse.Namespace, model: Any
) -> tuple[dict[str, Any] | None, FovealError | None]:
    """What the session explains, or the reason why there is none."""
    chosen = options.shapes(args.input_shape)
    try:
        session = options.session(args, model)
        options.fix_shapes(session, chosen)
        explained: dict[str, Any] = session.explain()
        return explained, None
    except FovealError as error:
        if chosen or isinstance(error, NotFoundError):  # the arguments are to blame
            raise
        return None, error


def _print_placement(placement: dict[str, Any], *, full: bool) -> None:
    nodes, memory = placement["nodes"], placement["memory"]
    devices = Counter(node["device"] for node in nodes)
    where = ", ".join(f"{count} on {device}" for device, count in devices.most_common())
    macs = sum(node["macs"] for node in nodes)
    segments = f"{placement['segments']} segment{'s' if placement['segments'] != 1 else ''}"
    print()
    print(
        f"runs as {len(nodes)} steps ({where}) in {segments}: "
        f"{console.count(macs)} multiply-adds, {console.size(memory['arena_bytes'])} of buffers, "
        f"{console.size(memory['packed_bytes'])} of packed weights"
    )
    if not full:
        print("foveal info --explain shows every step")
        return
    print()
    console.table(
        ("step", "device", "layout", "output", "MACs", "est. us", "why"),
        [_step(node) for node in nodes],
        right=(4, 5),
        hide_empty=True,
    )


def _step(node: dict[str, Any]) -> tuple[str, ...]:
    output = next((t for t in node["outputs"] if t), None)
    reasons = "; ".join(text for text in (node["why"], node["remark"]) if text)
    return (
        " + ".join([node["op"], *node["posts"]]),
        node["device"],
        output["layout"] if output else "",
        console.shape(output["shape"]) if output else "",
        console.count(node["macs"]) if node["macs"] else "-",
        f"{node['cost_us']:.1f}" if node["cost_us"] else "-",
        console.one_line(reasons),
    )


def describe(model: Any) -> dict[str, Any]:
    """Everything `info` shows, as plain values."""
    graph = model.graph()
    constants = [v["data"] for v in graph["values"] if v.get("data") is not None]
    ops = Counter(node["op"] for node in graph["nodes"])
    meta, macs = dict(model.meta), _macs(graph["nodes"])
    found: dict[str, Any] = {
        "inputs": [_tensor(info) for info in model.inputs],
        "outputs": [_tensor(info) for info in model.outputs],
        "operators": dict(ops.most_common()),
        "weights_bytes": sum(int(c.nbytes) for c in constants),
        "macs": sum(macs.values()),
        "operator_macs": macs,
        "parameters": sum(int(c.size) for c in constants),
        "meta": {key: _parsed(text) for key, text in meta.items()},
    }
    return found


def _macs(nodes: list[dict[str, Any]]) -> dict[str, float]:
    """By operator, those that multiply; open shapes count as nothing."""
    found: dict[str, float] = {}
    for node in nodes:
        macs = float(node.get("macs") or 0)
        if macs > 0:
            found[node["op"]] = found.get(node["op"], 0.0) + macs
    return found


def _tensor(info: Any) -> dict[str, Any]:
    found = {"name": info.name, "shape": list(info.shape), "dtype": str(info.dtype)}
    if info.quantization is not None:
        scale, zero_point = info.quantization
        found["quantization"] = {"scale": scale, "zero_point": zero_point}
    return found


def _stands_for(tensor: dict[str, Any]) -> str:
    """The meaning of quantised numbers."""
    if (q := tensor.get("quantization")) is None:
        return ""
    return f"(number - {q['zero_point']}) * {q['scale']:.6g}"


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _print(name: str, facts: dict[str, Any]) -> None:
    meta = facts["meta"]
    console.title(name)
    lines = []
    source = meta.get("source")
    if isinstance(source, dict):
        lines.append(("from", f"{source.get('file', '?')} ({source.get('format', '?')})"))
    if "license" in meta:
        lines.append(("licence", str(meta["license"])))
    for key in ("task", "pipeline", "decoder"):
        if key in meta:
            lines.append((key, getattr(spec_words, key)(meta[key])))
    labels = meta.get("labels")
    if isinstance(labels, list):
        shown = ", ".join(str(label) for label in labels[:6])
        lines.append(("labels", f"{len(labels)} ({shown}{', ...' if len(labels) > 6 else ''})"))
    lines.append(
        (
            "size",
            f"{sum(facts['operators'].values())} operators, "
            f"{console.count(facts['parameters'])} parameters, "
            f"{console.size(facts['weights_bytes'])} of weights",
        )
    )
    for key, text in lines:
        print(f"  {console.paint(key.ljust(9), '2')} {console.one_line(text)}")
    print()
    rows = [
        (kind, t["name"], console.shape(t["shape"]), t["dtype"], _stands_for(t))
        for kind in ("inputs", "outputs")
        for t in facts[kind]
    ]
    console.table(
        ("", "name", "shape", "type", "stands for"),
        [(kind.rstrip("s"), *rest) for kind, *rest in rows],
        hide_empty=True,
    )
    print()
    _print_operators(facts)


def _print_operators(facts: dict[str, Any]) -> None:
    """By count, with their part of the multiply-adds."""
    macs = facts["operator_macs"]
    most = max(macs.values(), default=0)
    console.table(
        ("operator", "count", "multiply-adds", ""),
        [
            (op, count, console.count(macs.get(op) or 0) if macs.get(op) else "-",
             console.bar(macs.get(op) or 0, most, 24))
            for op, count in facts["operators"].items()
        ],
        right=(1, 2),
        hide_empty=True,
    )  # fmt: skip
