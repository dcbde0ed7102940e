"""Every operator with arguments that make no sense: an error or a result, never a crash.

Half start from a case of the operator's table with a few numbers changed, half from nothing:
attributes of the right type and any value, tensors of any shape. Shape rules see huge and unknown
dimensions; what they accept and is small is run, so that a rule that lets nonsense through is
found out by the kernels.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytest.importorskip("foveal._core")

FUZZ = r"""
import json, math, os, resource, signal, sys
import numpy as np
import foveal as fv
from foveal import _core
from foveal.conformance.kit import load_tables

if "libasan" not in os.environ.get("LD_PRELOAD", ""):  # whose shadow takes terabytes of addresses
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
TABLES = {s.op: s.cases for s in load_tables()}
OPS = json.loads(_core.ops_json())
ODD = [0, 1, 2, 3, 4, 5, 7, -1, -2, -3, 16, 17]
HUGE = [2**31 - 1, -(2**31), 2**40, 2**62, 2**63 - 1, -(2**63), 10**6]
FLOATS = [0.0, 1.0, -1.0, 0.5, 1e-30, 1e30, 2.0, math.inf, -math.inf, math.nan]
WORDS = ["", "max", "average", "nearest", "bilinear", "half_pixel", "align_corners", "asymmetric",
         "constant", "edge", "reflect", "floor", "ceil", "dcr", "crd", "float32", "int64", "bool",
         "x" * 300]

def integer(rng, wild):
    return int(rng.choice(HUGE if rng.random() < wild else ODD))

def attribute(rng, default, wild):
    if rng.random() < 0.3:
        return default
    if isinstance(default, list):
        floats = bool(default) and isinstance(default[0], float)
        n = len(default) if rng.random() < 0.5 and default else int(rng.integers(0, 9))
        return [float(rng.choice(FLOATS)) if floats else integer(rng, wild) for _ in range(n)]
    if isinstance(default, str):
        return str(rng.choice(WORDS))
    if isinstance(default, float):
        return float(rng.choice(FLOATS))
    return integer(rng, wild)

def tensor(rng, wild, rank=None):
    rank = int(rng.choice([0, 1, 2, 3, 4, 4, 4, 5, 8])) if rank is None else rank
    dims = [integer(rng, wild) if rng.random() < wild else int(rng.choice([1, 1, 2, 3, 4, 5, 8]))
            for _ in range(rank)]
    kinds = ["float32"] * 6 + ["int64", "int32", "bool", "uint8", "float16"]
    return str(rng.choice(kinds)), dims

def small(kinds):
    return all(all(0 <= d < 10**6 for d in dims) and math.prod(dims) < 20000 for _, dims in kinds)

def changed(rng, value, wild):
    # One element changed, or another length.
    if isinstance(value, (list, tuple)):
        value = list(value)
        if not value or rng.random() < 0.1:
            return value + [0]
        i = int(rng.integers(0, len(value)))
        value[i] = changed(rng, value[i], wild)
        return value
    if isinstance(value, str):
        return str(rng.choice(WORDS))
    return float(rng.choice(FLOATS)) if isinstance(value, float) else integer(rng, wild)

def from_table(rng, op, wild):
    case = TABLES[op][int(rng.integers(0, len(TABLES[op])))]
    node = case.net.nodes[0]
    specs = [None if i is None else case.net.specs[i] for i in node.inputs]
    inputs = [None if s is None else (s.dtype, list(s.shape)) for s in specs]
    attrs = {k: list(v) if isinstance(v, tuple) else v for k, v in node.attrs.items()}
    for _ in range(int(rng.integers(1, 3))):
        if attrs and rng.random() < 0.75:
            name = str(rng.choice(list(attrs)))
            attrs[name] = changed(rng, attrs[name], wild)
        else:
            i = int(rng.integers(0, len(inputs)))
            if inputs[i] is not None:
                inputs[i] = (inputs[i][0], changed(rng, inputs[i][1], wild))
    return inputs, attrs, len(node.outputs)

