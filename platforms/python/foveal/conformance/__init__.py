"""The conformance kit: every operator's cases, run on any plugin.

    report = run(Path("build/foveal_plugin_mynpu.so"))
    print(report.text())
    assert report.ok

Cases run in a process of their own; if that dies, the case at hand is a crash and the next
process goes on behind it.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from foveal.conformance.report import CRASH, PASS, REFUSED, WRONG, Entry, Report

__all__ = ["CRASH", "PASS", "REFUSED", "WRONG", "Entry", "Report", "run"]

Progress = Callable[[int, int, str], None]

CASE_SECONDS = 60.0  # a case that takes longer hangs
MAX_CRASHES = 50  # a plugin that dies this often has been tested enough


class Died(Exception):
    """The worker ended without saying so."""


def run(
    plugin: Path | str | None = None,
    device: str | None = None,
    ops: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> Report:
    """Runs the conformance cases.

    Args:
        plugin: a plugin's library; None: what is installed.
        device: a device name; None: every usable device of `plugin`, or "cpu" without one.
        ops: names of operators to restrict the run to; None: all, and the graphs of several.
        progress: called as progress(done, total, what) before every case.

    Returns:
        The report. A plugin that cannot be loaded is `report.error`, not an exception.
    """
    path = Path(plugin).resolve() if plugin is not None else None
    report = Report(path)
    if path is not None and not path.exists():
        report.error = "no such file"
        return report
    try:
        report.devices = _devices(path, device)
    except _Unusable as e:
        report.error = str(e)
        return report
    for name in report.devices:
        _run_device(report, path, name, list(ops) if ops is not None else None, progress)
    return report


class _Unusable(Exception):
    pass


def _devices(path: Path | None, device: str | None) -> list[str]:
    """What to run on: `device`, or every usable device of the plugin at `path`, or "cpu".

    Raises:
        _Unusable: with the reason.
    """
    try:
        lines = list(_worker(path, {"device": ""}))
    except Died as e:
        raise _Unusable(f"loading the plugin crashed: {e}") from None
    plugins: list[Any] = next((line["plugins"] for line in lines if "plugins" in line), [])
    if path is not None:
        plugins = [p for p in plugins if p["path"] and Path(p["path"]).resolve() == path]
        if not plugins:
            raise _Unusable("not recognised as a plugin; its name must be foveal_plugin_<name>")
        if plugins[0]["state"] != "ready":
            raise _Unusable(str(plugins[0]["reason"]))
    wanted = device or (None if path else "cpu")
    devices = [d for p in plugins for d in p["devices"] if wanted in (None, d["name"])]
    usable = [str(d["name"]) for d in devices if d["score"] > 0]
    if device and not devices:
        known = dict.fromkeys(str(d["name"]) for p in plugins for d in p["devices"])
        raise _Unusable(f"there is no device '{device}'; there are: {', '.join(known) or 'none'}")
    if not usable:
        reasons = "; ".join(f"{d['name']}: {d['reason']}" for d in devices)
        raise _Unusable(f"no usable device {wanted or 'here'} ({reasons or 'there is none'})")
    return list(dict.fromkeys(usable))


def _run_device(
    report: Report, path: Path | None, device: str, ops: list[str] | None, progress: Progress | None
) -> None:
    start, total, crashes = 0, 0, 0
    while crashes < MAX_CRASHES:
        current: dict[str, Any] = {}
        try:
            for line in _worker(path, {"device": device, "ops": ops, "start": start}):
                if "total" in line:
                    total = int(line["total"])
                elif "start" in line:
                    current, start = line, int(line["start"]) + 1
                    if progress:
                        progress(start - 1, total, f"{device}: {line['suite']} {line['case']}")
                elif "entry" in line:
                    report.entries.append(Entry(**line["entry"]))
                    current = {}
            return
        except Died as e:
            crashes += 1
            suite, case = current.get("suite", "process"), current.get("case", "-")
            variant = current.get("variant", "-")
            report.entries.append(Entry(suite, case, variant, device, CRASH, str(e)))
            if not current:  # between cases: starting again would not help
                return


def _worker(path: Path | None, order: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Lines of one worker process, until it says that it is done.

    Raises:
        Died: it ended or hung before; the text has the signal and the last line of its stderr.
    """
    env = dict(os.environ)
    if path is not None:
        given = env.get("FOVEAL_PLUGIN_PATH")
        env["FOVEAL_PLUGIN_PATH"] = f"{path}{os.pathsep}{given}" if given else str(path)
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "foveal.conformance.worker"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, env=env,
        )  # fmt: skip
        assert process.stdin and process.stdout
        ended = False
        try:
            process.stdin.write(json.dumps({"plugin": str(path) if path else None, **order}))
            process.stdin.close()
            for line in _lines(process.stdout):
                ended = ended or "end" in line
                yield line
            code = process.wait(CASE_SECONDS)
        except (TimeoutError, subprocess.TimeoutExpired):
            raise Died(f"no answer within {CASE_SECONDS:g} s") from None
        finally:
            process.kill()
            process.wait()
        if code != 0 or not ended:
            errors.seek(0)
            last = (errors.read().strip().splitlines() or [""])[-1]
            how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
            raise Died(f"{how}{': ' if last else ''}{last}")


def _lines(stream: IO[str]) -> Iterator[dict[str, Any]]:
    """JSON lines of `stream`; TimeoutError when none comes for CASE_SECONDS."""
    box: queue.Queue[str | None] = queue.Queue()

    def pump() -> None:
        for text in stream:
            box.put(text)
        box.put(None)

    threading.Thread(target=pump, daemon=True).start()
    while True:
        try:
            text = box.get(timeout=CASE_SECONDS)
        except queue.Empty:
            raise TimeoutError from None
        if text is None:
            return
        yield json.loads(text)
