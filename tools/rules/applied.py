# SPDX-License-Identifier: Apache-2.0
"""Applications of a rule: the program after the rule has changed it at one site, and no other."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from traceback import extract_tb

from xdsl.dialects.builtin import ModuleOp

from tilewright.errors import one_line
from tilewright.passes.driver.verification import InvalidOpError, verify_module
from tilewright.tools.rules.judge import Finding, Judgement, compared
from tilewright.tools.rules.rule import Rule, op_at


@dataclass(frozen=True)
class Application:
    """Program after a rule was applied at one site, or the finding that this failed."""

    site: int
    after: ModuleOp
    failure: Finding | None = None

    def judged(self, before: ModuleOp, *, real: bool = False) -> Judgement:
        """
        Return a judgement on this application in the program `before`. With `real`, the sides are
        compared as functions of real numbers.
        """
        if self.failure is not None:
            return Judgement(finding=self.failure)
        try:
            verify_module(self.after)
        except InvalidOpError as err:
            return Judgement(finding=Finding(f"the IR after it is invalid: {one_line(err)}"))
        return compared(before, self.after, real=real)


def applications(rule: Rule, module: ModuleOp) -> Iterator[Application]:
    """Yield the applications of a rule at the sites of a module, which stays unchanged."""
    after = module.clone()
    for site in rule.sites(module):
        failure = None
        try:
            if not rule.apply(op_at(after, site)):
                continue
        except Exception as err:  # the rule is the user's code
            failure = Finding(f"it raises {type(err).__name__}{_place(rule, err)}: {one_line(err)}")
        yield Application(site, after, failure)
        after = module.clone()


def _place(rule: Rule, err: Exception) -> str:
    """Return the last line in the file of a rule's pattern that an exception passed."""
    file = getattr(sys.modules.get(type(rule.pattern).__module__), "__file__", None)
    frames = [each for each in extract_tb(err.__traceback__) if each.filename == file]
    return f" at {file}:{frames[-1].lineno}" if frames else ""
