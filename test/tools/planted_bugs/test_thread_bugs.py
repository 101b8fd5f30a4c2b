# SPDX-License-Identifier: Apache-2.0
"""Bugs of threads: the same ones for a seed, and most of them are refuted."""

from collections import defaultdict
from pathlib import Path

from proved_threads import function

from tilewright.tools.planted_bugs.thread_bugs import found_by_proof, thread_bugs

REVERSE = Path(__file__).parents[3] / "examples" / "reverse.mlir"


def test_bugs_are_planted_by_rule_and_found():
    kernel = function(REVERSE.read_text())
    text, bugs = str(kernel), [*thread_bugs(kernel, 100, seed=0)]
    assert str(kernel) == text
    kinds = defaultdict[str, set[str]](set)
    for bug in bugs:
        kinds[bug.what].add(found_by_proof(bug))
    assert kinds == {
        "kernel.barrier: dropped": {"race"},
        "kernel.barrier: moved before what precedes": {"race"},
        "kernel.barrier: moved behind what follows": {"race"},
        "loop.load: memref one further": {"bounds"},
        "loop.load: subscripts exchanged": {"bounds"},
        "loop.store: memref one further": {"bounds"},
        "loop.store: subscripts exchanged": {"bounds"},
    }


def test_a_seed_gives_the_same_bugs():
    kernel = function(REVERSE.read_text())
    one, other, third = ([bug.what for bug in thread_bugs(kernel, 5, seed)] for seed in (3, 3, 4))
    assert one == other != third
