"""Finding and opening plugins: whatever is wrong with one costs a line, never the program."""

from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path

import pytest
from plugin_builds import ROOT, Mini, Script

FALLBACK = """
relu_on("auto"); relu_on("cpu")
bad = entry({path!r})
assert bad["state"] == "failed" and not bad["devices"]
print(json.dumps(bad["reason"]))
try:
    fv.Session(model("relu"), device={name!r})
except fv.NotFoundError as e:
    assert {name!r} in str(e) and "cpu" in str(e)
else:
    raise AssertionError("the broken device was accepted")
"""


def check_broken(script: Script, library: Path, name: str, words: str) -> None:
    done = script(FALLBACK.format(path=str(library), name=name), library)
    reason = json.loads(done.stdout)
    assert words in reason and str(library) in reason
    assert "\n" not in reason
    lines = [line for line in done.stderr.splitlines() if str(library) in line]
    assert len(lines) == 1, done.stderr
    assert words in lines[0]


@pytest.mark.parametrize(
    ("macros", "words"),
    [
        ({"major": 99}, "is built for plugin ABI 99."),
        ({"symbol": "another_symbol"}, "does not export 'foveal_plugin'"),
        ({"size": 64}, "table has 64 bytes"),
        ({"no_compile": 1}, "leaves a required entry of its table empty"),
        ({"open_fails": 1}, "the driver is too old"),
    ],
    ids=lambda v: next(iter(v)) if isinstance(v, dict) else "",
)
def test_broken_plugin(script: Script, mini: Mini, macros: dict[str, object], words: str) -> None:
    check_broken(script, mini("broken", **macros), "broken", words)


@pytest.mark.parametrize("damage", ["text", "empty", "truncated"])
def test_corrupt_library(script: Script, mini: Mini, damage: str) -> None:
    library = mini("corrupt")
    content = library.read_bytes()
    library.write_bytes(
        {
            "text": b"this is not a library\n",
            "empty": b"",
            "truncated": content[: len(content) // 3],
        }[damage]
    )
    check_broken(script, library, "corrupt", "cannot be loaded")


def test_missing_file(script: Script, tmp_path: Path) -> None:
    done = script('relu_on("auto")', tmp_path / "foveal_plugin_absent.so")
    assert "foveal_plugin_absent.so" in done.stderr


def test_unusable_device_says_why(script: Script, mini: Mini) -> None:
    script(
        """
relu_on("auto")
device = entry("weak")["devices"][0]
assert device["score"] == 0 and device["reason"] == "no driver"
try:
    fv.Session(model("relu"), device="weak")
except fv.FovealError as e:
    assert "no driver" in str(e)
else:
    raise AssertionError
""",
        mini("weak", score=0, reason='"no driver"'),
    )


def test_plugin_of_an_older_minor_version(script: Script, mini: Mini) -> None:
    """Its table ends before entries that this version knows."""
    library = mini("older", size="offsetof(fv_plugin_api, resume)")
    script('relu_on("older", 3)', library)


def test_search_path_takes_files_and_folders(script: Script, mini: Mini, tmp_path: Path) -> None:
    one = mini("one", tmp_path / "a")
    mini("two", tmp_path / "b")
    (tmp_path / "b" / "notes.txt").write_text("not a plugin")
    (tmp_path / "b" / "libother.so").write_text("not one either")
    done = script('relu_on("one"); relu_on("two"); relu_on(["two", "cpu"])', one, tmp_path / "b")
    assert [line for line in done.stderr.splitlines() if "notes.txt" in line] == []
    about_other = [line for line in done.stderr.splitlines() if "libother.so" in line]
    assert len(about_other) == 1 and "cannot be loaded" in about_other[0]


def test_newest_version_wins(script: Script, mini: Mini, tmp_path: Path) -> None:
    old = mini("twin", tmp_path / "old", version='"1.9.0"')
    new = mini("twin", tmp_path / "new", version='"1.10.0"')
    script(
        """
states = {p["version"]: (p["state"], p["reason"]) for p in plugins.listing() if p["name"] == "twin"}
assert states["1.10.0"][0] == "ready"
assert states["1.9.0"][0] == "shadowed" and states["1.9.0"][1]
relu_on("twin")
""",
        old,
        new,
    )


def test_explicit_load(script: Script, mini: Mini, tmp_path: Path) -> None:
    good, bad = mini("good"), mini("bad", major=2)
    script(
        f"""
plugins.load({str(good)!r})
relu_on("good")
bad, absent = {str(bad)!r}, {str(tmp_path / "none.so")!r}
for path, error in [(bad, fv.PluginError), (absent, fv.NotFoundError)]:
    try:
        plugins.load(path)
    except error as e:
        assert path in str(e)
    else:
        raise AssertionError(path)
relu_on("good")
"""
    )


def install(site: Path, library: Path, module: str, entry: str) -> None:
    """What pip would leave behind for a plugin's wheel."""
    package = site / module
    package.mkdir(parents=True)
    shutil.copy(ROOT / "plugins" / "template" / "module.py", package / "__init__.py")
    shutil.copy(library, package / f"lib{module}.so")
    info = site / f"{module}-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text(f"[foveal.plugins]\n{entry}\n")


def test_entry_point(script: Script, copied_template: Path, tmp_path: Path) -> None:
    install(tmp_path, copied_template, "foveal_plugin_mynpu", "mynpu = foveal_plugin_mynpu")
    script(
        """
assert entry("mynpu")["state"] == "ready" and entry("mynpu")["devices"][0]["score"] == 10
relu_on("mynpu"); relu_on(["mynpu", "cpu"])
chosen = fv.Session(model("relu"), device="auto").explain()
assert "mynpu" not in json.dumps(chosen["nodes"]), "auto prefers the faster device"
""",
        site=tmp_path,
    )


def test_broken_entry_point(script: Script, copied_template: Path, tmp_path: Path) -> None:
    install(tmp_path, copied_template, "foveal_plugin_gone", "gone = foveal_plugin_gone.nowhere")
    done = script(
        'relu_on("auto"); assert entry("entry point gone")["state"] == "failed"', site=tmp_path
    )
    assert done.stderr.count("entry point gone") == 1


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("def library(): raise SystemExit", "SystemExit"),
        ("def library(): raise RuntimeError('no\\ndriver')", "RuntimeError: no driver"),
        ("def library(): return 7", "expected a path, got 7"),
        ("def library(): return 'gone.so'", "'gone.so' does not exist"),
        ("class Odd(BaseException): pass\nraise Odd('x')", "Odd: x"),
        ("syntax error", "SyntaxError"),
        (None, "No module named 'foveal_plugin_bad'"),
    ],
)
def test_entry_point_whose_code_fails(
    script: Script, mini: Mini, tmp_path: Path, body: str | None, words: str
) -> None:
    """Whatever its code does costs one line; None: the wheel's files are gone."""
    site = tmp_path / "site"
    install(site, mini(), "foveal_plugin_bad", "bad = foveal_plugin_bad")
    package = site / "foveal_plugin_bad"
    (package / "__init__.py").write_text(f"{body}\n")
    if body is None:
        shutil.rmtree(package)
    done = script(
        'relu_on("auto"); bad = entry("entry point bad")\n'
        'assert bad["state"] == "failed"; print(json.dumps(bad["reason"]))',
        site=site,
    )
    reason = json.loads(done.stdout)
    assert words in reason and "\n" not in reason
    assert done.stderr.count("entry point bad") == 1


