"""Streams, disks and file names as they are in real life: closed, full, not text."""

import contextlib
import functools
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import foveal as fv
import numpy as np
import pytest
from foveal.cli import console, main
from foveal.cli.streams import prepared
from foveal.convert import convert
from PIL import Image

pytestmark = pytest.mark.skipif(os.name == "nt", reason="POSIX streams")
COMMAND = [sys.executable, "-m", "foveal"]
FULL = Path("/dev/full")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with face.fvm, face.tflite, a.png, text.txt and empty.txt."""
    folder = tmp_path_factory.mktemp("files")
    convert(fv.zoo.get("face"), meta=fv.zoo.metadata(fv.zoo.find("face"))).save(folder / "face.fvm")
    shutil.copy(fv.zoo.get("face"), folder / "face.tflite")
    Image.fromarray(np.full((64, 48, 3), 90, np.uint8)).save(folder / "a.png")
    (folder / "text.txt").write_text("hello")
    (folder / "folder").mkdir()
    return folder


PRINTING = [
    ["--help"],
    ["zoo", "--help"],
    ["version"],
    ["zoo", "list"],
    ["plugins"],
    ["info", "face.fvm", "--json"],
    ["run", "face.fvm"],
    ["detect", "a.png", "--model", "face.fvm", "--json"],
]


@pytest.mark.parametrize("arguments", PRINTING, ids=" ".join)
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&- <&-"])
def test_closed_streams(files, arguments, closed):
    line = " ".join([*COMMAND, *arguments, closed])
    done = subprocess.run(["sh", "-c", line], cwd=files, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""
    assert bool(done.stdout) == (closed == "2>&-")


def test_closed_streams_keep_the_exit_code(files):
    for closed in ("2>&-", ">&- 2>&-", "2>/dev/full" if FULL.exists() else "2>&-"):
        done = subprocess.run(
            ["sh", "-c", f"{' '.join(COMMAND)} info none.fvm {closed}"], cwd=files
        )
        assert done.returncode == 2


@pytest.mark.parametrize("arguments", [["version"], ["info", "none.fvm"], ["--help"], ["no"]])
def test_streams_of_a_caller_in_python_stay_as_they_were(monkeypatch, arguments):
    """They belong to the caller, who may read them back: whatever bytes others wrote there."""
    streams = {}
    for name, errors in (("stdout", "strict"), ("stderr", "replace")):
        streams[name] = io.TextIOWrapper(io.BytesIO(), "utf-8", errors=errors)
        monkeypatch.setattr(sys, name, streams[name])
    with contextlib.suppress(SystemExit):
        main(arguments)
    monkeypatch.undo()
    assert (streams["stdout"].errors, streams["stderr"].errors) == ("strict", "replace")


def test_streams_can_be_read_back_while_a_command_runs(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(b"written by a library: \xeaU\n"), "utf-8")
    monkeypatch.setattr(sys, "stderr", stream)
    with prepared():
        assert stream.read() == "written by a library: \ufffdU\n"


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
def test_text_left_for_a_full_stderr_keeps_the_exit_code(files):
    """As a step that another thread shows while the command ends."""
    code = (
        "import sys; from foveal.cli import info, main\n"
        "info.run = lambda args: sys.stderr.write('loading ...') and 2\n"
        "sys.exit(main(['info', 'none.fvm']))"
    )
    with FULL.open("wb") as full:
        done = subprocess.run([sys.executable, "-c", code], cwd=files, stderr=full)
    assert done.returncode == 2


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", PRINTING, ids=" ".join)
def test_full_stdout(files, arguments):
    with FULL.open("wb") as full:
        done = subprocess.run(
            [*COMMAND, *arguments], cwd=files, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 2
    lines = done.stderr.splitlines()
    assert lines[0].startswith("error: standard output cannot be written: No space left")
    assert len(lines) == 2 and lines[1].startswith("hint: ")


def limited(size):
    import resource

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.parametrize("size", [0, 100])
@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (["detect", "a.png", "--model", "face.fvm", "--out", "{}/o.png"], "o.png"),
        (["detect", "a.png", "--model", "face.fvm", "--out", "{}/"], "a-detected.png"),
        (["detect", "a.png", "--model", "face.fvm", "--json", "{}/o.json"], "o.json"),
        (["convert", "face.tflite", "{}/o.fvm"], "o.fvm"),
        (["run", "face.fvm", "--output", "{}"], "regressors.npy"),
        (["run", "face.fvm", "--profile", "{}/o.json"], "o.json"),
        (["info", "face.fvm", "--html", "{}/o.html"], "o.html"),
        (["info", "face.fvm", "--png", "{}/o.png"], "o.png"),
    ],
)
def test_outputs_that_do_not_fit(files, tmp_path, arguments, output, size):
    """Names the output as it was given, says what to do, and leaves nothing half written."""
    done = subprocess.run(
        [*COMMAND, *(a.format(tmp_path) for a in arguments)],
        cwd=files,
        preexec_fn=functools.partial(limited, size),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2, done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == 2 and lines[0].startswith("error: ") and lines[1].startswith("hint: ")
    assert str(tmp_path / output) in lines[0]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["detect", "a.png", "--model", "face.fvm", "--out", "text.txt/o.png"],
        ["detect", "a.png", "--model", "face.fvm", "--out", "text.txt/"],
        ["detect", "a.png", "--model", "face.fvm", "--json", "text.txt/o.json"],
        ["convert", "face.tflite", "text.txt/o.fvm"],
        ["run", "face.fvm", "--output", "text.txt"],
        ["run", "face.fvm", "--output", "text.txt/o"],
        ["run", "face.fvm", "--profile", "text.txt/o.json"],
        ["profile", "face.fvm", "--runs", "1", "--html", "text.txt/o.html"],
        ["profile", "face.fvm", "--runs", "1", "--trace", "text.txt/o.json"],
        ["info", "face.fvm", "--html", "text.txt/o.html"],
        ["info", "face.fvm", "--png", "text.txt/o.png"],
    ],
    ids=" ".join,
)
def test_places_that_cannot_be_written(foveal, files, arguments):
    result = foveal(*arguments, cwd=files)
    assert result.code == 2
    lines = result.err.splitlines()
    assert len(lines) == 2 and lines[0].startswith("error: ") and lines[1].startswith("hint: ")
    assert "text.txt" in lines[0]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--pipeline", "text.txt"], "--pipeline: text.txt: pipeline spec: not valid JSON"),
        (["--decoder", "text.txt"], "--decoder: text.txt: decoder spec: not valid JSON"),
        (["--labels", "folder"], "--labels: folder: expected a file with class labels, got a fol"),
        (["--pipeline", "folder"], "--pipeline: folder: expected a file with a pipeline spec"),
        (["--labels", "none"], "--labels: there is no file 'none'"),
    ],
)
def test_option_files_are_named(refused, files, arguments, text):
    assert text in refused("convert", "face.tflite", "never.fvm", *arguments, cwd=files)
    assert not (files / "never.fvm").exists()


@pytest.mark.parametrize("seed", ["-1", "x", "1.5", ""])
def test_bad_seed(refused, files, seed):
    assert "from 0 up" in refused("run", "face.fvm", f"--seed={seed}", cwd=files)


def test_unknown_device_of_the_conformance_kit(refused):
    text = refused("conformance", "--device", "toaster")
    assert "there is no device 'toaster'; there are: cpu" in text


@pytest.mark.skipif(sys.platform != "linux", reason="names are text elsewhere")
def test_names_that_are_not_text(files, tmp_path):
    odd = b"odd\xff"

    def run(*arguments, **options):
        command = [os.fsencode(a) for a in [*COMMAND, *arguments]]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, **options)
        assert done.returncode == 0 and b"Traceback" not in done.stderr, done.stderr
        return done.stdout

    shutil.copy(files / "a.png", tmp_path / os.fsdecode(odd + b".png"))
    assert odd + b".fvm" in run("convert", files / "face.tflite", odd + b".fvm")
    assert run("info", odd + b".fvm").startswith(odd + b".fvm\n")
    run("run", odd + b".fvm", "--output", odd, "--profile", odd + b".json")
    assert (tmp_path / os.fsdecode(odd) / "regressors.npy").exists()
    detect = ["detect", odd + b".png", "--model", files / "face.fvm"]
    assert odd + b"-detected.png" in run(*detect)
    assert json.loads(run(*detect, "--json"))["image"] == "odd\ufffd.png"
    run(*detect, "--json", odd + b".json")
    assert json.loads((tmp_path / os.fsdecode(odd + b".json")).read_bytes())
    plain = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    shutil.copy(files / "a.png", tmp_path / "\u00fc.png")
    detect[1] = "\u00fc.png"
    assert json.loads(run(*detect, "--json", env=plain))["image"] == "\u00fc.png"
    assert "\u00fc.png".encode() in run(*detect, env=plain)


@pytest.mark.skipif(sys.platform != "linux", reason="names are text elsewhere")
def test_errors_about_names_that_are_not_text(files, tmp_path):
    """Errors of the core and of plugins carry paths too."""
    folder = tmp_path / os.fsdecode(b"odd\xff")
    folder.mkdir()
    (folder / "x.fvm").write_bytes(b"FOVEALM, but no model")
    (folder / "foveal_plugin_x.so").write_bytes(b"no library at all")
    env = {**os.environ, "FOVEAL_PLUGIN_PATH": str(folder)}
    model = str(files / "face.fvm")
    for arguments, code in (
        (["info", str(folder / "x.fvm")], 2),
        (["run", model, "--device", "x"], 2),
        (["run", model, "--profile", str(folder / "none" / "p.json")], 2),
        (["convert", str(files / "face.tflite"), str(folder / "none" / "o.fvm")], 2),
        (["conformance", "--plugin", str(folder / "foveal_plugin_x.so")], 2),
        (["plugins"], 0),
        (["plugins", "--json"], 0),
    ):
        done = subprocess.run([*COMMAND, *arguments], env=env, capture_output=True)
        assert done.returncode == code, done.stderr
        text = done.stdout + done.stderr
        assert b"Unicode" not in text and b"Traceback" not in text, text
        assert b"odd\xff" in text or "odd\ufffd".encode() in text, text


def test_json_is_always_text():
    assert json.loads(console.as_json({"a": ["x\udcff", "\u00fc"]})) == {"a": ["x\ufffd", "\u00fc"]}


@pytest.mark.parametrize("how", [["-m", "foveal"], ["foveal"]], ids=["module", "script"])
def test_interrupt_while_starting(tmp_path, how):
    """From the moment that the package begins to load there is no traceback."""
    (tmp_path / "numpy.py").write_text("import time; print('go', flush=True); time.sleep(60)")
    script = tmp_path / "foveal"
    script.write_text("from foveal.cli import main; main()")
    arguments = how if how[0] == "-m" else [str(script)]
    paths = [str(tmp_path), *(p for p in sys.path if p)]
    process = subprocess.Popen(
        [sys.executable, *arguments, "version"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "go\n"
    time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    assert process.stderr.read() == "error: interrupted\n"


def test_importing_leaves_other_programs_alone():
    code = (
        "import signal; before = signal.getsignal(signal.SIGINT); import foveal, foveal.cli;"
        "assert signal.getsignal(signal.SIGINT) is before"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
