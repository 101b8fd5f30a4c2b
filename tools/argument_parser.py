# SPDX-License-Identifier: Apache-2.0
"""
Parser of all command lines: argparse, with one-line errors that name near matches.

    $ tilewright compile model.pt2 --irr loop
    tilewright compile: error: unknown option '--irr' (did you mean --ir?)
"""

import argparse
import re
import sys
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Any, NoReturn

from tilewright.errors import did_you_mean

_LOOKS_LIKE_OPTION = re.compile(r"--?[A-Za-z][\w-]*(=.*)?", re.DOTALL)

_ONE_OF = re.compile(r"one of the arguments (.+) is required")
"""Pattern of argparse's message for a required group of options of which none is given."""


_PATHS = ("FILE", "FOLDER", "MODEL", "SUITE", "SOURCE", "input_file", "output_file")
"""
Arguments that name a file or a folder, by their metavar or, for xDSL's options, by their dest.
"""


class ArgumentParser(argparse.ArgumentParser):
    """argparse's parser with one-line errors; an unknown option is reported before other errors."""

    def parse_known_args(self, *args: Any, **kwargs: Any) -> Any:
        """Check that all options of a command line are known, then return what argparse returns."""
        words = args[0] if args else kwargs.get("args")
        self._check_options(sys.argv[1:] if words is None else words)
        return super().parse_known_args(*args, **kwargs)

    def parse_args(self, *args: Any, **kwargs: Any) -> Any:
        """Return the parsed command line; exit with an error if words are left over."""
        parsed, surplus = self.parse_known_args(*args, **kwargs)
        if surplus:
            words = ", ".join(f"'{word}'" for word in surplus)
            self.error(f"unexpected arguments: {words}")
        return parsed

    def _print_message(self, message: str, file: Any = None) -> None:
        """
        Print help or a version. Unlike argparse, it raises errors of the stream, such as a full
        disk.
        """
        (file or sys.stderr).write(message)

    def _check_options(self, args: Sequence[str]) -> None:
        """Exit with an error at the first word that looks like an option but is unknown."""
        has_commands = self._commands() is not None
        for word in takewhile(lambda word: word != "--", args):
            if has_commands and not word.startswith("-"):
                return  # a command parses its own options
            if _LOOKS_LIKE_OPTION.fullmatch(word) and not self._knows(word):
                self._leave_unknown("option", word.partition("=")[0], self._option_string_actions)

    def _commands(self) -> argparse.Action | None:
        """
        Return the argparse action whose choices are this parser's commands; None if it has no
        commands.
        """
        return next((a for a in self._actions if a.nargs == argparse.PARSER), None)

    def _knows(self, word: str) -> bool:
        """True if `word` begins with a known option: `--ir=loop`, `-oFILE`, or an abbreviation."""
        name = word.partition("=")[0]
        if name in self._option_string_actions:
            return True
        if not name.startswith("--"):
            return name[:2] in self._option_string_actions
        return self.allow_abbrev and any(o.startswith(name) for o in self._option_string_actions)

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        """
        Return the parsed value of a word. An empty file name is an error: usually an unset shell
        variable.
        """
        if not arg_string and (action.metavar in _PATHS or action.dest in _PATHS):
            raise argparse.ArgumentError(action, "the name is empty")
        return super()._get_value(action, arg_string)  # pyright: ignore

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Report an error, with near matches, for a value outside the choices of `action`."""
        if action.choices is None or value in action.choices:
            return
        if action is self._commands():
            self._leave_unknown(str(action.metavar), value, action.choices)
        known = [str(choice) for choice in action.choices]
        raise argparse.ArgumentError(action, unknown_value("value", value, known))

    def _leave_unknown(self, kind: str, word: str, known: Iterable[str]) -> NoReturn:
        remedy = did_you_mean(word, known) or f"{self.prog} --help lists them"
        self.error(f"unknown {kind} '{word}' ({remedy})")

    def error(self, message: str) -> NoReturn:
        """Print one line on stderr, and exit with code 2."""
        if one_of := _ONE_OF.fullmatch(message):
            message = f"{' or '.join(one_of[1].split())} is required"
        hint = "" if message.endswith(")") else f" (see {self.prog} --help)"
        self.exit(2, f"{self.prog}: error: {message}{hint}\n")


def with_near_matches(parser: argparse.ArgumentParser) -> ArgumentParser:
    """
    Return a parser with the options of `parser` that reports errors in one line, with near matches.
    """
    return ArgumentParser(
        prog=parser.prog,
        usage=parser.usage,
        description=parser.description,
        parents=[parser],
        add_help=False,
    )


def unknown_value(kind: str, value: str, known: Sequence[str]) -> str:
    """
    Return the message for a value that is not in `known`, with near matches or all known values.
    """
    remedy = did_you_mean(value, known) or f"known: {', '.join(known)}"
    return f"unknown {kind} '{value}' ({remedy})"
