# SPDX-License-Identifier: Apache-2.0
"""
Lists of nested ops, in the order of `Operation.walk`: an op comes before the ops inside it.

Passes traverse small bodies many times; a list takes a quarter of the time of xDSL's nested
generators. Unnecessary when `Operation.walk` does not nest a generator for each region.

`rewrite_each` applies a pattern once to each op of some classes. `PatternRewriteWalker` can do
this, too, without rewriting new ops. But it creates a rewriter for every op, and most passes skip
most ops of a kernel. Unnecessary when the walker creates rewriters only for the op classes that its
pattern matches.
"""

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern


def ops_in(*scopes: Operation) -> list[Operation]:
    """Return each of `scopes` and all ops nested in it, as a snapshot."""
    found: list[Operation] = []
    for scope in scopes:
        _add(scope, found)
    return found


def ops_within(op: Operation) -> list[Operation]:
    """Return the ops directly in the blocks of `op`, without ops nested deeper."""
    return [inner for region in op.regions for block in region.blocks for inner in block.ops]


def nests_in(scope: Operation) -> list[Operation]:
    """Return the ops with regions nested in `scope`, at any depth; a kernel has few of them."""
    found: list[Operation] = []
    pending = [scope]
    while pending:
        nests = [op for op in ops_within(pending.pop()) if op.regions]
        found += nests
        pending += nests
    return found


def rewrite_each(scope: Operation, pattern: RewritePattern, *kinds: type[Operation]) -> None:
    """Apply `pattern` to each op of `kinds` in `scope`; skip ops that were erased meanwhile."""
    ops = ops_in(scope)
    matching = {kind for kind in set(map(type, ops)) if issubclass(kind, kinds)}
    for op in ops:
        if type(op) in matching and op.parent is not None:
            pattern.match_and_rewrite(op, PatternRewriter(op))


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
