# SPDX-License-Identifier: Apache-2.0
"""The six levels of IR: detection of a module's level, and the pipeline between two levels."""

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Operation
from xdsl.utils.str_enum import StrEnum

from tilewright.errors import UsageError


class Level(StrEnum):
    """Levels of IR, from PyTorch to CUDA."""

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
    Return the level of `module`: the highest level of any of its ops, that is closest to PyTorch.

    A function without ops of any level is Tensor IR if it takes tensors. A module that only calls
    functions on buffers is Loop IR. Otherwise it is a plan without launches, which has no level and
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
    if isinstance(op, func.FuncOp):  # torch ops, if there are any, have a higher level
        takes_tensors = any(isinstance(t, TensorType) for t in op.function_type.inputs)
        return Level.TENSOR if takes_tensors else None
    return _LEVEL_OF_DIALECT.get(op.name.split(".")[0])


def pipeline_between(start: Level | None, end: Level) -> str:
    """
    Return the pipeline from one level to a lower one, such as `to-tile,to-kernel`; empty if they
    are equal. Raises `UsageError` if `end` is above `start`.
    """
    if start is None:
        return ""
    first, last = LEVELS.index(start), LEVELS.index(end)
    if last < first:
        raise UsageError(f"the module is at {start} level already, below {end}")
    return ",".join(f"to-{level}" for level in LEVELS[first + 1 : last + 1])
