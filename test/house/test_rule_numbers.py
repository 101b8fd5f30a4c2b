# SPDX-License-Identifier: Apache-2.0
"""Rules of traces have numbers of their own, by which `--only` and awk select their rewrites."""

import ast
from collections import defaultdict

from .test_layers import ROOT

FILES = sorted(path for room in ("passes", "tuning") for path in (ROOT / room).rglob("*.py"))


def rules(text: str) -> list[tuple[str, str]]:
    """Return number (`t:007`) and name of each rule that a file defines by literals."""
    found: list[tuple[str, str]] = []
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Call(
                func=ast.Name(id="Rule"),
                args=[
                    ast.Constant(value=str(stage)),
                    ast.Constant(value=int(number)),
                    ast.Constant(value=str(name)),
                ],
            ):
                found.append((f"{stage}:{number:03d}", name))
            case _:
                pass
    return found


def test_each_rule_has_a_number_of_its_own():
    names = defaultdict[str, set[str]](set)
    for path in FILES:
        for number, name in rules(path.read_text()):
            names[number].add(name)
    assert len(names) > 50
    assert {number: found for number, found in names.items() if len(found) > 1} == {}


def test_rules_are_found():
    assert rules('RULE = Rule("t", 7, "stage_inputs"); Rule(stage, 1, name)') == [
        ("t:007", "stage_inputs")
    ]
