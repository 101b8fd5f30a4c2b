# SPDX-License-Identifier: Apache-2.0
"""
Lowering with a look at what ptxas makes of it: kernels that spill get more registers.

`min_blocks` of a kernel asks for few registers, so that many blocks are resident. Whether they are
enough only the compiler knows. A kernel that spills asks for fewer blocks: as many as have
registers for what was spilled too. If it spills again, once more; if it still does, for half as
many, and in the end for one. Registers are handed out in coarse units, so that of many numbers of
blocks few differ. Kernels that ask for nothing are not compiled here, and without NVRTC none is.
"""

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64

from tilewright.codegen import nvrtc
from tilewright.codegen.machine_code import machine_code
from tilewright.codegen.printer import cuda_source, kernels_of
from tilewright.codegen.target_limits import check_kernels
from tilewright.dialects import cuda
from tilewright.dialects.target import Target
from tilewright.dialects.target import target as target_named
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import lower
from tilewright.passes.reporting.trace import Rule, decided, rewriting

RULE = Rule("c", 2, "spill_feedback")


def lower_to_cuda(module: ModuleOp, target: str) -> ModuleOp:
    """Return a copy of `module` at the level of CUDA, whose kernels spill as little as they can."""
    lowered = lower(module, Level.CUDA, target=target)
    relieve_spills(lowered, target)
    return lowered


def relieve_spills(module: ModuleOp, target: str) -> None:
    """Lower `min_blocks` of the kernels of CUDA IR that spill, until none does or it is 1."""
    asking = [op for op in kernels_of(module) if _min_blocks(op) > 1]
    check_kernels(asking, target)
    if not asking or not nvrtc.available():
        return
    spilling = _spilling(module, asking, target)
    asked = {op: (_min_blocks(op), spilled.bytes) for op, spilled in spilling.items()}
    for fewer in (_with_room, _with_room, _half):
        for op, spilled in spilling.items():
            _ask(op, fewer(op, spilled, target_named(target)))
        spilling = _spilling(module, [op for op in spilling if _min_blocks(op) > 1], target)
    for op in spilling:
        _ask(op, 1)
    for op, (blocks, bytes) in asked.items():
        _tell(op, blocks, bytes)


class _Spilled(NamedTuple):
    """What a kernel has no registers for."""

    bytes: int
    """Those that all instructions together move when each runs once."""
    registers: int
    """Those whose values a thread keeps elsewhere."""


def _with_room(op: cuda.FuncOp, spilled: _Spilled, gpu: Target) -> int:
    """Return the most blocks that leave registers for what was spilled, at least one."""
    threads, blocks = op.block.value.data, _min_blocks(op)
    given = gpu.registers_given(threads, blocks)
    needed = given + max(1, spilled.registers)
    fewer = range(blocks - 1, 0, -1)
    return next((n for n in fewer if gpu.registers_given(threads, n) >= needed), 1)


def _half(op: cuda.FuncOp, spilled: _Spilled, gpu: Target) -> int:
    return max(1, _min_blocks(op) // 2)


def _tell(op: cuda.FuncOp, asked: int, spilled_bytes: int) -> None:
    """Trace what became of the blocks that a kernel asked for."""
    found = _min_blocks(op)
    _ask(op, asked)
    reason = f"{spilled_bytes} bytes spilled with registers for {asked} blocks"
    decided(RULE, op, f"{reason}: {found} now")
    with rewriting(RULE, op):
        _ask(op, found)


def _ask(op: cuda.FuncOp, blocks: int) -> None:
    op.properties["min_blocks"] = IntegerAttr(blocks, i64)


def _min_blocks(op: cuda.FuncOp) -> int:
    return 1 if op.min_blocks is None else op.min_blocks.value.data


def _spilling(
    module: ModuleOp, kernels: Sequence[cuda.FuncOp], target: str
) -> dict[cuda.FuncOp, _Spilled]:
    """Compile kernels of a module; return what those spill that spill something."""
    if not kernels:
        return {}
    # It comes with all of the report, which to load takes longer than to compile most programs.
    from tilewright.codegen.report.resources import parse_resources

    ops = {op.sym_name.data: op for op in kernels}
    found = dict[cuda.FuncOp, _Spilled]()
    for name, made in machine_code(cuda_source(module), ops, target).items():
        used = parse_resources(made.log)[name]
        if moved := used.spill_store_bytes + used.spill_load_bytes:
            found[ops[name]] = _Spilled(moved, -(-used.stack_bytes // 4))
    return found
