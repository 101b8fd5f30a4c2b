# SPDX-License-Identifier: Apache-2.0
"""
Comments for the phases of a kernel; each stands above the first op of its phase.

    // softmax: maximum over k, 4 steps           a loop that joins values
    // softmax: maximum across 32 threads         a join of threads or blocks
    // stage as from a; bs from b                 slabs that are filled from memory
    // share ms with all threads                  slabs that are filled from values of threads
    // linear, relu: elementwise, stored to out   all other ops

The names before the colon are those of the PyTorch ops that a phase comes from, if they are known.
"""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from enum import Enum, auto
from itertools import groupby
from math import prod
from typing import NamedTuple

from xdsl.dialects import arith
from xdsl.ir import Block, Operation, OpResult, SSAValue

from tilewright.dialects import kernel, loop, tile
from tilewright.dialects.axes import Role
from tilewright.dialects.faster_xdsl.walk import ops_of
from tilewright.dialects.monoid import Monoid
from tilewright.dialects.origin import origin_of, without_number
from tilewright.dialects.tile import Join, JoinAttr
from tilewright.dialects.tile.attributes import Axis, Level
from tilewright.dialects.tile.launch import launch_of
from tilewright.dialects.tile.stage import varies_along
from tilewright.passes.facts.effects import is_pure
from tilewright.passes.facts.nest import chunk_of
from tilewright.passes.kernel.emitter import Emitter

_MAX_NAMES = 4
"""Largest number of op names in a comment; more names are only counted."""

_JOINED: Mapping[Monoid, str] = {
    Monoid.ADD: "sum",
    Monoid.MUL: "product",
    Monoid.MAX: "maximum",
    Monoid.MIN: "minimum",
    Monoid.AND: "whether all hold",
    Monoid.OR: "whether any holds",
    Monoid.ARGMAX: "maximum and where it is",
    Monoid.ARGMIN: "minimum and where it is",
    Monoid.SOFTMAX: "maximum and sums weighted by exponentials",
    Monoid.MOMENTS: "mean and sum of squared deviations",
}

_BLOCKS: Mapping[Join, str] = {
    Join.CLUSTER: "{} blocks of a cluster",
    Join.LAST_BLOCK: "{} blocks, by the last",
    Join.ATOMIC: "{} blocks, one by one",
    Join.WORKSPACE: "{} blocks, by another kernel",
}


class Purpose(Enum):
    """Kind of work that the ops of a phase do."""

    STAGE = auto()
    SHARE = auto()
    LOOP = auto()
    COMBINE = auto()
    COMPUTE = auto()


class Phase(NamedTuple):
    """Consecutive ops with one purpose; each loop and each combine is a phase of its own."""

    purpose: Purpose
    ops: Sequence[Operation]

    def comment(self) -> str:
        """Return the comment that is printed above the first op of the phase."""
        match self.purpose:
            case Purpose.STAGE:
                return f"stage {filled(op for op in self.ops if isinstance(op, tile.StageOp))}"
            case Purpose.SHARE:
                shares = (op for op in self.ops if isinstance(op, tile.ShareOp))
                return f"share {slabs(shares)} with all threads"
            case Purpose.COMPUTE:
                return _computed(self.ops)
            case _:
                return _joined(self.ops[0])


def phases_of(ops: Iterable[Operation]) -> list[Phase]:
    """Divide consecutive ops into phases, and return the phases in order."""
    with_phase = [op for op in ops if not _has_no_phase(op)]
    phases: list[Phase] = []
    for purpose, run in groupby(with_phase, _purpose):
        is_each = purpose in (Purpose.LOOP, Purpose.COMBINE)
        phases += [Phase(purpose, [op]) for op in run] if is_each else [Phase(purpose, [*run])]
    return phases


