# SPDX-License-Identifier: Apache-2.0
"""The rules by which traces name rewrites: each pass has its own, under its own name."""

import sys
from collections import Counter

from tilewright.passes import get_all_passes
from tilewright.passes.trace import Rule


def test_rules_are_told_apart_and_are_called_as_their_passes_are() -> None:
    rules: list[Rule] = []
    for name, load in get_all_passes().items():
        rule = getattr(sys.modules[load().__module__], "RULE", None)
        if isinstance(rule, Rule):
            rules.append(rule)
            assert rule.name == name.replace("-", "_")
    numbers = Counter((rule.stage, rule.number) for rule in rules)
    assert len(rules) > 20
    assert max(numbers.values()) == 1, [rule for rule in rules if numbers[rule[:2]] > 1]
