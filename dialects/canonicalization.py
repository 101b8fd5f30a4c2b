# SPDX-License-Identifier: Apache-2.0
"""
Canonicalization patterns of the project's ops, referenced by name.

The patterns are defined in passes, and passes import dialects. To avoid an import cycle, an op
names its patterns, which are imported when `canonicalize` first asks for them. Nothing else in
`dialects/` refers to passes.
"""

from dataclasses import dataclass
from functools import cache
from pkgutil import resolve_name

from xdsl.ir import Operation
from xdsl.pattern_rewriter import RewritePattern
from xdsl.traits import HasCanonicalizationPatternsTrait


@dataclass(frozen=True, init=False)
class CanonicalizedBy(HasCanonicalizationPatternsTrait):
    """
    Trait of an op that `canonicalize` rewrites by the patterns `module:Class` of
    `tilewright.passes`.
    """

    patterns: tuple[str, ...]

    def __init__(self, *patterns: str):
        object.__setattr__(self, "patterns", patterns)

    def get_patterns(self, op: type[Operation]) -> tuple[RewritePattern, ...]:
        """Import and return the patterns, in the order in which they are tried."""
        return tuple(map(_pattern, self.patterns))


@cache
def _pattern(path: str) -> RewritePattern:
    return resolve_name(f"tilewright.passes.{path}")()


SIMPLIFIED_ACCESSES = CanonicalizedBy("rewriting.simplify_accesses:SimplifyAccesses")
"""Trait of ops whose subscripts and masks `canonicalize` brings to their canonical form."""
