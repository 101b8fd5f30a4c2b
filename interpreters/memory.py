# SPDX-License-Identifier: Apache-2.0
"""
Memory that interpreting a program takes, estimated from the IR before it runs.

Values outside of kernels stay until their function returns. Kernels run in pieces of a bounded
number of points. A kernel takes its buffers, the values of one piece and, in Kernel IR, a record of
accesses for each element of an output.
"""

from math import prod

from xdsl.dialects import func
from xdsl.dialects.builtin import MemRefType, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import SymbolTable

from tilewright.dialects.kernel import FuncOp
from tilewright.dialects.loop import KernelOp, LaunchOp
from tilewright.dialects.prim import GatherOp, IndexMapOp, ScatterOp
from tilewright.dialects.work import scalar_operations
from tilewright.interpreters.arguments import shape_and_element
from tilewright.interpreters.errors import TooLargeError
from tilewright.interpreters.types import ElementTypes
from tilewright.machine_memory import available_memory

_WRITTEN = 1
"""Bytes for each element of a buffer that record whether the element is written."""

_ACCESSES = 48
"""
Bytes for each element of an output of Kernel IR that record its last read and write: twice three
int64.
"""

_SUBSCRIPTS = 24
"""
Bytes for each element that is read at computed subscripts: its subscript, its mask and its copied
value.
"""

PIECE = 1 << 29
"""Approximate limit of the bytes of all values of a piece of a kernel; a piece is run at a time."""

_VALUE = 16
"""Bytes of one value at one point of a kernel: eight, and eight more while it is computed."""


_ALWAYS_THERE = 1 << 20
"""Bytes that need no look at the memory of the machine, which takes a millisecond."""


def require_memory(needed: int, what: str, remedy: str) -> None:
    """Raise `TooLargeError` if `needed` bytes are more than the machine has available."""
    if needed <= _ALWAYS_THERE:
        return
    available = available_memory()
    if available is not None and needed > available:
        raise TooLargeError(
            f"{what} takes about {_gib(needed)} of memory, and there are {_gib(available)}",
            remedy=remedy,
        )


def _gib(size: int) -> str:
    return f"{size / 2**30:.1f} GiB"


def bytes_needed(root: Operation, types: ElementTypes, *callers: Operation) -> int:
    """
    Return an approximate upper bound of the bytes that interpreting a function or kernel takes.

    A function that is one of `callers` takes none: its recursion never returns, which the
    interpreter reports.
    """
    if isinstance(root, KernelOp | FuncOp):
        return _bytes_of_kernel(root, types)
    if not isinstance(root, func.FuncOp) or root in callers:
        return 0
    ops = [op for block in root.body.blocks for op in block.ops]
    arguments = sum(_bytes_of(arg, types) for block in root.body.blocks for arg in block.args)
    held = sum(_bytes_of(result, types) for op in ops for result in op.results)
    returned = sum(_bytes_of(value, types) for op in ops[-1:] for value in op.operands)
    while_run = (_bytes_while(op, types, *callers, root) for op in ops)
    return arguments + held + max(returned, max(while_run, default=0))


def _bytes_of_kernel(kernel: KernelOp | FuncOp, types: ElementTypes) -> int:
    each = _ACCESSES if isinstance(kernel, FuncOp) else 0
    races = sum(_elements(value) * each for value in kernel.outputs)
    buffers = sum(_bytes_of(value, types) for value in kernel.body.block.args)
    return races + buffers + min(PIECE, _VALUE * scalar_operations(kernel))


def _bytes_while(op: Operation, types: ElementTypes, *callers: Operation) -> int:
    """Return the bytes that are needed only while an operation of a function runs."""
    if isinstance(op, func.CallOp | LaunchOp):
        name = op.callee if isinstance(op, func.CallOp) else op.kernel
        callee = SymbolTable.lookup_symbol(op, name)
        return 0 if callee is None else bytes_needed(callee, types, *callers)
    if isinstance(op, IndexMapOp | GatherOp | ScatterOp):
        return _SUBSCRIPTS * max(map(_elements, (*op.operands, *op.results)))
    return max((_bytes_of(value, types) for value in op.results), default=0)


def _bytes_of(value: SSAValue, types: ElementTypes) -> int:
    if not _is_shaped(value.type):
        return 0
    _, element = shape_and_element(value.type)
    written = _WRITTEN if isinstance(value.type, MemRefType) else 0
    return _elements(value) * (types[element].itemsize + written)


def _elements(value: SSAValue) -> int:
    """
    Return the number of elements that a value holds; repetitions by an index map take no memory.
    """
    if not _is_shaped(value.type):
        return 0
    shape, _ = shape_and_element(value.type)
    if not isinstance(value.owner, IndexMapOp):
        return prod(shape)
    maps = [map for source in value.owner.sources for map in (source.map, source.mask)]
    used = {dim for map in maps for expr in map.results for dim in expr.used_dims()}
    return prod(size for dim, size in enumerate(shape) if dim in used)


def _is_shaped(type: Attribute) -> bool:
    """True for tensors and memrefs."""
    return isinstance(type, TensorType | MemRefType)