def _has_no_phase(op: Operation) -> bool:
    """True if `op` begins no phase and is not mentioned in comments."""
    match op:
        case arith.ConstantOp() | loop.IndexOp() | loop.PredicateOp() | loop.ToIndexOp():
            return True
        case loop.YieldOp():
            return True
        case tile.CombineOp():
            return not _across(op)
        case loop.StoreOp(value=OpResult(op=tile.CombineOp(join=JoinAttr(data=Join.ATOMIC)))):
            return True  # the comment of the combine covers it
        case _:
            return False


def _purpose(op: Operation) -> Purpose:
    match op:
        case tile.StageOp():
            return Purpose.STAGE
        case tile.ShareOp():
            return Purpose.SHARE
        case loop.ReduceOp() | loop.ScanOp():
            return Purpose.LOOP
        case tile.CombineOp():
            return Purpose.COMBINE
        case _:
            return Purpose.COMPUTE


def filled(stages: Iterable[tile.StageOp]) -> str:
    """
    Return a text that says which slabs are filled, and from what: `hs from silu, mul of g, u; ws
    from w`.
    """
    return "; ".join(f"{slabs([stage])} from {_contents(stage)}" for stage in stages)


def slabs(filled: Iterable[tile.StageOp | tile.ShareOp]) -> str:
    """Return the names of slabs that are staged or shared, as one text."""
    return _names(op.slab for op in filled)


def _contents(stage: tile.StageOp) -> str:
    loads = [op for op in stage.body.walk() if isinstance(op, loop.LoadOp)]
    sources = _names(load.memref for load in loads)
    names = _torch_ops(_computing(stage))
    return f"{names} of {sources}" if names else sources


def _computed(run: Sequence[Operation]) -> str:
    ops = [inner for op in run for inner in op.walk()]
    stored = _names([op.memref for op in ops if isinstance(op, loop.StoreOp)])
    computing = [inner for op in run for inner in _computing(op)]
    if computing:
        names = _torch_ops(computing)
        what = "elementwise" if not names else f"{names}: elementwise"
        return f"{what}, stored to {stored}" if stored else what
    if stored:
        return f"store {stored}"
    return f"load {_names([op.memref for op in ops if isinstance(op, loop.LoadOp)])}"


def _computing(op: Operation) -> list[Operation]:
    """Return the arithmetic ops in `op`."""
    return [inner for inner in op.walk() if _is_arithmetic(inner)]


def _is_arithmetic(op: Operation) -> bool:
    is_access = isinstance(op, loop.LoadOp | loop.StoreOp) or bool(op.regions)
    return not is_access and not _has_no_phase(op) and is_pure(op)


def _joined(op: Operation) -> str:
    names = _torch_ops([op])
    what = _combined(op) if isinstance(op, tile.CombineOp) else _looped(op)
    inner = [op for op in _computing(op) if not isinstance(op.parent_op(), tile.StageOp)]
    computed = _torch_ops(op for op in inner if _torch_ops([op]) != names)
    if computed:
        names = f"{names} of {computed}"
    is_mentioned = not names or what.startswith(f"{names} ")
    return what if is_mentioned else f"{names}: {what}"


def _combined(op: tile.CombineOp) -> str:
    return f"{_JOINED[op.monoid.data]} across {_across(op)}"


def _across(op: tile.CombineOp) -> str:
    """
    Return the values, threads and blocks that a combine joins, in words; empty if it joins nothing.
    """
    launch = launch_of(op.axes[0])
    assert launch is not None
    axes = [axis for axis in launch.bound_axes() if axis.value in op.axes]
    parts = [
        (_extent(axes, lambda level: level is Level.REGISTER), "{} values of each thread"),
        (_extent(axes, lambda level: level.is_thread), "{} threads"),
        (
            _extent(axes, lambda level: level is Level.BLOCK),
            _BLOCKS[op.join_kind],
        ),
    ]
    return " and ".join(text.format(extent) for extent, text in parts if extent > 1)


def _extent(axes: Sequence[Axis], is_at: Callable[[Level], bool]) -> int:
    return prod(axis.extent for axis in axes if is_at(axis.level))


