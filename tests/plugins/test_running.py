"""Running on plugins: mixed placement, device memory, asynchronous work, errors, unloading."""

from __future__ import annotations

from pathlib import Path

import pytest
from plugin_builds import Mini, Script

CHAINS = """
from foveal.conformance.execute import run_case
from foveal.conformance.kit import load_tables

chains = next(s for s in load_tables() if s.op == "chains")
bad = [e for c in chains if (e := run_case(c, {devices!r})).status != "pass"]
assert not bad, bad[:5]
"""


def test_mixed_template_and_cpu(script: Script, copied_template: Path) -> None:
    """Every chain, its nodes spread over plain and blocked layouts, equals its reference."""
    script(
        CHAINS.format(devices=["mynpu", "cpu"])
        + """
s = fv.Session(model("relu", "tanh", "sigmoid"), device=["mynpu", "cpu"])
where = [n["device"] for n in s.explain()["nodes"] if n["op"] in ("relu", "tanh", "sigmoid")]
assert where == ["mynpu", "cpu", "mynpu"], where
""",
        copied_template,
    )


def test_mixed_device_memory_and_cpu(script: Script, mini: Mini) -> None:
    script(CHAINS.format(devices=["far", "cpu"]), mini("far", device_memory=1))


def test_asynchronous_and_cpu(script: Script, mini: Mini) -> None:
    script(CHAINS.format(devices=["slow", "cpu"]), mini("slow", pending=3))


def test_asynchronous_device_memory(script: Script, mini: Mini) -> None:
    script(CHAINS.format(devices=["both", "cpu"]), mini("both", pending=2, device_memory=1))


@pytest.mark.parametrize("memory", [{}, {"device_memory": 1}], ids=["host", "device"])
def test_run_in_steps(script: Script, mini: Mini, memory: dict[str, int]) -> None:
    """start() returns at once; poll() without waiting reports progress; run() does it all."""
    script(
        """
s = fv.Session(model("relu", "tanh", "relu"), device=["slow", "cpu"])
want = np.maximum(np.tanh(np.maximum(X, 0)), 0)
for _ in range(3):
    s.input_view("x")[...] = X
    polls = 0
    pending = s._core.start()
    assert pending
    while pending:
        pending = s._core.poll(False)
        polls += 1
    assert polls >= 3, polls
    assert np.allclose(s.output_view("y"), want, atol=1e-6)
s._core.start()
assert not s._core.poll(True) or not s._core.poll(True)
assert np.allclose(s.run({"x": -X})["y"], np.maximum(np.tanh(np.maximum(-X, 0)), 0), atol=1e-6)
""",
        mini("slow", pending=4, **memory),
    )


def test_compile_error_reaches_the_user(script: Script, mini: Mini) -> None:
    script(
        """
try:
    relu_on("fails")
except fv.PluginError as e:
    assert "the shader compiler gave up" in str(e) and "fails" in str(e), e
else:
    raise AssertionError
relu_on("cpu")
""",
        mini("fails", compile_fails=1),
    )


def test_lost_device(script: Script, mini: Mini) -> None:
    script(
        """
s = fv.Session(model("relu"), device="lost")
for _ in range(3):
    try:
        s.run({"x": X})
    except fv.DeviceLost as e:
        assert "the device is gone" in str(e) and "77" in str(e), e
    else:
        raise AssertionError
relu_on("cpu")
""",
        mini("lost", run_fails=1),
    )


def test_refusal_names_node_device_and_reason(script: Script, mini: Mini) -> None:
    script(
        """
try:
    fv.Session(model("relu", "tanh", "erf"), device="mini")
except fv.UnsupportedOpError as e:
    text = str(e)
    assert "tanh" in text and "erf" in text and "mini" in text, text
    assert "relu is all it can do" in text, text
else:
    raise AssertionError
""",
        mini(),
    )


def test_unload_while_sessions_live(script: Script, mini: Mini) -> None:
    """The library leaves memory with the last object that came from it."""
    library = mini()
    script(
        f"""
from pathlib import Path
def mapped():
    return {library.name!r} in Path("/proc/self/maps").read_text()

a, b = relu_on("mini"), relu_on(["mini", "cpu"], 2)
plugins.unload("mini")
assert not [p for p in plugins.listing() if p["name"] == "mini"]
try:
    relu_on("mini")
except fv.NotFoundError:
    pass
else:
    raise AssertionError("it is gone")
assert mapped()
for s in (a, b):
    assert np.array_equal(s.run({{"x": X}})["y"], np.maximum(X, 0))
s = None
del a
gc.collect()
assert mapped() and np.array_equal(b.run({{"x": X}})["y"], np.maximum(X, 0))
del b
gc.collect()
assert not mapped()
plugins.load({str(library)!r})
relu_on("mini")
""",
        library,
    )


def test_process_may_end_with_sessions_alive(
    script: Script, mini: Mini, copied_template: Path
) -> None:
    script(
        'keep = [relu_on("mini"), relu_on("mynpu"), relu_on("cpu")]; sys.keep = keep',
        mini(),
        copied_template,
    )


def test_many_sessions_in_threads(script: Script, copied_template: Path) -> None:
    script(
        """
from concurrent.futures import ThreadPoolExecutor
def work(i):
    device = ["cpu", "mynpu", ["mynpu", "cpu"]][i % 3]
    for _ in range(5):
        relu_on(device, 1 + i % 4)
with ThreadPoolExecutor(6) as pool:
    list(pool.map(work, range(24)))
""",
        copied_template,
    )


def test_profile_of_a_device_that_records_nothing(script: Script, mini: Mini) -> None:
    """Its segments and the copies to and from it are steps; nodes elsewhere keep their times. The
    step of an asynchronous segment lasts from its start until it is done."""
    script(
        """
from foveal.profile import profile
found = profile(model("relu", "tanh"), device=["far", "cpu"], runs=4, threads=1)
kinds = [(s.kind, s.device, s.name if s.kind == "segment" else s.bytes) for s in found.steps]
size = X.nbytes
assert kinds == [
    ("upload", "far", size), ("segment", "far", "segment 0"), ("download", "far", size)
], kinds
assert [(n.op, n.device, n.times is None) for n in found.nodes] == [
    ("relu", "far", True), ("tanh", "cpu", False)]
assert found.nodes[0].share == 0 and found.nodes[0].gflops == 0
assert all(s.times.min > 0 for s in found.steps) and found.overhead_us > 0
inside = [e for e in found.median_run if e.kind == "segment"]
assert [e.facts["device"] for e in inside] == ["far", "cpu"]
assert abs(sum(p.share for p in [*found.nodes, *found.steps]) - 1) < 1e-9
""",
        mini("far", device_memory=1, pending=3),
    )
