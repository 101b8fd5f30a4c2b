# SPDX-License-Identifier: Apache-2.0
"""
Prints what passes do: every rewrite as a diff with its cost, every refusal as a remark.

    >>> t:007_stage_inputs
    @@ matched at rms_norm @@
    @@ -2,6 +2,7 @@
       tile.launch (%row = block 32 row, %t = thread 256 k) {
    +    %xs = tile.stage (%i) in [2048] { ... }
    ...
    ledger: smem 0 -> 8192 B, occupancy 8 -> 6 blocks/SM
    <<< t:007_stage_inputs
    --- t:008_register_tile skipped at rms_norm: no contraction

`awk '/^>>> t:007/,/^<<< t:007/'` cuts one rewrite out. Use as `with listening(TracePrinter(out))`.
"""

from collections.abc import Callable
from typing import NamedTuple, Self, TextIO

from xdsl.ir import Operation

from tilewright.dialects.target import DEFAULT_TARGET
from tilewright.dialects.target import target as target_named
from tilewright.passes.cost.ledger import Cost, cost, ledger
from tilewright.passes.reporting.trace import Listener, Rule
from tilewright.tools.output.minimal_diff import minimal_diff


class _Remarks:
    """Prints each skip once, however often the pass looks at the same place."""

    def __init__(self, stream: TextIO, paint: Callable[[str], str] = str):
        self.stream = stream
        self.paint = paint
        self.printed: set[str] = set()

    def skipped(self, rule: Rule, site: str, reason: str) -> None:
        """Print the remark."""
        line = f"--- {rule} skipped at {site}: {reason}"
        if line not in self.printed:
            self.printed.add(line)
            print(self.paint(line), file=self.stream)


class RemarkPrinter(_Remarks, Listener[None]):
    """Prints why passes left something alone, and nothing else: `-v`, `opt-tool --remarks`."""

    def look(self, scope: Operation) -> None:
        """Keep nothing."""


class Snapshot(NamedTuple):
    """A function, a kernel or a module at one time."""

    text: str
    cost: Cost

    @classmethod
    def of(cls, scope: Operation) -> Self:
        """What it is now."""
        return cls(str(scope), cost(scope))


class TracePrinter(_Remarks, Listener[Snapshot]):
    """Prints rewrites and remarks: `-vv`."""

    def __init__(
        self, stream: TextIO, target: str = DEFAULT_TARGET, paint: Callable[[str], str] = str
    ):
        super().__init__(stream, paint)
        self.target = target_named(target)

    def look(self, scope: Operation) -> Snapshot:
        """Keep the text, and what it costs."""
        return Snapshot.of(scope)

    def decided(self, rule: Rule, site: str, reason: str) -> None:
        """Print what was weighed, before the rewrite."""
        print(self.paint(f"--- {rule} chosen at {site}: {reason}"), file=self.stream)

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
