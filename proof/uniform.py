# SPDX-License-Identifier: Apache-2.0
"""
Keys of numbers that are the same at all steps of a kernel: values with equal keys are equal.

    %0 = loop.load %position[0] : memref<1xi64>
    %1 = arith.subi %0, %c1 : i64
    %2 = loop.to_index %1 below 256 : i64

All threads have one `%2`, because they load one element of an input and compute the same of it.
"""

from collections.abc import Hashable

from xdsl.dialects.arith import ConstantOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.traits import is_side_effect_free

from tilewright.dialects.kernel_like import KernelLikeOp
from tilewright.dialects.loop import LoadOp, ToIndexOp


def uniform_key(value: SSAValue) -> Hashable | None:
    """Return the key of a value that depends on no step and no thread; None for others."""
    match op := value.owner:
        case ConstantOp():
            return op.value
        case LoadOp():
            return _loaded(op)
        case ToIndexOp():
            if op.where is not None or (key := uniform_key(op.value)) is None:
                return None
            return op.name, op.bound, key
        case Operation() if op.name.startswith("arith.") and is_side_effect_free(op):
            keys = tuple(map(uniform_key, op.operands))
            kept = frozenset(op.properties.items())
            return None if None in keys else (op.name, kept, value.type, keys)
        case _:
            return None


def _loaded(op: LoadOp) -> Hashable | None:
    """Return the key of a load of a fixed element of an input; None for others."""
    memref = op.memref
    if not isinstance(memref, BlockArgument) or op.mask is not None or op.indices:
        return None
    kernel = memref.owner.parent_op()
    if not isinstance(kernel, KernelLikeOp) or memref not in kernel.inputs:
        return None
    return op.name, memref.index, op.map
