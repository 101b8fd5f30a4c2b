# SPDX-License-Identifier: Apache-2.0
"""
Erases what the text would declare and never use, which compilers warn of, and comments that stand
above nothing: what they told of is written where it is used.
"""

from xdsl.ir import Operation

from tilewright.dialects.cuda import FuncOp
from tilewright.dialects.cuda.expressions import ExpressionOp
from tilewright.dialects.cuda.memory import LocalOp, PooledOp, PoolOp, SharedOp
from tilewright.dialects.cuda.statements import AssignOp, CommentOp, ForOp, IfOp, LetOp, VarOp
from tilewright.dialects.cuda.threads import RemoteOp, ShuffleOp
from tilewright.dialects.faster_xdsl.walk import ops_in

_NAMES = (LetOp, VarOp, LocalOp, SharedOp, PoolOp, PooledOp, RemoteOp, ShuffleOp, ExpressionOp)


def erase_unused(function: FuncOp) -> None:
    """Erase unused names, variables only assigned, bodies left empty, and idle comments."""
    while _erase_some(function):
        pass


def _erase_some(function: FuncOp) -> bool:
    """One walk, last op first; whether an erased variable may leave more to erase."""
    again = False
    _, *ops = ops_in(function)
    for op in reversed(ops):
        if op.parent is None:  # an assignment that is gone with its variable
            continue
        if isinstance(op, VarOp):
            again |= _erase_assignments(op)
        if _is_unused(op):
            op.detach()
            op.erase()
    return again


def _is_unused(op: Operation) -> bool:
    if op.regions:
        is_empty = all(block.is_empty for region in op.regions for block in region.blocks)
        return is_empty and isinstance(op, IfOp | ForOp)
    if op.results:
        return op.results[0].first_use is None and isinstance(op, _NAMES)
    return isinstance(op, CommentOp) and _is_idle(op)


def _is_idle(comment: CommentOp) -> bool:
    """True if another comment follows, or no statement."""
    following = comment.next_op
    while isinstance(following, ExpressionOp):
        following = following.next_op
    return following is None or isinstance(following, CommentOp)


def _erase_assignments(op: VarOp) -> bool:
    users = [use.operation for use in op.variable.uses]
    if not users or not all(isinstance(user, AssignOp) for user in users):
        return False
    for user in users:
        user.detach()
        user.erase()
    return True