def from_nothing(rng, op, wild):
    names = op["inputs"]
    count = len(names) + (int(rng.integers(0, 3)) if names and names[-1].endswith("*") else 0)
    first = tensor(rng, wild)
    inputs = [first]
    for i in range(1, count):
        optional = names[min(i, len(names) - 1)].endswith("?")
        if optional and rng.random() < 0.4:
            inputs.append(None)
        elif rng.random() < 0.4:
            inputs.append(first)
        else:
            dtype = first[0] if rng.random() < 0.8 else tensor(rng, 0)[0]
            inputs.append((dtype, tensor(rng, wild)[1]))
    attrs = {a["name"]: attribute(rng, a["default"], wild) for a in op["attrs"]}
    return inputs, attrs, 1 if not op["outputs"][-1].endswith("*") else int(rng.integers(1, 5))

def attempt(rng, op):
    wild = float(rng.choice([0.0, 0.0, 0.1, 0.4]))
    if op["name"] in TABLES and rng.random() < 0.5:
        inputs, attrs, outs = from_table(rng, op["name"], wild)
    else:
        inputs, attrs, outs = from_nothing(rng, op, wild)
    try:
        kinds = _core.infer(op["name"], inputs, attrs, outs)
    except fv.FovealError as e:
        assert str(e)
        return "refused"
    given = [k for k in inputs if k is not None]
    if not small(given) or not small(kinds):
        return "inferred"
    g = _core.GraphBuilder()
    ids, fed, feeds = [], [], {}
    for i, k in enumerate(inputs):
        if k is None:
            ids.append(-1)
            continue
        array = rng.integers(0, 2 if k[0] == "bool" else 5, k[1]).astype(k[0])
        if i and rng.random() < 0.5:
            ids.append(g.add_constant(f"c{i}", array))
        else:
            ids.append(g.add_value(f"x{i}", k[0], k[1], []))
            fed.append(ids[-1])
            feeds[f"x{i}"] = array
    made = [g.add_value(f"y{i}", k[0], list(k[1]), []) for i, k in enumerate(kinds)]
    g.add_node(op["name"], "node", ids, made, attrs)
    g.set_io(fed, made)
    try:
        model = g.model()
        session = fv.Session(model, device="cpu", threads=int(rng.integers(1, 3)))
        out = session.run(feeds)
    except fv.FovealError as e:
        assert str(e)
        return "not run"
    for i, k in enumerate(kinds):
        assert list(out[f"y{i}"].shape) == list(k[1]), (op["name"], out[f"y{i}"].shape, k)
    return "ran"

seed, each = int(sys.argv[1]), int(sys.argv[2])
tally = {}
for n, op in enumerate(OPS):
    mine = {}
    for i in range(each):
        rng = np.random.default_rng([seed, n, i])
        print(f"{op['name']} {i}", file=sys.stderr, flush=True)
        signal.alarm(20)
        result = attempt(rng, op)
        mine[result] = mine.get(result, 0) + 1
    tally[op["name"]] = mine
print(json.dumps(tally))
"""


def fuzz(seed: int, each: int) -> dict[str, dict[str, int]]:
    done = subprocess.run(
        [sys.executable, "-c", FUZZ, str(seed), str(each)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, (done.returncode, done.stderr.splitlines()[-6:])
    tally: dict[str, dict[str, int]] = json.loads(done.stdout)
    return tally


def test_operators_refuse_nonsense() -> None:
    tally = fuzz(seed=1, each=150)
    assert not [op for op, t in tally.items() if op != "relayout" and not t.get("refused")]
    ran = [op for op, t in tally.items() if t.get("ran")]
    assert len(ran) > len(tally) * 2 // 3, f"too wild to reach the kernels: {tally}"


@pytest.mark.slow
def test_operators_refuse_nonsense_at_length() -> None:
    for seed in range(2, 8):
        fuzz(seed, each=1500)
