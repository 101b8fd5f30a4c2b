# SPDX-License-Identifier: Apache-2.0
"""
A kernel after each of the steps of many schedules, which begin alike.

What was made last is kept. What is asked for again later is made of the nearest that is left of
what comes before it, so that steps which schedules share are rarely done twice.
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
"""Kernels that are kept. Each has some dozens of ops."""


class States:
    """The kernel after any steps; none may be changed."""

    def __init__(self, kernel: loop.KernelOp, kept: int = KEPT):
        nest = kernel.clone()
        nest.planned = None
        self._nest = ModuleOp([nest])
        self._most = kept
        self._kept = OrderedDict[Sequence[Step], ModuleOp]()
        self.carried_out = 0
        """Steps so far."""

    def after(self, steps: tuple[Step, ...]) -> tile.LaunchOp:
        """Return the launch after one step or more; raises what the last of them raises."""
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
