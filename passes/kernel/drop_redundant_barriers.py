# SPDX-License-Identifier: Apache-2.0
"""
Drops barriers that order no accesses.

    loop.store %0, %a[%t] : memref<32xf32, 3 : i64>
    kernel.barrier
    kernel.barrier
    loop.store %1, %b[%t] : memref<32xf32, 3 : i64>
    kernel.barrier
    %2 = loop.load %a[31 - %t] : memref<32xf32, 3 : i64>
    %3 = loop.load %b[31 - %t] : memref<32xf32, 3 : i64>
    %4 = arith.addf %2, %3 : f32
    loop.store %4, %out[%t] : memref<32xf32>
    kernel.barrier

becomes

    loop.store %0, %a[%t] : memref<32xf32, 3 : i64>
    loop.store %1, %b[%t] : memref<32xf32, 3 : i64>
    kernel.barrier
    %2 = loop.load %a[31 - %t] : memref<32xf32, 3 : i64>
    %3 = loop.load %b[31 - %t] : memref<32xf32, 3 : i64>
    %4 = arith.addf %2, %3 : f32
    loop.store %4, %out[%t] : memref<32xf32>

A barrier is kept if one thread accesses memory before it that another thread accesses after it, and
one of them writes. Accesses beyond another barrier of the block do not count. `phases` finds the
accesses; it treats arrays as wholes. A barrier is also kept if a named barrier after it may use an
id for other threads than before.
"""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tilewright.dialects import kernel
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.kernel.barrier import MeetingOp
from tilewright.passes.kernel.phases import Phases
from tilewright.passes.reporting.trace import Rule, rewriting, skipped

RULE = Rule("k", 7, "drop_redundant_barriers")


def reason_against(op: MeetingOp, phases: Phases) -> str | None:
    """Reason why the barrier is needed, or None."""
    before, after = phases.accesses_before(op), phases.accesses_after(op)
    ordered = (a.memory for a in before if any(a.conflicts(other) for other in after))
    names = {(memory and memory.name_hint) or "memory" for memory in ordered}
    if names:
        return f"a barrier orders accesses to %{', %'.join(sorted(names))}"
    if not phases.may_reuse_ids(op):
        return None
    return "named barriers after it may reuse ids for other threads"


def _drop(function: kernel.FuncOp) -> None:
    """
    Drop redundant barriers of a kernel, in order; the phases are computed anew after each drop.
    """
    phases: Phases | None = None
    for op in ops_in(function):
        if not isinstance(op, MeetingOp):
            continue
        phases = phases or Phases(function)
        if (reason := reason_against(op, phases)) is not None:
            skipped(RULE, function, reason)
            continue
        with rewriting(RULE, function):
            op.detach()
            op.erase()
        phases = None


class DropRedundantBarriersPass(ModulePass):
    """Drop barriers that order no accesses."""

    name = "drop-redundant-barriers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Drop redundant barriers in every kernel of the module."""
        for function in op.ops:
            if isinstance(function, kernel.FuncOp):
                _drop(function)
