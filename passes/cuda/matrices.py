# SPDX-License-Identifier: Apache-2.0
"""Lowering of ops for tensor cores: loads of matrices, and multiplications."""

from xdsl.ir import SSAValue

from tilewright.dialects import kernel
from tilewright.dialects.cuda.copies import AddressOp
from tilewright.dialects.cuda.matrices import LoadMatrixOp, MatrixMultiplyOp
from tilewright.passes.cuda.conversion import Conversion, Handlers
from tilewright.passes.cuda.places import Place


def _load_matrix(to: Conversion, op: kernel.LoadMatrixOp) -> None:
    (target,) = to.accesses.places[op]
    row = to.indices.row(op.source, to.accesses.rows[op])
    registers = _address(to, op.target, target)
    transposed = op.transposed is not None
    to.writer.statement(LoadMatrixOp(row, registers, op.count.value.data, transposed=transposed))


def _matrix_multiply(to: Conversion, op: kernel.MatrixMultiplyOp) -> None:
    places, memrefs = to.accesses.places[op], (op.a, op.b, op.d)
    a, b, d = (_address(to, *each) for each in zip(memrefs, places, strict=True))
    to.writer.statement(MatrixMultiplyOp(op.instruction.data, a, b, d))


def _address(to: Conversion, memref: SSAValue, place: Place) -> SSAValue:
    return AddressOp(to.writer.use(memref), to.indices.subscripts(place)).result


MATRICES: Handlers = {
    kernel.LoadMatrixOp: _load_matrix,
    kernel.MatrixMultiplyOp: _matrix_multiply,
}
