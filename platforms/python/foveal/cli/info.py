"""`foveal info MODEL`"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from typing import Any

from foveal.cli import console, options

NAME = "info"
HELP = "show what a model takes, gives and is made of, and where it would run"


def configure(parser: argparse.ArgumentParser) -> None:
    """The model, and how much to show."""
    options.add_model(parser)
    parser.add_argument(
        "--explain", action="store_true", help="where every node runs, in which layout, and why"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    options.add_device(parser)


def run(args: argparse.Namespace) -> int:
    """Prints the model's facts."""
    import foveal

    model = foveal.load(args.model)
    facts = describe(model)
    if args.json:
        print(json.dumps({"model": args.model, **facts}, indent=2, ensure_ascii=False))
        return 0
    _print(args.model, facts)
    if args.explain:
        print()
        print(options.session(args, model).explain())
    return 0


def describe(model: Any) -> dict[str, Any]:
    """Everything `info` shows, as plain values."""
    graph = model.graph()
    constants = [v["data"] for v in graph["values"] if v.get("data") is not None]
    ops = Counter(node["op"] for node in graph["nodes"])
    meta = dict(model.meta)
    found: dict[str, Any] = {
        "inputs": [_tensor(info) for info in model.inputs],
        "outputs": [_tensor(info) for info in model.outputs],
        "operators": dict(ops.most_common()),
        "weights_bytes": sum(int(c.nbytes) for c in constants),
        "parameters": sum(int(c.size) for c in constants),
        "meta": {key: _parsed(text) for key, text in meta.items()},
    }
    return found


def _tensor(info: Any) -> dict[str, Any]:
    return {"name": info.name, "shape": list(info.shape), "dtype": str(info.dtype)}


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _print(name: str, facts: dict[str, Any]) -> None:
    meta = facts["meta"]
    console.title(name)
    source = meta.get("source")
    if isinstance(source, dict):
        print(f"  imported from {source.get('file', '?')} ({source.get('format', '?')})")
    if "license" in meta:
        print(f"  licence: {meta['license']}")
    print(
        f"  {sum(facts['operators'].values())} operators, "
        f"{console.count(facts['parameters'])} parameters, "
        f"{console.size(facts['weights_bytes'])} of weights"
    )
    for kind in ("pipeline", "decoder"):
        if kind in meta:
            print(f"  {kind}: {_brief(meta[kind])}")
    labels = meta.get("labels")
    if isinstance(labels, list):
        shown = ", ".join(str(label) for label in labels[:6])
        print(f"  labels: {len(labels)} ({shown}{', ...' if len(labels) > 6 else ''})")
    print()
    rows = [
        (kind, t["name"], console.shape(t["shape"]), t["dtype"])
        for kind in ("inputs", "outputs")
        for t in facts[kind]
    ]
    console.table(
        ("", "name", "shape", "type"), [(kind.rstrip("s"), *rest) for kind, *rest in rows]
    )
    print()
    console.table(("operator", "count"), list(facts["operators"].items()), right=(1,))


def _brief(spec: Any) -> str:
    """A spec in a few words: its kind, size and colour."""
    if not isinstance(spec, dict):
        return str(spec)
    words = [str(spec["kind"])] if "kind" in spec else []
    if "size" in spec:
        words.append(" x ".join(str(v) for v in spec["size"]))
    words += [str(spec[key]) for key in ("color",) if key in spec]
    if isinstance(spec.get("fit"), dict):
        words.append(str(spec["fit"].get("k")))
    return ", ".join(words) or "given"
