# SPDX-License-Identifier: Apache-2.0
"""Rules that never fire, are shadowed, do not end or depend on their order are found."""

from pathlib import Path

import pytest

from tilewright.tools.opt_tool import main
from tilewright.tools.rules.groups import Group, own_groups
from tilewright.tools.rules.limits import Limits
from tilewright.tools.rules.lint import Lint, lint_of
from tilewright.tools.rules.named import rules_named

FILE = str(Path(__file__).parent / "linted_rules.py")
LIMITS = Limits(programs=120, texts=0)


def lint(*names: str) -> Lint:
    """Return the facts about rules of the file that are applied together."""
    rules = [rule for name in names for rule in rules_named(f"{FILE}:{name}")]
    return lint_of(Group("rules", rules), LIMITS)


def test_a_rule_without_a_flaw_has_no_finding():
    found = lint("DropDoubleNegation")
    assert found.findings == []
    assert found.sites["DropDoubleNegation"] > 10


@pytest.mark.parametrize(
    ("names", "kind", "message"),
    [
        (
            ("DropDoubleNegation", "DropTripleNegation"),
            "shadowed",
            "DropTripleNegation is shadowed: at all of its ",
        ),
        (("NeverFires",), "never fires", "NeverFires never fires"),
        (("swap",), "does not end", "without end: swap, in their order: the same program recurs"),
        (("Grow",), "does not end", "without end: Grow, in their order: "),
        (("InPlace",), "broken", "InPlace changes an op without its rewriter; call "),
        (("InvalidFunction",), "broken", "InvalidFunction leaves invalid IR: AttributeError: "),
        (("RaisesForNegations",), "broken", "RaisesForNegations raises KeyError at "),
        (
            ("exp_to_sqrt", "exp_to_log"),
            "order",
            "the result depends on the order: exp_to_sqrt in their order, exp_to_log in reverse",
        ),
    ],
)
def test_a_flaw_is_found(names: tuple[str, ...], kind: str, message: str):
    found = {each.kind: each.message for each in lint(*names).findings}
    assert found[kind].startswith(message)


def test_rules_without_end_hide_no_others():
    messages = [each.message for each in lint("Grow", "swap", "exp_to_sqrt", "exp_to_log").findings]
    for beginning in ("without end: Grow", "without end: swap", "the result depends on"):
        assert any(message.startswith(beginning) for message in messages)


def test_a_rule_is_not_shadowed_by_a_later_one():
    kinds = [each.kind for each in lint("DropTripleNegation", "DropDoubleNegation").findings]
    assert "shadowed" not in kinds


def test_the_order_is_shown_by_a_small_program():
    (finding,) = [each for each in lint("exp_to_sqrt", "exp_to_log").findings if each.difference]
    assert finding.program is not None
    assert sum(1 for _ in finding.program.walk()) <= 5
    assert any(line.startswith("-") and "sqrt" in line for line in finding.difference)
    assert any(line.startswith("+") and "log" in line for line in finding.difference)


def test_passes_with_several_patterns_are_collected():
    names = {group.name: [rule.name for rule in group.rules] for group in own_groups()}
    assert names["compose-index-maps"] == ["drop_identity", "compose_sources", "move_into_source"]
    assert {"fold-elementwise", "group-masks", "canonicalize"} <= names.keys()
    assert "to-tensor" not in names  # a pipeline


def test_rules_of_a_pass_end_and_fire():
    group = next(group for group in own_groups() if group.name == "fold-elementwise")
    assert lint_of(group, Limits(programs=120, texts=4)).findings == []


def test_rules_of_canonicalize_all_fire(every_case: None):
    group = next(group for group in own_groups() if group.name == "canonicalize")
    found = lint_of(group, Limits(programs=600, texts=60))
    assert {each.kind for each in found.findings} <= {"order"}


def test_the_command_prints_findings(capsys: pytest.CaptureFixture[str]):
    assert main(["lint-rules", FILE, "--programs", "30", "--texts", "0"]) == 1
    out = capsys.readouterr().out
    assert out.startswith(f"{FILE}: 10 rules in 30 programs: ")
    assert "\n  NeverFires never fires\n" in out
    assert main(["lint-rules", "none.py"]) == 2
    assert capsys.readouterr().err == "error: cannot read 'none.py': No such file or directory\n"


def test_without_programs_nothing_is_found():
    rules = rules_named(f"{FILE}:NeverFires")
    assert lint_of(Group("rules", rules), Limits(programs=0, texts=0)).findings == []
