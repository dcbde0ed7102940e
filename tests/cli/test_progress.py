"""What is said about long work: nothing soon, a line later, on stderr only."""

import threading
import time

import pytest
from foveal import progress


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    monkeypatch.setattr(progress, "_DELAY_S", 0.05)
    monkeypatch.setattr(progress, "_LINE_EVERY_S", 0.05)
    monkeypatch.delenv("FOVEAL_PROGRESS", raising=False)


def test_short_work_is_silent(capsys):
    with progress.show("short"):
        pass
    time.sleep(0.1)
    assert capsys.readouterr() == ("", "")


def test_long_work_has_two_lines(capsys):
    with progress.show("long"), progress.show("within"):
        time.sleep(0.2)
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == "" and lines[0] == "long ..." and len(lines) == 2
    assert lines[1].startswith("long: 0.") and lines[1].endswith(" s")


def test_errors_pass_and_end_it(capsys):
    with pytest.raises(KeyError), progress.show("failing"):
        time.sleep(0.1)
        raise KeyError
    assert len(capsys.readouterr().err.splitlines()) == 2
    with progress.show("next"):
        time.sleep(0.1)
    assert capsys.readouterr().err.startswith("next ...")
    assert threading.active_count() < 5


def test_library_calls_are_silent_without_a_terminal(capsys):
    with progress.on_terminal("long"):
        time.sleep(0.1)
    with progress.quiet("long"):
        time.sleep(0.1)
    assert capsys.readouterr() == ("", "")


def test_can_be_switched_off(capsys, monkeypatch):
    monkeypatch.setenv("FOVEAL_PROGRESS", "0")
    with progress.show("long"), progress.bar("bar") as update:
        time.sleep(0.1)
        update(1, 2, "x")
    assert capsys.readouterr() == ("", "")


def test_bar_writes_a_line_now_and_then(capsys):
    with progress.bar("counting") as update:
        update(0, 9, "a")
        time.sleep(0.1)
        update(3, 9, "b")
        update(4, 9, "c")
    assert capsys.readouterr().err == "counting: 3 of 9 (b)\n"
