# SPDX-License-Identifier: Apache-2.0
"""Lowering of register arrays: their declarations, and loads of them that need no name."""

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineMap

from tilewright.dialects import kernel, loop
from tilewright.dialects.cuda.memory import LocalOp
from tilewright.dialects.kernel.registers import LOCAL
from tilewright.dialects.types import memref_type
from tilewright.passes.cuda.conversion import Conversion, Handlers
from tilewright.passes.cuda.shared_memory import array_alignment


def _registers(to: Conversion, op: kernel.RegistersOp) -> None:
    """
    Declare a register array; if its first use is a nest that sets it to zero, the declaration does
    it instead.
    """
    element, type = to.element(op.memref), memref_type(op.memref)
    name, align = op.memref.name_hint or "r", array_alignment(op.memref)
    first = _first_use(op)
    zeroing = first if first is not None and _makes_zero(first, op.memref) else None
    to.done.update([zeroing] if zeroing is not None else [])
    local = LocalOp(type.get_shape(), element, name, align=align, zeroed=zeroing is not None)
    to.writer.statement(local)
    to.writer.values[op.memref] = local.array


def _first_use(op: kernel.RegistersOp) -> Operation | None:
    """
    Return the first op in the array's block that uses the array, or contains a use; None if there
    is none.
    """
    assert op.parent is not None
    users = {op.parent.find_ancestor_op_in_block(use.operation) for use in op.memref.uses}
    after = op.next_op
    while after is not None and after not in users:
        after = after.next_op
    return after


def _makes_zero(op: Operation, memref: SSAValue) -> bool:
    """True if `op` is a nest that stores 0 to every element of `memref` and does nothing else."""
    if not isinstance(op, kernel.UnrollOp):
        return False
    store, axes = op.body.block.last_op, [*op.body.block.args]
    if not isinstance(store, loop.StoreOp) or store.mask is not None or store.memref is not memref:
        return False
    if not all(
        other is store or isinstance(other, arith.ConstantOp) for other in op.body.block.ops
    ):
        return False
    is_whole = [*op.axis_extents()] == [*memref_type(memref).get_shape()]
    is_identity = store.map.data == AffineMap.identity(len(axes)) and [*store.indices] == axes
    return is_whole and is_identity and _is_zero(store.value)


def _is_zero(value: SSAValue) -> bool:
    """True if `value` is a constant whose bits are all 0; -0.0 is not."""
    constant = value.owner.value if isinstance(value.owner, arith.ConstantOp) else None
    if isinstance(constant, FloatAttr):
        return str(constant.value.data) == "0.0"
    return isinstance(constant, IntegerAttr) and constant.value.data == 0


def is_read_in_place(load: loop.LoadOp) -> bool:
    """
    True if a load needs no name. Either it loads registers that are not written before the load's
    only use. Or the load's only use is the next op, a store to registers.
    """
    if memref_type(load.memref).memory_space != LOCAL:
        use = load.result.get_user_of_unique_use()
        return isinstance(use, loop.StoreOp) and use is load.next_op and _is_local(use.memref)
    op: Operation | None = load.next_op
    last = _last_use(load)
    while op is not None and op is not last:
        if _may_write(op, load.memref):
            return False
        op = op.next_op
    return op is not None


def _is_local(memref: SSAValue) -> bool:
    return memref_type(memref).memory_space == LOCAL


def _last_use(load: loop.LoadOp) -> Operation | None:
    """
    Return the last op in the load's chain of single uses, where its expression is written; None if
    there is none in the block.
    """
    op: Operation = load
    while len(op.results) == 1 and (use := op.results[0].get_user_of_unique_use()) is not None:
        if use.parent is not load.parent:
            return None
        op = use
    return None if op is load else op


def _may_write(op: Operation, memref: SSAValue) -> bool:
    return any(_written_by(inner) is memref for inner in op.walk())


def _written_by(op: Operation) -> SSAValue | None:
    """Return the memory that `op` writes itself, or None."""
    match op:
        case loop.StoreOp():
            return op.memref
        case kernel.CopyOp() | kernel.LoadMatrixOp():
            return op.target
        case kernel.MatrixMultiplyOp() | kernel.GroupMultiplyOp():
            return op.d
        case _:
            return None


REGISTERS: Handlers = {kernel.RegistersOp: _registers}
