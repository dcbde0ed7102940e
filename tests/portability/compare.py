"""Reads what run_cases.cc wrote on two machines, and says how far they are apart."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from export_cases import MAGIC

TOLERANCE = 1e-5
REFUSED = 1  # as in run_cases.cc
FLOAT32 = 1  # FV_FLOAT32

Output = tuple[int, bytes]  # type, data


@dataclass
class Findings:
    """What is printed, and what of it is wrong."""

    problems: list[str] = field(default_factory=list)

    def say(self, line: str) -> None:
        print(line, flush=True)

    def wrong(self, line: str) -> None:
        self.say(f"WRONG {line}")
        self.problems.append(line)


class Cursor:
    """Reads the two formats that run_cases.cc describes."""

    def __init__(self, path: Path) -> None:
        self.data, self.at = path.read_bytes(), 0

    def number(self, code: str) -> Any:
        (value,) = struct.unpack_from("<" + code, self.data, self.at)
        self.at += struct.calcsize("<" + code)
        return value

    def text(self) -> bytes:
        size = self.number("Q")
        self.at += size
        return self.data[self.at - size : self.at]

    def ended(self) -> bool:
        return self.at >= len(self.data)


def case_names(path: Path) -> list[str]:
    """Of all cases, in order."""
    cursor, names = Cursor(path), []
    cursor.at = len(MAGIC)
    while not cursor.ended():
        names.append(cursor.text().decode())
        cursor.number("d")
        cursor.number("I")
        cursor.text()
        for _ in ("inputs", "outputs"):
            for _ in range(2 * cursor.number("I")):
                cursor.text()
    return names


def results(path: Path) -> Iterator[tuple[int, list[Output]]]:
    """State and outputs of every case, in order."""
    cursor = Cursor(path)
    while not cursor.ended():
        state = cursor.number("I")
        count = 0 if state == REFUSED else cursor.number("I")
        yield state, [(cursor.number("I"), cursor.text()) for _ in range(count)]


def distance(got: Output, want: Output) -> float:
    """Largest difference in parts of the largest value; infinite where all bits have to agree."""
    if got == want:
        return 0.0
    if got[0] != want[0] or got[0] != FLOAT32 or len(got[1]) != len(want[1]):
        return np.inf
    g, w = (np.frombuffer(x[1], np.float32).astype(np.float64) for x in (got, want))
    finite = np.isfinite(w)
    if not (np.isfinite(g) == finite).all() or not np.array_equal(
        g[~finite], w[~finite], equal_nan=True
    ):
        return np.inf
    largest = np.abs(w[finite]).max(initial=0)
    apart = np.abs(g[finite] - w[finite]).max(initial=0)
    if apart == 0:
        return 0.0
    return float(apart / largest) if largest > 0 else np.inf


def compare_operators(machine: str, names: list[str], got: Path, want: Path, to: Findings) -> None:
    """Results of a machine against those of the native build."""
    worst, where = 0.0, "all bits agree"
    for name, (state, mine), (native_state, native) in zip(
        names, results(got), results(want), strict=True
    ):
        if state != native_state or len(mine) != len(native):
            to.wrong(f"{machine}: {name}: state {state}, native {native_state}")
            continue
        apart = max(map(distance, mine, native), default=0.0)
        if not apart <= TOLERANCE:
            to.wrong(f"{machine}: {name}: {apart:.2e} of the largest value away from native")
        elif apart > worst:
            worst, where = apart, name
    to.say(f"{machine}: largest difference from native {worst:.2e} ({where})")


def compare_pictures(
    machine: str, cases: list[str], got: list[str], want: list[str], to: Findings
) -> None:
    """Hashes of every pipeline's tensor against those of the native build."""
    if len(got) != len(cases):
        to.wrong(f"{machine}: pictures: {len(got)} results of {len(cases)} pipelines")
        return
    apart = [case for case, mine, native in zip(cases, got, want, strict=True) if mine != native]
    for case in apart:
        to.wrong(f"{machine}: other bytes than native: {case}")
    to.say(f"{machine}: pictures: {len(cases) - len(apart)} of {len(cases)} give the same bytes")


def compare_sample(
    machine: str, got: np.ndarray, want: np.ndarray, side: int, to: Findings
) -> None:
    """Rows of label, score, box; `side`: of the picture, in pixels."""
    if got.shape != want.shape or (got[:, 0] != want[:, 0]).any():
        to.wrong(f"{machine}: face: finds {got.tolist()}, expected {want.tolist()}")
        return
    boxes = float(np.abs(got[:, 2:] - want[:, 2:]).max()) / side
    scores = float(np.abs(got[:, 1] - want[:, 1]).max())
    text = f"{machine}: face: boxes within {boxes:.1e} of the frame, scores within {scores:.1e}"
    if boxes <= TOLERANCE and scores <= TOLERANCE:
        to.say(text)
    else:
        to.wrong(text)
