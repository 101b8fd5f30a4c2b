# SPDX-License-Identifier: Apache-2.0
"""
Masked loads of which something else takes the place where their mask fails.

    %v = loop.load %x[%i - 3] where [%i - 3] : memref<97xf32>
    %p = loop.predicate [%i - 3] : i1
    %s = arith.select %p, %v, %fill : f32

What such a load gives outside of its mask does not matter.
"""

from xdsl.dialects import arith

from tilewright.dialects import loop


def selection_of(load: loop.LoadOp) -> arith.SelectOp | None:
    """The only use of `load`, if it selects the load just where its mask holds."""
    select = load.result.get_user_of_unique_use()
    if not isinstance(select, arith.SelectOp) or select.lhs is not load.result:
        return None
    predicate = select.cond.owner
    if not isinstance(predicate, loop.PredicateOp) or load.mask != predicate.map:
        return None
    return select if tuple(load.mask_operands) == tuple(predicate.indices) else None
