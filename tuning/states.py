# SPDX-License-Identifier: Apache-2.0
"""
A cache of a kernel after each step of many schedules, which share their first steps.

The most recent results are kept. Another result is computed from the longest kept prefix of its
steps, so that shared steps are rarely repeated.
"""

from collections import OrderedDict
from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.pattern_rewriter import PatternRewriter

from tilewright.dialects import loop, tile
from tilewright.passes.tile.scheduling_decision import carry_out
from tilewright.passes.tile.scheduling_pass import SchedulingPass
from tilewright.passes.tile.tileify import TileifyPass

Step = TileifyPass | SchedulingPass
"""A pass with values for all of its options."""

KEPT = 512
"""Number of kernels to keep; each has some dozens of ops."""


class States:
    """The kernel after any sequence of steps; results must not be changed."""

    def __init__(self, kernel: loop.KernelOp, kept: int = KEPT):
        nest = kernel.clone()
        nest.planned = None
        self._nest = ModuleOp([nest])
        self._most = kept
        self._kept = OrderedDict[Sequence[Step], ModuleOp]()
        self.carried_out = 0
        """Number of steps carried out so far."""

    def after(self, steps: tuple[Step, ...]) -> tile.LaunchOp:
        """Return the launch after one or more steps; raises the error of the step that fails."""
        (launch,) = tile.launches_of(self._module(steps))
        return launch

    def _module(self, steps: tuple[Step, ...]) -> ModuleOp:
        if not steps:
            return self._nest
        module = self._kept.get(steps)
        if module is None:
            module = self._carried_out(steps[-1], self._module(steps[:-1]))
            self._kept[steps] = module
        self._kept.move_to_end(steps)
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return module

    def _carried_out(self, step: Step, before: ModuleOp) -> ModuleOp:
        module = before.clone()
        if isinstance(step, TileifyPass):
            step.apply(Context(), module)
        else:
            (launch,) = tile.launches_of(module)
            carry_out(step, launch, PatternRewriter(launch))
        self.carried_out += 1
        return module
