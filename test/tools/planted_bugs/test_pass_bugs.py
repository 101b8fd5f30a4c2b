# SPDX-License-Identifier: Apache-2.0
"""Bugs in the results of passes: evenly drawn, the same for a seed, found by proofs or exactly."""

from collections import Counter
from functools import cache

from small_product import NEST
from xdsl.parser import Parser

from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import context
from tilewright.passes.rewriting.launching import with_main
from tilewright.tools.planted_bugs.pass_bugs import (
    Class,
    PassBug,
    PassResult,
    pass_bugs,
    pass_results,
)
from tilewright.tools.planted_bugs.pass_checks import PassChecks, Verdict

PROGRAM = with_main(Parser(context(), NEST).parse_module())
CHECKS = PassChecks(PROGRAM, "sm_90a")


@cache
def results() -> list[PassResult]:
    """Return the results of the passes of a small product."""
    return [*pass_results(PROGRAM, "sm_90a")]


def test_the_right_kernel_is_right_after_each_pass():
    assert {result.level for result in results()} == {Level.TILE, Level.KERNEL}
    assert {"tileify", "convert-tile-to-kernel"} <= {result.name for result in results()}
    assert CHECKS.false_alarms(results()) == []


@cache
def verdicts() -> list[tuple[PassBug, Verdict]]:
    """Return bugs of a small product, with the answers of both checks."""
    return [(bug, CHECKS.verdict(bug)) for bug in pass_bugs(results(), 25, seed=1)]


def test_bugs_of_all_classes_are_found():
    assert Counter(bug.kind for bug, _ in verdicts()) == dict.fromkeys(Class, 5)
    missed = [(str(bug), verdict.equal) for bug, verdict in verdicts() if not verdict.is_found]
    # The output has 5 columns, and 15 of 16 threads are enough for them.
    ((bug, equal),) = missed
    assert "axis 2 one step too few: tile.launch" in bug
    assert equal == "all values are proved"
    assert any(verdict.refuted for _, verdict in verdicts())
    assert any(each.is_exact_different and not each.refuted for _, each in verdicts())


def test_a_seed_gives_the_same_bugs():
    one, other, third = ([*map(str, pass_bugs(results(), 6, seed))] for seed in (3, 3, 4))
    assert one == other != third
