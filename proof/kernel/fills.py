# SPDX-License-Identifier: Apache-2.0
"""Points at ops that concern a fill of a ring, with the numbers of earlier ops for the ring."""

from collections.abc import Iterable

from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects.kernel.ring import FillOp, RingType
from tilewright.proof.answer import Obligation
from tilewright.proof.formulas import Formula, Variables
from tilewright.proof.kernel.counting import Count
from tilewright.proof.kernel.intervals import IntervalClaim
from tilewright.proof.kernel.points import ThreadPoint


class Fill:
    """Point at an op of a ring, with the numbers of fills at it."""

    def __init__(self, ring: SSAValue, op: Operation):
        self.ring, self.op = ring, op
        self.at = ThreadPoint(Variables(), op)
        self.given = list[Formula]()

    def number(self, kind: type[FillOp], ops: Iterable[Operation] | None = None) -> AffineExpr:
        """Return the number of ops of one type for the ring: before this point, or in `ops`."""
        count = Count(self.at, lambda op: isinstance(op, kind) and op.ring is self.ring)
        return count.before(self.op) if ops is None else count.in_all(ops)

    def claim(self, subject: str, claim: Formula, **shown: AffineExpr) -> Obligation:
        """Return an obligation at this point."""
        return IntervalClaim(
            *("ring", subject, self.op),
            variables=self.at.variables,
            steps=self.at.steps,
            given=self.given,
            claim=claim,
            shown={**self.at.shown, **shown},
            is_of_data=self.at.is_of_data,
        )


def type_of(ring: SSAValue) -> RingType:
    """Return the type of a ring."""
    assert isinstance(ring.type, RingType)
    return ring.type


def depth_of(ring: SSAValue) -> int:
    """Return the number of slots of a ring."""
    return type_of(ring).depth.data
