#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Random damage to files that commands read: changed bits, and bytes that are deleted, doubled,
inserted or cut off.

    benchmarks/damaged_files.py --seed 1 --count 100

Each file must be rejected with a one-line error, or read without one. If it has checksums, it must
be read with the results of the undamaged file. Otherwise the exit code is 1.
"""

import os
import random
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, chdir
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from command_lines import MLIR, captured_end
from seeded_attack import attack

TUNE = [
    *("tilewright", "tune", "--evaluator", "model", "--budget", "4", "--programs", "0"),
    *("--db", "t.sqlite", "-c"),
]

READERS: dict[str, list[list[str]]] = {
    "m.pt2": [["tilewright", "compile", "m.pt2"], ["tilewright", "run", "m.pt2", "--json", "-"]],
    "in.safetensors": [["tilewright", "run", "good.mlir", "--inputs", "in.safetensors"]],
    "t.sqlite": [
        ["tilewright", "db", "ls", "--db", "t.sqlite"],
        ["tilewright", "db", "export", "--db", "t.sqlite"],
        ["tilewright", "db", "best", "--json", "--db", "t.sqlite"],
        ["tilewright", "compile", "-c", "torch.ones(3).exp()", "--db", "t.sqlite"],
        ["tilewright", "db", "merge", "t.sqlite", "--db", "new.sqlite"],
    ],
    "e.jsonl": [["tilewright", "db", "import", "e.jsonl", "--db", "new.sqlite"]],
}
"""Commands that read each file, by the file's name."""

CHECKED = ("m.pt2", "t.sqlite", "e.jsonl")
"""
Files with checksums, which must give the usual results if they are accepted. Damage may change the
values in other files.
"""


def make_files() -> None:
    """Write the undamaged files into the current folder."""
    torch: Any = import_module("torch")
    save_file: Any = import_module("safetensors.torch").save_file
    layer = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU())
    torch.export.save(torch.export.export(layer, (torch.randn(2, 8),)), "m.pt2")
    save_file({"x": torch.randn(4, 8)}, "in.safetensors")
    Path("good.mlir").write_text(MLIR)
    for expression in ("torch.ones(3).exp()", "torch.randn(64) * 2"):
        captured_end([*TUNE, expression])
    captured_end(["tilewright", "db", "export", "e.jsonl", "--db", "t.sqlite"])


def _flip(draw: random.Random, data: bytearray) -> None:
    data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)


def _cut_off(draw: random.Random, data: bytearray) -> None:
    del data[draw.randrange(len(data)) :]


def _cut_out(draw: random.Random, data: bytearray) -> None:
    start = draw.randrange(len(data))
    del data[start : start + draw.randrange(1, 100)]


def _zero(draw: random.Random, data: bytearray) -> None:
    start = draw.randrange(len(data))
    end = min(len(data), start + draw.choice([1, 16, 512]))
    data[start:end] = bytes(end - start)


def _double(draw: random.Random, data: bytearray) -> None:
    start = draw.randrange(len(data))
    data[start:start] = data[start : start + draw.randrange(1, 200)]


def _insert(draw: random.Random, data: bytearray) -> None:
    start = draw.randrange(len(data))
    data[start:start] = draw.randbytes(draw.randrange(1, 9))


DAMAGES: Sequence[Callable[[random.Random, bytearray], None]] = (
    *(_flip, _flip, _flip, _cut_off, _cut_out, _zero, _double, _insert),
)


def _homes(folder: str) -> AbstractContextManager[object]:
    """
    Return a context in which the environment names `folder` as the user's folder for data and for
    caches.
    """
    return patch.dict(os.environ, XDG_DATA_HOME=folder, XDG_CACHE_HOME=folder)


def run(seed: int, count: int, *, shows: bool = False) -> tuple[Counter[str], list[str]]:
    """Try `count` damaged files; return counts of how the commands ended, and the failures."""
    draw = random.Random(seed)
    ends, wrong = Counter[str](), list[str]()
    with TemporaryDirectory() as folder, chdir(folder), _homes(folder):
        make_files()
        sound = {name: Path(name).read_bytes() for name in READERS}
        usual = {tuple(c): _read(c)[1] for readers in READERS.values() for c in readers}
        for number in range(count):
            name = draw.choice([*READERS])
            reader, damage = draw.choice(READERS[name]), draw.choice(DAMAGES)
            data = bytearray(sound[name])
            damage(draw, data)
            Path(name).write_bytes(data)
            end, out, problem = _read(reader)
            Path(name).write_bytes(sound[name])
            if not problem and end == "exit code 0" and name in CHECKED:
                is_usual = reader[1] == "run" or out == usual[tuple(reader)]
                problem = "" if is_usual else "is accepted, with another result"
            ends[f"{name}: {end}"] += 1
            label = f"{seed}/{number}: {damage.__name__} {name}, {' '.join(reader)}"
            if shows:
                print(f"{label}: {end}", flush=True)
            if problem:
                wrong.append(f"{label}\n  {problem}")
    return ends, wrong


def _read(reader: Sequence[str]) -> tuple[str, str, str]:
    """
    Run a command; return how it ended, its stdout, and what is wrong with its end: empty if nothing
    is.
    """
    for left in (*Path().glob("new.sqlite*"), *Path().glob("t.sqlite-*")):
        left.unlink()
    return captured_end(reader)


def main(argv: Sequence[str] | None = None) -> int:
    """Read damaged files, and print how the commands ended."""
    return attack(run, "Read damaged files.", "damaged files", 100, argv)


if __name__ == "__main__":
    sys.exit(main())
