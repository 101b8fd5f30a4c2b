# SPDX-License-Identifier: Apache-2.0
"""
Reference page `docs/commands.md`: all commands with their options, made of the parsers.

    python -m tilewright.tools.commands_markdown docs/commands.md
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from textwrap import indent
from typing import Any

from tilewright.tools.cli import command_names, parser
from tilewright.tools.options import lint_rules, prove_rule
from tilewright.tools.output.markdown import code, escaped, row, table
from tilewright.tools.output.output_path import write_text

_HEAD = """\
# Commands

After this page you know each command of `tilewright` and its options. `--help` prints the same. The
pages of the [six levels](index.md) list the passes that `opt-tool` runs.
`python -m tilewright.tools.commands_markdown docs/commands.md` writes this page.

{table}
Exit codes of all commands: 0 if all is right, 1 if something failed or a result is wrong. 2 is a
mistake in the command line or in a file, 130 is Control-C.
"""

_OPT_TOOL = row("`opt-tool`", "run passes over IR, as MLIR's `mlir-opt` does")

_RULE_COMMANDS = (prove_rule.parser(), lint_rules.parser())
"""Parsers of the commands of `opt-tool` that check rewrite rules."""

_COMMON = ("--help", "--color")
"""Options that all commands have."""


def markdown() -> str:
    """Return the text of `docs/commands.md`."""
    commands = _commands(parser())
    rows = (row(f"`tilewright {name}`", _help(commands[name])) for name in command_names())
    listed = table(("command", "what it does"), [*rows, _OPT_TOOL, *_rows_of_rules()])
    sections = (_section(f"tilewright {name}", each) for name, each in commands.items())
    of_rules = (_section(each.prog, each) for each in _RULE_COMMANDS)
    return "\n".join([_HEAD.format(table=listed), *sections, *of_rules])


def _rows_of_rules() -> Iterator[str]:
    return (row(f"`{each.prog}`", _help(each).partition(":")[0]) for each in _RULE_COMMANDS)


def _commands(parent: argparse.ArgumentParser) -> Mapping[str, argparse.ArgumentParser]:
    found = [action.choices for action in _actions(parent) if action.nargs == argparse.PARSER]
    return found[0] if found else {}


def _actions(parent: argparse.ArgumentParser) -> list[Any]:
    return parent._actions  # pyright: ignore[reportPrivateUsage]  # argparse has no other list


def _help(command: argparse.ArgumentParser) -> str:
    description = command.description or ""
    return description[0].lower() + description[1:].rstrip(".")


def _section(title: str, command: argparse.ArgumentParser) -> str:
    """Return the section of a command, and of the commands that it has itself."""
    parts = [f"## `{title}`\n", f"{command.description}\n"]
    parts += [_table(name, actions) for name, actions in _groups(command).items()]
    if command.epilog:
        parts.append(indent(command.epilog.strip(), "    ") + "\n")
    inner = (_section(f"{title} {name}", each) for name, each in _commands(command).items())
    return "\n".join([*parts, *inner])


def _groups(command: argparse.ArgumentParser) -> Mapping[str, list[argparse.Action]]:
    """Return the arguments and options by the title of their table: `options of a MODEL`."""
    found: dict[str, list[argparse.Action]] = {}
    groups: list[Any] = command._action_groups  # pyright: ignore[reportPrivateUsage]
    for group in groups:
        if shown := [action for action in group._group_actions if _is_shown(action)]:
            title = "option" if group.title in ("options", "positional arguments") else group.title
            found.setdefault(title, []).extend(shown)
    return found


def _table(title: str, actions: Sequence[argparse.Action]) -> str:
    return table((title, "meaning"), (row(_names(each), _text(each)) for each in actions))


def _is_shown(action: argparse.Action) -> bool:
    hidden = action.help == argparse.SUPPRESS or action.nargs == argparse.PARSER
    return not hidden and not any(name in _COMMON for name in action.option_strings)


def _names(action: argparse.Action) -> str:
    """Return the spellings of an option with its value, or the name of an argument."""
    return " ".join(map(code, _spellings(action)))


def _spellings(action: argparse.Action) -> Iterator[str]:
    metavar = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    value = "|".join(map(str, action.choices)) if action.choices else metavar
    if not action.option_strings:
        yield value
    for name in action.option_strings:
        yield name if action.nargs == 0 else f"{name} {value}"


def _text(action: argparse.Action) -> str:
    return escaped((action.help or "").replace("%%", "%"))


if __name__ == "__main__":
    write_text(sys.argv[1], markdown())
