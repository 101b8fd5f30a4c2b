# SPDX-License-Identifier: Apache-2.0
"""What comes of a check: a verdict, and one line that says it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple


class Verdict(StrEnum):
    """How a check ends."""

    RIGHT = "right"
    WRONG = "wrong"
    MISSING = "missing"
    """It could not be done here: a tool is not installed, or may not be used."""


class Compared(NamedTuple):
    """A figure of a model and what was measured: an entry of an outcome's figure `compared`."""

    assumed: float | None
    """None where no model has it."""
    measured: float
    unit: str
    constant: str
    """Whose figure it is: a name in the sources, or a program."""


@dataclass(frozen=True)
class Outcome:
    """What a check found."""

    verdict: Verdict
    says: str
    """One line for people."""
    figures: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Measurements, as JSON. The values of `compared` are `Compared` as objects, by name."""
    seconds: float = 0.0

    @property
    def json(self) -> dict[str, Any]:
        """The outcome as a JSON object."""
        return asdict(self)


def right(says: str, **figures: Any) -> Outcome:
    """Return all is as it should be."""
    return Outcome(Verdict.RIGHT, says, figures)


def wrong(says: str, **figures: Any) -> Outcome:
    """Something is not."""
    return Outcome(Verdict.WRONG, says, figures)


def missing(says: str, **figures: Any) -> Outcome:
    """Return the check cannot be done here."""
    return Outcome(Verdict.MISSING, says, figures)


def outcome_of(json: Mapping[str, Any]) -> Outcome:
    """Return the outcome of its JSON object."""
    verdict = Verdict(json["verdict"])
    return Outcome(verdict, str(json["says"]), json["figures"], float(json["seconds"]))
