# SPDX-License-Identifier: Apache-2.0
"""
The fenced blocks of this project's Markdown files, and the current output of the commands in them.

    ```console
    $ opt-tool examples/relu_matmul.mlir -p to-tensor
    builtin.module {
    ...

A line of three dots stands for any number of lines. `python test/plugins/documents.py FILE...`
brings the output in those files up to date, except where it is abridged by dots or shows a failure.
"""

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from no_hub import hide_hub
from own_database import hide_own_database

from tilewright.tools.run_lines import run_in_terminal

ROOT = Path(__file__).parents[2]
"""Folder in which commands run; paths in commands are relative to it."""

_FENCE = re.compile(r"^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_DOTS = "..."
_FAILURE = re.compile(r"error: |^\w+: wrong: |: [1-9]\d* findings?$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """Fenced block of a page; `line` is the line of its opening fence."""

    path: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}"


@dataclass(frozen=True)
class Command:
    """Command of a `console` block as it is typed, and the output that the page shows."""

    typed: str
    shown: str

    @property
    def line(self) -> str:
        """Command on one line: a backslash at the end of a line continues it."""
        return self.typed.replace("\\\n", "")

    def output(self) -> tuple[int, str]:
        """Return the exit code, and the output in a terminal without blank lines at its end."""
        return _output(self.line)

    @property
    def is_abridged(self) -> bool:
        """True if dots stand for some of the output."""
        return _DOTS in self.shown.splitlines()

    @property
    def fails(self) -> bool:
        """True if the page shows a failure."""
        return _FAILURE.search(self.shown) is not None

    def shows(self, output: str) -> bool:
        """True if `output` matches the page, where dots stand for any lines."""
        lines = (
            "(?:.*\n)*?" if line == _DOTS else re.escape(f"{line}\n")
            for line in self.shown.splitlines()
        )
        return re.fullmatch("".join(lines), output) is not None


@cache  # pages show different parts of the output of one command
def _output(line: str) -> tuple[int, str]:
    result = run_in_terminal(line)
    text = result.out.decode().rstrip("\n")
    return result.code, f"{text}\n" if text else ""


def pages() -> list[Path]:
    """Return all pages of the documentation and of the examples."""
    return sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])


def blocks(page: Path, language: str) -> Iterator[Block]:
    """Yield the fenced blocks of a page in `language`, in order."""
    text = page.read_text()
    for found in _FENCE.finditer(text):
        if found["language"] == language:
            line = text.count("\n", 0, found.start()) + 1
            yield Block(page, line, language, found["text"])


def commands(text: str) -> Iterator[Command]:
    """Yield the commands of a `console` block."""
    nothing, *rest = re.split(r"^\$ ", text, flags=re.MULTILINE)
    if nothing:
        raise ValueError(f"a console block begins with a command, not with: {nothing}")
    for part in rest:
        yield _command(part)


def _command(text: str) -> Command:
    """
    Return a command and its output: the command ends with the first line after which no quote is
    open.
    """
    lines = text.splitlines(keepends=True)
    typed = lines.pop(0)
    while typed.endswith("\\\n") or typed.count('"') % 2:
        typed += lines.pop(0)
    return Command(typed.rstrip("\n"), "".join(lines))


def update(page: Path) -> None:
    """
    Replace the output of a page's commands by their current output, where the page shows all of it.
    """

    def updated(found: re.Match[str]) -> str:
        if found["language"] != "console":
            return found[0]
        return "".join(["```console\n", *map(_updated, commands(found["text"])), "```"])

    page.write_text(_FENCE.sub(updated, page.read_text()))


def _updated(command: Command) -> str:
    code, output = command.output()
    is_new_failure = code != 0 and not command.fails
    if is_new_failure or command.is_abridged:
        if not command.shows(output):
            print(f"update by hand: $ {command.line}\n{output}", file=sys.stderr)
        output = command.shown
    return f"$ {command.typed}\n{output}"


if __name__ == "__main__":
    os.chdir(ROOT)
    hide_own_database()
    hide_hub()
    for name in sys.argv[1:]:
        update(Path(name))
