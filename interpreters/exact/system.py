# SPDX-License-Identifier: Apache-2.0
"""Exact number systems, each made of a table of functions by op."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from xdsl.dialects import arith, math
from xdsl.ir import Attribute, Operation

from tilewright.dialects import scalar
from tilewright.dialects.monoid import Monoid
from tilewright.dialects.scalar_function import ScalarFunction
from tilewright.interpreters.exact.joins import ExactJoin, OrdinaryJoin
from tilewright.interpreters.exact.ordinary import InexactError, on_ordinary, refused
from tilewright.interpreters.floats import FLOATS
from tilewright.interpreters.number_system import Cast, ExactNumbers, Function
from tilewright.interpreters.types import Array, DType

_F = ScalarFunction

_OF_ORDER = (_F.MAXIMUM, _F.MINIMUM)

OPS: Mapping[ScalarFunction, type[Operation]] = {
    function: op for function, op in scalar.FLOAT_OPS.items() if function not in _OF_ORDER
}
"""
Op on floats of each function of `prim.elementwise` whose meaning an exact system may replace.
Maximum, minimum, comparisons and `select` are those of floats.
"""

ALONE = (math.CbrtOp, math.CopySignOp, math.RoundOp, math.FmaOp)
"""Ops on floats that are no function of `prim.elementwise`."""


def system(
    name: str,
    functions: Mapping[type[Operation], Function],
    *,
    number: Function,
    add: OrdinaryJoin,
    multiply: OrdinaryJoin,
    draw: Callable[[np.random.Generator, Sequence[int]], Array],
    to_integer: Cast,
    multiply_add: Function,
    halve: Callable[[Array, str], Array],
) -> ExactNumbers:
    """Return the number system whose functions of ordinary numbers are `functions`."""
    by_op = {
        op: on_ordinary(functions[op], FLOATS.functions[op], number)
        for op in (*OPS.values(), *ALONE)
    }
    added = ExactJoin(np.add, by_op[arith.AddfOp], add)
    multiplied = ExactJoin(np.multiply, by_op[arith.MulfOp], multiply)
    extra = {op: functions[op] for op in functions.keys() - by_op.keys()}
    by_name = {
        each: on_ordinary(functions[op], FLOATS.scalar_functions[each], number)
        for each, op in OPS.items()
    }
    floordiv = on_ordinary(refused("floordiv"), FLOATS.scalar_functions[_F.FLOORDIV], number)
    return ExactNumbers(
        functions={**FLOATS.functions, **by_op, **extra},
        scalar_functions={**FLOATS.scalar_functions, **by_name, _F.FLOORDIV: floordiv},
        casts={
            **FLOATS.casts,
            arith.SIToFPOp: _from_integer(arith.SIToFPOp, number),
            arith.UIToFPOp: _from_integer(arith.UIToFPOp, number),
            arith.FPToSIOp: to_integer,
            arith.FPToUIOp: to_integer,
            arith.BitcastOp: _bitcast,
        },
        joins={
            **FLOATS.joins,
            Monoid.ADD: added,
            Monoid.MUL: multiplied,
            Monoid.MOMENTS: added,
        },
        name=name,
        number=number,
        to_integer=to_integer,
        draw=draw,
        multiply_add=multiply_add,
        halve=halve,
    )


def _from_integer(op: type[Operation], number: Function) -> Cast:
    cast = FLOATS.casts[op]
    return lambda x, source, dtype: number(cast(x, source, dtype))


def _bitcast(x: Array, source: Attribute, dtype: DType) -> Array:
    raise InexactError("its floats have no bits (arith.bitcast)")
