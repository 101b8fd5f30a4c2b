#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Random command lines with a user's mistakes: wrong options, missing files, strange expressions and
shapes, empty texts, huge numbers, folders instead of files.

    benchmarks/command_lines.py --seed 1 --count 300

Each command must end with one of the documented exit codes and a one-line error with a place, never
with a traceback. If one does not, it is printed with the reason, and the exit code is 1.
"""

import argparse
import io
import os
import random
import shlex
import signal
import sys
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn
from unittest.mock import patch

from seeded_attack import attack

from tilewright.passes import get_all_passes
from tilewright.tools import cli, opt_tool

LIMIT_S = 60
"""Time limit of a command line, in seconds."""

CODES = (0, 1, 2, 130)

MLIR = """\
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = prim.elementwise exp(%x) : tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}
"""

FILES = {
    "good.mlir": MLIR,
    "bad.mlir": MLIR.replace("exp", "exxp"),
    "cut.mlir": MLIR[:70],
    "empty.mlir": "",
    "binary.mlir": "\0\1\2",
    "model.py": "import torch\ndef f(x): return x + 1\nf.example_inputs = torch.ones(3)\nn = 3\n",
    "broken.py": "def f(:\n",
    "raises.py": "raise ValueError('on import')\n",
    "junk.pt2": "junk",
    "suite.json": '{"cases": []}',
    "junk.json": "{",
    "list.json": "[1, 2]",
    "junk.sqlite": "not a database",
    "measurements.jsonl": "{}\n",
    "junk.safetensors": "junk",
    "x.cu": "__global__ void f() {}\n",
    "folder/config.json": "{}",
    "model/config.json": '{"model_type": "llama", "hidden_size": 16, "num_attention_heads": 2, '
    '"num_hidden_layers": 1, "intermediate_size": 16, "vocab_size": 32}',
}

FILE_VALUES = [*FILES, "folder", "model", "none/x.mlir", "none", "model.py:f", "model.py:g", "-"]

VALUES = [
    *("", " ", "0", "1", "-1", "3.5", "1e9", "nan", "inf", "9" * 25, "x", "ü", "\u202ex", "a b"),
    *("{", "}", "[", "(", "*", "'", '"', "\\", "%s", "=", "=x", ",", "1,2", "1,,2", "10m", "0s"),
    *("sm_90a", "sm_80", "sm_9O", "loop", "tensor", "cuda", "gpu", "sim", "tileify", "results"),
    *("exp=tileify", "tileify,blockify-launch{n=0}", "tileify{", "register-tile{fm=a}", "t:001"),
    *("/dev/null", "out.txt", "none/out.txt", "../none/out", "out.dot", "out.png", "..", "\0"),
]

EXPRESSIONS = [
    *("torch.ones(3)", "torch.ones(3).exp()", "torch.randn(4, 8).softmax(-1)", "torch.ones(0)"),
    *("", " ", ";", "1", "'x'", "None", "x", "ü", "...", "torch", "nn.ReLU", "nn.ReLU()"),
    *("torch.ones(3) +", "torch.ones(3", "torch.ones(3))", "import os", "return 3", "yield 3"),
    *("lambda x: x", "[torch.ones(3)] * 3", "{'a': torch.ones(2)}", "print('hi')", "1 / 0"),
    *("torch.ones(-1)", "torch.ones(2**62).exp()", "torch.ones(2**31, 2**31) + 1", "exit()"),
    *("torch.ones(3, 4) @ torch.ones(3, 4)", "torch.ones(3)[5]", "F.softmax(torch.ones(3), 5)"),
    *("torch.ones(3, dtype=torch.complex64).exp()", "torch.topk(torch.ones(4), 2)"),
    *("torch.ones(3).to('cuda')", "torch.ones(3).to_sparse() * 2", "torch.ones(3).item() + 1"),
    *(
        "torch.ones(3, dtype=torch.float8_e4m3fn).float()",
        "torch.rand(3)",
        "nn.Dropout()(torch.ones(3))",
    ),
    *("nn.Linear(3, 4)(torch.ones(5))", "nn.Linear(3, 4)", "nn.Linear(-3, 4)(torch.ones(3))"),
    *("raise KeyError('k')", "raise KeyboardInterrupt", "raise SystemExit(7)", "assert False"),
    *("torch.ones(3).numpy()", "torch.ones(1, 0, 3).amax(1)", "torch.ones(1, 0, 3).sum(1)"),
    *("(" * 300, "torch.ones(3)" + " + 1" * 200, "-" * 400 + "torch.ones(3)", "torch.ones(3)\n +"),
    *("torch.ones(3); " * 50, "torch.ones((1,) * 70).exp()", "torch.ones(3).__class__"),
    *("x = torch.ones(3); x[0] = x[1]; x", "torch.ones(4).view(3)", "torch.ones(3, names=('a',))"),
    *("torch.full((3,), float('nan')) + 1", "torch.ones(3, dtype=torch.int8) * 300"),
    *(
        "torch.tensor('x')",
        "torch.ones(3) if torch.ones(1) > 0 else 1",
        "torch.nonzero(torch.ones(3))",
    ),
]
"""Texts for `-c`, each of which terminates."""

WORDS = ["compil", "--hepl", "--irr", "-q", "--", "-", "--version", "--help", "", "\u2014ir", "-c"]
"""Words that are inserted at random positions."""

NEEDED = {
    "tune": ["--evaluator", "model", "--budget", "2", "--programs", "0"],
    "fuzz": ["--count", "1", "--schedules", "0"],
    "generate": ["--max-new-tokens", "2", "--prompt-ids", "1,2"],
}
"""
Options that are added to every command line of these commands, which would otherwise end at once
with an error, or take minutes.
"""

TOKENS = ["softmax", "topk", "expp", "", "aten.add", "*", "model", "out", "10"]


def arguments(parser: Any) -> list[argparse.Action]:
    """Return the arguments of a command's parser, without its help."""
    return [a for a in parser._actions if a.dest != "help" and a.nargs != argparse.PARSER]


