# SPDX-License-Identifier: Apache-2.0
"""
Fills slabs in shared memory with the values that a block reads more than once.

    %sum = loop.reduce %ko in 8 with add {
      %chunk = loop.reduce %ki in 16 with add {
        %x = loop.load %a[%bm * 16 + %tm, %ko * 16 + %ki] : memref<64x128xf32>
        %y = loop.load %b[%ko * 16 + %ki, %bn * 16 + %tn] : memref<128x96xf32>
        ...

becomes, with `stage-inputs{raw=a,b}`,

    %sum = loop.reduce %ko in 8 with add {
      %as = tile.stage (%i, %k) in [16, 16] {
        %0 = loop.load %a[%bm * 16 + %i, %ko * 16 + %k] : memref<64x128xf32>
        loop.yield %0 : f32
      } : memref<16x16xf32, 3 : i64>
      %bs = tile.stage (%k_1, %j) in [16, 16] { ... }
      %chunk = loop.reduce %ki in 16 with add {
        %x = loop.load %as[%tm, %ki] : memref<16x16xf32, 3 : i64>
        %y = loop.load %bs[%ki, %tn] : memref<16x16xf32, 3 : i64>
        ...

An operand is a value that several threads share in the steps of a loop. In the body of the launch,
a value that several loops compute the same way is an operand too. An example is the row of a
normalisation. An operand has the name of the argument that it is loaded from. If there are several
arguments, the first that differs along all of its axes counts. A second operand of an argument `x`
is `x-1`. An argument without a name is `arg0`, by its position. Each operand is

- `computed`: staged with the work on it, as far as the result is still shared or read again;
  `silu(g) * u` is one slab. If the work ends by widening a half type, the slab has the half type;
- `raw`: staged as it is loaded; casts and other work stay where the operand is used;
- `none`: loaded where it is used.

A value that only one thread reads in the steps of a loop is not an operand: it stays in registers.

Values that threads hold of a row, such as its maximum, reach the threads that fill a slab through a
slab of their own: `%maxs = tile.share %max at [%tm]`. A slab is ordered as its source lies in
memory. The layout of operands in `transposed` exchanges their last two axes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint
from xdsl.utils.arg_spec import ParameterListType

from tilewright.dialects import loop, tile
from tilewright.dialects.tile import SlabLayoutAttr
from tilewright.dialects.types import memref_type
from tilewright.passes.cost.shared_budget import shared_bytes, slab_bytes
from tilewright.passes.facts.effects import is_pure
from tilewright.passes.facts.named_slabs import stages_of
from tilewright.passes.reporting.trace import Rule
from tilewright.passes.tile.held_values import Shares
from tilewright.passes.tile.operands import Kind, Operand, find_operands
from tilewright.passes.tile.reuse import is_unchunked
from tilewright.passes.tile.scheduling_decision import Answer, Questions
from tilewright.passes.tile.scheduling_pass import SchedulingPass


@dataclass(frozen=True)
class StageInputsPass(SchedulingPass, RewritePattern):
    """Stage the values that a block reads more than once in shared memory."""

    name = "stage-inputs"
    RULE: ClassVar[Rule] = Rule("t", 7, "stage_inputs")

    raw: tuple[str, ...] | None = None
    """Operands that are staged as they are loaded."""
    computed: tuple[str, ...] | None = None
    """Operands that are staged with the work on them."""
    none: tuple[str, ...] | None = None
    """Operands that are loaded where they are used."""
    transposed: tuple[str, ...] | None = None
    """Operands that are staged with their last two axes exchanged in memory."""

    def reason_against(self, launch: tile.LaunchOp) -> str | None:
        if stages_of(launch):
            return "its operands are staged already"
        if launch.num_threads == 1:
            return "a block is one thread, which shares nothing"
        if find_operands(launch):
            return None
        if is_unchunked(launch):
            return "its contraction is not done in chunks (chunk-matmul-k)"
        return "a block reads nothing more than once"

    def questions(self, launch: tile.LaunchOp) -> Questions:
        """
        Return a question for each operand, `operand NAME`, with the ways to stage it, with and
        without exchanged axes.
        """
        return {f"operand {o.name}": _answers(o) for o in find_operands(launch)}

    def with_answers(self, answers: Mapping[str, Answer]) -> Self:
        listed: dict[str, list[str]] = {}
        for question, answer in answers.items():
            for option in str(answer).split():
                listed.setdefault(option, []).append(question.removeprefix("operand "))
        return replace(self, **{option: tuple(names) for option, names in listed.items()})

    def reason_not_possible(self, launch: tile.LaunchOp) -> str | None:
        operands = find_operands(launch)
        for operand in operands:
            if operand.name in (self.computed or ()) and Kind.COMPUTED not in operand.kinds:
                return f"{operand.name} is only loaded; use 'raw={operand.name}'"
        if (problem := self._reason_against_names(operands)) is not None:
            return problem
        kinds = [(operand, self.kind(operand.name)) for operand in operands]
        turnable = matrices(operands, {operand.name: kind for operand, kind in kinds})
        for name in self.transposed or ():
            if name not in turnable:
                return f"{name} has no slab with two axes to exchange"
        return self.reason_not_fitting(kinds, shared_bytes(launch))

    @op_type_rewrite_pattern
    def match_and_rewrite(self, launch: tile.LaunchOp, rewriter: PatternRewriter) -> None:
        every = ((o, p) for o in find_operands(launch) for p in o.places[self.kind(o.name)])
        # Each value once: two operands may be computed from one load.
        used = [*{place.value: (operand, place) for operand, place in every}.values()]
        shares, slabs = Shares(rewriter), dict.fromkeys(place.slab for _, place in used)
        stages = {slab: slab.stage(shares) for slab in slabs}  # before any value is replaced
        for operand, place in used:
            stage = stages[place.slab]
            if stage.parent is None:
                self._insert(stage, place.value, operand, rewriter)
            _replace(place.value, loop.LoadOp(stage.slab, place.subscripts), rewriter)

    def _insert(
        self, stage: tile.StageOp, value: SSAValue, operand: Operand, rewriter: PatternRewriter
    ) -> None:
        """Insert `stage` in the operand's site, ahead of the first loop that uses `value`."""
        source = value.owner.memref if isinstance(value.owner, loop.LoadOp) else operand.argument
        if operand.name in (self.transposed or ()) and len(stage.extents) > 1:
            rewriter.replace_value_with_new_type(stage.slab, _transposed(memref_type(stage.slab)))
        if source.name_hint is not None:
            stage.slab.name_hint = f"{source.name_hint}s"
        first = operand.site.find_ancestor_op_in_block(_owner(value))
        assert first is not None
        rewriter.insert(stage, InsertPoint.before(first))

    def completed(
        self, guess: dict[str, ParameterListType], given: dict[str, ParameterListType]
    ) -> dict[str, ParameterListType]:
        """Return the given options, and the guess for the operands that they do not name."""
        named = {name for names in given.values() for name in names}
        rest = {key: tuple(n for n in guess[key] if n not in named) for key in {*guess} - {*given}}
        return {**{key: names for key, names in sorted(rest.items()) if names}, **given}

    def kind(self, name: str) -> Kind:
        listed = {Kind.RAW: self.raw, Kind.COMPUTED: self.computed}
        return next((kind for kind, names in listed.items() if name in (names or ())), Kind.NONE)

    def _reason_against_names(self, operands: Sequence[Operand]) -> str | None:
        """Reason why a given name is not an operand, or is listed twice, or None."""
        known = [operand.name for operand in operands]
        listed = [*(self.raw or ()), *(self.computed or ()), *(self.none or ())]
        for name in (*listed, *(self.transposed or ())):
            if name not in known:
                return f"it has no operand '{name}'; it has {', '.join(known)}"
            if listed.count(name) > 1:
                return f"{name} is listed {listed.count(name)} times; list it once"
        return None

    def reason_not_fitting(self, kinds: Sequence[tuple[Operand, Kind]], taken: int) -> str | None:
        """Reason why the slabs do not fit beside `taken` bytes of shared memory, or None."""
        slabs = dict.fromkeys(slab for operand, kind in kinds for slab in operand.slabs(kind))
        room = self.gpu.shared_per_block
        needed = sum(slab_bytes(slab.type) for slab in slabs)
        if needed + taken <= room:
            return None
        if taken > room:
            return (
                f"joins and shares take {taken} bytes of shared memory already, and a block of "
                f"{self.target} has {room}"
            )
        beside = f" beside {taken} of joins and shares" if taken else ""
        return (
            f"its slabs take {needed} bytes of shared memory{beside}, and a block of {self.target} "
            f"has {room}; stage fewer operands, or smaller chunks (bk of chunk-matmul-k)"
        )


