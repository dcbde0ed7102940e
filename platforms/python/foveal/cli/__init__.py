"""The command `foveal`. Every module here that has a NAME is a subcommand, found by scanning.

A subcommand's module defines NAME, HELP (one line), `configure(parser)` and `run(args) -> int` and
imports anything slow inside `run`. Exit codes: 0 done, 1 a check failed, 2 bad input (one line
``error:`` and one ``hint:``), 130 interrupted, 141 the reader of the output went away.
"""

from __future__ import annotations

import argparse
import importlib
import io
import logging
import os
import pkgutil
import sys
import traceback
import warnings
from collections.abc import Sequence
from types import ModuleType
from typing import NoReturn

from foveal.cli import console


class _Parser(argparse.ArgumentParser):
    """Reports wrong arguments like every other bad input: one line and a hint, exit code 2."""

    def error(self, message: str) -> NoReturn:
        console.error(message, f"see: {self.prog} --help")
        raise SystemExit(2)


def commands() -> list[ModuleType]:
    """The subcommands' modules, by name."""
    found = (
        importlib.import_module(f"{__name__}.{info.name}")
        for info in pkgutil.iter_modules(__path__)
    )
    return sorted((m for m in found if hasattr(m, "NAME")), key=lambda m: str(m.NAME))


def build_parser() -> argparse.ArgumentParser:
    """The whole command line."""
    parser = _Parser(prog="foveal", description="Camera frames in, answers out.")
    parser.add_argument("--debug", action="store_true", help="show tracebacks of errors")
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    sub = parser.add_subparsers(metavar="COMMAND", parser_class=_Parser)
    for module in commands():
        child = sub.add_parser(module.NAME, help=module.HELP, description=module.HELP)
        # Also accepted after the subcommand, where people type it.
        child.add_argument(
            "--debug", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS
        )
        child.set_defaults(module=module, parser=child)
        module.configure(child)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command line and returns its exit code; argparse may raise SystemExit."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in arguments
    _plain_warnings(debug)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a label must not fail for the terminal's charset
    try:
        code = _guarded(arguments, debug=debug)
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes stdout once more at exit; give it a place where that succeeds.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    return code


def _plain_warnings(debug: bool) -> None:
    """Warnings and log messages of foveal become one line each on stderr."""
    warnings.showwarning = lambda message, *rest: console.note(f"warning: {message}")
    logger = logging.getLogger("foveal")
    logger.setLevel(logging.DEBUG if debug else logging.WARNING)
    if not logger.handlers:
        logger.addHandler(_LogLines())


class _LogLines(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        console.note(f"{record.levelname.lower()}: {record.getMessage()}")


def _guarded(arguments: Sequence[str], *, debug: bool) -> int:
    from foveal.errors import FovealError

    try:
        args = build_parser().parse_args(arguments)
        args.arguments = arguments
        if args.version:
            args.module = importlib.import_module(f"{__name__}.version")
        elif not hasattr(args, "module"):
            build_parser().print_help()
            return 0
        return int(args.module.run(args))
    except BrokenPipeError:
        raise
    except KeyboardInterrupt:
        console.error("interrupted")
        return 130
    except FovealError as error:
        if debug:
            traceback.print_exc()
        console.error(error.message, error.hint)
    except MemoryError:
        console.error("out of memory", "use a smaller input or a smaller model")
    except OSError as error:
        if debug:
            traceback.print_exc()
        console.error(f"{error.filename or 'input'}: {error.strerror or error}")
    except Exception as error:
        if debug:
            traceback.print_exc()
        console.error(
            f"internal: {type(error).__name__}: {error}",
            "this is a defect in foveal; run again with --debug and report what it prints",
        )
        return 1
    return 2
