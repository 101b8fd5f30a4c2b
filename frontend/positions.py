# SPDX-License-Identifier: Apache-2.0
"""
Rematerialisation of values that follow from positions alone: each module that uses them gets a
copy.

    %mask = prim.predicate ...                     // of the model, for all layers
    %0 = torch.scaled_dot_product_attention %q, %k, %v attn_mask %mask     // of layers.0
    %1 = torch.scaled_dot_product_attention %r, %l, %w attn_mask %mask     // of layers.1

becomes

    %mask = prim.predicate ...
    %0 = torch.scaled_dot_product_attention %q, %k, %v attn_mask %mask
    %mask_1 = prim.predicate ...
    %1 = torch.scaled_dot_product_attention %r, %l, %w attn_mask %mask_1

A layer that becomes a function then has its mask inside. As an argument, the mask would be in
memory, and the compiler would not know which keys it hides.

A position may be known at run time only, as an input that is one integer. Ops that compute with it
are copied into each layer as well:

    %le = torch.le %iota, %position : (tensor<48xi64>, tensor<1xi64>) -> tensor<48xi1>

The copied values are cheap: integers, bools, and floats that are chosen by them.
"""

from collections.abc import MutableMapping, Sequence
from math import prod
from typing import TypeVar

from xdsl.dialects.builtin import IntegerType, LocationAttr, NameLoc
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from tilewright.dialects import torch
from tilewright.dialects.torch.elementwise import ElementwiseOp
from tilewright.dialects.torch.filling import FullLikeAnotherOp, NewOp
from tilewright.dialects.torch.layout import IdentityOp
from tilewright.dialects.torch.selection import MaskedFillLikeOp, SelectionOp
from tilewright.dialects.types import element_of, shape_of

Call = TypeVar("Call")

_REARRANGING = (
    IdentityOp,
    torch.ViewOp,
    torch.ReshapeOp,
    torch.UnsafeViewOp,
    torch.UnsqueezeOp,
    torch.SqueezeOp,
    torch.SqueezeDimOp,
    torch.SqueezeDimsOp,
    torch.TransposeOp,
    torch.PermuteOp,
    torch.ExpandOp,
    torch.SelectOp,
    torch.SliceOp,
)
_OF_ONE_VALUE = (NewOp, FullLikeAnotherOp)
_CHOOSING = (SelectionOp, MaskedFillLikeOp)


def rematerialise_positions(
    main: FuncOp, scopes: MutableMapping[Operation, Sequence[Call]]
) -> None:
    """
    Copy ops whose results follow from positions alone to each user that is in another module call.

    The ops are cheap, and read no tensor except inputs of one integer. `scopes` are the module
    calls that each op is part of.
    """
    ops = [op for op in main.body.block.ops if op in scopes]
    free: set[SSAValue] = {*filter(_is_one_integer, main.body.block.args)}
    for op in ops:
        if all(v in free for v in op.operands) and (not op.operands or _costs_nothing(op)):
            free.update(op.results)
    # In reverse order: the operands of a copy are then copied beside it.
    for op in reversed(ops):
        if op.results[0] in free:
            _copy_to_users(op, scopes)


def _is_one_integer(value: SSAValue) -> bool:
    return isinstance(element_of(value), IntegerType) and prod(shape_of(value)) == 1


def _costs_nothing(op: Operation) -> bool:
    """
    True if computing an op's result anew for each element that is read is as cheap as reading it.
    """
    if isinstance(op, _REARRANGING + _OF_ONE_VALUE + _CHOOSING):
        return True
    return isinstance(op, ElementwiseOp) and isinstance(element_of(op.results[0]), IntegerType)


def _copy_to_users(op: Operation, scopes: MutableMapping[Operation, Sequence[Call]]) -> None:
    users = dict.fromkeys(use.operation for result in op.results for use in result.uses)
    for user in users:
        if user in scopes and [*scopes[user]] != [*scopes[op]]:
            scopes[_copy_to(op, user)] = scopes[user]
    if not any(result.uses for result in op.results):
        op.detach()
        op.erase()


def _copy_to(op: Operation, user: Operation) -> Operation:
    """
    Insert a copy of `op` before `user`, make `user` take the copy's results in place of those of
    `op`, and return the copy.
    """
    copy, block = op.clone(), user.parent
    assert block is not None
    copy.location = _inside(op.location, user.location)
    block.insert_op_before(copy, user)
    copies: dict[SSAValue, SSAValue] = dict(zip(op.results, copy.results, strict=True))
    user.operands = [copies.get(operand, operand) for operand in user.operands]
    return copy


def _inside(own: LocationAttr, user: LocationAttr) -> LocationAttr:
    """Return a location with the name in `own`, and the module and line in `user`."""
    if isinstance(own, NameLoc) and isinstance(user, NameLoc):
        return NameLoc(own.desc, user.location)
    return own
