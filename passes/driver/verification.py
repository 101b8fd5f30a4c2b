# SPDX-License-Identifier: Apache-2.0
"""
Verification of the IR after every pass: each operation verifies, the argument layouts that
functions declare verify, and SSA form is intact.

`Operation.verify` does not check that a value is defined before its uses and visible there;
`verify_dominance` does.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from math import prod
from typing import Any, NamedTuple, NoReturn

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.dialects.memref import AllocOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl.dominance import DominanceInfo
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.axes import AxesOp
from tilewright.dialects.buffer_plan import slot_of
from tilewright.dialects.faster_xdsl.verify_once import verify_definition, verify_op
from tilewright.dialects.parameter_layout import verify_layouts
from tilewright.dialects.precision import precisions_of
from tilewright.errors import one_line
from tilewright.passes.driver.changes import Changes


class InvalidOpError(VerifyException):
    """
    Error about ill-formed IR at the innermost operation that fails; `made_by` is the pass after
    which it was found, or empty if the IR was ill-formed before all passes.
    """

    def __init__(self, op: Operation, reason: str, made_by: str = ""):
        self.op = op
        self.reason = reason
        self.made_by = made_by
        blame = f"after pass '{made_by}': " if made_by else ""
        super().__init__(f"{blame}'{op.name}': {reason}")


def verify_module(module: Operation) -> None:
    """Raise `InvalidOpError` unless `module` and all ops inside it are well-formed."""
    _verify_parts(module, [module])


def verify_changes(module: ModuleOp, changes: Changes) -> None:
    """Raise `InvalidOpError` unless the changes since the previous call are well-formed."""
    changed = changes.since_last(module)
    apart = all(op.has_trait(IsolatedFromAbove, value_if_unregistered=False) for op in module.ops)
    _verify_parts(module, changed if apart else [module])


def _verify_parts(module: Operation, parts: Sequence[Operation]) -> None:
    """
    Raise `InvalidOpError` unless `parts` are well-formed; all other parts of `module` are assumed
    to be.

    Dominance comes first: verifiers of ops follow operands to their definitions, and would not
    terminate in a cycle. Verifiers also inspect the ops around an op, whose properties must exist.
    """
    walks = [verify_dominance(part) for part in parts]
    for walk in walks:
        _verify_definitions(walk.nests)
    try:
        if module not in parts:
            module.verify(verify_nested_ops=False)
        for walk in walks:
            _verify_ops(walk.ops)
    except VerifyException as err:
        raise InvalidOpError(_culprit(module), one_line(err)) from err
    for walk in walks:
        _verify_points(walk.nests)
        _verify_attributes(walk.ops)


def _verify_definitions(nests: Iterable[Operation]) -> None:
    for op in nests:
        try:
            verify_definition(op)
        except VerifyException as err:
            raise InvalidOpError(op, one_line(err)) from err


def _verify_ops(ops: Iterable[Operation]) -> None:
    """Verify each op, as `Operation.verify` does; nested ops come first in `ops`."""
    for op in ops:
        if op.regions:
            _verify_empty_blocks(op)
        verify_op(op)


def _verify_empty_blocks(op: Operation) -> None:
    for block in (block for region in op.regions for block in region.blocks):
        if block.is_empty:
            block.verify()


_MOST_POINTS = 1 << 58
"""Most points of nested axes; their products with sizes and strides then fit 64 bits."""


def _verify_points(nests: Iterable[Operation]) -> None:
    """
    Raise `InvalidOpError` at the first of `nests` whose axes, with those around it, have too many
    points.
    """
    found: dict[Operation | None, int] = {}
    for op in nests:
        points = found.get(op.parent_op(), 1)
        if isinstance(op, AxesOp):
            points *= prod(extent for extent in op.axis_extents() if extent)
        if points > _MOST_POINTS:
            raise InvalidOpError(op, f"{points} points; at most {_MOST_POINTS} are supported")
        found[op] = points


def _verify_precisions(module: ModuleOp) -> None:
    """Raise `VerifyException` for an unknown precision. Most modules have no attributes."""
    if module.attributes:
        precisions_of(module)


_ATTRIBUTES: dict[type[Operation], Callable[[Any], object]] = {
    ModuleOp: _verify_precisions,
    FuncOp: verify_layouts,
    AllocOp: slot_of,
}
"""Verifiers of Tilewright's attributes on ops of other dialects, which do not check them."""


