# SPDX-License-Identifier: Apache-2.0
"""
All ops inside others, as `Operation.walk` has them: in order, those that contain others first. For
the small bodies that passes look through again and again this list takes a quarter of the time.
"""

from xdsl.ir import Operation


def ops_in(*scopes: Operation) -> list[Operation]:
    """Each of `scopes` and all that it contains, as it is now."""
    found: list[Operation] = []
    pending = [*reversed(scopes)]
    while pending:
        op = pending.pop()
        found.append(op)
        for region in reversed(op.regions):
            block = region.last_block
            while block is not None:
                last = block.last_op
                while last is not None:
                    pending.append(last)
                    last = last.prev_op
                block = block.prev_block
    return found


def ops_within(op: Operation) -> list[Operation]:
    """The ops of the blocks of `op`, without what they contain."""
    return [inner for region in op.regions for block in region.blocks for inner in block.ops]


def nests_in(scope: Operation) -> list[Operation]:
    """The ops inside `scope` that contain others: few of the ops of a kernel do."""
    found: list[Operation] = []
    pending = [scope]
    while pending:
        nests = [op for op in ops_within(pending.pop()) if op.regions]
        found += nests
        pending += nests
    return found
