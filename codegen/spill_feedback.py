# SPDX-License-Identifier: Apache-2.0
"""
Lowering with a look at what ptxas makes of it: kernels that spill get more registers.

`min_blocks` of a kernel asks for few registers, so that many blocks are resident. Whether they are
enough only the compiler knows. A kernel that spills asks for as many blocks as it does not spill
with, which are found by halving: the more registers, the less is spilled. With one block there is
nothing left to give. Kernels that ask for nothing are not compiled here, and without NVRTC none is.
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
    if not asking or not nvrtc.available():
        return
    spilled = _spilled(cuda_source(module), target)
    searches = [_Search(op, bytes) for op in asking if (bytes := spilled[op.sym_name.data])]
    while tried := [search for search in searches if search.try_middle()]:
        spilled = _spilled(cuda_source(module, [search.op for search in tried]), target)
        for search in tried:
            search.learn(spilled[search.op.sym_name.data])
    for search in searches:
        search.finish()


class _Search:
    """Looks for the most blocks that a kernel does not spill with."""

    def __init__(self, op: cuda.FuncOp, spilled: int):
        self.op = op
        self._asked = self._too_many = _min_blocks(op)
        self._spilled = spilled
        self._enough = 1

    def try_middle(self) -> bool:
        """Ask for a number of blocks of which it is not known; False if there is none."""
        if self._too_many - self._enough < 2:
            return False
        self._ask((self._enough + self._too_many) // 2)
        return True

    def learn(self, spilled: int) -> None:
        """How many bytes are spilled with what was tried."""
        if spilled:
            self._too_many = _min_blocks(self.op)
        else:
            self._enough = _min_blocks(self.op)

    def finish(self) -> None:
        """Ask for what was found, and say why."""
        self._ask(self._asked)
        reason = f"{self._spilled} bytes spilled with registers for {self._asked} blocks"
        decided(RULE, self.op, f"{reason}: {self._enough} now")
        with rewriting(RULE, self.op):
            self._ask(self._enough)

    def _ask(self, blocks: int) -> None:
        self.op.properties["min_blocks"] = IntegerAttr(blocks, i64)


def _min_blocks(op: cuda.FuncOp) -> int:
    return 1 if op.min_blocks is None else op.min_blocks.value.data


@lru_cache(maxsize=256)
def _spilled(source: str, target: str) -> Mapping[str, int]:
    """The bytes that each kernel of a text spills."""
    # It comes with all of the report, which to load takes longer than to compile most programs.
    from tilewright.codegen.report.resources import parse_resources

    resources = parse_resources(nvrtc.compile_cubin(source, target, name=SOURCE_NAME).log)
    return {name: r.spill_store_bytes + r.spill_load_bytes for name, r in resources.items()}
