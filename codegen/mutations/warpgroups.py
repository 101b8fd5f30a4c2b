# SPDX-License-Identifier: Apache-2.0
"""Bugs in multiplications by warpgroups: fences and waits that are left out, and wrong matrices."""

from collections.abc import Iterator
from functools import partial

from xdsl.dialects.builtin import AffineMapAttr, IntegerAttr, i64
from xdsl.ir import Operation
from xdsl.ir.affine import AffineExpr, AffineMap

from tilewright.codegen.mutations.mutation import Mutation, Rules, dropped
from tilewright.codegen.mutations.synchronisation import moved_down
from tilewright.dialects import kernel


def _waits_for_less(op: kernel.GroupWaitOp) -> Iterator[Mutation]:
    yield Mutation("one more group may be pending", _let_one_pend)


def _let_one_pend(op: Operation) -> None:
    assert isinstance(op, kernel.GroupWaitOp)
    op.properties["pending"] = IntegerAttr(op.pending.value.data + 1, i64)


def _steps(op: kernel.GroupMultiplyOp) -> Iterator[Mutation]:
    """Yield multiplications of a matrix of A or B at the first step of K."""
    for number, factor in enumerate(op.factors()):
        if factor.map.data.results[factor.axes[1]].used_dims():
            change = partial(_set_first_step, number=number)
            yield Mutation(f"{factor.name} in the first step", change)


def _set_first_step(op: Operation, *, number: int) -> None:
    assert isinstance(op, kernel.GroupMultiplyOp)
    factor, name = [*op.factors()][number], "ab"[number]
    old, results = factor.map.data, [*factor.map.data.results]
    results[factor.axes[1]] = AffineExpr.constant(0)
    op.properties[f"{name}_map"] = AffineMapAttr(AffineMap(old.num_dims, 0, tuple(results)))


WARPGROUPS: Rules = {
    kernel.GroupFenceOp: (dropped,),
    kernel.GroupCommitOp: (dropped,),
    kernel.GroupWaitOp: (dropped, moved_down, _waits_for_less),
    kernel.ProxyFenceOp: (dropped,),
}
"""Rules for bugs that change what orders multiplications."""

MATRICES_OF_GROUPS: Rules = {kernel.GroupMultiplyOp: (dropped, _steps)}
"""Rules for bugs that change what is multiplied."""
