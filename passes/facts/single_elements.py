# SPDX-License-Identifier: Apache-2.0
"""
Integers computed from single elements of inputs: equal in all steps of all loops, and known before
the loops.

    %0 = loop.load %position[0] : memref<1xi64>
    %1 = arith.subi %0, %window : i64
"""

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from tilewright.dialects import loop
from tilewright.dialects.loop.kernel import kernel_of_argument
from tilewright.dialects.needed_first import needed_first

_FUNCTIONS = (
    arith.ConstantOp,
    arith.AddiOp,
    arith.SubiOp,
    arith.MuliOp,
    arith.MaxSIOp,
    arith.MinSIOp,
    arith.ExtSIOp,
    arith.ExtUIOp,
    arith.TruncIOp,
)
"""
Ops that compute these integers; they are defined for all operands, so that they can be moved
earlier.
"""


def made_of_single_elements(value: SSAValue) -> Sequence[Operation] | None:
    """
    Return the ops that compute `value`, in order. Returns None unless it is computed from single
    elements of inputs and constants only, with at least one element.
    """
    known = dict[SSAValue, Operation]()
    for each in needed_first(value, known, _operands):
        if not isinstance(op := each.owner, Operation) or not _is_part(op):
            return None
        known[each] = op
    ops = [*known.values()]
    return ops if any(isinstance(op, loop.LoadOp) for op in ops) else None


def _operands(value: SSAValue) -> Sequence[SSAValue]:
    """Return the values that `value` is computed from; none for a load."""
    op = value.owner
    return op.operands if isinstance(op, _FUNCTIONS) else ()


def _is_part(op: Operation) -> bool:
    if not isinstance(op, loop.LoadOp):
        return isinstance(op, _FUNCTIONS)
    is_input = kernel_of_argument(op.memref) is not None  # no load is from an output
    return is_input and not op.indices and op.mask is None
