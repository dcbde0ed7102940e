"""Writes the cases of the operator tests into one file, for machines without Python.

    python export_cases.py CASES

The format is described in run_cases.cc, which reads it. Expected values are those of the tables'
numpy references.
"""

from __future__ import annotations

import itertools
import struct
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from foveal.conformance.execute import Builder, variants
from foveal.conformance.kit import Case, load_tables
from foveal.errors import FovealError

MAGIC = b"FVCASES1"


def packed(data: bytes) -> bytes:
    return struct.pack("<Q", len(data)) + data


def listed(items: list[tuple[str, bytes]]) -> bytes:
    body = b"".join(packed(name.encode()) + packed(data) for name, data in items)
    return struct.pack("<I", len(items)) + body


def record(case: Case, variant: str, scratch: Path) -> bytes:
    """One case as bytes; FovealError where its graph cannot be built."""
    feeds = case.net.feeds(case.seed)
    expected = case.expected(feeds)
    built = Builder(case, feeds, variant)
    built.graph.save(str(scratch))
    outputs = zip(built.outputs, expected, strict=True)
    return b"".join(
        [
            packed(f"{case.suite} [{case.id}] {variant}".encode()),
            struct.pack("<dI", case.tol, case.elementwise),
            packed(scratch.read_bytes()),
            listed([(name, array.tobytes()) for name, array in built.inputs.items()]),
            listed([(name, array.tobytes()) for name, array in outputs]),
        ]
    )


def cases() -> Iterator[tuple[Case, str]]:
    for suite in load_tables():
        for case in suite:
            for variant in variants(case):
                yield case, variant


def export(file: BinaryIO, every: int = 1) -> int:
    """Writes every so manieth case; returns how many. FovealError if a graph cannot be built."""
    file.write(MAGIC)
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        for case, variant in itertools.islice(cases(), 0, None, every):
            try:
                file.write(record(case, variant, Path(folder, "case.fvm")))
            except FovealError as error:
                raise FovealError(f"{case.suite} [{case.id}]: {error}") from error
            count += 1
    return count


if __name__ == "__main__":
    with Path(sys.argv[1]).open("wb") as output:
        print(f"{export(output)} cases")
