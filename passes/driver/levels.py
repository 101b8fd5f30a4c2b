# SPDX-License-Identifier: Apache-2.0
"""The six levels: which one a module is at, and the pipeline that takes it to another."""

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Operation
from xdsl.utils.str_enum import StrEnum

from tilewright.errors import UsageError


class Level(StrEnum):
    """The IRs, from PyTorch to CUDA."""

    TORCH = "torch"
    TENSOR = "tensor"
    LOOP = "loop"
    TILE = "tile"
    KERNEL = "kernel"
    CUDA = "cuda"


LEVELS = tuple(Level)

_LEVEL_OF_DIALECT = {
    "torch": Level.TORCH,
    "prim": Level.TENSOR,
    "tile": Level.TILE,
    "kernel": Level.KERNEL,
    "cuda": Level.CUDA,
}


def level_of(module: ModuleOp) -> Level | None:
    """
    Return the level that `module` is at: the highest that any of its ops belongs to.

    A function without such ops is Tensor IR if it takes tensors. If it takes buffers it is Loop IR
    as long as it calls others; else it is a plan with nothing to launch, which is at no level and
    needs no lowering: None.
    """
    ops = [*module.walk()]
    found = {level for op in ops if (level := _level_of_op(op)) is not None}
    has_calls = any(isinstance(op, func.CallOp) for op in ops)
    return min(found, key=LEVELS.index, default=Level.LOOP if has_calls else None)


def _level_of_op(op: Operation) -> Level | None:
    if op.name == "loop.kernel":
        holds_launch = any(inner.name == "tile.launch" for inner in op.regions[0].block.ops)
        return Level.TILE if holds_launch else Level.LOOP
    if isinstance(op, func.FuncOp):  # torch ops, if there are any, outrank the tensors
        takes_tensors = any(isinstance(t, TensorType) for t in op.function_type.inputs)
        return Level.TENSOR if takes_tensors else None
    return _LEVEL_OF_DIALECT.get(op.name.split(".")[0])


def pipeline_between(start: Level | None, end: Level) -> str:
    """Return the pipeline from one level to a lower one: `to-tile,to-kernel`; empty for none."""
    if start is None:
        return ""
    first, last = LEVELS.index(start), LEVELS.index(end)
    if last < first:
        raise UsageError(f"the module is at {start} level already, below {end}")
    return ",".join(f"to-{level}" for level in LEVELS[first + 1 : last + 1])
