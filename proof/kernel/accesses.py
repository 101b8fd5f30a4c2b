# SPDX-License-Identifier: Apache-2.0
"""
Obligations of each access to memory, at each step and in each thread where it happens:

* `bounds`: all elements are within their memory;
* `offset`: each number of which the offset is computed fits the C++ type of indices;
* `aligned`: the address of a vector is a multiple of its size.

Obligation `int` of an index or a loop: each number of which it is computed fits that type, too.
"""

from collections.abc import Iterator, Sequence

from xdsl.dialects import scf
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects.kernel import FuncOp, IndexOp, SharedOp, TmaCopyOp, function_of
from tilewright.dialects.loop import PredicateOp
from tilewright.dialects.types import memref_type, size_of
from tilewright.proof.answer import Obligation
from tilewright.proof.formulas import All, Formula, IsZero, NonNegative, Variables, below, constant
from tilewright.proof.kernel.intervals import IntervalClaim, parts_of
from tilewright.proof.kernel.places import Place, places_of
from tilewright.proof.kernel.points import ThreadPoint, step_of
from tilewright.proof.points import name_of

_INT, _LONG = 2**31, 2**63

_TENSOR_MAP = 16
"""Alignment in bytes of the arrays that TMA copies (CUDA driver API, `cuTensorMapEncodeTiled`)."""


def access_obligations(op: Operation) -> Iterator[Obligation]:
    """Yield the obligations of the accesses of an op."""
    limit = limit_of(function_of(op))
    for place in places_of(op):
        at = ThreadPoint(Variables(), op)
        subscripts, facts = place.subscripts(at), place.facts(at)
        shown = at.shown | {f"subscript {n}": expr for n, expr in enumerate(subscripts)}
        yield _claim("bounds", place, at, facts, All(place.within(subscripts)), shown)
        if place.is_in_registers:  # subscripts are constants
            continue
        offset, written = place.offset(subscripts), at.written(place.access)
        numbers = [part for expr in (*written, place.offset(written)) for part in parts_of(expr)]
        fits = All([*_fit(numbers, limit), below(offset, min(limit, place.size))])
        yield _claim("offset", place, at, facts, fits, shown | {"offset": offset})
        if place.width > 1:
            yield _aligned(place, at, facts, offset)


def _claim(
    kind: str,
    place: Place,
    at: ThreadPoint,
    facts: Sequence[Formula],
    claim: Formula,
    shown: dict[str, AffineExpr],
) -> Obligation:
    return IntervalClaim(
        *(kind, place.subject, place.op),
        variables=at.variables,
        steps=[*at.steps, *facts],
        claim=claim,
        shown=shown,
        is_of_data=at.is_of_data,
    )


def _aligned(
    place: Place, at: ThreadPoint, facts: Sequence[Formula], offset: AffineExpr
) -> Obligation:
    """Return the obligation that the address of a vector is a multiple of its bytes."""
    base = _alignment_of(place.array, function_of(place.op))
    element = size_of(place.type.element_type)
    address = offset * element
    is_multiple = IsZero(address % place.num_bytes)
    claim = is_multiple if base % place.num_bytes == 0 else NonNegative(constant(-1))
    shown = at.shown | {"byte": address, "alignment of the array": constant(base)}
    return _claim("aligned", place, at, facts, claim, shown)


def _alignment_of(array: SSAValue, function: FuncOp) -> int:
    """Return the number of bytes of which the address of an array is known to be a multiple."""
    if isinstance(array, BlockArgument):
        return function.alignment_of(array)
    return array.owner.alignment if isinstance(array.owner, SharedOp) else 1


def limit_of(function: FuncOp) -> int:
    """Return the end of the C++ type of indices, which counts the largest array of a kernel."""
    sizes = [memref_type(buffer).element_count() for buffer in function.buffers]
    return _INT if max(sizes) <= _INT else _LONG


def _fit(numbers: Sequence[AffineExpr], limit: int) -> list[Formula]:
    """Return the conditions that numbers are from `-limit` up to `limit`."""
    return [below(each + limit, 2 * limit) for each in dict.fromkeys(numbers)]


def index_obligations(op: IndexOp | PredicateOp) -> Iterator[Obligation]:
    """Yield that an index, or each number of a condition, fits its type."""
    at = ThreadPoint(Variables(), op)
    exprs = at.written((op.map.data.results, op.indices))
    if numbers := [part for expr in exprs for part in parts_of(expr)]:
        yield _ints(f"index {name_of(op.result)}", op, at, numbers)


def loop_obligations(op: scf.ForOp) -> Iterator[Obligation]:
    """Yield that the counter of a loop fits its type, also after the last step."""
    at = ThreadPoint(Variables(), op)
    end = at.index(op.ub) + (step_of(op) - 1)
    yield _ints(f"counter {name_of(op.body.block.args[0])}", op, at, [at.index(op.lb), end])


def _ints(
    subject: str, op: Operation, at: ThreadPoint, numbers: Sequence[AffineExpr]
) -> Obligation:
    return IntervalClaim(
        *("int", subject, op),
        variables=at.variables,
        steps=at.steps,
        claim=All(_fit(numbers, limit_of(function_of(op)))),
        shown=at.shown,
        is_of_data=at.is_of_data,
    )


def box_obligations(op: TmaCopyOp) -> Iterator[Obligation]:
    """
    Yield that a box goes to a slot of its slab, that its first subscripts fit `int`, and that the
    array is aligned as tensor maps have to be.
    """
    at = ThreadPoint(Variables(), op)
    slot, depth = at.index(op.slot), memref_type(op.target).get_shape()[0]
    first = at.written((op.map.data.results, op.indices))
    numbers = [part for expr in first for part in (*parts_of(expr), expr)]
    base = _alignment_of(op.source, function_of(op))
    claims = {
        "bounds": below(slot, depth),
        "offset": All(_fit(numbers, _INT)),
        "aligned": IsZero(constant(base % _TENSOR_MAP)),
    }
    for kind, claim in claims.items():
        yield IntervalClaim(
            *(kind, f"box of {name_of(op.target)}", op),
            variables=at.variables,
            steps=at.steps,
            claim=claim,
            shown=at.shown | {"slot": slot, "alignment of the array": constant(base)},
            is_of_data=at.is_of_data,
        )
