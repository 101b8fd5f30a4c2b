# SPDX-License-Identifier: Apache-2.0
"""
What must hold of the IR after every pass: each operation verifies, so do the layouts that functions
expect of their arguments, and SSA form is intact.

`Operation.verify` does not ask whether a value is defined before, and visible where, it is used;
`verify_dominance` does.
"""

from collections.abc import Generator, Hashable, Iterable, Sequence
from contextlib import contextmanager
from functools import cache
from math import prod

from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.dialects.math import Math
from xdsl.dialects.memref import AllocOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.irdl.dominance import DominanceInfo
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.axes import AxesOp
from tilewright.dialects.buffer_plan import slot_of
from tilewright.dialects.form import FormedOp
from tilewright.dialects.parameter_layout import verify_layouts
from tilewright.dialects.segments import has_segments
from tilewright.errors import one_line
from tilewright.passes.changes import Changes


class InvalidOpError(VerifyException):
    """
    The IR is ill-formed, and this is the innermost operation to blame; `made_by` is the pass after
    which that was seen, empty where it was before any.
    """

    def __init__(self, op: Operation, reason: str, made_by: str = ""):
        self.op = op
        self.reason = reason
        self.made_by = made_by
        blame = f"after pass '{made_by}': " if made_by else ""
        super().__init__(f"{blame}'{op.name}': {reason}")


def verify_module(module: Operation) -> None:
    """Raise `InvalidOpError` unless `module` and all it contains are well-formed."""
    _verify_parts(module, [module])


def verify_changes(module: ModuleOp, changes: Changes) -> None:
    """Raise `InvalidOpError` unless what has changed since the last time is well-formed."""
    changed = changes.since_last(module)
    apart = all(op.has_trait(IsolatedFromAbove, value_if_unregistered=False) for op in module.ops)
    _verify_parts(module, changed if apart else [module])


def _verify_parts(module: Operation, parts: Sequence[Operation]) -> None:
    """
    Raise `InvalidOpError` unless `module` is well-formed where the rest of its parts is.

    Dominance comes first: verifiers of ops follow operands to their definitions, which would not
    end in a cycle. Verifiers also ask what is around an op, whose properties have to be there.
    """
    for part in parts:
        verify_dominance(part)
        _verify_definitions(part)
    try:
        if module not in parts:
            module.verify(verify_nested_ops=False)
        for part in parts:
            _verify_ops(part)
    except VerifyException as err:
        raise InvalidOpError(_culprit(module), one_line(err)) from err
    for part in parts:
        _verify_points(part, 1)
        for function in _functions(part):
            _verify_attributes(function)


def _verify_definitions(op: Operation) -> None:
    """Raise `InvalidOpError` at the outermost op with regions that does not fit its definition."""
    if not op.regions:
        return
    if isinstance(op, IRDLOperation):
        with _blamed_on(op):
            op.get_irdl_definition().verify(op)
    for region in op.regions:
        for block in region.blocks:
            for inner in block.ops:
                _verify_definitions(inner)


_MOST_FORMS = 1 << 15
_well_formed: set[Hashable] = set()
"""
Forms of ops that were verified, in whatever module: a form is made of attributes, which never
change. Programs that are compiled one after the other have most of theirs in common.
"""


def _verify_ops(op: Operation) -> None:
    """As `op.verify()` does, what it contains first; where that decides each form once."""
    for block in (block for region in op.regions for block in region.blocks):
        if block.is_empty:
            block.verify()
        for inner in block.ops:
            _verify_ops(inner)
    if not _form_decides(type(op)) or not has_segments(op):
        op.verify(verify_nested_ops=False)
    elif (form := _form(op)) not in _well_formed:
        op.verify(verify_nested_ops=False)
        if len(_well_formed) >= _MOST_FORMS:
            _well_formed.clear()
        _well_formed.add(form)


_UPSTREAM = frozenset((*Arith.operations, *Math.operations, AllocOp))
"""Ops of xDSL that are well-formed if another of their form is."""


@cache
def _form_decides(kind: type[Operation]) -> bool:
    """Whether an op of that kind is well-formed if another of its form is."""
    return kind in _UPSTREAM or (issubclass(kind, FormedOp) and kind.FORM_DECIDES)


