# SPDX-License-Identifier: Apache-2.0
"""
Arguments of a function that the program writes in place.

    func.func @main(%cache: memref<32x16xf32> {torch.becomes = 0 : i64}, %row: memref<16xf32>, ...)
        -> (memref<32x16xf32> {torch.mutates = "cache"})

`torch.becomes` is the result that the argument's memory is to hold when the program is done. So
that result may be written there right away, once nobody needs what was there before.
"""

from xdsl.dialects.builtin import IntegerAttr
from xdsl.dialects.func import FuncOp

BECOMES = "torch.becomes"


def becomes(function: FuncOp, argument: int) -> int | None:
    """Return the result that an argument becomes; None for one that is only read."""
    if function.arg_attrs is None:
        return None
    attribute = function.arg_attrs.data[argument].data.get(BECOMES)
    return attribute.value.data if isinstance(attribute, IntegerAttr) else None