def value(draw: random.Random, action: argparse.Action) -> str:
    """Return a random value for an argument, mostly of a suitable type."""
    if action.choices and draw.random() < 0.9:
        return str(draw.choice([*action.choices]))
    if action.metavar in ("FILE", "FOLDER", "SUITE", "MODEL") and draw.random() < 0.8:
        return draw.choice(FILE_VALUES)
    return draw.choice([*VALUES, *FILE_VALUES])


def option(draw: random.Random, action: argparse.Action) -> list[str]:
    """Return a random option, with a value if it takes one."""
    name = draw.choice(action.option_strings)
    if action.nargs == 0:
        return [name]
    return [name, draw.choice(EXPRESSIONS) if action.dest == "expression" else value(draw, action)]


def command_line(draw: random.Random) -> list[str]:
    """Return the words of a random command line, the tool's name first."""
    if draw.random() < 0.25:
        return ["opt-tool", *_opt_tool(draw)]
    parser: Any = cli.parser()
    words = ["tilewright"]
    while commands := next(
        (a.choices for a in parser._actions if a.nargs == argparse.PARSER), None
    ):
        name = draw.choice([*commands])
        words.append(name)
        parser = commands[name]
    known = arguments(parser)
    options = [action for action in known if action.option_strings]
    for action in (action for action in known if not action.option_strings):
        if action.dest == "file" and draw.random() < 0.6 and words[1] != "db":
            words += ["-c", draw.choice(EXPRESSIONS)]
        elif draw.random() < 0.9:
            words.append(draw.choice(TOKENS) if action.dest == "names" else value(draw, action))
    for action in draw.choices(options, k=draw.choice([0, 0, 0, 1, 1, 2])):
        words += option(draw, action)
    if draw.random() < 0.9:
        words += NEEDED.get(words[1], [])
    if draw.random() < 0.15:
        words.insert(draw.randrange(1, len(words) + 1), draw.choice(WORDS))
    return words


def _opt_tool(draw: random.Random) -> Iterator[str]:
    yield draw.choice([*FILE_VALUES, *["good.mlir"] * len(FILE_VALUES)])
    passes = draw.choices([*get_all_passes(), "cse", "canonicalize"], k=draw.choice([1, 1, 2, 3]))
    passes += draw.choices(VALUES, k=draw.choice([0, 0, 0, 1]))
    ends = ["", "", "", "{}", "{x=1}", "{", ",", "{target=sm_1}"]
    yield from ("-p", ",".join(passes) + draw.choice(ends))
    if draw.random() < 0.4:
        words = ["--check=each", "--remarks", "--trace", "--only", "x", "-t", "cuda", "wat", "-o"]
        yield from draw.choices([*words, "out.txt", "none/out.txt", "--split-input-file"], k=2)