def _form(op: Operation) -> Hashable:
    """The op without what its operands are and what its blocks do; of its place what it ends."""
    properties, attributes = tuple(op.properties.items()), tuple(op.attributes.items())
    blocks = tuple(tuple(block.arg_types for block in region.blocks) for region in op.regions)
    types = op.operand_types, op.result_types
    beside = op.surroundings() if isinstance(op, FormedOp) else None
    return type(op), types, properties, attributes, blocks, len(op.successors), beside, _ends(op)


def _ends(op: Operation) -> Hashable:
    """What needs a terminator, perhaps, if the op is the last of its block."""
    if op.next_op is not None or (region := op.parent_region()) is None:
        return None
    return type(region.parent), len(region.blocks) > 1


_MOST_POINTS = 1 << 58
"""Number of points of nested axes; their products with sizes and strides then fit 64 bits."""


def _verify_points(op: Operation, around: int) -> None:
    """Raise `InvalidOpError` where axes, inside axes of `around` points, have too many points."""
    if isinstance(op, AxesOp):
        around *= prod(extent for extent in op.axis_extents() if extent)
        if around > _MOST_POINTS:
            raise InvalidOpError(op, f"{around} points; at most {_MOST_POINTS} are supported")
    for region in op.regions:
        for block in region.blocks:
            for inner in block.ops:
                if inner.regions:
                    _verify_points(inner, around)


def _functions(part: Operation) -> Iterable[FuncOp]:
    """Those of a module, or the one that `part` is."""
    ops = part.ops if isinstance(part, ModuleOp) else (part,)
    return (op for op in ops if isinstance(op, FuncOp))


def _verify_attributes(function: FuncOp) -> None:
    """Ours, on ops of other dialects, whose verifiers do not know them."""
    with _blamed_on(function):
        verify_layouts(function)
    for alloc in (op for op in function.walk() if isinstance(op, AllocOp)):
        with _blamed_on(alloc):
            slot_of(alloc)


@contextmanager
def _blamed_on(op: Operation) -> Generator[None]:
    try:
        yield
    except VerifyException as err:
        raise InvalidOpError(op, one_line(err)) from err


def verify_dominance(root: Operation) -> None:
    """Raise `InvalidOpError` at the first use below `root` of a value that is not visible there."""
    _check_regions(root, set())


def _culprit(op: Operation) -> Operation:
    """The innermost operation that fails when verified by itself."""
    for region in op.regions:
        for nested in (op for block in region.blocks for op in block.ops):
            if not _verifies(nested):
                return _culprit(nested)
    return _redefining(op) or op


def _redefining(op: Operation) -> Operation | None:
    """Return the first op directly inside `op` that has the symbol of one before it."""
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


def _check_regions(op: Operation, visible: set[SSAValue]) -> None:
    isolated = op.has_trait(IsolatedFromAbove, value_if_unregistered=False)
    for region in op.regions:
        _check_region(region, set() if isolated else visible)


def _check_region(region: Region, visible: set[SSAValue]) -> None:
    """Check with `visible` defined outside; one set serves all regions and is left as it was."""
    for block, dominators in _strict_dominators(region):
        added = [value for dominator in dominators for value in _definitions(dominator)]
        added.extend(block.args)
        visible.update(added)
        for op in block.ops:
            _check_operands(op, visible)
            _check_regions(op, visible)
            visible.update(op.results)
            added.extend(op.results)
        visible.difference_update(added)


def _check_operands(op: Operation, visible: set[SSAValue]) -> None:
    for index, operand in enumerate(op.operands):
        if operand in visible:
            continue
        name = f" (%{operand.name_hint})" if operand.name_hint else ""
        raise InvalidOpError(op, f"operand #{index}{name} is not defined before this use")


def _strict_dominators(region: Region) -> Iterable[tuple[Block, list[Block]]]:
    blocks = list(region.blocks)
    if len(blocks) == 1:
        return [(blocks[0], [])]
    info = DominanceInfo(region)
    return [(b, [a for a in blocks if info.strictly_dominates(a, b)]) for b in blocks]


def _definitions(block: Block) -> Iterable[SSAValue]:
    yield from block.args
    for op in block.ops:
        yield from op.results