def _answers(operand: Operand) -> list[str]:
    kinds = [kind.value for kind in Kind if kind in operand.kinds]
    return [*kinds, *(f"{kind} transposed" for kind in kinds if kind != Kind.NONE.value)]


def matrices(operands: Sequence[Operand], kinds: Mapping[str, Kind]) -> list[str]:
    """Return the names of the operands that have a slab of two axes or more."""
    return [
        operand.name
        for operand in operands
        if any(slab.type.get_num_dims() > 1 for slab in operand.slabs(kinds[operand.name]))
    ]


def _transposed(slab: MemRefType) -> MemRefType:
    *rest, row, column = range(len(slab.get_shape()))
    layout = SlabLayoutAttr.get(order=[*rest, column, row])
    return MemRefType(slab.element_type, slab.get_shape(), layout, tile.SHARED)


def _replace(value: SSAValue, load: loop.LoadOp, rewriter: PatternRewriter) -> None:
    """Replace `value` by `load`, and erase the ops that only `value` needed."""
    op = _owner(value)
    load.location = op.location
    load.result.name_hint = value.name_hint
    rewriter.insert(load, InsertPoint.before(op))
    rewriter.replace_all_uses_with(value, load.result)
    _erase_unused(op, rewriter)


def _owner(value: SSAValue) -> Operation:
    """Return the op that computes a value."""
    assert isinstance(value.owner, Operation)
    return value.owner


def _erase_unused(op: Operation, rewriter: PatternRewriter) -> None:
    """Erase `op` if it is pure and unused, then the ops of its operands in the same way."""
    pending = [op]
    while pending:
        op = pending.pop()
        is_erased = op.parent is None  # reached through two of its users
        if is_erased or any(result.uses for result in op.results) or not is_pure(op):
            continue
        owners = dict.fromkeys(operand.owner for operand in op.operands)
        rewriter.erase(op)
        pending += [owner for owner in owners if isinstance(owner, Operation)]
