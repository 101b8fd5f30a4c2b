# SPDX-License-Identifier: Apache-2.0
"""Outcome of a check: a verdict, with one line that explains it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple


class Verdict(StrEnum):
    """Verdict of a check: right, wrong, or missing."""

    RIGHT = "right"
    WRONG = "wrong"
    MISSING = "missing"
    """
    Verdict of a check that is not possible on this machine: a tool is not installed, or may not be
    used.
    """


class Compared(NamedTuple):
    """Figure of a model and its measurement: an entry of an outcome's figure `compared`."""

    assumed: float | None
    """Figure of the model; None if no model has it."""
    measured: float
    unit: str
    constant: str
    """Source of the figure: a name in the sources, or a program."""


@dataclass(frozen=True)
class Outcome:
    """Outcome of a check: verdict, explanation, figures and time."""

    verdict: Verdict
    says: str
    """Explanation of the verdict, in one line."""
    figures: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Measurements, as JSON. The values of `compared` are `Compared` as objects, by name."""
    seconds: float = 0.0

    @property
    def json(self) -> dict[str, Any]:
        """Outcome as a JSON object."""
        return asdict(self)


def right(says: str, **figures: Any) -> Outcome:
    """Return the outcome of a check that found everything right."""
    return Outcome(Verdict.RIGHT, says, figures)


def wrong(says: str, **figures: Any) -> Outcome:
    """Return the outcome of a check that found something wrong."""
    return Outcome(Verdict.WRONG, says, figures)


def missing(says: str, **figures: Any) -> Outcome:
    """Return the outcome of a check that is not possible on this machine."""
    return Outcome(Verdict.MISSING, says, figures)


def outcome_of(json: Mapping[str, Any]) -> Outcome:
    """Return the outcome that a JSON object represents."""
    verdict = Verdict(json["verdict"])
    return Outcome(verdict, str(json["says"]), json["figures"], float(json["seconds"]))
