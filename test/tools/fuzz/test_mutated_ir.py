# SPDX-License-Identifier: Apache-2.0
"""Mutated IR succeeds or is diagnosed; `tilewright fuzz --mlir` counts all other ends."""

import json
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from tilewright.tools.fuzz.ir_corpus import samples_of_tests
from tilewright.tools.fuzz.text_mutations import MUTATIONS, Vocabulary, mutated
from tilewright.tools.fuzz.tool_outcome import run_opt_tool

MUTANTS = 20
"""Number of mutants in `make test`; the command makes as many as requested."""

CALLS = """
from tilewright.tools.fuzz.forked import Lost, TooLongError, forked

def call(item):
    if item == 1:
        try:
            while True: sum(range(1000))
        except TooLongError:
            return "too long"
    if item == 2:
        try:
            return len(bytearray(1 << 30))
        except MemoryError:
            return "too much"
    if item == 3:
        raise SystemExit(7)
    return "done"

answers = dict(forked(call, range(6), jobs=2, seconds=0.2, bytes=1 << 29))
assert answers.pop(3) == Lost("exit code 7"), answers
assert answers == {0: "done", 1: "too long", 2: "too much", 4: "done", 5: "done"}, answers
"""

NUMBERED = """
from tilewright.tools.fuzz.mutants import mutant
print([mutant(3, number, expressions=False) for number in range(8)])
"""


def python(*args: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a process of its own: only a process without threads may fork."""
    return subprocess.run([sys.executable, *args], capture_output=True, text=True, env=environment)


def test_mutants_succeed_or_are_diagnosed(tmp_path: Path):
    file = tmp_path / "counts.json"
    options = ("--mlir", "--seed", "1", "--count", str(MUTANTS), "--json", str(file))
    done = python("-m", "tilewright.tools.cli", "fuzz", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(file.read_text())
    assert found["failures"] == []
    assert found["counts"]["mutants"] == MUTANTS
    assert 0.4 * MUTANTS <= found["counts"]["reached a pass"] <= 0.8 * MUTANTS
    assert f"seed 1: mutants {MUTANTS}, " in done.stdout


def test_calls_that_fail_are_counted():
    done = python("-c", CALLS)
    assert done.returncode == 0, done.stderr


def test_a_mutant_depends_on_its_number_alone():
    once, again = (python("-c", NUMBERED, PYTHONHASHSEED=seed).stdout for seed in "12")
    assert once == again
    assert once.count("Mutant(") == 8


@pytest.mark.parametrize("mutation", [mutation for mutation, _ in MUTATIONS])
def test_each_mutation_changes_something(mutation: object):
    assert callable(mutation)
    texts = [sample.text for sample in samples_of_tests()[::40]]
    assert any(mutation(text, Random(seed)) != text for seed, text in enumerate(texts))


def test_mutants_differ_from_their_text():
    texts = [sample.text for sample in samples_of_tests()[::4]]
    words = Vocabulary.of(texts)
    same = [text for n, text in enumerate(texts) if mutated(text, words, Random(n)) == text]
    assert len(same) < len(texts) // 10


@pytest.mark.parametrize(
    ("text", "options", "kind", "reached"),
    [
        ("func.func private @f()", ("-p", "cse"), "fine", True),
        ("func.func private @f(", ("-p", "cse"), "diagnosed", False),
        ("func.func private @f()", ("-p", "tileify{columns=7}"), "diagnosed without place", True),
        ("func.func private @f()", ("-p", "nonsense"), "diagnosed without place", False),
    ],
)
def test_outcomes(text: str, options: tuple[str, ...], kind: str, reached: bool, tmp_path: Path):
    outcome = run_opt_tool(text, options, tmp_path)
    assert (outcome.kind, outcome.reached) == (kind, reached)


def test_failures_of_the_tool_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def crash(*_: object) -> None:
        raise KeyError("missing key")

    def fill(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("tilewright.tools.opt_tool.SourceParser", crash)
    crashed = run_opt_tool("", (), tmp_path)
    assert crashed.kind == "internal error"
    assert crashed.says == "KeyError @ test_mutated_ir.py:crash <- opt_tool.py:parse_mlir"
    monkeypatch.setattr("tilewright.tools.opt_tool.SourceParser", fill)
    assert run_opt_tool("", (), tmp_path).kind == "out of memory"
