# SPDX-License-Identifier: Apache-2.0
"""
Arguments of a function that the program writes in place.

    func.func @main(%cache: memref<32x16xf32> {torch.becomes = 0 : i64}, %row: memref<16xf32>, ...)
        -> (memref<32x16xf32> {torch.mutates = "cache"})

`torch.becomes` is the position of the result that the argument's memory holds when the program
ends. Therefore that result may be written there directly, after the last read of the old contents.
"""

from xdsl.dialects.builtin import IntegerAttr
from xdsl.dialects.func import FuncOp

BECOMES = "torch.becomes"


def becomes(function: FuncOp, argument: int) -> int | None:
    """Return the position of the result that an argument becomes; None if it is only read."""
    if function.arg_attrs is None:
        return None
    attribute = function.arg_attrs.data[argument].data.get(BECOMES)
    return attribute.value.data if isinstance(attribute, IntegerAttr) else None
