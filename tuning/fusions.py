# SPDX-License-Identifier: Apache-2.0
"""
The ways to fuse a program for one target, as a tree.

Passes decide one thing after the other, and what is decided otherwise changes only what comes up
later. So a node is a program, with some decisions overturned. Its first child is to leave it at
that; each of the others overturns one more of those that come later, where the model is the least
sure first:

    to-loop ---- as it is
            |--- apart fuse-epilogue:linear>relu ---- as it is
            |                                    `--- fused inline-elementwise:relu>linear_1 ...
            `--- fused inline-elementwise:rms_norm>linear ...

The leaves are whole programs, each once; the first is the default. Nothing is fused before a
search gets there. What is not legal never comes up (`fusion_decisions`).
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
"""Programs that are kept at Loop IR."""


@dataclass
class Fused:
    """A program whose kernels are fused, and what was decided on the way."""

    nests: ModuleOp
    """At Loop IR; not to be changed."""
    fuses: dict[str, bool]
    """Each decision, in the order in which they came up, and how it came out."""
    ratios: dict[str, float]
    """How long the model has each take if it is to fuse, with 1 for apart."""
    idle: Sequence[str]
    """What was asked for and has not come up."""


class Fusions:
    """All ways to fuse `program`, which is at Tensor IR."""

    def __init__(self, program: ModuleOp, target: str):
        self.target = target
        self.reasons: Counter[str] = Counter()
        """Why programs were refused, and how often."""
        self._program = program
        self._kept = OrderedDict[loop.FusionAttr, Fused | None]()
        self.root = Node(self, loop.FusionAttr.get(), "")

    def nests(self, leaf: tree.Node) -> ModuleOp:
        """Return the program of a leaf of this tree, at Loop IR; not to be changed."""
        assert isinstance(leaf, Node)
        fused = self.fused(leaf.fusion)
        assert fused is not None
        return fused.nests

    def fused(self, fusion: loop.FusionAttr) -> Fused | None:
        """Return the program with these decisions; None if some pass has refused it."""
        if fusion not in self._kept:
            self._kept[fusion] = self._fused(fusion)
        self._kept.move_to_end(fusion)
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return self._kept[fusion]

    def _fused(self, fusion: loop.FusionAttr) -> Fused | None:
        try:
            return fuse(self._program, fusion, self.target)
        except REFUSED as err:
            self.reasons[one_line(err)] += 1
            return None


def fuse(program: ModuleOp, fusion: loop.FusionAttr, target: str) -> Fused:
    """`program` at Tensor IR, with its kernels fused as is said, and by default elsewhere."""
    heard = _Decisions()
    with listening(heard):
        nests = lower(decided(program, fusion), Level.LOOP, target=target)
    idle = [each for each in fusion.unmet if each not in heard.fuses]
    return Fused(nests, heard.fuses, heard.ratios, idle)


class Node:
    """A program that is fused in some way; with children, those that begin like it."""

    def __init__(self, space: Fusions, fusion: loop.FusionAttr, label: str, is_leaf: bool = False):
        self.fusion = fusion
        self.label = label
        """What was overturned last: `apart fuse-epilogue:linear>relu`."""
        self._space, self._is_leaf = space, is_leaf

    @property
    def children(self) -> Sequence["Node"]:
        """To leave it at that, and then what can be overturned; none of what is refused."""
        return self._found

    @cached_property
    def _found(self) -> Sequence["Node"]:
        fused = None if self._is_leaf else self._space.fused(self.fusion)
        return [] if fused is None else [*self._expand(fused)]

    @property
    def schedule(self) -> str | None:
        """How to make the program of a leaf of its Tensor IR; None of any other node."""
        if self.children or self._space.fused(self.fusion) is None:
            return None
        return schedule_of(self.fusion)

    def _expand(self, fused: Fused) -> Iterator["Node"]:
        overturned = {*self.fusion.unmet}
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
    """How far the two forms are apart."""
    return abs(log(ratio)) if ratio > 0 else 0.0


@dataclass
class _Decisions(Listener[None]):
    """Hears what is decided about fusion, and how it comes out at last."""

    fuses: dict[str, bool] = field(default_factory=dict[str, bool])
    ratios: dict[str, float] = field(default_factory=dict[str, float])

    def look(self, scope: Operation) -> None:
        """Nothing of a change is kept."""

    def weighed(self, decision: str, fuses: bool, ratio: float) -> None:
        """Keep the last answer at the place of the first."""
        self.fuses[decision] = fuses
        self.ratios[decision] = ratio
