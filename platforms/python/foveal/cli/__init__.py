"""The command `foveal`. Every module here that has a NAME is a subcommand, found by scanning.

A subcommand's module defines NAME, HELP (one line), `configure(parser)` and `run(args) -> int` and
imports anything slow inside `run`. Exit codes: 0 done, 1 a check failed, 2 bad input (one line
``error:`` and one ``hint:``), 130 interrupted, 141 the reader of the output went away.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import importlib
import logging
import pkgutil
import sys
import traceback
import warnings
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, NoReturn

from foveal import _interrupts as interrupts
from foveal.cli import console, streams

if TYPE_CHECKING:
    from _typeshed import SupportsWrite


class _Parser(argparse.ArgumentParser):
    """Reports wrong arguments like every other bad input: one line and a hint, exit code 2."""

    def error(self, message: str) -> NoReturn:
        console.error(message, f"see: {self.prog} --help")
        raise SystemExit(2)

    def print_help(self, file: SupportsWrite[str] | None = None) -> None:
        """argparse's own hides a stdout that cannot be written."""
        (file or sys.stdout).write(self.format_help())


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
    with streams.prepared(), interrupts.as_exceptions(), contextlib.ExitStack() as at_end:
        at_end.callback(streams.settle_stderr)
        try:
            try:
                code = _guarded(arguments, debug=debug)
            finally:
                _flush()
        except KeyboardInterrupt:
            console.error("interrupted")
            return 130
        except BrokenPipeError:
            streams.abandon_stdout()
            return 141
        except _StdoutFailed as failed:
            streams.abandon_stdout()
            console.error(*failed.args)
            return 2
    return code


class _StdoutFailed(Exception):
    """Message and hint."""


def _flush() -> None:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _stdout_failed(error) from error


def _stdout_failed(error: OSError) -> _StdoutFailed:
    reason = error.strerror or error
    return _StdoutFailed(
        f"standard output cannot be written: {reason}",
        "make room on that disk, or send the output to another place",
    )


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
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except FovealError as error:
        if debug:
            traceback.print_exc()
        console.error(*console.describe(error))
    except MemoryError:
        console.error("out of memory", "use a smaller input or a smaller model")
    except OSError as error:
        if debug:
            traceback.print_exc()
        if error.filename is None and error.errno in _OUTPUT_ERRORS:  # files name themselves
            raise _stdout_failed(error) from error
        console.error(*console.describe(error))
    except Exception as error:
        if debug:
            traceback.print_exc()
        console.error(
            f"internal: {type(error).__name__}: {error}",
            "this is a defect in foveal; run again with --debug and report what it prints",
        )
        return 1
    return 2


_OUTPUT_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
