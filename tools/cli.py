# SPDX-License-Identifier: Apache-2.0
"""
`tilewright compile | run | generate | explain | tune | db | bench | ops | simcheck | doctor`: the
commands, how they run and how they end. The options of each are in `tools/options/`.

Exit code 0: done, and right. 1: something failed, or a result is wrong. 2: the command line, the
expression or the file cannot be understood. 130: interrupted.

Commands are imported when they run: help and wrong options cost neither torch nor xDSL.
"""

import argparse
import os
import re
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper
from typing import TextIO

import tilewright
from tilewright.tools.options import (
    bench,
    compile,
    db,
    doctor,
    explain,
    generate,
    ops,
    run,
    simcheck,
    tune,
)

COMMANDS = (compile, run, generate, ops, explain, tune, db, bench, simcheck, doctor)
"""In the order in which help lists them."""


def main(argv: Sequence[str] | None = None) -> int:
    """`tilewright`'s exit code for the arguments `argv`, by default those of the process."""
    _open_closed_streams()
    _print_all_text(sys.stdout)
    try:
        args = parser().parse_args(_joined(sys.argv[1:] if argv is None else argv))
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            code: int = import_module(f"tilewright.tools.{args.command}").run(args)
        sys.stdout.flush()
        return code
    except SystemExit as err:  # argparse has said all there is to say
        return err.code if isinstance(err.code, int) else 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # whoever read our output has left, `head` for one
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except BaseException as err:
        return _explained(err)


def _open_closed_streams() -> None:
    """Let what is printed vanish where the shell closed a stream, `>&-`: Python has None there."""
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")


def _print_all_text(stream: TextIO) -> None:
    """Let characters that a terminal does not know be printed as escapes, as stderr has them."""
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")


def _joined(argv: Sequence[str]) -> list[str]:
    """Arguments with `-c -x.exp()` as one, which argparse takes for two options."""
    joined: list[str] = []
    for argument in argv:
        if joined[-1:] == ["-c"] and re.match(r"-.*\(", argument, re.DOTALL):
            joined[-1] += argument
        else:
            joined.append(argument)
    return joined


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """One line, and the place only if it is in the user's text rather than in a library."""
    place = f"{filename}:{lineno}: " if filename == "<-c>" else ""
    print(f"{place}warning: {' '.join(str(message).split())}", file=file or sys.stderr)


def _explained(err: BaseException) -> int:
    message, code = import_module("tilewright.tools.diagnostics").explain(err)
    print(message, file=sys.stderr)
    return code


def parser() -> argparse.ArgumentParser:
    """What is known of the command line."""
    parser = argparse.ArgumentParser(
        prog="tilewright",
        description="Compile PyTorch to CUDA through six IRs, and run it.",
        allow_abbrev=False,
    )
    version = f"tilewright {tilewright.__version__}"
    parser.add_argument("--version", action="version", version=version)
    add_parser = parser.add_subparsers(metavar="COMMAND", required=True).add_parser
    for command in COMMANDS:
        command.add(add_parser)
    return parser


if __name__ == "__main__":
    sys.exit(main())
