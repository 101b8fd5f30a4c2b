# SPDX-License-Identifier: Apache-2.0
"""
Integers that are made of single elements of inputs: the same in all steps of all loops, and known
before any of them.

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
"""What they are computed with: it is defined for any integers, so that it may be done earlier."""


def made_of_single_elements(value: SSAValue) -> Sequence[Operation] | None:
    """
    What computes `value`, in order, if nothing but single elements of inputs goes into it, and at
    least one does.
    """
    known = dict[SSAValue, Operation]()
    for each in needed_first(value, known, _operands):
        if not isinstance(op := each.owner, Operation) or not _is_part(op):
            return None
        known[each] = op
    ops = [*known.values()]
    return ops if any(isinstance(op, loop.LoadOp) for op in ops) else None


def _operands(value: SSAValue) -> Sequence[SSAValue]:
    """What is computed of values; a load is where they come from."""
    op = value.owner
    return op.operands if isinstance(op, _FUNCTIONS) else ()


def _is_part(op: Operation) -> bool:
    if not isinstance(op, loop.LoadOp):
        return isinstance(op, _FUNCTIONS)
    is_input = kernel_of_argument(op.memref) is not None  # of outputs there are no loads
    return is_input and not op.indices and op.mask is None
