# SPDX-License-Identifier: Apache-2.0
"""
Names for subscripts and masks, or parts of them, that occur often.

    out[(b * 4 + t / 32) * 100 + i] = x[(b * 4 + t / 32) * 100 + i];

becomes

    const int row = b * 4 + t / 32;
    out[row * 100 + i] = x[row * 100 + i];

A name is defined in the outermost block in which its expression occurs more than once and its
operands are known.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import NamedTuple

from xdsl.ir import Block, SSAValue

from tilewright.dialects.cuda.expressions import ReadOp
from tilewright.dialects.cuda.types import VariableType
from tilewright.passes.cuda.accesses import Accesses
from tilewright.passes.cuda.index import Index, Mask
from tilewright.passes.cuda.row_addresses import RowStart
from tilewright.passes.cuda.writer import Writer, block_of

Named = Index | Mask | RowStart
"""Expression that may get a name."""


class _Scope(NamedTuple):
    """Block of the source, the block that it becomes, and the names defined there."""

    source: Block
    target: Block
    names: dict[Named, SSAValue]


class IndexNames:
    """Names of index expressions and masks in the open blocks."""

    def __init__(self, writer: Writer, accesses: Accesses):
        self.writer, self.accesses = writer, accesses
        self._scopes: list[_Scope] = []

    @contextmanager
    def scope(self, source: Block) -> Generator[None]:
        """Open a scope in which the ops of `source` are converted into the writer's block."""
        self._scopes.append(_Scope(source, self.writer.block, {}))
        yield
        self._scopes.pop()

    def known(self, what: Named) -> SSAValue | None:
        """Return the name that `what` has in an open scope, or a read of its variable, or None."""
        holder = self.holder(what)
        if holder is None or not isinstance(holder.type, VariableType):
            return holder
        return ReadOp(holder).result

    def holder(self, what: Named) -> SSAValue | None:
        """Return the name or the variable that holds `what` in an open scope, or None."""
        found = (scope.names[what] for scope in self._scopes if what in scope.names)
        return next(found, None)

    def add(self, index: Index, value: SSAValue) -> None:
        """
        Make the name or variable `value` stand for `index` until the end of the innermost scope,
        unless `index` has a name there.
        """
        self._scopes[-1].names.setdefault(index, value)

    def name(self, what: Index | Mask, hint: str, write: Callable[[], SSAValue]) -> SSAValue | None:
        """
        Return the name of `what`, or None if it needs none. A new name is defined by the expression
        that `write` returns.
        """
        if (name := self.known(what)) is not None:
            return name
        is_trivial = isinstance(what, Index) and not what.is_worth_a_name()
        if is_trivial or (level := self._level(what)) is None:
            return None
        return self._make(what, level, hint, write)

    def make_early(self, what: Named, hint: str, write: Callable[[], SSAValue]) -> SSAValue:
        """
        Define a name in the outermost scope where the operands of `what` are known, however often
        it occurs, and return the name.
        """
        return self._make(what, self._first_level(what), hint, write)

    def _make(self, what: Named, level: int, hint: str, write: Callable[[], SSAValue]) -> SSAValue:
        """Define a name in the scope of level `level` and return it."""
        inner = self._scopes[level + 1 :]
        del self._scopes[level + 1 :]  # the expression must not use names of inner scopes
        with self.writer.inside(self._scopes[level].target):
            name = self.writer.let(write(), hint)
        self._scopes[level].names[what] = name
        self._scopes += inner
        return name

    def _level(self, what: Index | Mask) -> int | None:
        """
        Return the outermost scope in which `what` occurs more than once and its operands are known,
        or None.
        """
        levels = range(self._first_level(what), len(self._scopes))
        occurs = (self.accesses.count(what, self._scopes[level].source) for level in levels)
        return next((level for level, count in zip(levels, occurs, strict=True) if count > 1), None)

    def _first_level(self, what: Named) -> int:
        """Return the outermost scope in which the operands of `what` are known."""
        blocks = {block_of(v) for v in what.operands}
        known = (level for level, scope in enumerate(self._scopes) if scope.source in blocks)
        return max(known, default=0)