def test_wheel_without_its_library(script: Script, mini: Mini, tmp_path: Path) -> None:
    install(tmp_path, mini(), "foveal_plugin_mini", "mini = foveal_plugin_mini")
    (tmp_path / "foveal_plugin_mini" / "libfoveal_plugin_mini.so").unlink()
    done = script(
        'relu_on("auto"); assert "does not exist" in entry("entry point mini")["reason"]',
        site=tmp_path,
    )
    assert done.stderr.count("libfoveal_plugin_mini.so") == 1


def test_current_folder_does_not_hide_a_wheel(
    script: Script, mini: Mini, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A library that was built here has the name of the wheel's module."""
    site = tmp_path / "site"
    here = mini(folder=tmp_path / "here").parent
    install(site, here / "foveal_plugin_mini.so", "foveal_plugin_mini", "mini = foveal_plugin_mini")
    for folder in (here, site / "foveal_plugin_mini", site):
        monkeypatch.chdir(folder)
        done = script('relu_on("mini"); assert entry("mini")["state"] == "ready"', site=site)
        assert done.stderr == ""


def test_library_for_another_machine(script: Script, mini: Mini) -> None:
    library = mini("arm")
    content = bytearray(library.read_bytes())
    if content[:4] != b"\x7fELF":
        pytest.skip("needs ELF")
    content[18:20] = (40 if content[18] != 40 else 62).to_bytes(2, "little")
    library.write_bytes(content)
    script(
        f"bad = entry({str(library)!r})\n"
        'assert bad["state"] == "failed" and "built for another machine (ARM, this is" in '
        'bad["reason"].replace("x86-64, this", "ARM, this")',
        library,
    )


@pytest.mark.parametrize("value", ["None", "3", "''", "'a\\0b'", "'\\ud800'", "[]"])
def test_what_is_no_path_or_name(script: Script, value: str) -> None:
    script(
        f"""
for call in (plugins.load, plugins.unload):
    try:
        call({value})
    except (fv.ArgumentError, fv.NotFoundError) as e:
        assert "incompatible" not in str(e)
    else:
        raise AssertionError(call)
"""
    )


@pytest.mark.skipif(importlib.util.find_spec("foveal") is None, reason="needs the package")
def test_cpu_plugin_is_an_ordinary_plugin(script: Script) -> None:
    script('assert entry("cpu")["path"] and entry("cpu")["devices"][0]["score"] >= 100')
