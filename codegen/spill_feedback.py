# SPDX-License-Identifier: Apache-2.0
"""
Lowering with a look at what ptxas makes of it: kernels that spill get more registers.

`min_blocks` of a kernel asks for few registers, so that many blocks are resident. Whether they are
enough only the compiler knows. A kernel that spills asks for as many blocks as it does not spill
with. Registers are handed out in coarse units, so that of many numbers of blocks few differ. Each
time one is tried that has registers for what was spilled the last time; where there is none, or
where nothing was spilled, the middle of what is left: the more registers, the less is spilled. With
one block there is nothing left to give. Kernels that ask for nothing are not compiled here, and
without NVRTC none is.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64

from tilewright.codegen import nvrtc
from tilewright.codegen.launch_plan import SOURCE_NAME
from tilewright.codegen.printer import cuda_source, kernels_of
from tilewright.codegen.target_limits import check_kernels
from tilewright.dialects import cuda
from tilewright.dialects.target import Target
from tilewright.dialects.target import target as target_named
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
    if not asking or not nvrtc.available():
        return
    spilled = _spilled(cuda_source(module), target)
    gpu = target_named(target)
    searches = [_Search(op, gpu, s) for op in asking if (s := spilled[op.sym_name.data]).bytes]
    while tried := [search for search in searches if search.try_next()]:
        spilled = _spilled(cuda_source(module, [search.op for search in tried]), target)
        for search in tried:
            search.learn(spilled[search.op.sym_name.data])
    for search in searches:
        search.finish()


class _Spilled(NamedTuple):
    """What a kernel has no registers for."""

    bytes: int
    """Those that all instructions together move when each runs once."""
    registers: int
    """Those whose values a thread keeps elsewhere."""


class _Choice(NamedTuple):
    blocks: int
    registers: int
    """What a thread may have with so many blocks."""


class _Search:
    """Looks for the most blocks that a kernel does not spill with."""

    def __init__(self, op: cuda.FuncOp, gpu: Target, spilled: _Spilled):
        self.op = op
        self._asked, self._spilled = _min_blocks(op), spilled.bytes
        given = gpu.registers_given(op.block.value.data, self._asked)
        *self._open, last = _choices(op.block.value.data, self._asked, gpu)
        self._needed, self._enough = given + spilled.registers, last.blocks
        self._tried = 0

    def try_next(self) -> bool:
        """Ask for a number of blocks of which it is not known; False if there is none."""
        if not self._open:
            return False
        roomy = (n for n, choice in enumerate(self._open) if choice.registers >= self._needed)
        self._tried = next(roomy, len(self._open) // 2)
        self._ask(self._open[self._tried].blocks)
        return True

    def learn(self, spilled: _Spilled) -> None:
        """What is spilled with what was tried."""
        choice = self._open[self._tried]
        if spilled.bytes:
            self._needed = choice.registers + spilled.registers
            self._open = self._open[self._tried + 1 :]
        else:
            self._enough, self._needed = choice.blocks, choice.registers
            self._open = self._open[: self._tried]

    def finish(self) -> None:
        """Ask for what was found, and say why."""
        self._ask(self._asked)
        reason = f"{self._spilled} bytes spilled with registers for {self._asked} blocks"
        decided(RULE, self.op, f"{reason}: {self._enough} now")
        with rewriting(RULE, self.op):
            self._ask(self._enough)

    def _ask(self, blocks: int) -> None:
        self.op.properties["min_blocks"] = IntegerAttr(blocks, i64)


def _choices(threads: int, asked: int, gpu: Target) -> list[_Choice]:
    """Fewer blocks than `asked`, down to one; of those with as many registers the most."""
    registers = {blocks: gpu.registers_given(threads, blocks) for blocks in range(1, asked + 1)}
    return [
        _Choice(blocks, registers[blocks])
        for blocks in range(asked - 1, 0, -1)
        if blocks == 1 or registers[blocks] > registers[blocks + 1]
    ]


def _min_blocks(op: cuda.FuncOp) -> int:
    return 1 if op.min_blocks is None else op.min_blocks.value.data


@lru_cache(maxsize=256)
def _spilled(source: str, target: str) -> Mapping[str, _Spilled]:
    """What each kernel of a text spills."""
    # It comes with all of the report, which to load takes longer than to compile most programs.
    from tilewright.codegen.report.resources import parse_resources

    resources = parse_resources(nvrtc.compile_cubin(source, target, name=SOURCE_NAME).log)
    return {
        name: _Spilled(r.spill_store_bytes + r.spill_load_bytes, -(-r.stack_bytes // 4))
        for name, r in resources.items()
    }
