# SPDX-License-Identifier: Apache-2.0
"""
Decompositions of matrix products: both operands are viewed over the joint domain (batch..., m, n,
k), multiplied, and summed over k.

    %2 = torch.matmul %0, %1 : (tensor<16x64xf32>, tensor<64x32xf32>) -> tensor<16x32xf32>

becomes

    %l = prim.index_map %0 by affine_map<(d0, d1, d2) -> (d0, d2)>
        : tensor<16x64xf32> -> tensor<16x32x64xf32>
    %r = prim.index_map %1 by affine_map<(d0, d1, d2) -> (d2, d1)>
        : tensor<64x32xf32> -> tensor<16x32x64xf32>
    %p = prim.elementwise mul(%l, %r) : tensor<16x32x64xf32>
    %2 = prim.reduce add(%p) dims [2] : (tensor<16x32x64xf32>) -> tensor<16x32xf32>

The product over the joint domain is never stored: lifting to Loop IR multiplies inside the sum.
Precisions below `highest` change the product (`rounded_product.py`).
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from xdsl.dialects.utils import FastMathFlag

from tilewright.dialects import torch
from tilewright.passes.decompose.decomposition import Decomposition, Table
from tilewright.passes.decompose.elementwise import scaled
from tilewright.passes.decompose.rounded_product import rounded_product
from tilewright.passes.decompose.tensor import Emitter, Tensor


def contract(rows: Tensor, columns: Tensor, fastmath: Sequence[FastMathFlag] = ()) -> Tensor:
    """
    Return the product of ...xMxK and ...xNxK, summed over the last dimension: ...xMxN. Batches are
    broadcast. A vector has only the dimension K, and adds no dimension to the result. `fastmath`
    flags are set on the multiplications.
    """
    if len(rows.shape) > 1 and len(columns.shape) > 1:
        rows = rows.unsqueeze([len(rows.shape) - 1])
        columns = columns.unsqueeze([len(columns.shape) - 2])
    product = rounded_product(rows, columns, fastmath)
    return product.sum([product.rank - 1])


def transposed(matrix: Tensor) -> Tensor:
    """Return the matrix with its last two dimensions exchanged; a vector is unchanged."""
    dims = range(len(matrix.shape))
    return matrix.permute([*dims[:-2], *reversed(dims[-2:])])


class Matmul(Decomposition[torch.MatmulOp]):
    """Decomposition of `matmul`: `input @ other` of matrices, batches of matrices, and vectors."""

    def decompose(self, op: torch.MatmulOp, emit: Emitter) -> Tensor:
        return contract(emit(op.input), transposed(emit(op.other)))


class Mm(Decomposition[torch.MmOp | torch.BmmOp]):
    """
    Decomposition of `mm` and `bmm`: `input @ mat2` of two matrices, or of two batches of equal
    length.
    """

    def decompose(self, op: torch.MmOp | torch.BmmOp, emit: Emitter) -> Tensor:
        return contract(emit(op.input), transposed(emit(op.mat2)))


class Mv(Decomposition[torch.MvOp]):
    """Decomposition of `mv`: `input @ vec` of a matrix and a vector."""

    def decompose(self, op: torch.MvOp, emit: Emitter) -> Tensor:
        return contract(emit(op.input), emit(op.vec))


class Dot(Decomposition[torch.DotOp]):
    """Decomposition of `dot`: `input @ tensor` of two vectors."""

    def decompose(self, op: torch.DotOp, emit: Emitter) -> Tensor:
        return contract(emit(op.input), emit(op.tensor))


class Linear(Decomposition[torch.LinearOp]):
    """Decomposition of `linear`: `input @ weight^T + bias`."""

    def decompose(self, op: torch.LinearOp, emit: Emitter) -> Tensor:
        result = contract(emit(op.input), emit(op.weight))
        return result if op.bias is None else result + emit(op.bias)


Scaled = torch.AddmmOp | torch.AddmvOp | torch.AddbmmOp | torch.BaddbmmOp


class ScaledProduct(Decomposition[Scaled], ABC):
    """
    Decomposition to `alpha * product + beta * input`; a term with the factor 0 is not read, so that
    NaN in it has no effect.
    """

    @abstractmethod
    def product(self, op: Any, emit: Emitter) -> Tensor:
        """Return the product that `alpha` scales."""

    def decompose(self, op: Scaled, emit: Emitter) -> Tensor:
        shape, terms = op.result_shape(), list[Tensor]()
        if alpha := emit(op.alpha):
            terms.append(scaled(self.product(op, emit), alpha))
        if beta := emit(op.beta):
            terms.append(scaled(emit(op.input), beta))
        if not terms:
            return emit.constant(0.0, shape)
        return sum(terms[1:], start=terms[0]).broadcast(shape)


class Addmm(ScaledProduct):
    """Decomposition of `addmm`: `alpha * (mat1 @ mat2) + beta * input`."""

    def product(self, op: torch.AddmmOp, emit: Emitter) -> Tensor:
        return contract(emit(op.mat1), transposed(emit(op.mat2)))


class Addmv(ScaledProduct):
    """Decomposition of `addmv`: `alpha * (mat @ vec) + beta * input`."""

    def product(self, op: torch.AddmvOp, emit: Emitter) -> Tensor:
        return contract(emit(op.mat), emit(op.vec))


class Baddbmm(ScaledProduct):
    """Decomposition of `baddbmm`: `alpha * (batch1 @ batch2) + beta * input`."""

    def product(self, op: torch.BaddbmmOp, emit: Emitter) -> Tensor:
        return contract(emit(op.batch1), transposed(emit(op.batch2)))


class Addbmm(ScaledProduct):
    """
    Decomposition of `addbmm`: `alpha * sum(batch1 @ batch2) + beta * input`, with the sum over the
    batch.
    """

    def product(self, op: torch.AddbmmOp, emit: Emitter) -> Tensor:
        rows = emit(op.batch1).permute([1, 0, 2]).unsqueeze([1])
        columns = emit(op.batch2).permute([2, 0, 1])
        return rounded_product(rows, columns).sum([2, 3])


class Bilinear(Decomposition[torch.BilinearOp]):
    """Decomposition of `bilinear`: `input1 @ (weight @ input2) + bias` for every output."""

    def decompose(self, op: torch.BilinearOp, emit: Emitter) -> Tensor:
        left, right = emit(op.input1), emit(op.input2)
        by_left = (right.unsqueeze([right.rank - 1, right.rank]) * emit(op.weight)).sum(
            [right.rank + 1]
        )
        result = (left.unsqueeze([left.rank - 1]) * by_left).sum([left.rank])
        return result if op.bias is None else result + emit(op.bias)


PATTERNS: Table = {
    torch.MatmulOp: Matmul(),
    torch.MmOp: Mm(),
    torch.BmmOp: Mm(),
    torch.MvOp: Mv(),
    torch.DotOp: Dot(),
    torch.AddmmOp: Addmm(),
    torch.AddmvOp: Addmv(),
    torch.AddbmmOp: Addbmm(),
    torch.BaddbmmOp: Baddbmm(),
    torch.LinearOp: Linear(),
    torch.BilinearOp: Bilinear(),
}
