# SPDX-License-Identifier: Apache-2.0
"""
Ops of which one stands for all that are alike, when they are verified.

Kernels consist of thousands of ops of few forms: the same kind, types and properties.
"""

from abc import ABC
from collections.abc import Hashable
from typing import ClassVar

from xdsl.ir import Operation

from tilewright.dialects.built_op import BuiltOp


class FormedOp(BuiltOp, ABC):
    """An op that its form verifies, unless it says otherwise."""

    FORM_DECIDES: ClassVar[bool] = True
    """
    Whether properties and types alone, with those of what its blocks are given, say if the op is
    well-formed: then one of those that are alike stands for all (`verification`).
    """

    def surroundings(self) -> Hashable:
        """What else decides it; nothing, where the form does alone."""
        return None


def types_at_the_end(op: Operation) -> Hashable:
    """Kind of the last op of each block in `op`, with the types of its operands."""
    ends = [block.last_op for region in op.regions for block in region.blocks]
    return tuple([end and (type(end), *[v.type for v in end.operands]) for end in ends])
