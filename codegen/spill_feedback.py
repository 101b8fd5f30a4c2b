# SPDX-License-Identifier: Apache-2.0
"""
Feedback from ptxas to the lowering: kernels that spill get more registers.

`min_blocks` of a kernel limits its registers, so that several blocks are resident on an SM. Only
the compiler knows whether the registers suffice. If a kernel spills, `min_blocks` is lowered to
leave registers for the spilled values. This happens twice; then `min_blocks` is halved, and at last
set to 1.

Registers are allocated in coarse units, so most neighbouring block counts give the same number of
registers. Kernels without `min_blocks` are not compiled here; without NVRTC no kernel is.
"""

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64

from tilewright.codegen import nvrtc
from tilewright.codegen.machine_code import machine_code
from tilewright.codegen.printer import Bodies, cuda_source, kernels_of
from tilewright.codegen.target_limits import check_kernels
from tilewright.dialects import cuda
from tilewright.dialects.target import Target
from tilewright.dialects.target import target as target_named
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import lower
from tilewright.passes.reporting.trace import Rule, decided, rewriting

RULE = Rule("c", 2, "spill_feedback")


def lower_to_cuda(module: ModuleOp, target: str) -> ModuleOp:
    """Return a copy of `module` lowered to CUDA IR, whose kernels spill as little as possible."""
    lowered = lower(module, Level.CUDA, target=target)
    relieve_spills(lowered, target)
    return lowered


def relieve_spills(module: ModuleOp, target: str) -> None:
    """
    Lower `min_blocks` of kernels in CUDA IR that spill, until they no longer spill or it is 1.
    """
    limited = [op for op in kernels_of(module) if _min_blocks(op) > 1]
    check_kernels(limited, target)
    if not limited or not nvrtc.available():
        return
    bodies: Bodies = {}
    spilling = _spilling(module, limited, target, bodies)
    before = {op: (_min_blocks(op), spilled.bytes) for op, spilled in spilling.items()}
    for fewer in (_with_room, _with_room, _half):
        for op, spilled in spilling.items():
            _set_min_blocks(op, fewer(op, spilled, target_named(target)))
        limited = [op for op in spilling if _min_blocks(op) > 1]
        spilling = _spilling(module, limited, target, bodies)
    for op in spilling:
        _set_min_blocks(op, 1)
    for op, (blocks, bytes) in before.items():
        _trace_change(op, blocks, bytes)


class _Spilled(NamedTuple):
    """Amount that a kernel spills."""

    bytes: int
    """Bytes that all spill instructions move together if each runs once."""
    registers: int
    """Number of 32-bit registers that would hold the values that a thread keeps on its stack."""


def _with_room(op: cuda.FuncOp, spilled: _Spilled, gpu: Target) -> int:
    """
    Return the largest `min_blocks` below the present one that leaves each thread registers for its
    spilled values; at least 1.
    """
    threads, blocks = op.block.value.data, _min_blocks(op)
    given = gpu.registers_given(threads, blocks)
    needed = given + max(1, spilled.registers)
    fewer = range(blocks - 1, 0, -1)
    return next((n for n in fewer if gpu.registers_given(threads, n) >= needed), 1)


def _half(op: cuda.FuncOp, spilled: _Spilled, gpu: Target) -> int:
    return max(1, _min_blocks(op) // 2)


def _trace_change(op: cuda.FuncOp, before: int, spilled_bytes: int) -> None:
    """
    Record in the trace that a kernel's `min_blocks` has changed from `before`: as a decision, with
    its reason, and as a rewrite.
    """
    found = _min_blocks(op)
    _set_min_blocks(op, before)
    reason = f"{spilled_bytes} bytes spilled with registers for {before} blocks"
    decided(RULE, op, f"{reason}: {found} now")
    with rewriting(RULE, op):
        _set_min_blocks(op, found)


def _set_min_blocks(op: cuda.FuncOp, blocks: int) -> None:
    op.properties["min_blocks"] = IntegerAttr(blocks, i64)


def _min_blocks(op: cuda.FuncOp) -> int:
    return 1 if op.min_blocks is None else op.min_blocks.value.data


def _spilling(
    module: ModuleOp, kernels: Sequence[cuda.FuncOp], target: str, bodies: Bodies
) -> dict[cuda.FuncOp, _Spilled]:
    """
    Compile some kernels of a module. Return the spills of each of them that spills registers.
    Only signatures change between calls; `bodies` keeps the other lines.
    """
    if not kernels:
        return {}
    # This imports the whole report, which takes longer than to compile most programs.
    from tilewright.codegen.report.resources import parse_resources

    ops = {op.sym_name.data: op for op in kernels}
    found = dict[cuda.FuncOp, _Spilled]()
    for name, made in machine_code(cuda_source(module, bodies=bodies), ops, target).items():
        used = parse_resources(made.log)[name]
        if moved := used.spill_store_bytes + used.spill_load_bytes:
            found[ops[name]] = _Spilled(moved, -(-used.stack_bytes // 4))
    return found
