# SPDX-License-Identifier: Apache-2.0
"""
Strip-mines loops in which a thread goes along memory and stores, so that vectors can be moved.

    %sum = scf.for %k = %0 to %4096 step %1 iter_args(%s = %zero) -> (f32) {
      %x = loop.load %a[%t, %k] : memref<64x4096xf32>
      %s_1 = arith.addf %s, %x : f32
      loop.store %s_1, %out[%t, %k] : memref<64x4096xf32>
      scf.yield %s_1 : f32
    }

becomes, in strips of 16 steps,

    %sum = scf.for %k = %0 to %256 step %1 iter_args(%s = %zero) -> (f32) {
      kernel.unroll %v in 16 {
        %x = loop.load %a[%t, %k * 16 + %v] ...  loop.store %x, %r[%v] : memref<16xf32, 5 : i64>
      }
      %s_16 = scf.for %v = %0 to %16 step %1 iter_args(%s_0 = %s) -> (f32) {
        %x = loop.load %r[%v] ...  %s_1 = arith.addf %s_0, %x : f32
        loop.store %s_1, %w[%v] : memref<16xf32, 5 : i64>
        scf.yield %s_1 : f32
      } {unroll}
      kernel.unroll %v in 16 {
        %y = loop.load %w[%v] ...  loop.store %y, %out[%t, %k * 16 + %v] : memref<64x4096xf32>
      }
      scf.yield %s_16 : f32
    }

A running sum (`loop.scan`) is a loop of this kind. Each thread has a row, and the rows of a warp
are far apart: by single elements, a warp would ask for eight times the bytes that it needs. A
strip has up to 64 bytes of a row, which are in flight together. Reductions, which store nothing,
are chunked before (`chunk-reduce`).
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp, NoneAttr, UnitAttr
from xdsl.ir import Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.rewriter import InsertPoint

from tilewright.dialects import kernel, loop
from tilewright.dialects.axes import cached_ranges, range_of_value
from tilewright.dialects.faster_xdsl.walk import rewrite_each
from tilewright.dialects.kernel.registers import UNROLL, RegistersOp, UnrollOp
from tilewright.dialects.origin import from_same
from tilewright.dialects.types import memref_type, size_of
from tilewright.passes.facts.effects import is_pure
from tilewright.passes.facts.vector_width import vector_width
from tilewright.passes.reporting.trace import Rule, rewriting, skipped
from tilewright.passes.rewriting.substitution import Substitution

RULE = Rule("k", 16, "strip_mine")

_STRIP_BYTES = 64
"""
Bytes of a strip. With eight warps an SM has 16 KiB in flight, which reach 0.87 of the bandwidth of
an H100 (`time_models.reached_bandwidth`).
"""

_MOST_HELD = 64
"""Most elements that a thread holds for the accesses of a strip."""

Moving = loop.LoadOp | loop.StoreOp
Place = tuple[AffineExpr, SSAValue]
"""Expression of a step by a strip and a step of it, and the strip."""


class Strips(NamedTuple):
    """Loop with the accesses that are done for a strip at a time."""

    steps: int
    """Steps of the loop."""
    length: int
    """Steps of a strip."""
    vectors: Sequence[Moving]
    """Accesses whose elements in a strip are vectors."""


def strips_of(op: scf.ForOp) -> Strips | str | None:
    """
    Return the strips of a loop, or a skip reason. Return None for a loop of another kind: it is
    unrolled, has no constant number of steps or stores nothing in global memory.
    """
    steps, body = _steps(op), op.body.block
    stores = [inner for inner in body.ops if isinstance(inner, loop.StoreOp)]
    if steps is None or not stores or not all(map(_is_global, _moves(body))):
        return None
    if (reason := _reason_against(op)) is not None:
        return reason
    for length in (32, 16, 8, 4, 2):
        vectors = [move for move in _moves(body) if _is_vector(move, op, length)]
        held = sum(length for _ in vectors)
        sizes = [size_of(memref_type(move.memref).element_type) for move in vectors]
        fits = held <= _MOST_HELD and all(length * size <= _STRIP_BYTES for size in sizes)
        if vectors and fits and steps % length == 0 and steps >= 2 * length:
            return Strips(steps, length, vectors)
    return "its steps access no aligned neighbours"


def _steps(op: scf.ForOp) -> int | None:
    """Return the steps of a loop from 0 that is not unrolled; None if they are not constant."""
    bounds = [range_of_value(value) for value in (op.lb, op.ub, op.step)]
    if UNROLL in op.attributes or any(b is None or b.low != b.high for b in bounds):
        return None
    low, high, step = (bound.low for bound in bounds if bound is not None)
    return high if (low, step) == (0, 1) else None


def _moves(body: Block) -> list[Moving]:
    return [op for op in body.ops if isinstance(op, loop.LoadOp | loop.StoreOp)]


def _is_global(move: Moving) -> bool:
    return isinstance(memref_type(move.memref).memory_space, NoneAttr)


def _reason_against(op: scf.ForOp) -> str | None:
    """Reason why the steps of a loop cannot be divided into strips, or None."""
    written = {inner.memref for inner in op.body.block.ops if isinstance(inner, loop.StoreOp)}
    index = op.body.block.args[0]
    for inner in op.body.block.ops:
        if inner.regions:
            return "it contains another loop"
        if isinstance(inner, loop.LoadOp) and inner.memref in written:
            return "it loads from memory that it writes"
        if isinstance(inner, loop.LoadOp | loop.StoreOp | scf.YieldOp):
            continue
        if not is_pure(inner):
            return f"it has {inner.name}"
        if index in inner.operands and not isinstance(inner, loop.IndexOp | loop.PredicateOp):
            return f"{inner.name} uses its index"
    return None


def _is_vector(move: Moving, op: scf.ForOp, length: int) -> bool:
    """True if vectors move in strips of `length`, at subscripts that the loop does not compute."""
    inside = {result for inner in op.body.block.ops for result in inner.results}
    named = {*move.indices, *move.mask_operands}
    is_wide = vector_width(move, op.body.block.args[0], length) > 1
    return is_wide and inside.isdisjoint(named)


class _StripMine(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.ForOp, rewriter: PatternRewriter) -> None:
        strips = strips_of(op)
        if isinstance(strips, str):
            skipped(RULE, kernel.function_of(op), strips)
        elif strips is not None:
            with rewriting(RULE, kernel.function_of(op)):
                _strip_mine(op, strips, rewriter)


def _strip_mine(op: scf.ForOp, strips: Strips, rewriter: PatternRewriter) -> None:
    length = strips.length
    counts = [IntegerAttr(n, IndexType()) for n in (strips.steps // length, length)]
    numbers = [arith.ConstantOp(count) for count in counts]
    rewriter.insert(numbers, InsertPoint.before(op))
    outer = _empty_loop(op, numbers[0].result, op.iter_args, op.body.block.args[0].name_hint)
    strip, *carried = outer.body.block.args
    inner = _empty_loop(op, numbers[1].result, carried, "v")
    inner.attributes[UNROLL] = UnitAttr()
    arrays = {move: _array(move, length) for move in strips.vectors}
    outer.body.block.add_ops(arrays.values())
    place = (AffineExpr.dimension(0) * length + AffineExpr.dimension(1)), strip
    moved = {move: _moved(move, array.memref, op, place) for move, array in arrays.items()}
    _fill(inner, op, place, arrays)
    outer.body.block.add_ops(nest for m, nest in moved.items() if isinstance(m, loop.LoadOp))
    outer.body.block.add_op(inner)
    outer.body.block.add_ops(nest for m, nest in moved.items() if isinstance(m, loop.StoreOp))
    outer.body.block.add_op(scf.YieldOp(*inner.results))
    rewriter.replace(op, outer)


def _empty_loop(
    op: scf.ForOp, steps: SSAValue, carried: Sequence[SSAValue], hint: str | None
) -> scf.ForOp:
    """Return a loop without ops that carries values as `op` does."""
    body = Block(arg_types=[IndexType(), *(value.type for value in carried)])
    for new, old in zip(body.args, op.body.block.args, strict=True):
        new.name_hint = old.name_hint
    body.args[0].name_hint = hint
    new = from_same(op, scf.ForOp(op.lb, steps, op.step, carried, body))
    for result, old in zip(new.results, op.results, strict=True):
        result.name_hint = old.name_hint
    return new


def _array(move: Moving, length: int) -> RegistersOp:
    """Return the registers for the elements that an access moves in a strip."""
    array = from_same(move, RegistersOp(memref_type(move.memref).element_type, [length]))
    array.memref.name_hint = move.memref.name_hint
    return array


def _moved(move: Moving, array: SSAValue, op: scf.ForOp, place: Place) -> UnrollOp:
    """Return the nest that moves the elements of a strip between memory and registers."""
    (length,) = memref_type(array).get_shape()
    body = Block(arg_types=[IndexType()])
    body.args[0].name_hint = "v"
    held = [AffineExpr.dimension(0)], body.args
    substitution = _at(op, place, body.args[0])
    if isinstance(move, loop.LoadOp):
        load = substitution.clone(move)
        body.add_ops([load, from_same(move, loop.StoreOp(load.results[0], array, held))])
    else:
        load = from_same(move, loop.LoadOp(array, held))
        load.result.name_hint = move.value.name_hint
        substitution.values[move.value] = load.result
        body.add_ops([load, substitution.clone(move)])
    return from_same(move, UnrollOp([length], Region(body)))


def _fill(
    inner: scf.ForOp, op: scf.ForOp, place: Place, arrays: Mapping[Moving, RegistersOp]
) -> None:
    """Fill a loop over the steps of a strip with the steps of `op`."""
    index, *carried = inner.body.block.args
    substitution = _at(op, place, index)
    substitution.values.update(zip(op.body.block.args[1:], carried, strict=True))
    held = [AffineExpr.dimension(0)], [index]
    for old in op.body.block.ops:
        if not isinstance(old, loop.LoadOp | loop.StoreOp) or old not in arrays:
            inner.body.block.add_op(substitution.clone(old))
            continue
        array = arrays[old].memref
        if isinstance(old, loop.LoadOp):
            new = from_same(old, loop.LoadOp(array, held))
            new.result.name_hint = old.result.name_hint
            substitution.values[old.result] = new.result
        else:
            new = from_same(old, loop.StoreOp(substitution.value(old.value), array, held))
        inner.body.block.add_op(new)


def _at(op: scf.ForOp, place: Place, step: SSAValue) -> Substitution:
    """Return the substitution of the index of `op` by the step of a strip."""
    expr, strip = place
    return Substitution(indices={op.body.block.args[0]: (expr, (strip, step))})


class StripMinePass(ModulePass):
    """Strip-mine loops that store, so that vectors are moved."""

    name = "strip-mine"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Strip-mine each loop of the module that stores neighbouring elements in its steps."""
        with cached_ranges():
            rewrite_each(op, _StripMine(), scf.ForOp)
