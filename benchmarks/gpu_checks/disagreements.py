# SPDX-License-Identifier: Apache-2.0
"""
What the GPU does otherwise than the simulator or a model says, the farthest first.

First come checks that are wrong, then figures: those that checks have `compared`, and the times of
races beside their estimates. Figures closer than `NOISE` are no disagreement.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from gpu_checks.outcome import Compared, Outcome, Verdict
from gpu_checks.suite import SUITES

ESTIMATES = "estimates"
"""The stage whose checks are the cases of races, with their estimates."""

NOISE = 1.1
"""Factor."""

Found = Iterable[tuple[str, str, Outcome]]
"""Stage, check and outcome."""


class Disagreement(NamedTuple):
    """One of them."""

    stage: str
    check: str
    factor: float | None
    """How many times too large or too small; None for a check that is wrong."""
    says: str

    @property
    def json(self) -> dict[str, Any]:
        """The disagreement as a JSON object."""
        return self._asdict()


def disagreements(found: Found) -> list[Disagreement]:
    """Return all of them, ranked."""
    found = list(found)
    wrong = [
        Disagreement(stage, check, None, " ".join(outcome.says.split()))
        for stage, check, outcome in found
        if outcome.verdict is Verdict.WRONG
    ]
    apart = [*_compared(found), *_estimated(found)]
    figures = [each for each in apart if each.factor is not None and each.factor >= NOISE]
    return [
        *wrong,
        *sorted(figures, key=lambda each: (-(each.factor or 0), each.stage, each.check)),
    ]


def _compared(found: Found) -> Iterator[Disagreement]:
    for stage, check, outcome in found:
        for name, figures in outcome.figures.get("compared", {}).items():
            compared = Compared(**figures)
            if compared.assumed and compared.measured:
                yield _apart(stage, f"{check} {name}".strip(), compared, compared.assumed)


def _estimated(found: Found) -> Iterator[Disagreement]:
    """Yield the cases of races whose times count, and which have estimates."""
    found = list(found)
    estimates = {check: o.figures.get("us") for stage, check, o in found if stage == ESTIMATES}
    stems = {suite.name: suite.stem for suite in SUITES}
    seen = set[str]()
    for stage, check, outcome in found:
        case = f"{stems.get(stage, '')}/{check}"
        measured, assumed = outcome.figures.get("us"), estimates.get(case)
        if stage not in stems or not measured or not assumed or case in seen:
            continue
        seen.add(case)
        compared = Compared(assumed, measured, "us", "codegen/report/estimate.py")
        yield _apart(stage, check, compared, assumed)


def _apart(stage: str, check: str, compared: Compared, assumed: float) -> Disagreement:
    factor = max(compared.measured / assumed, assumed / compared.measured)
    says = f"{compared.measured:.4g} {compared.unit}, assumed {assumed:.4g}: {compared.constant}"
    return Disagreement(stage, check, factor, says)
