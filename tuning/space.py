# SPDX-License-Identifier: Apache-2.0
"""
The schedules of a kernel for one target, as a tree.

A node is a question: the next pass has an option with several values that are possible for the
kernel at this point. The children are the answers, the best guess first; the leaves are whole
schedules. Therefore the first leaf is the planner's schedule.

    chunk-matmul-k bk=16 ---- split-matmul-k left out ---- blockify-launch m=128 ---- n=128 -- ...
                         |                            |                          `--- n=64 --- ...
                         |                            `--- blockify-launch m=64 ...
                         `--- split-matmul-k factor=2 ...

Passes come in the order of `to-tile`, and their options one at a time (`aspects`). A choice with
one answer is not a question. Steps and options that the user has pinned are in every schedule
(`pins`). Nodes are expanded when a search reaches them. Errors of passes and
verifiers are counted.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cached_property

from xdsl.utils.exceptions import VerifyException

from tilewright.dialects import loop, tile
from tilewright.dialects.target import DEFAULT_TARGET
from tilewright.errors import one_line
from tilewright.passes.cost.shared_budget import reason_not_fitting
from tilewright.passes.driver.lowering import REFUSED
from tilewright.passes.driver.pipeline_string import configure
from tilewright.passes.driver.pipelines import passes_of, to_tile
from tilewright.passes.driver.verification import verify_module
from tilewright.passes.targeted_pass import for_target
from tilewright.passes.tile.register_tile import RegisterTilePass
from tilewright.passes.tile.scheduling_pass import SchedulingPass
from tilewright.passes.tile.tileify import TileifyPass
from tilewright.tuning.alternatives import alternatives, pinned_alternatives
from tilewright.tuning.aspects import split
from tilewright.tuning.pins import pins_of
from tilewright.tuning.search import tree
from tilewright.tuning.states import KEPT, States, Step

_NUMBER = re.compile(r"\d+")

Choices = Sequence[SchedulingPass | None]


class Space:
    """All schedules of one kernel at Loop IR for one target."""

    def __init__(self, kernel: loop.KernelOp, target: str = DEFAULT_TARGET, kept: int = KEPT):
        self.target = target
        self.states = States(kernel, kept)
        self.reasons = defaultdict[str, Counter[str]](Counter[str])
        """Counts of the reasons why each pass was skipped or failed; digits are replaced by `#`."""
        self.expanded = 0
        """Number of nodes whose children are computed."""
        steps = (for_target(step, target) for step in passes_of(to_tile()))
        self.passes = [step for step in steps if isinstance(step, SchedulingPass)]
        self.settling = [step.name for step in self.passes].index(RegisterTilePass.name)
        """
        Position of the pass after which the threads of a block, and its shared memory, are final.
        """
        self.pins = pins_of(kernel, target)
        lift, *rest = self.pins.default
        self.default_options = {s.name: s.normalize_parameter_names().parameters for s in rest}
        self.root = Node(self, "", (configure(TileifyPass, lift, "pass"),), -1, (None,))

    def kernel(self, leaf: tree.Node) -> loop.KernelOp:
        """Return the kernel with the schedule of a leaf of this space; it must not be changed."""
        assert isinstance(leaf, Node)
        return self.states.after(leaf.steps).kernel

    def alternatives(self, step: SchedulingPass, launch: tile.LaunchOp) -> Choices:
        """Return the choices of a pass that is legal for the launch, the best guess first."""
        default, pinned = (of.get(step.name) for of in (self.default_options, self.pins.options))
        if pinned is None:
            return alternatives(step, launch, default)
        found = pinned_alternatives(step, launch, {} if default is None else default, pinned)
        if not found:
            self.refuse(step.name, "its pinned options are not possible")
        return found

    def refuse(self, name: str, reason: object) -> None:
        """Count the reason why a pass was skipped, or why its result was rejected."""
        self.reasons[name][_NUMBER.sub("#", one_line(reason))] += 1


class Node:
    """A question, with the answers to earlier questions."""

    def __init__(self, space: Space, label: str, steps: tuple[Step, ...], at: int, open: Choices):
        self.steps = steps
        """Steps decided so far; once the children are known, all steps before this question."""
        self.label = label
        """Answer that leads here: `blockify-launch m=128`."""
        self._space, self._at, self._open = space, at, open
        self._is_whole = False

    @property
    def children(self) -> Sequence["Node"]:
        """Answers to the question, the best guess first; none for a leaf or an illegal schedule."""
        return self._found

    @cached_property
    def _found(self) -> Sequence["Node"]:
        self._space.expanded += 1
        return self._expand()

    @property
    def schedule(self) -> str | None:
        """Schedule of a leaf as a pipeline string; None for any other node."""
        if self.children or not self._is_whole:
            return None
        schedule = self._space.states.after(self.steps).kernel.schedule
        return None if schedule is None else schedule.data

    def _expand(self) -> list["Node"]:
        while len(self._open) == 1:
            (choice,) = self._open
            self.steps = self.steps if choice is None else (*self.steps, choice)
            try:
                launch = self._space.states.after(self.steps)
            except REFUSED as err:
                self._space.refuse(self.steps[-1].name, err)
                return []
            if self._at == self._space.settling and not self._is_valid(launch, whole=False):
                return []
            if not self._advance(launch):
                self._is_whole = self._is_valid(launch, whole=True)
                return []
        parts = split(self._open)
        return [Node(self._space, label, self.steps, self._at, p) for label, p in parts.items()]

    def _advance(self, launch: tile.LaunchOp) -> bool:
        """
        Make the next pass that is legal for the launch the question of this node; return False if
        there is none. A pinned pass that is not legal is a question without answers.
        """
        space = self._space
        for at in range(self._at + 1, len(space.passes)):
            step = space.passes[at]
            if step.name in space.pins.excluded:
                continue
            if (reason := step.reason_against(launch)) is None:
                self._at, self._open = at, space.alternatives(step, launch)
                return True
            space.refuse(step.name, reason)
            if step.name in space.pins.options:
                self._open = ()
                return True
        return False

    def _is_valid(self, launch: tile.LaunchOp, *, whole: bool) -> bool:
        """True if a block has room for its shared memory and, if `whole`, the kernel verifies."""
        try:
            if whole:
                verify_module(launch.kernel)
            reason = reason_not_fitting(launch, {}, self._space.target)
        except VerifyException as err:
            reason = str(err)
        if reason is not None:
            self._space.refuse(self.steps[-1].name, reason)
        return reason is None
