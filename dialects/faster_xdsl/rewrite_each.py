# SPDX-License-Identifier: Apache-2.0
"""
Application of a pattern once to each op of some classes, in order.

`PatternRewriteWalker` can do this, too, without rewriting new ops. But it creates a rewriter for
every op, and most passes skip most ops of a kernel. Unnecessary when the walker creates rewriters
only for the op classes that its pattern matches.
"""

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from tilewright.dialects.faster_xdsl.walk import ops_in


def rewrite_each(scope: Operation, pattern: RewritePattern, *kinds: type[Operation]) -> None:
    """Apply `pattern` to each op of `kinds` in `scope`; skip ops that were erased meanwhile."""
    ops = ops_in(scope)
    matching = {kind for kind in set(map(type, ops)) if issubclass(kind, kinds)}
    for op in ops:
        if type(op) in matching and op.parent is not None:
            pattern.match_and_rewrite(op, PatternRewriter(op))
