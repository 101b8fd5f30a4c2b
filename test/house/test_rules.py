# SPDX-License-Identifier: Apache-2.0
"""
Rules in traces: each pass has a rule of its own, with the pass's name.

Each module outside of `passes/` that reports its decisions has its own rule, too.
"""

import sys
from collections import Counter

from tilewright.codegen import spill_feedback
from tilewright.passes import get_all_passes
from tilewright.passes.reporting.trace import Rule
from tilewright.tuning import known_fusion, known_schedules

OTHERS = (known_fusion.RULE, known_schedules.RULE, spill_feedback.RULE)


def test_rules_are_distinct_and_named_like_their_passes() -> None:
    rules: list[Rule] = [*OTHERS]
    for name, load in get_all_passes().items():
        rule = getattr(sys.modules[load().__module__], "RULE", None)
        if isinstance(rule, Rule):
            rules.append(rule)
            assert rule.name == name.replace("-", "_")
    numbers = Counter((rule.stage, rule.number) for rule in rules)
    assert len(rules) > 20
    assert max(numbers.values()) == 1, [rule for rule in rules if numbers[rule[:2]] > 1]
