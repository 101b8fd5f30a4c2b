# SPDX-License-Identifier: Apache-2.0
"""
Printers of what passes do: every rewrite as a diff with its cost, every skip as a remark, and every
step of a schedule that changed nothing.

    >>> t:007_stage_inputs
    @@ matched at rms_norm @@
    @@ -2,6 +2,7 @@
       tile.launch (%row = block 32 row, %t = thread 256 k) {
    +    %xs = tile.stage (%i) in [2048] { ... }
    ...
    ledger: smem 0 -> 8192 B, occupancy 8 -> 6 blocks/SM
    <<< t:007_stage_inputs
    --- t:008_register_tile skipped at rms_norm: no contraction
    --- t:016_mark_unroll matched at rms_norm: no change: the kernel is this way already

`awk '/^>>> t:007/,/^<<< t:007/'` extracts one rewrite. Use as `with listening(TracePrinter(out))`.
"""

from collections.abc import Callable
from typing import NamedTuple, Self, TextIO

from xdsl.ir import Operation

from tilewright.dialects.target import DEFAULT_TARGET
from tilewright.dialects.target import target as target_named
from tilewright.passes.cost.ledger import Cost, cost, ledger
from tilewright.passes.reporting.trace import Listener, Rule
from tilewright.tools.output.minimal_diff import minimal_diff

NO_CHANGE = "no change: the kernel is this way already"
"""Remark on a step of a schedule that found the kernel as it would make it."""


class _Remarks:
    """
    Printer of skip reasons; it prints each one only once, however often a pass visits the place.
    """

    def __init__(self, stream: TextIO, paint: Callable[[str], str] = str):
        self.stream = stream
        self.paint = paint
        self.printed: set[str] = set()

    def skipped(self, rule: Rule, site: str, reason: str) -> None:
        """Print the remark, unless it was printed before."""
        line = f"--- {rule} skipped at {site}: {reason}"
        if line not in self.printed:
            self.printed.add(line)
            print(self.paint(line), file=self.stream)


class RemarkPrinter(_Remarks, Listener[None]):
    """Listener that prints only why passes skipped a place: `-v`, `opt-tool --remarks`."""

    def look(self, scope: Operation) -> None:
        """Take no snapshot."""


class Snapshot(NamedTuple):
    """Text and cost of a function, kernel or module at one time."""

    text: str
    cost: Cost

    @classmethod
    def of(cls, scope: Operation) -> Self:
        """Return the snapshot of the scope as it is now."""
        return cls(str(scope), cost(scope))


class TracePrinter(_Remarks, Listener[Snapshot]):
    """Listener that prints rewrites and remarks: `-vv`, `opt-tool --trace`."""

    def __init__(
        self, stream: TextIO, target: str = DEFAULT_TARGET, paint: Callable[[str], str] = str
    ):
        super().__init__(stream, paint)
        self.target = target_named(target)

    def look(self, scope: Operation) -> Snapshot:
        """Return the text and the cost of the scope."""
        return Snapshot.of(scope)

    def decided(self, rule: Rule, site: str, reason: str) -> None:
        """Print the decision and its reason, before the rewrite."""
        print(self.paint(f"--- {rule} chosen at {site}: {reason}"), file=self.stream)

    def matched_without_change(self, rule: Rule, site: str) -> None:
        """Print a remark for a step of a schedule; a match of another rule may only be a try."""
        if rule.schedules:
            print(self.paint(f"--- {rule} matched at {site}: {NO_CHANGE}"), file=self.stream)

    def rewrote(self, rule: Rule, site: str, before: Snapshot, after: Snapshot) -> None:
        """Print the rewrite between its markers."""
        lines = (
            f">>> {rule}",
            f"@@ matched at {site} @@",
            *minimal_diff(before.text, after.text),
            ledger(before.cost, after.cost, self.target),
            f"<<< {rule}",
        )
        print("\n".join(map(self.paint, lines)), file=self.stream)
