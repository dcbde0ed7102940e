"""The command line itself: help, wrong arguments, exit codes, pipes."""

import argparse
import signal
import subprocess
import sys
import time

import pytest
from foveal import cli
from foveal.cli import console

COMMANDS = [
    *("bench", "conformance", "convert", "detect", "info", "needs", "plugins", "profile", "run"),
    *("version", "zoo"),
]


def test_commands_are_found_by_scanning():
    assert [m.NAME for m in cli.commands()] == COMMANDS
    assert all(m.HELP and "\n" not in m.HELP for m in cli.commands())


def test_help(foveal):
    result = foveal()
    assert result.code == 0 and all(name in result.out for name in COMMANDS)
    for name in COMMANDS:
        result = foveal(name, "--help")
        assert result.code == 0 and result.out.startswith(f"usage: foveal {name}")


def test_version(foveal):
    import foveal as package

    for arguments in (["version"], ["--version"]):
        result = foveal(*arguments)
        assert result.code == 0
        lines = result.out.splitlines()
        assert lines[0] == f"foveal {package.__version__}"
        assert lines[2].startswith("plugin interface 1.")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["nonsense"], "nonsense"),
        (["detect"], "IMAGE"),
        (["detect", "a.png", "--threads", "0"], "from 1 up"),
        (["detect", "a.png", "--threads", "two"], "from 1 up"),
        (["detect", "a.png", "--min-score", "2"], "0..1"),
        (["zoo"], "list|get"),
        (["zoo", "get"], "NAME"),
        (["zoo", "get", "fase"], "no model 'fase'"),
        (["convert", "only-one"], "OUT"),
        (["convert", "a.onnx", "b.txt"], ".fvm"),
        (["run"], "model"),
        (["info", "a.fvm", "--unknown"], "--unknown"),
    ],
)
def test_wrong_arguments(refused, arguments, text):
    assert text in refused(*arguments)


def fake(monkeypatch, action):
    module = argparse.Namespace(
        NAME="fake", HELP="fake", configure=lambda parser: None, run=lambda args: action()
    )
    monkeypatch.setattr(cli, "commands", lambda: [module])


def raiser(error):
    def action():
        raise error

    return action


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (KeyboardInterrupt(), 130, "error: interrupted\n"),
        (MemoryError(), 2, "error: out of memory\n"),
        (OSError(28, "No space left on device", "x.fvm"), 2, "error: x.fvm: No space left"),
        (PermissionError(13, "Permission denied", "x"), 2, "error: x: Permission denied\n"),
        (ZeroDivisionError("a\nb"), 1, "error: internal: ZeroDivisionError: a; b\nhint: "),
    ],
)
def test_errors_are_one_line(monkeypatch, capsys, error, code, text):
    fake(monkeypatch, raiser(error))
    assert cli.main(["fake"]) == code
    captured = capsys.readouterr()
    assert captured.err.startswith(text) and "Traceback" not in captured.err


def test_debug_shows_the_traceback(monkeypatch, capsys):
    fake(monkeypatch, raiser(ZeroDivisionError("x")))
    for arguments in (["--debug", "fake"], ["fake", "--debug"]):
        assert cli.main(arguments) == 1
        assert "Traceback" in capsys.readouterr().err


def test_reader_that_goes_away_is_quiet():
    process = subprocess.Popen(
        [sys.executable, "-m", "foveal", "zoo", "list", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(60) == 141


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_interrupt(tmp_path):
    code = (
        "import sys, time; from foveal import cli; from argparse import Namespace as N\n"
        "def run(args): print('go', flush=True); time.sleep(60)\n"
        "cli.commands = lambda: [N(NAME='x', HELP='', configure=lambda p: None, run=run)]\n"
        "sys.exit(cli.main(['x']))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "go\n"
    time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    assert process.stderr.read() == "error: interrupted\n"


def test_table_aligns(capsys):
    console.table(("name", "n"), [("a", 1), ("long name", 100)], right=(1,))
    assert capsys.readouterr().out == "name         n\na            1\nlong name  100\n"


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (2_500_000, "2.5 MB"), (1e9, "1.0 GB")],
)
def test_sizes(number, text):
    assert console.size(number) == text


def test_lists_become_one_line():
    assert console.one_line("needs:\n  a: x\n\n  b: y\n") == "needs: a: x; b: y"


def test_empty_columns_can_be_hidden(capsys):
    console.table(("a", "b", "c"), [("1", "-", "x"), ("2", "", "yy")], right=(2,), hide_empty=True)
    assert capsys.readouterr().out == "a   c\n1   x\n2  yy\n"