def _verify_attributes(ops: Iterable[Operation]) -> None:
    for op in ops:
        if verify := _ATTRIBUTES.get(type(op)):
            try:
                verify(op)
            except VerifyException as err:
                raise InvalidOpError(op, one_line(err)) from err


class Walk(NamedTuple):
    """All ops at and below a root."""

    ops: list[Operation]
    """All ops, each after those nested in it."""
    nests: list[Operation]
    """Ops with regions, each before those nested in it."""


def verify_dominance(root: Operation) -> Walk:
    """
    Return the ops at and below `root`.

    Raises `InvalidOpError` at the first use of a value that is not visible at the use.
    """
    walk = Walk([], [])
    _check_regions(root, set(), walk)
    walk.ops.append(root)
    return walk


def _culprit(op: Operation) -> Operation:
    """Return the innermost operation that fails if verified by itself."""
    for region in op.regions:
        for nested in (op for block in region.blocks for op in block.ops):
            if not _verifies(nested):
                return _culprit(nested)
    return _redefining(op) or op


def _redefining(op: Operation) -> Operation | None:
    """Return the first op directly inside `op` that has the symbol of an earlier one, or None."""
    names: set[Attribute] = set()
    for nested in (op for region in op.regions for block in region.blocks for op in block.ops):
        name = nested.get_attr_or_prop("sym_name")
        if name in names:
            return nested
        if name is not None:
            names.add(name)
    return None


def _verifies(op: Operation) -> bool:
    try:
        op.verify()
    except VerifyException:
        return False
    return True


@cache
def _is_isolated(kind: type[Operation]) -> bool:
    return kind.has_trait(IsolatedFromAbove, value_if_unregistered=False)


def _check_regions(op: Operation, visible: set[SSAValue], walk: Walk) -> None:
    walk.nests.append(op)
    inside = set[SSAValue]() if _is_isolated(type(op)) else visible
    for region in op.regions:
        _check_region(region, inside, walk)


def _check_region(region: Region, visible: set[SSAValue], walk: Walk) -> None:
    """
    Raise `InvalidOpError` if an op in a region uses a value that is not visible there. `visible`
    holds the values defined outside, and is unchanged afterwards.
    """
    for block, dominators in _strict_dominators(region):
        added = [value for dominator in dominators for value in _definitions(dominator)]
        added.extend(block.args)
        visible.update(added)
        for op in block.ops:
            operands = op._operands  # pyright: ignore[reportPrivateUsage]: without a view of them
            if not visible.issuperset(operands):
                _blame_use(op, visible)
            if op.regions:
                _check_regions(op, visible, walk)
            walk.ops.append(op)
            visible.update(op.results)
            added += op.results
        visible.difference_update(added)


def _blame_use(op: Operation, visible: set[SSAValue]) -> NoReturn:
    """Raise `InvalidOpError` at the first operand of `op` that is not in `visible`."""
    index = next(index for index, operand in enumerate(op.operands) if operand not in visible)
    hint = op.operands[index].name_hint
    name = f" (%{hint})" if hint else ""
    raise InvalidOpError(op, f"operand #{index}{name} is not defined before this use")


def _strict_dominators(region: Region) -> Iterable[tuple[Block, list[Block]]]:
    first = region.first_block
    if first is not None and first.next_block is None:
        return [(first, [])]
    blocks = list(region.blocks)
    info = DominanceInfo(region)
    return [(b, [a for a in blocks if info.strictly_dominates(a, b)]) for b in blocks]


def _definitions(block: Block) -> Iterable[SSAValue]:
    yield from block.args
    for op in block.ops:
        yield from op.results
