# SPDX-License-Identifier: Apache-2.0
"""Lowering of multiplications by warpgroups, whose factors are given by descriptors."""

from xdsl.ir import SSAValue

from tilewright.dialects.cuda.copies import AddressOp
from tilewright.dialects.cuda.expressions import CallOp
from tilewright.dialects.cuda.matrices import GroupMultiplyOp, ui64
from tilewright.dialects.cuda.threads import PerformOp
from tilewright.dialects.kernel import warpgroup
from tilewright.dialects.kernel.matrix_descriptor import MatrixDescriptor
from tilewright.passes.cuda.conversion import Conversion, Handlers
from tilewright.passes.cuda.row_addresses import RowAddress


def _multiply(to: Conversion, op: warpgroup.GroupMultiplyOp) -> None:
    rows = to.accesses.group_rows[op]
    (sums,) = to.accesses.places[op]
    descriptors, transposed = list[SSAValue](), list[bool]()
    for factor, row in zip(op.factors(), rows, strict=True):
        descriptor = factor.descriptor
        assert isinstance(descriptor, MatrixDescriptor)
        descriptors.append(_descriptor(to, factor.memref, row, descriptor))
        transposed.append(descriptor.transposed)
    d = AddressOp(to.writer.use(op.d), to.indices.subscripts(sums)).result
    columns = op.columns.value.data
    to.writer.statement(GroupMultiplyOp(op.instruction.data, columns, descriptors, transposed, d))


def _descriptor(
    to: Conversion, memref: SSAValue, row: RowAddress, descriptor: MatrixDescriptor
) -> SSAValue:
    numbers = descriptor.leading, descriptor.stride, descriptor.span
    start, after = to.indices.row_start(memref, row), to.indices.after_start(row)
    arguments = [start, after, *map(to.writer.index, numbers)]
    return CallOp("matrix_descriptor", arguments, ui64).result


def _fence(to: Conversion, op: warpgroup.GroupFenceOp) -> None:
    to.writer.statement(PerformOp("group_fence"))


def _commit(to: Conversion, op: warpgroup.GroupCommitOp) -> None:
    to.writer.statement(PerformOp("group_commit"))


def _wait(to: Conversion, op: warpgroup.GroupWaitOp) -> None:
    to.writer.statement(PerformOp("group_wait", constants=[op.pending.value.data]))


def _proxy_fence(to: Conversion, op: warpgroup.ProxyFenceOp) -> None:
    to.writer.statement(PerformOp("proxy_fence"))


WARPGROUPS: Handlers = {
    warpgroup.GroupMultiplyOp: _multiply,
    warpgroup.GroupFenceOp: _fence,
    warpgroup.GroupCommitOp: _commit,
    warpgroup.GroupWaitOp: _wait,
    warpgroup.ProxyFenceOp: _proxy_fence,
}
