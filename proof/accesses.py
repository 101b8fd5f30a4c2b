# SPDX-License-Identifier: Apache-2.0
"""
Obligations of loads and stores, at every step where the mask is true:

* `bounds`: every subscript is within its axis;
* `offset`: the element's offset is below 2^31, because kernels count in C++ `int`. For arrays with
  more elements, kernels count in `long long`.

A slab holds a value at each of its coordinates, therefore what is within its bounds was written.
"""

from collections.abc import Iterator
from math import prod

from tilewright.dialects.index import linearize
from tilewright.dialects.loop import LoadOp, StoreOp
from tilewright.dialects.tile import SHARED
from tilewright.dialects.types import memref_type
from tilewright.proof.answer import Obligation
from tilewright.proof.claim import Claim
from tilewright.proof.formulas import Variables, below, within
from tilewright.proof.points import Point, name_of

_INT, _LONG = 2**31, 2**63


def access_obligations(op: LoadOp | StoreOp) -> Iterator[Obligation]:
    """Yield the obligations of a load or store."""
    type = memref_type(op.memref)
    at, shape = Point(Variables(), op), type.get_shape()
    subscripts, mask = at.exprs((op.map.data.results, op.indices)), at.holds(op.where)
    verb = "load from" if isinstance(op, LoadOp) else "store to"
    yield Claim(
        *("bounds", f"{verb} {name_of(op.memref)}", op),
        variables=at.variables,
        steps=[*at.facts, *mask],
        claim=within(subscripts, shape),
        shown=at.shown() | {f"subscript {n}": expr for n, expr in enumerate(subscripts)},
        is_of_data=bool(at.data),
    )
    if type.memory_space == SHARED:
        return
    offset = linearize(subscripts, shape)
    yield Claim(
        *("offset", f"{verb} {name_of(op.memref)}", op),
        variables=at.variables,
        steps=[*at.facts, *mask],
        claim=below(offset, _INT if prod(shape) <= _INT else _LONG),
        shown=at.shown() | {"offset": offset},
        is_of_data=bool(at.data),
    )
