# SPDX-License-Identifier: Apache-2.0
"""
Lists of nested ops, in the order of `Operation.walk`: an op comes before the ops inside it.

Passes traverse small bodies many times; a list takes a quarter of the time of xDSL's nested
generators. Unnecessary when `Operation.walk` does not nest a generator for each region.

`rewrite_each` applies a pattern once to each op of some classes. `PatternRewriteWalker` can do
this, too, without rewriting new ops. But it creates a rewriter for every op, and most passes skip
most ops of a kernel. Unnecessary when the walker creates rewriters only for the op classes that its
pattern matches.

`STRUCTURE` replaces xDSL's accessors of neighbours. Unnecessary when xDSL's iterators are
generators, and its blocks look for cycles only if the new op has regions.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from operator import attrgetter
from typing import TypeVar, cast

from xdsl.ir import Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.ir.core import BlockOps, IRUses, IRWithName, IRWithUses, OpOperands, RegionBlocks
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.rewriter import InsertPoint

OpT = TypeVar("OpT", bound=Operation)


def ops_in(*scopes: Operation) -> list[Operation]:
    """Return each of `scopes` and all ops nested in it, as a snapshot."""
    found: list[Operation] = []
    for scope in scopes:
        _add(scope, found)
    return found


def ops_of(kind: type[OpT], *scopes: Operation) -> list[OpT]:
    """Return the ops of a class among `scopes` and the ops nested in them."""
    found = ops_in(*scopes)
    matching = _matching(found, (kind,))
    return [cast("OpT", op) for op in found if type(op) in matching] if matching else []


def _matching(ops: Iterable[Operation], kinds: tuple[type[Operation], ...]) -> set[type[Operation]]:
    """Return the classes of `ops` that derive from one of `kinds`; a kernel has few classes."""
    return {kind for kind in set(map(type, ops)) if issubclass(kind, kinds)}


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
    matching = _matching(ops, kinds)
    rewriter: PatternRewriter | None = None
    for op in ops:
        if type(op) in matching and op.parent is not None:
            rewriter = rewriter or PatternRewriter(op)
            rewriter.current_operation, rewriter.insertion_point = op, InsertPoint.before(op)
            rewriter.has_done_action, rewriter.name_hint = False, None
            pattern.match_and_rewrite(op, rewriter)


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
                op = op._next_op  # pyright: ignore[reportPrivateUsage]: saves a call for each op
            block = block.next_block


# --- Replacements of xDSL's functions


def _ops(self: BlockOps) -> Iterator[Operation]:
    return _ops_from(self.block.first_op)


def _ops_from(op: Operation | None) -> Iterator[Operation]:
    while op is not None:
        following = op.next_op
        yield op
        op = following


def _num_ops(self: BlockOps) -> int:
    number, op = 0, self.block.first_op
    while op is not None:
        number, op = number + 1, op.next_op
    return number


def _blocks(self: RegionBlocks) -> Iterator[Block]:
    return _blocks_from(self.first)


def _blocks_from(block: Block | None) -> Iterator[Block]:
    while block is not None:
        following = block.next_block
        yield block
        block = following


def _attach_op(self: Block, operation: Operation) -> None:
    if operation.parent is not None:
        raise ValueError("Can't add to a block an operation already attached to a block.")
    if operation.regions and operation.is_ancestor(self):
        raise ValueError("Can't add an operation to a block contained in the operation.")
    operation.parent = self


def _block(self: Region) -> Block:
    block = self.first_block
    if block is None or block is not self.last_block:
        what = "'block' property of Region class"
        raise ValueError(f"{what} is only available for single-block regions.")
    return block


def _set_name(self: IRWithName, name: str | None) -> None:
    valid = None if name is None else _valid_name(type(self), name)
    self._name = valid  # pyright: ignore[reportPrivateUsage]


@lru_cache(maxsize=1 << 12)  # values have few names
def _valid_name(kind: type[IRWithName], name: str) -> str:
    return kind.extract_valid_name(name)


def _fields(**names: str) -> dict[str, object]:
    """Return properties that read the named fields without a Python function."""
    return {name: property(attrgetter(field)) for name, field in names.items()}


STRUCTURE: Mapping[type, Mapping[str, object]] = {
    Operation: {
        **_fields(next_op="_next_op", prev_op="_prev_op", successor_uses="_successor_uses"),
        "operands": property(OpOperands, Operation.operands.fset),
    },
    Block: {
        **_fields(args="_args", first_op="_first_op", last_op="_last_op", next_block="_next_block"),
        "ops": property(BlockOps),
        "_attach_op": _attach_op,
    },
    Region: {
        **_fields(first_block="_first_block", last_block="_last_block"),
        "block": property(_block),
        "blocks": property(RegionBlocks),
    },
    IRWithName: {"name_hint": property(attrgetter("_name"), _set_name)},
    IRWithUses: {"uses": property(IRUses)},
    SSAValue: _fields(type="_type"),
    OpResult: _fields(owner="op"),
    BlockArgument: _fields(owner="block"),
    BlockOps: {"__iter__": _ops, "__len__": _num_ops},
    RegionBlocks: {"__iter__": _blocks},
}
"""Properties and methods with the results of xDSL's, by class."""
