# SPDX-License-Identifier: Apache-2.0
"""
Phases of the positions of a transposed convolution: positions that are equal modulo the stride.

Step k reads element (o + p - k * d) / s at position o, if that is an integer. Stride, padding and
dilation are s, p and d. In the phase r = (o + p) mod s only every s-th step reads an element. With
stride 2, three steps and no padding,

    position 0 1 2 3 4 5 6
    phase    0 1 0 1 0 1 0
    steps    0 1 0 1 0 1 0
             2   2   2   2

so that the positions 2 * q + r are sums over the steps 2 * t + r of the elements q - t: a dense
product for all phases at once, in which the phase is a column of the weights. Steps beyond the last
are zero in the phases that have fewer steps than others.

If stride and dilation have a common divisor g, only the phases that g divides have any steps. The
others are left out: their results are zero. A second kernel then writes the zeros, which costs as
much as it saves if the product of all strides is 2 or 3: steps are masked instead.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd, prod

from xdsl.ir.affine import AffineExpr

from tilewright.dialects.torch.windows import TransposedWindow

_FEWEST_SPREAD = 4
"""Product of strides from which it pays to write zeros between results in a second kernel."""


@dataclass(frozen=True)
class Phases:
    """Positions of a transposed window as quotients and phases."""

    window: TransposedWindow

    @property
    def count(self) -> int:
        """Number of phases that have steps."""
        return self.window.stride // self._divisor

    @property
    def are_spread(self) -> bool:
        """True if some phases have no steps."""
        return self._divisor > 1

    @property
    def steps(self) -> int:
        """Most steps of a phase."""
        return -(-self.window.steps // self.count)

    @property
    def quotients(self) -> int:
        """Number of quotients of all positions by the stride."""
        return (self.window.positions - 1 + self._shift) // self.window.stride + 1

    def tap(self, phase: AffineExpr, step: AffineExpr) -> AffineExpr:
        """Return the step of the window that is a step of a phase; it may be beyond the last."""
        return self._first(phase) + step * self.count

    def element(self, quotient: AffineExpr, phase: AffineExpr, step: AffineExpr) -> AffineExpr:
        """Return the element that a step of a phase reads."""
        dilation = self.window.dilation // self._divisor
        moved = (phase - self._first(phase) * dilation) // self.count
        return quotient + self.window.padding // self.window.stride + moved - step * dilation

    def at(self, position: AffineExpr) -> tuple[AffineExpr, AffineExpr]:
        """Return the quotient and the phase of a position."""
        place = position + self._shift
        return place // self.window.stride, place % self.window.stride // self._divisor

    def has_steps(self, position: AffineExpr) -> AffineExpr:
        """Return an expression that is below 0 at positions whose phase has no steps, else 0."""
        return (position + self._shift) % self.window.stride % self._divisor * -1

    @property
    def _divisor(self) -> int:
        """Common divisor of stride and dilation."""
        return gcd(self.window.stride, self.window.dilation)

    @property
    def _shift(self) -> int:
        """Phase of position 0."""
        return self.window.padding % self.window.stride

    def _first(self, phase: AffineExpr) -> AffineExpr:
        """Return the first step of a phase: times the dilation, it is the phase (mod stride)."""
        if self.count == 1:
            return AffineExpr.constant(0)
        return phase * pow(self.window.dilation // self._divisor, -1, self.count) % self.count


def pays(phases: Sequence[Phases]) -> bool:
    """True if a sum by these phases is faster than one whose other steps are masked."""
    masked = prod(one.window.stride for one in phases)
    return masked >= (_FEWEST_SPREAD if any(one.are_spread for one in phases) else 2)
