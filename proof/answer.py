# SPDX-License-Identifier: Apache-2.0
"""Answers to obligations: proved, refuted by a point, or unknown."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation
from xdsl.ir.affine import AffineExpr
from xdsl.utils.str_enum import StrEnum

from tilewright.proof.solver import Solver


class Outcome(StrEnum):
    """Outcome of an obligation."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Answer:
    """
    Outcome of an obligation, and its evidence.

    That is the point of a refutation, or the reason why the outcome is unknown, with the obligation
    as SMT-LIB text.
    """

    outcome: Outcome
    evidence: str = ""
    script: str = ""


PROVED = Answer(Outcome.PROVED)


@dataclass(frozen=True)
class Obligation(ABC):
    """Statement about a kernel that has to hold at all points."""

    kind: str
    """Kind of the statement, as `docs/proofs.md` lists them: `bounds`, `complete`, ..."""
    subject: str
    """Access or memory that the statement is about."""
    op: Operation
    """Op that the statement is about."""

    @abstractmethod
    def decide(self, solver: Solver) -> Answer:
        """Prove or refute the statement."""


def point_text(shown: Mapping[str, AffineExpr], values: Sequence[int]) -> str:
    """Return a point as text: `%bm = 2, %i = 1, subscript 0 = 33`."""
    return ", ".join(f"{name} = {expr.eval(values, ())}" for name, expr in shown.items())
