# SPDX-License-Identifier: Apache-2.0
"""
Lowering with a look at what ptxas makes of it: kernels that spill get more registers.

`min_blocks` of a kernel asks for few registers, so that many blocks are resident. Whether they are
enough only the compiler knows. Where a kernel spills it asks for one block less, as often as it
takes; with one block there is nothing left to give. Kernels that ask for nothing are not compiled
here, and without NVRTC none is.
"""

from collections.abc import Mapping
from functools import lru_cache

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64

from tilewright.codegen import nvrtc
from tilewright.codegen.launch_plan import SOURCE_NAME
from tilewright.codegen.printer import cuda_source, kernels_of
from tilewright.codegen.target_limits import check_kernels
from tilewright.dialects import cuda
from tilewright.passes.levels import Level
from tilewright.passes.lowering import lower
from tilewright.passes.trace import Rule, decided, rewriting

RULE = Rule("c", 2, "spill_feedback")


def lower_to_cuda(module: ModuleOp, target: str) -> ModuleOp:
    """A copy of `module` at the level of CUDA, whose kernels spill as little as they can."""
    lowered = lower(module, Level.CUDA, target=target)
    relieve_spills(lowered, target)
    return lowered


def relieve_spills(module: ModuleOp, target: str) -> None:
    """Lower `min_blocks` of the kernels of CUDA IR that spill, until none does or it is 1."""
    asking = [op for op in kernels_of(module) if _min_blocks(op) > 1]
    check_kernels(asking, target)
    while asking and nvrtc.available():
        spilled = _spilled(cuda_source(module), target)
        asking = [op for op in asking if spilled[op.sym_name.data]]
        for op in asking:
            _give_more(op, spilled[op.sym_name.data])
        asking = [op for op in asking if _min_blocks(op) > 1]


def _give_more(op: cuda.FuncOp, spilled: int) -> None:
    blocks = _min_blocks(op)
    reason = f"{spilled} bytes spilled with registers for {blocks} blocks"
    decided(RULE, op, f"{reason}: {blocks - 1} now")
    with rewriting(RULE, op):
        op.properties["min_blocks"] = IntegerAttr(blocks - 1, i64)


def _min_blocks(op: cuda.FuncOp) -> int:
    return 1 if op.min_blocks is None else op.min_blocks.value.data


@lru_cache(maxsize=256)
def _spilled(source: str, target: str) -> Mapping[str, int]:
    """The bytes that each kernel of a text spills."""
    # It comes with all of the report, which to load takes longer than to compile most programs.
    from tilewright.codegen.report.resources import parse_resources

    resources = parse_resources(nvrtc.compile_cubin(source, target, name=SOURCE_NAME).log)
    return {name: r.spill_store_bytes + r.spill_load_bytes for name, r in resources.items()}