class TooLong(BaseException):
    """Exception for a command line that takes more than `LIMIT_S` seconds."""


@contextmanager
def limited() -> Generator[None]:
    """Raise `TooLong` after `LIMIT_S` seconds in the block."""

    def over(*_: object) -> NoReturn:
        raise TooLong

    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(LIMIT_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def tried(words: Sequence[str]) -> tuple[str, str, str]:
    """
    Run a command line; return how it ended, what is wrong with that (empty if nothing is), and its
    first line of error.
    """
    end, _, err, wrong = _run(words)
    last = next((line for line in err.splitlines() if "error: " in line), "")
    return end, wrong, last


def captured_end(words: Sequence[str]) -> tuple[str, str, str]:
    """
    Run a command line; return how it ended, its stdout, and what is wrong with its end: empty if
    nothing is.
    """
    end, out, _, wrong = _run(words)
    return end, out, wrong


def _run(words: Sequence[str]) -> tuple[str, str, str, str]:
    """
    Run a command line; return how it ended, its stdout and stderr, and what is wrong with its end:
    empty if nothing is.
    """
    out, err = io.StringIO(), io.StringIO()
    main = cli.main if words[0] == "tilewright" else opt_tool.main
    sys.stdin = io.TextIOWrapper(io.BytesIO(MLIR.encode()))
    try:
        with redirect_stdout(out), redirect_stderr(err), limited():
            code = main(words[1:])
    except SystemExit as left:
        code = left.code
    except TooLong:
        return "too long", out.getvalue(), err.getvalue(), f"takes more than {LIMIT_S} s"
    except BaseException as leaked:
        problem = f"leaks {type(leaked).__name__}: {leaked}"
        return "leaked", out.getvalue(), err.getvalue(), problem
    wrong = _wrong(code, err.getvalue())
    return f"exit code {code}", out.getvalue(), err.getvalue(), wrong


def _wrong(code: object, err: str) -> str:
    """Return what is wrong with an exit code and the text on stderr, or an empty text."""
    if "TooLong" in err:
        return f"takes more than {LIMIT_S} s"
    if "Traceback" in err or "internal error" in err:
        return err.strip()
    if code not in CODES:
        return f"the exit code is {code}"
    errors = [line for line in err.splitlines() if "error: " in line or "interrupted" in line]
    if code == 2 and not errors:
        return "no error is printed"
    if any(len(line) > 1000 for line in errors):
        return f"an error of {max(map(len, errors))} characters"
    return ""


@contextmanager
def fresh_folder() -> Generator[None]:
    """Run the block in a new folder with `FILES`, which also holds databases and caches."""
    with TemporaryDirectory() as name, chdir(name):
        for path, text in FILES.items():
            Path(path).parent.mkdir(exist_ok=True)
            Path(path).write_text(text)
        homes = dict.fromkeys(("XDG_DATA_HOME", "XDG_CACHE_HOME", "HF_HOME"), name)
        with patch.dict(os.environ, homes, HF_HUB_OFFLINE="1"):
            yield


def run(seed: int, count: int, *, shows: bool = False) -> tuple[Counter[str], list[str]]:
    """
    Try `count` random command lines; return counts of how they ended, and the failures.

    With `shows`, print each command line, how it ended, and its first line of error.
    """
    draw = random.Random(seed)
    ends, wrong = Counter[str](), list[str]()
    for number in range(count):
        words = command_line(draw)
        with fresh_folder():
            end, problem, last = tried(words)
        ends[end] += 1
        if shows:
            print(f"{shlex.join(words)[:200]}\n    {end}: {last[:300]}", flush=True)
        if problem:
            wrong.append(f"{seed}/{number}: {shlex.join(words)[:300]}\n  {problem}")
    return ends, wrong


def main() -> int:
    """Try random command lines, and print how they ended."""
    return attack(run, "Try random command lines.", "command lines", 300)


if __name__ == "__main__":
    sys.exit(main())
