# SPDX-License-Identifier: Apache-2.0
"""
Runner of the `// RUN:` lines of a file inside this process, twenty times faster than lit.

The runner supports what tests and pages use: the tools of `COMMANDS`, `not`, pipes, `&&`, `2>&1`,
`> FILE`, `< FILE`, and the substitutions `%s %S %t %T %%`. As in lit, a pipe fails if any part of
it fails. Anything else in a RUN line is an error here: lit, which runs the same files, is the
reference.
"""

import difflib
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import TextIO

_RUN = re.compile(r"^\s*(?://|#)\s*RUN:\s*(.*?)\s*$")
_DIRECTIVE = re.compile(r"^\s*(?://|#)\s*(REQUIRES|UNSUPPORTED|XFAIL):", re.MULTILINE)
_STDERR_TO_STDOUT = re.compile(r"(?<!\S)2>&1(?!\S)")
_OPERATORS = {"|", "&&", ">", "<"}


class RunLineError(Exception):
    """Failure of a RUN line, or a RUN line that this runner does not support."""


@dataclass
class Result:
    """Exit code, stdout and stderr of a command."""

    code: int
    out: bytes
    err: bytes = b""


def filecheck(args: list[str]) -> int:
    """Run FileCheck from the PyPI package, which ends by `SystemExit` with the exit code."""
    from filecheck.main import main

    main(["filecheck", *args])
    return 0


def diff(args: list[str]) -> int:
    """
    Print the differences for `diff [-u] A B`, where A or B may be `-`; return 1 if there are any,
    else 0.
    """
    left, right = (name for name in args if name != "-u")
    texts = (_read(left).splitlines(keepends=True), _read(right).splitlines(keepends=True))
    delta = list(difflib.unified_diff(*texts, fromfile=left, tofile=right))
    sys.stdout.writelines(delta)
    return 1 if delta else 0


def cat(args: list[str]) -> int:
    """Print the files of `cat FILE...`; return 0."""
    for name in args:
        sys.stdout.write(_read(name))
    return 0


def awk(args: list[str]) -> int:
    """Run the installed `awk`; return its exit code."""
    done = subprocess.run(["awk", *args], input=sys.stdin.read(), text=True, capture_output=True)
    sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
    return done.returncode


def tool(path: str) -> Callable[[list[str]], int]:
    """Return a runner of one of our tools, which is imported when it first runs."""
    module, _, function = path.partition(":")
    return lambda args: getattr(import_module(module), function)(args)


COMMANDS: dict[str, Callable[[list[str]], int]] = {
    "opt-tool": tool("tilewright.tools.opt_tool:main"),
    "tilewright": tool("tilewright.tools.cli:main"),
    "filecheck": filecheck,
    "diff": diff,
    "cat": cat,
    "awk": awk,
}


def run_file(path: Path, temporary: Path) -> None:
    """Run all RUN lines of `path`; `%t` is a file in the folder `temporary`."""
    text = path.read_text()
    if unknown := _DIRECTIVE.search(text):
        raise RunLineError(f"{path}: the in-process runner does not know {unknown[1]}:")
    lines = list(run_lines(text))
    if not lines:
        raise RunLineError(f"{path}: no RUN line")
    substitutions = {
        "%s": str(path),
        "%S": str(path.parent),
        "%t": str(temporary / f"{path.stem}.tmp"),
        "%T": str(temporary),
        "%%": "%",
    }
    for line in lines:
        run_line(re.sub(r"%[sStT%](?!\w)", lambda found: substitutions[found[0]], line))


def run_lines(text: str) -> Iterator[str]:
    """Yield the commands after `RUN:`, with continuation lines joined."""
    pending = ""
    for line in text.splitlines():
        if (found := _RUN.match(line)) is None:
            continue
        pending += found[1]
        if pending.endswith("\\"):
            pending = pending[:-1]
            continue
        yield pending
        pending = ""
    if pending:
        raise RunLineError(f"the last RUN line ends in a backslash: {pending}")


def run_line(line: str) -> None:
    """Run `a | b && c`; raise `RunLineError` with the command's output if a command fails."""
    for pipe in _split(_tokens(line), "&&"):
        piped = b""
        for command in _split(pipe, "|"):
            result = run_command(command, piped)
            if result.code != 0:
                raise RunLineError(_failure(line, command, piped, result))
            piped = result.out


