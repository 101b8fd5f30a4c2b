# SPDX-License-Identifier: Apache-2.0
"""
All ops inside others, in the order of `Operation.walk`: an op comes before the ops inside it.

Passes look through small bodies again and again; a list takes a quarter of the time of xDSL's
nested generators. Unnecessary when `Operation.walk` does not nest a generator for each region.
"""

from xdsl.ir import Operation


def ops_in(*scopes: Operation) -> list[Operation]:
    """Return each of `scopes` and all that it contains, as it is now."""
    found: list[Operation] = []
    for scope in scopes:
        _add(scope, found)
    return found


def ops_within(op: Operation) -> list[Operation]:
    """Return the ops of the blocks of `op`, without what they contain."""
    return [inner for region in op.regions for block in region.blocks for inner in block.ops]


def nests_in(scope: Operation) -> list[Operation]:
    """Return the ops inside `scope` that contain others: few of the ops of a kernel do."""
    found: list[Operation] = []
    pending = [scope]
    while pending:
        nests = [op for op in ops_within(pending.pop()) if op.regions]
        found += nests
        pending += nests
    return found


def _add(scope: Operation, found: list[Operation]) -> None:
    found.append(scope)
    for region in scope.regions:
        block = region.first_block
        while block is not None:
            op = block.first_op
            while op is not None:
                if op.regions:
                    _add(op, found)
                else:
                    found.append(op)
                op = op.next_op
            block = block.next_block
