# SPDX-License-Identifier: Apache-2.0
"""
What follows from positions alone is made where it is used.

    %mask = prim.predicate ...                     // of the model, for all layers
    %0 = torch.scaled_dot_product_attention %q, %k, %v attn_mask %mask     // of layers.0
    %1 = torch.scaled_dot_product_attention %r, %l, %w attn_mask %mask     // of layers.1

becomes

    %mask = prim.predicate ...
    %0 = torch.scaled_dot_product_attention %q, %k, %v attn_mask %mask
    %mask_1 = prim.predicate ...
    %1 = torch.scaled_dot_product_attention %r, %l, %w attn_mask %mask_1

so that a layer that becomes a function has its mask inside: as an argument it would be in memory,
and nobody would know which keys it hides.
"""

from collections.abc import MutableMapping, Sequence
from typing import TypeVar

from xdsl.dialects.builtin import LocationAttr, NameLoc
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.torch_elementwise import ElementwiseOp

Call = TypeVar("Call")


def make_where_used(main: FuncOp, scopes: MutableMapping[Operation, Sequence[Call]]) -> None:
    """
    Copy what reads no tensor, and what is computed of it element by element, to those of its users
    that are called in another scope; `scopes` are the calls of modules that each op is inside of.
    """
    ops = [op for op in main.body.block.ops if op in scopes]
    free: dict[SSAValue, None] = {}
    for op in ops:
        if not op.operands or (
            isinstance(op, ElementwiseOp) and all(v in free for v in op.operands)
        ):
            free.update(dict.fromkeys(op.results))
    # The last first: what a copy is computed of gets a copy beside it in turn.
    for op in reversed(ops):
        if op.results[0] in free:
            _copy_to_users(op, scopes)


def _copy_to_users(op: Operation, scopes: MutableMapping[Operation, Sequence[Call]]) -> None:
    users = dict.fromkeys(use.operation for result in op.results for use in result.uses)
    for user in users:
        if user in scopes and [*scopes[user]] != [*scopes[op]]:
            scopes[_copy_to(op, user)] = scopes[user]
    if not any(result.uses for result in op.results):
        op.detach()
        op.erase()


def _copy_to(op: Operation, user: Operation) -> Operation:
    """A copy of `op` before `user`, which uses its results instead."""
    copy, block = op.clone(), user.parent
    assert block is not None
    copy.location = _inside(op.location, user.location)
    block.insert_op_before(copy, user)
    copies: dict[SSAValue, SSAValue] = dict(zip(op.results, copy.results, strict=True))
    user.operands = [copies.get(operand, operand) for operand in user.operands]
    return copy


def _inside(own: LocationAttr, user: LocationAttr) -> LocationAttr:
    """The location of what has the name that `own` says, in the module and line of `user`."""
    if isinstance(own, NameLoc) and isinstance(user, NameLoc):
        return NameLoc(own.desc, user.location)
    return own
