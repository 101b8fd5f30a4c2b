# SPDX-License-Identifier: Apache-2.0
"""
Bugs in the accesses and in the order of threads, which proofs of Kernel IR have to find.

They are the bugs of `codegen.mutations` that are no bugs of values, and some that are: wrong slots,
lost guards and wide bounds. Subscripts that are exchanged, and arrays that are placed over the
array before them, are planted here.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from random import Random
from typing import NamedTuple

from xdsl.dialects.builtin import AffineMapAttr, IntegerAttr, i64
from xdsl.ir import Operation
from xdsl.ir.affine import AffineMap
from xdsl.utils.exceptions import VerifyException

from tilewright.codegen.mutations import Mutation, mutations
from tilewright.dialects.kernel import (
    ArriveOp,
    CopyAsyncOp,
    CopyOp,
    FuncOp,
    LoadMatrixOp,
    RemoteOp,
    SharedOp,
)
from tilewright.dialects.kernel.registers import LOCAL
from tilewright.dialects.loop import LoadOp, StoreOp
from tilewright.dialects.types import memref_type
from tilewright.proof.answer import Outcome
from tilewright.proof.kernels import Certificate, prove_function

_OF_BLOCKS = (ArriveOp, RemoteOp)
"""Ops whose bugs are about global memory, or about values of other blocks."""

_OF_ACCESSES = ("in the slot after", "one further", "lost", "too wide by one", "always taken")
"""Ends of the names of bugs of values that change which elements are accessed."""


class ThreadBug(NamedTuple):
    """Kernel with a bug, and what the bug is."""

    what: str
    line: str
    """First line of the op before the change."""
    function: FuncOp


def thread_bugs(function: FuncOp, count: int, seed: int) -> Iterator[ThreadBug]:
    """Yield up to `count` random bugs of a kernel; those that the verifier rejects are left out."""
    places = [
        (number, position)
        for number, op in enumerate(function.body.block.walk())
        for position, _ in enumerate(_bugs(op))
    ]
    Random(seed).shuffle(places)
    for number, position in places:
        if count == 0:
            return
        copy = function.clone()
        op = [*copy.body.block.walk()][number]
        mutation, line = [*_bugs(op)][position], str(op).partition("\n")[0]
        mutation.change(op)
        try:
            copy.verify()
        except VerifyException:
            continue
        count -= 1
        yield ThreadBug(f"{op.name}: {mutation.what}", line, copy)


def _bugs(op: Operation) -> Iterator[Mutation]:
    for mutation in mutations(op):
        is_of_order = not mutation.is_of_values and not isinstance(op, _OF_BLOCKS)
        if is_of_order or mutation.what.endswith(_OF_ACCESSES):
            yield mutation
    yield from exchanged_subscripts(op)
    if isinstance(op, SharedOp) and op.offset is not None and op.offset.value.data:
        yield Mutation("over the array before", _place_earlier)


def exchanged_subscripts(op: Operation) -> Iterator[Mutation]:
    """Yield accesses with two adjacent subscripts exchanged, if the axes differ."""
    for memref, name in _sides(op):
        type, map = memref_type(getattr(op, memref)), op.properties[name]
        assert isinstance(map, AffineMapAttr)
        results, shape = map.data.results, type.get_shape()
        for at, (one, other) in enumerate(pairwise(results)):
            if type.memory_space != LOCAL and one != other and shape[at] != shape[at + 1]:
                change = partial(_exchange, name=name, at=at)
                yield Mutation("subscripts exchanged", change, is_of_values=True)


def _sides(op: Operation) -> Sequence[tuple[str, str]]:
    """Return the names of the operands and the maps of an op's accesses."""
    match op:
        case LoadOp() | StoreOp():
            return [("memref", "map")]
        case CopyOp() | CopyAsyncOp():
            return [("source", "source_map"), ("target", "target_map")]
        case LoadMatrixOp():
            return [("source", "source_map")]
        case _:
            return ()


def _exchange(op: Operation, *, name: str, at: int) -> None:
    map = op.properties[name]
    assert isinstance(map, AffineMapAttr)
    results = [*map.data.results]
    results[at : at + 2] = results[at + 1], results[at]
    op.properties[name] = AffineMapAttr(AffineMap(map.data.num_dims, 0, tuple(results)))


def _place_earlier(op: Operation) -> None:
    assert isinstance(op, SharedOp)
    assert op.offset is not None
    op.offset = IntegerAttr(op.offset.value.data - op.alignment, i64)


def found_by_proof(bug: ThreadBug) -> str:
    """Return the kind of the first obligation that a bug refutes, `unknown`, or an empty text."""
    found: Certificate = prove_function(bug.function)
    for obligation, answer in found.answers:
        if answer.outcome is Outcome.REFUTED:
            return obligation.kind
    return "" if found.is_proved else "unknown"
