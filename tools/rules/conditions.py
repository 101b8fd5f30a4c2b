# SPDX-License-Identifier: Apache-2.0
"""
Smallest condition that excludes the wrong matches of a rule, and keeps many of the right ones.

A condition is a conjunction of at most three facts (`facts.py`) or negations of facts. It is found
by trying all, and is a proposal: it holds for the matches that were tried.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import inf

MOST_LITERALS = 3
"""Most facts of a condition."""

_TRIED = 70
"""Number of literals of which all triples are tried: those that keep the most right matches."""

_PRICE = 0.1
"""Share of the right matches that an additional fact must keep."""


_INCIDENTAL = 0.15
_INCIDENTAL_WORDS = (
    "property value",
    " one use",
    " rank ",
    " size",
    "an argument",
    "made by",
    "the element type of",
)
_NEGATION = 0.05


@dataclass(frozen=True)
class Condition:
    """Conjunction that no wrong match satisfies."""

    literals: tuple["_Literal", ...]
    kept: int
    """Number of right matches that satisfy it."""

    def __str__(self) -> str:
        return ", and ".join(str(each) for each in self.literals)

    def holds(self, facts: frozenset[str]) -> bool:
        """True if a site with these facts satisfies the condition."""
        return all((each.fact in facts) != each.is_negated for each in self.literals)


@dataclass(frozen=True)
class _Literal:
    fact: str
    is_negated: bool
    cost: float
    """Share of the right matches that a plainer fact may lose."""
    right: int
    """Bit mask of the right matches of which the literal is true."""
    wrong: int

    def __str__(self) -> str:
        return _negation(self.fact) if self.is_negated else self.fact


_FEWEST = 3
"""Right matches that a condition keeps at least: fewer show little."""


def condition(right: Sequence[frozenset[str]], wrong: Sequence[frozenset[str]]) -> Condition | None:
    """
    Return the condition that keeps the most right matches, where each further fact must keep more;
    None if no condition keeps a few.
    """
    literals = _literals(right, wrong)
    price, best = max(1.0, _PRICE * len(right)), None
    best_score = 0.0
    for count in range(1, MOST_LITERALS + 1):
        tried = literals if count < MOST_LITERALS else literals[:_TRIED]
        for chosen in combinations(tried, count):
            found = _kept(chosen)
            score = found - price * (count - 1) - sum(each.cost for each in chosen) * len(right)
            if found >= _FEWEST and (best is None or score > best_score):
                best, best_score = Condition(chosen, found), score
    return best


def _literals(right: Sequence[frozenset[str]], wrong: Sequence[frozenset[str]]) -> list[_Literal]:
    """Return the facts and negations that exclude a wrong match and keep a right one."""
    texts = dict.fromkeys(text for facts in (*right, *wrong) for text in sorted(facts))
    found: list[_Literal] = []
    masks = dict[tuple[int, int], float]()
    for text in sorted(texts, key=lambda text: (text.count(" of "), len(text), text)):
        for negated in (False, True):
            literal = _Literal(
                text,
                negated,
                _cost(text, negated),
                _mask(right, text, negated),
                _mask(wrong, text, negated),
            )
            mask = literal.right, literal.wrong
            excludes = literal.wrong != (1 << len(wrong)) - 1
            if excludes and literal.right and masks.get(mask, inf) > literal.cost:
                masks[mask] = literal.cost
                found.append(literal)
    found.sort(key=lambda each: (-each.right.bit_count(), each.cost))
    return found


def _cost(text: str, negated: bool) -> float:
    """Return the cost of a fact: those that seldom matter to what a rule computes cost more."""
    return _INCIDENTAL * any(word in text for word in _INCIDENTAL_WORDS) + _NEGATION * negated


def _mask(matches: Sequence[frozenset[str]], text: str, negated: bool) -> int:
    return sum(1 << at for at, facts in enumerate(matches) if (text in facts) != negated)


def _kept(literals: Sequence[_Literal]) -> int:
    """Return the number of right matches that satisfy all literals; 0 if a wrong one does."""
    right, wrong = -1, -1
    for each in literals:
        right &= each.right
        wrong &= each.wrong
    return right.bit_count() if wrong == 0 and right > 0 else 0


_VERBS = (" is ", " are ", " has ", " reads ")
_NEGATED = {
    " is ": " is not ",
    " are ": " are not ",
    " has ": " does not have ",
    " reads ": " does not read ",
}


def _negation(text: str) -> str:
    """Return the negation of a fact, at its first verb."""
    if text.endswith(" is never negative"):
        return text.replace(" is never negative", " may be negative")
    if text.startswith("a size of "):
        return text.replace("a size of ", "no size of ", 1)
    at, verb = min((text.find(verb), verb) for verb in _VERBS if verb in text)
    return text[:at] + _NEGATED[verb] + text[at + len(verb) :]
