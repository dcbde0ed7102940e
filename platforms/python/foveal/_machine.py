"""Which machine a library is built for. The system's own message for a foreign one is misleading:
"cannot open shared object file: No such file or directory"."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

_NAMES = {
    3: "x86",
    8: "MIPS",
    20: "PowerPC",
    21: "PowerPC 64",
    22: "s390",
    40: "ARM",
    62: "x86-64",
    183: "ARM 64",
    243: "RISC-V",
    258: "LoongArch",
}
_HEAD = 20  # bytes of an ELF header up to and with e_machine


def foreign(library: str) -> str:
    """ "built for another machine (...)", or "" when it is not or nobody can tell."""
    built, here = _machine(library), _machine(sys.executable)
    if built is None or here is None or built == here:
        return ""
    names = [_NAMES.get(machine[0], f"machine {machine[0]}") for machine in (built, here)]
    if names[0] == names[1]:
        names = [_form(machine) for machine in (built, here)]
    return f"built for another machine ({names[0]}, this is {names[1]})"


def _machine(path: str) -> tuple[int, int, int] | None:
    """Machine, word size and byte order as an ELF file states them, None for other files."""
    try:
        with Path(path).open("rb") as file:
            head = file.read(_HEAD)
    except (OSError, ValueError):
        return None
    if len(head) < _HEAD or not head.startswith(b"\x7fELF") or head[5] not in (1, 2):
        return None
    (machine,) = struct.unpack_from("<H" if head[5] == 1 else ">H", head, 18)
    return machine, head[4], head[5]


def _form(machine: tuple[int, int, int]) -> str:
    _, word, order = machine
    return f"{'32' if word == 1 else '64'} bits, {'little' if order == 1 else 'big'} endian"
