# SPDX-License-Identifier: Apache-2.0
"""Answer about a rule: its matches with their judgements, and the limits of the search for them."""

from collections import Counter
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp

from tilewright.tools.rules.conditions import Condition, condition
from tilewright.tools.rules.judge import Judgement, Kind
from tilewright.tools.rules.limits import Limits
from tilewright.tools.rules.rule import Rule

_ALIKE = 2
"""Number of matches with the same facts that are judged."""


@dataclass(frozen=True)
class Match:
    """Match of a rule in a program, before it is applied."""

    program: ModuleOp
    origin: str
    site: int
    judgement: Judgement
    facts: frozenset[str]


@dataclass
class Proof:
    """Answer about a rule."""

    rule: Rule
    limits: Limits
    matches: list[Match] = field(default_factory=list[Match])
    """Matches that could be judged."""
    unknown: int = 0
    """Number of matches that could not run."""
    texts: int = 0
    """Number of programs of the corpus that were tried."""
    programs: int = 0
    """Number of random programs that were tried."""
    smallest: Match | None = None
    """Shrunk match that is wrong."""
    _seen: Counter[frozenset[str]] = field(default_factory=Counter[frozenset[str]])

    def is_new(self, facts: frozenset[str]) -> bool:
        """True for the first two sites with these facts."""
        self._seen[facts] += 1
        return self._seen[facts] <= _ALIKE

    @property
    def wrong(self) -> list[Match]:
        """Matches that are wrong."""
        return [each for each in self.matches if each.judgement.finding is not None]

    @property
    def right(self) -> list[Match]:
        """Matches that are not refuted."""
        return [each for each in self.matches if each.judgement.finding is None]

    @property
    def kinds(self) -> Counter[Kind]:
        """Number of right matches by the numbers for which they are equal."""
        return Counter(each.judgement.kind for each in self.matches if each.judgement.kind)

    @property
    def is_special(self) -> bool:
        """True if the rule is wrong for adversarial floats only."""
        findings = [each.judgement.finding for each in self.wrong]
        return bool(findings) and all(each is not None and each.is_special for each in findings)

    def is_complete(self, matches: int) -> bool:
        """True if no more than the given number of matches is needed."""
        is_refuted = self.limits.first and self.wrong
        return bool(is_refuted) or max(len(self.matches), self.unknown) >= matches

    @property
    def condition(self) -> Condition | None:
        """Condition that excludes the wrong matches; None if there is none."""
        right, wrong = ([each.facts for each in kind] for kind in (self.right, self.wrong))
        return condition(right, wrong) if wrong and not self.limits.first else None


def rank(match: Match) -> int:
    """Return the order of wrong matches: those for real numbers first, of signs of zero last."""
    finding = match.judgement.finding
    return 0 if finding is None else finding.rank