def _looped(op: Operation) -> str:
    assert isinstance(op, loop.ReduceOp | loop.ScanOp)
    axis, steps = op.body.block.args[0].name_hint or "an axis", op.axis_extents()[0]
    if isinstance(op, loop.ScanOp):
        running = ", ".join(_JOINED[prefix.monoid.data] for prefix in op.prefixes)
        return f"running {running} over {axis}, {steps_in_words(steps)}"
    what = f"{_outputs(op)}{_JOINED[op.monoid.data]} over {axis}, "
    what += f"up to {steps_in_words(steps)}" if op.is_bounded else steps_in_words(steps)
    if (chunk := _steps_of_chunk(op)) > 1:
        what += f" of {chunk}"
    return what


def steps_in_words(number: int) -> str:
    """Return a number of steps in words: `1 step`, `16 steps`."""
    return "1 step" if number == 1 else f"{number} steps"


def _steps_of_chunk(op: loop.ReduceOp) -> int:
    chunk = chunk_of(op)
    return 1 if chunk is None else chunk.axis_extents()[0] * _steps_of_chunk(chunk)


def _outputs(op: loop.ReduceOp) -> str:
    """
    Return `128x64 outputs, ` for a contraction that is not part of a larger one, else an empty
    text.
    """
    launch = op.parent_op()
    if not isinstance(launch, tile.LaunchOp):
        return ""
    users = [use.operation for use in op.results[-1].uses]  # the divisor of a softmax is no output
    joined = {axis for user in users if isinstance(user, tile.CombineOp) for axis in user.axes}
    varying = varies_along(op, {}) - joined
    own = [a for a in launch.bound_axes() if a.value in varying and a.level is not Level.BLOCK]
    sides = [prod(a.extent for a in own if a.role is role) for role in (Role.M, Role.N)]
    return "" if 1 in sides else f"{sides[0]}x{sides[1]} outputs, "


def _torch_ops(ops: Iterable[Operation]) -> str:
    """
    Return the names of the PyTorch ops that `ops` come from, in order, or an empty text if unknown.
    """
    origins = (origin_of(op.location) for op in ops)
    names = [without_number(origin.node) for origin in origins if origin is not None]
    return _listed(names)


def _names(values: Iterable[SSAValue]) -> str:
    return _listed([value.name_hint or "memory" for value in values])


def _listed(names: Sequence[str]) -> str:
    first, rest = (unique := [*dict.fromkeys(names)])[:_MAX_NAMES], len(unique) - _MAX_NAMES
    return ", ".join(first) + (f" and {rest} more" if rest > 0 else "")


class Commenting:
    """Comments of the phases that are not lowered yet."""

    def __init__(self, emitter: Emitter):
        self._emit = emitter
        self._comments: dict[Operation, str] = {}

    def enter(self, block: Block, elsewhere: Container[Operation]) -> None:
        """
        Prepare the comments for the ops of `block`, which are lowered next; ops in `elsewhere` are
        lowered elsewhere. A block whose ops form a single phase gets no comment: the comment above
        the block describes it.
        """
        ops = [op for op in block.ops if op not in elsewhere]
        phases = phases_of(ops)
        if len(phases) > 1 or len(ops) < len(block.ops):
            self._comments.update((phase.ops[0], phase.comment()) for phase in phases)

    def above(self, op: Operation) -> None:
        """
        Emit the comment of the phase that begins with `op`, if any; the lowering of `op` follows.
        """
        if (text := self._comments.pop(op, None)) is not None:
            with self._emit.at(op):
                self._emit.op(kernel.CommentOp(text))


def drop_only_comment(function: kernel.FuncOp) -> None:
    """Erase the comment of a kernel that has only one: the kernel's name says the same."""
    comments = ops_of(kernel.CommentOp, function)
    if len(comments) == 1:
        comments[0].detach()
        comments[0].erase()
