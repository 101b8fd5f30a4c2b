# SPDX-License-Identifier: Apache-2.0
"""
Command line of `tilewright compile | run | generate | explain | tune | db | bench | ops | sim |
simcheck | prove | blame | fuzz | cache | doctor`. The options of each command are in
`tools/options/`.

Exit code 0: done, and every result is right. 1: a step failed, a result is wrong, or the disk is
full. 2: the command line, the expression or a file cannot be understood, or a file cannot be
opened. 130: interrupted.

Commands are imported when they run: help and wrong options import neither torch nor xDSL.
"""

import argparse
import atexit
import gc
import os
import re
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from io import TextIOWrapper
from typing import TextIO

import tilewright
from tilewright.errors import TilewrightError, format_error
from tilewright.tools.argument_parser import ArgumentParser
from tilewright.tools.completion import OF_TILEWRIGHT, complete
from tilewright.tools.entry import INTERRUPTED
from tilewright.tools.named_files import check_database, check_outputs, check_sources
from tilewright.tools.options import (
    bench,
    blame,
    cache,
    compile,
    db,
    doctor,
    explain,
    fuzz,
    generate,
    ops,
    prove,
    run,
    sim,
    simcheck,
    tune,
)
from tilewright.tools.output.streams import open_closed_streams
from tilewright.tools.output.warning_lines import warnings_of_one_line
from tilewright.uncollected import uncollected

COMMANDS = (
    *(compile, run, generate, ops, explain, tune),
    *(db, bench, sim, simcheck, prove, blame, fuzz, cache, doctor),
)
"""Modules of the commands' options, in the order of the help."""


def main(argv: Sequence[str] | None = None) -> int:
    """
    Run `tilewright` with the arguments `argv`, by default those of the process; return its exit
    code.
    """
    ends = argv is None
    if ends:
        # The process ends after this call: freezing skips a collection of all of PyTorch's objects.
        atexit.register(gc.freeze)
    open_closed_streams()
    _print_all_text(sys.stdout)
    try:
        code = _run(sys.argv[1:] if argv is None else argv, ends)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output has exited, for example `head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except TilewrightError as err:
        print(format_error(err), file=sys.stderr)
        return err.exit_code
    except BaseException as err:
        return _explained(err)


def _run(argv: Sequence[str], ends: bool) -> int:
    """
    Run the command that `argv` names; return its exit code, also where argparse exits. `ends` is
    true if the process ends afterwards.
    """
    try:
        args = _parsed(argv)
        check_sources(args)
        check_outputs(args)
        check_database(args)
        with warnings_of_one_line():
            with (
                import_module("tilewright.tools.output.written").reporting_written(),
                _progress(args),
            ):
                with uncollected():
                    command = import_module(f"tilewright.tools.commands.{args.command}")
                with uncollected() if getattr(args, "uncollected", False) else nullcontext():
                    code = command.run(args)
                    if ends:
                        gc.freeze()  # before the collector is enabled again
                return code
    except SystemExit as err:
        return err.code if isinstance(err.code, int) else 2


def _parsed(argv: Sequence[str]) -> argparse.Namespace:
    """Return the parsed `argv`; if it is empty, print the help and exit with an error."""
    # Other commands' parsers take time to build; only a shell that completes words needs them.
    completes = "_ARGCOMPLETE" in os.environ
    known = parser("" if completes or not argv else argv[0])
    complete(known, OF_TILEWRIGHT)
    if not argv:
        known.print_help(sys.stderr)
        known.error("a COMMAND is missing")
    return known.parse_args(_joined(argv))


def _progress(args: argparse.Namespace) -> AbstractContextManager[None]:
    """
    Return a context that shows the progress line, if stderr is a terminal. Only then rich and xDSL
    are imported. The line has a thread, so that a command that forks has none.
    """
    if not sys.stderr.isatty() or getattr(args, "forks", False):
        return nullcontext()
    line = import_module("tilewright.tools.output.progress").progress_line
    return line(getattr(args, "color", "auto"))


def _print_all_text(stream: TextIO) -> None:
    """
    Make a stream print characters that it cannot encode as escapes, as stderr does by default.
    """
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")


def _joined(argv: Sequence[str]) -> list[str]:
    """
    Return `argv` with `-c -x.exp()` joined into one argument, which argparse takes for two options.
    """
    joined: list[str] = []
    for argument in argv:
        if joined[-1:] == ["-c"] and re.match(r"-.*\(", argument, re.DOTALL):
            joined[-1] += argument
        else:
            joined.append(argument)
    return joined


def _explained(err: BaseException) -> int:
    message, code = import_module("tilewright.tools.output.diagnostics").explain(err)
    print(message, file=sys.stderr)
    return code


def parser(asked: str = "") -> ArgumentParser:
    """
    Return the parser of the command `asked`, or of all commands if no command has that name.
    """
    parser = ArgumentParser(
        prog="tilewright",
        description="Compile PyTorch to CUDA through six IRs, and run it.",
        allow_abbrev=False,
    )
    version = f"tilewright {tilewright.__version__}"
    parser.add_argument("--version", action="version", version=version)
    add_parser = parser.add_subparsers(metavar="COMMAND", required=True).add_parser
    named = dict(zip(command_names(), COMMANDS, strict=True))
    for command in [named[asked]] if asked in named else COMMANDS:
        command.add(add_parser)
    return parser


def command_names() -> list[str]:
    """Return the names of all commands."""
    return [command.__name__.rpartition(".")[2] for command in COMMANDS]


if __name__ == "__main__":
    sys.exit(main())
