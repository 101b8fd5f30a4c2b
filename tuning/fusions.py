# SPDX-License-Identifier: Apache-2.0
"""
The ways to fuse a program for one target, as a tree.

Passes decide one fusion after the other; overturning a decision changes only later ones. A node of
the tree is a program with some decisions overturned. Its first child is a leaf: this program as it
is. Each other child overturns one more of the later decisions, those that the model is least sure
about first:

    to-loop ---- as it is
            |--- apart fuse-epilogue:linear>relu ---- as it is
            |                                    `--- fused inline-elementwise:relu>linear_1 ...
            `--- fused inline-elementwise:rms_norm>linear ...

The leaves are whole programs, each once; the first is the default. A program is fused only when a
search reaches it. Fusions that are not legal never appear (`fusion_decisions`).
"""

from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import log

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilewright.dialects import loop
from tilewright.errors import one_line
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import REFUSED, lower
from tilewright.passes.reporting.trace import Listener, listening
from tilewright.tuning.fusion_schedule import decided, schedule_of
from tilewright.tuning.search import tree

_KEPT = 64
"""Number of programs to cache at Loop IR."""


@dataclass
class Fused:
    """A program with fused kernels, and the decisions that led to it."""

    nests: ModuleOp
    """The program at Loop IR; it must not be changed."""
    fuses: dict[str, bool]
    """Outcome of each decision, in the order in which they were first weighed."""
    ratios: dict[str, float]
    """Estimated time of the fused kernels of each decision, relative to separate kernels."""
    idle: Sequence[str]
    """Prescribed decisions that no pass reached."""


class Fusions:
    """All ways to fuse `program`, which is at Tensor IR."""

    def __init__(self, program: ModuleOp, target: str):
        self.target = target
        self.reasons: Counter[str] = Counter()
        """Errors of programs that a pass rejected, with their numbers."""
        self.program = program
        self._kept = OrderedDict[loop.FusionAttr, Fused | None]()
        self.root = Node(self, loop.FusionAttr.get(), "")

    def nests(self, leaf: tree.Node) -> ModuleOp:
        """Return the program of a leaf of this tree, at Loop IR; it must not be changed."""
        assert isinstance(leaf, Node)
        fused = self.fused(leaf.fusion)
        assert fused is not None
        return fused.nests

    def fused(self, fusion: loop.FusionAttr) -> Fused | None:
        """Return the program with the prescribed decisions `fusion`; None if a pass rejects it."""
        if fusion not in self._kept:
            self._kept[fusion] = self._fused(fusion)
        self._kept.move_to_end(fusion)
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return self._kept[fusion]

    def _fused(self, fusion: loop.FusionAttr) -> Fused | None:
        try:
            return fuse(self.program, fusion, self.target)
        except REFUSED as err:
            self.reasons[one_line(err)] += 1
            return None


def fuse(program: ModuleOp, fusion: loop.FusionAttr, target: str) -> Fused:
    """
    Lower `program` from Tensor IR to Loop IR with the prescribed decisions, the default elsewhere.
    """
    heard = _Decisions()
    with listening(heard):
        nests = lower(decided(program, fusion), Level.LOOP, target=target)
    idle = [each for each in fusion.unreached if each not in heard.fuses]
    return Fused(nests, heard.fuses, heard.ratios, idle)


class Node:
    """A program with some decisions overturned, and the programs that overturn more."""

    def __init__(self, space: Fusions, fusion: loop.FusionAttr, label: str, is_leaf: bool = False):
        self.fusion = fusion
        self.label = label
        """The last decision overturned: `apart fuse-epilogue:linear>relu`."""
        self._space, self._is_leaf = space, is_leaf

    @property
    def children(self) -> Sequence["Node"]:
        """
        A leaf for this program, then one node per decision that can be overturned; none if
        rejected.
        """
        return self._found

    @cached_property
    def _found(self) -> Sequence["Node"]:
        fused = None if self._is_leaf else self._space.fused(self.fusion)
        return [] if fused is None else [*self._expand(fused)]

    @property
    def schedule(self) -> str | None:
        """Schedule that makes a leaf's program from its Tensor IR; None for any other node."""
        if self.children or self._space.fused(self.fusion) is None:
            return None
        return schedule_of(self.fusion)

    def _expand(self, fused: Fused) -> Iterator["Node"]:
        overturned = {*self.fusion.unreached}
        names = [*fused.fuses]
        last = max((names.index(name) for name in overturned if name in names), default=-1)
        later = [name for name in names[last + 1 :] if name not in overturned]
        later.sort(key=lambda name: _sureness(fused.ratios[name]))
        yield Node(self._space, self.fusion, "as it is", is_leaf=True)
        yield from (self._overturning(name, fused.fuses[name]) for name in later)

    def _overturning(self, name: str, fuses: bool) -> "Node":
        fused, apart = ([d.data for d in each] for each in (self.fusion.fused, self.fusion.apart))
        (apart if fuses else fused).append(name)
        label = f"{'apart' if fuses else 'fused'} {name}"
        return Node(self._space, loop.FusionAttr.get(fused=fused, apart=apart), label)


def _sureness(ratio: float) -> float:
    """Return the distance between the two forms, as the absolute log of their ratio."""
    return abs(log(ratio)) if ratio > 0 else 0.0


@dataclass
class _Decisions(Listener[None]):
    """Recorder of decisions about fusion and their last outcomes."""

    fuses: dict[str, bool] = field(default_factory=dict[str, bool])
    ratios: dict[str, float] = field(default_factory=dict[str, float])

    def look(self, scope: Operation) -> None:
        """Return nothing, since the contents of a change do not matter."""

    def weighed(self, decision: str, fuses: bool, ratio: float) -> None:
        """Record the last outcome, at the position of the first."""
        self.fuses[decision] = fuses
        self.ratios[decision] = ratio