def run_in_terminal(line: str) -> Result:
    """
    Return what a terminal shows for `a | b`: what `a` prints on stderr, then all that `b` prints.
    """
    shown, result = b"", Result(0, b"")
    *commands, last = _split(_tokens(line), "|")
    for command in commands:
        result = run_command(command, piped=result.out)
        shown += result.err
    result = run_command([*last, "2>&1"], piped=result.out)
    return Result(result.code, shown + result.out)


def run_command(tokens: list[str], piped: bytes) -> Result:
    """Run one command with its redirections and leading `not`s; return its exit code and output."""
    args, redirected = _without_redirections(tokens)
    negations = next((i for i, arg in enumerate(args) if arg != "not"), len(args))
    name, *args = args[negations:] or [""]
    if name not in COMMANDS:
        raise RunLineError(f"the in-process runner does not know the command '{name}'")
    if "--disable-verify" in args:
        raise RunLineError("--disable-verify changes the whole process: not in RUN lines")
    merged = "2>&1" in redirected
    stdin = Path(redirected["<"]).read_bytes() if "<" in redirected else piped
    result = call(COMMANDS[name], args, stdin, merged)
    if negations % 2:
        result.code = 0 if result.code else 1
    if ">" in redirected:
        Path(redirected[">"]).write_bytes(result.out)
        result.out = b""
    return result


def call(
    function: Callable[[list[str]], int], args: list[str], stdin: bytes, merged: bool
) -> Result:
    """
    Call a tool's main function with its own stdin, stdout and stderr; return the exit code and the
    output.
    """
    out, err = BytesIO(), BytesIO()
    stdout, stderr = _writer(out), _writer(out if merged else err)
    with stdio(TextIOWrapper(BytesIO(stdin), encoding="utf-8"), stdout, stderr):
        code = exit_code(lambda: function(args))
    return Result(code, out.getvalue(), err.getvalue())


def exit_code(function: Callable[[], int]) -> int:
    """Return the exit code of the call, also if it raises `SystemExit`."""
    try:
        return function()
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)


@contextmanager
def stdio(stdin: TextIO, stdout: TextIO, stderr: TextIO) -> Generator[None]:
    """Replace the standard streams inside a `with` block."""
    saved = sys.stdin, sys.stdout, sys.stderr
    sys.stdin, sys.stdout, sys.stderr = stdin, stdout, stderr
    try:
        yield
    finally:
        sys.stdin, sys.stdout, sys.stderr = saved


def _writer(buffer: BytesIO) -> TextIO:
    return TextIOWrapper(buffer, encoding="utf-8", write_through=True)


def _tokens(line: str) -> list[str]:
    lexer = shlex.shlex(
        _STDERR_TO_STDOUT.sub('"2>&1"', line), posix=True, punctuation_chars="|&;<>"
    )
    lexer.whitespace_split = True
    lexer.commenters = ""
    tokens = list(lexer)
    for token in tokens:
        if token not in _OPERATORS and set(token) <= set("|&;<>"):
            raise RunLineError(f"the in-process runner does not know '{token}'")
    return tokens


def _split(tokens: list[str], operator: str) -> Iterator[list[str]]:
    while operator in tokens:
        at = tokens.index(operator)
        yield tokens[:at]
        tokens = tokens[at + 1 :]
    yield tokens


def _without_redirections(tokens: list[str]) -> tuple[list[str], dict[str, str]]:
    args: list[str] = []
    redirected: dict[str, str] = {}
    rest = iter(tokens)
    for token in rest:
        if token == "2>&1":
            redirected[token] = token
        elif token in ("<", ">"):
            redirected[token] = next(rest)
        else:
            args.append(token)
    return args, redirected


def _failure(line: str, command: list[str], piped: bytes, result: Result) -> str:
    shown = [f"RUN: {line}", f"'{shlex.join(command)}' gave exit code {result.code}"]
    for title, text in (("stderr", result.err), ("stdout", result.out), ("stdin", piped)):
        if text.strip():
            shown += [f"--- its {title}:", _head(text.decode("utf-8", "replace"))]
    return "\n".join(shown)


def _head(text: str, limit: int = 100) -> str:
    lines = text.rstrip("\n").splitlines()
    omitted = [f"... and {len(lines) - limit} more lines"] if len(lines) > limit else []
    return "\n".join(lines[:limit] + omitted)


def _read(name: str) -> str:
    return sys.stdin.read() if name == "-" else Path(name).read_text()
