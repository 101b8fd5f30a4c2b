# SPDX-License-Identifier: Apache-2.0
"""Small trees whose best leaf is known."""

from collections.abc import Callable, Sequence

from tilewright.tuning.measurement import Measurement

Digits = tuple[int, ...]


class Tree:
    """
    Tree with `widths[n]` children, labelled by digits, for each node at depth n; some are dead
    ends.
    """

    def __init__(
        self,
        widths: Sequence[int],
        digits: Digits = (),
        is_dead: Callable[[Digits], bool] = lambda digits: False,
    ):
        self.widths, self.digits, self.is_dead = widths, digits, is_dead
        self._children: Sequence[Tree] | None = None

    @property
    def label(self) -> str:
        return str(self.digits[-1:])

    @property
    def children(self) -> Sequence["Tree"]:
        if self._children is None:
            is_last = len(self.digits) == len(self.widths) or self.is_dead(self.digits)
            width = 0 if is_last else self.widths[len(self.digits)]
            below = ((*self.digits, digit) for digit in range(width))
            self._children = [Tree(self.widths, each, self.is_dead) for each in below]
        return self._children

    @property
    def schedule(self) -> str | None:
        is_leaf = len(self.digits) == len(self.widths) and not self.is_dead(self.digits)
        return str(self.digits) if is_leaf else None


def planted(best: Digits) -> Callable[[str], Measurement]:
    """Return a measure of schedules that is faster the more digits agree with `best`."""

    def measure(schedule: str) -> Measurement:
        digits = tuple(int(digit) for digit in schedule if digit.isdigit())
        wrong = sum(a != b for a, b in zip(digits, best, strict=True))
        return Measurement(schedule, 10.0 * 1.3**wrong)

    return measure
