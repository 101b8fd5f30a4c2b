# SPDX-License-Identifier: Apache-2.0
"""Applications of a rule: the program after the rule has changed it at one site, and no other."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from tilewright.tools.rules.judge import Finding, Judgement, compared
from tilewright.tools.rules.rule import BrokenRuleError, Rule, op_at, reason_not_valid


@dataclass(frozen=True)
class Application:
    """Program before and after a rule was applied at one site, or the finding that this failed."""

    site: int
    before: ModuleOp
    after: ModuleOp
    failure: Finding | None = None

    def judged(self, *, real: bool = False) -> Judgement:
        """
        Return a judgement on this application. With `real`, the sides are compared as functions of
        real numbers.
        """
        if self.failure is not None:
            return Judgement(finding=self.failure)
        if (reason := reason_not_valid(self.after)) is not None:
            return Judgement(finding=Finding(f"the IR after it is invalid: {reason}"))
        return compared(self.before, self.after, real=real)


def applications(rule: Rule, make: Callable[[], ModuleOp]) -> Iterator[Application]:
    """Yield the applications of a rule at the sites of a program, which `make` returns anew."""
    after = make()
    for site in rule.sites(after):
        failure = None
        try:
            if not rule.apply(op_at(after, site)):
                continue
        except BrokenRuleError as err:
            failure = Finding(f"it {err}")
        yield Application(site, make(), after, failure)
        after = make()
