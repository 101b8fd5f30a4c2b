# SPDX-License-Identifier: Apache-2.0
"""
Apply a pattern once to each op of a kind, in order.

`PatternRewriteWalker` does the same if it is not to apply the pattern to new ops, but makes a
rewriter for every op, and most of a kernel's ops do not interest most passes. Unnecessary when the
walker makes a rewriter only for ops of the kinds that its pattern matches.
"""

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from tilewright.dialects.faster_xdsl.walk import ops_in


def rewrite_each(scope: Operation, pattern: RewritePattern, *kinds: type[Operation]) -> None:
    """Apply `pattern` to the ops of `kinds` in `scope`, those left out that are gone by then."""
    ops = ops_in(scope)
    matching = {kind for kind in set(map(type, ops)) if issubclass(kind, kinds)}
    for op in ops:
        if type(op) in matching and op.parent is not None:
            pattern.match_and_rewrite(op, PatternRewriter(op))
