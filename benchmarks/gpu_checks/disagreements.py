# SPDX-License-Identifier: Apache-2.0
"""
Disagreements between the GPU and the simulator or a model, the largest first.

Wrong checks come first, then figures: those that checks have `compared`, and the times of races
against their estimates. Figures within a factor of `NOISE` agree.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from gpu_checks.outcome import Compared, Outcome, Verdict
from gpu_checks.suite import SUITES

ESTIMATES = "estimates"
"""Name of the stage whose checks estimate the times of the cases of races."""

NOISE = 1.1
"""Factor up to which two figures agree."""

Found = Iterable[tuple[str, str, Outcome]]
"""Results of checks: stage, check and outcome."""


class Disagreement(NamedTuple):
    """Disagreement of one check or figure."""

    stage: str
    check: str
    factor: float | None
    """Ratio of the larger to the smaller figure; None for a check that is wrong."""
    says: str

    @property
    def json(self) -> dict[str, Any]:
        """Disagreement as a JSON object."""
        return self._asdict()


def disagreements(found: Found) -> list[Disagreement]:
    """Return all disagreements: wrong checks first, then figures by decreasing factor."""
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
    """Yield a disagreement for each raced case with a time and an estimate."""
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
