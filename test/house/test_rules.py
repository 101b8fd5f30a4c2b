# SPDX-License-Identifier: Apache-2.0
"""
The rules by which traces name rewrites: each pass has its own, under its own name, and so has each
module outside of `passes/` that reports what it does.
"""

import sys
from collections import Counter

from tilewright.codegen import spill_feedback
from tilewright.passes import get_all_passes
from tilewright.passes.reporting.trace import Rule
from tilewright.tuning import known_fusion, known_schedules

OTHERS = (known_fusion.RULE, known_schedules.RULE, spill_feedback.RULE)


def test_rules_are_told_apart_and_are_called_as_their_passes_are() -> None:
    rules: list[Rule] = [*OTHERS]
    for name, load in get_all_passes().items():
        rule = getattr(sys.modules[load().__module__], "RULE", None)
        if isinstance(rule, Rule):
            rules.append(rule)
            assert rule.name == name.replace("-", "_")
    numbers = Counter((rule.stage, rule.number) for rule in rules)
    assert len(rules) > 20
    assert max(numbers.values()) == 1, [rule for rule in rules if numbers[rule[:2]] > 1]
