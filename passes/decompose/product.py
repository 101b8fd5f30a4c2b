# SPDX-License-Identifier: Apache-2.0
"""
Decompositions of products along named dimensions: einsum and related ops. Two operands at a time
are viewed over the joint domain of their labels, multiplied, and summed over labels that are no
longer needed.

    %2 = torch.einsum %0, %1 equation "ij,kj->ik"
        : (tensor<16x64xf32>, tensor<32x64xf32>) -> tensor<16x32xf32>

becomes

    %l = prim.index_map %0 by affine_map<(d0, d1, d2) -> (d0, d2)>
        : tensor<16x64xf32> -> tensor<16x32x64xf32>
    %r = prim.index_map %1 by affine_map<(d0, d1, d2) -> (d1, d2)>
        : tensor<32x64xf32> -> tensor<16x32x64xf32>
    %p = prim.elementwise mul(%l, %r) : tensor<16x32x64xf32>
    %2 = prim.reduce add(%p) dims [2] : (tensor<16x32x64xf32>) -> tensor<16x32xf32>
"""

from collections.abc import Callable, Sequence
from math import inf
from typing import NamedTuple

from xdsl.dialects.builtin import i1
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from tilewright.dialects import torch
from tilewright.dialects.prim import ScalarFunction
from tilewright.dialects.torch.einsum_equation import Labels
from tilewright.passes.decompose.decomposition import Decomposition, Table
from tilewright.passes.decompose.elementwise import elementwise, scaled
from tilewright.passes.decompose.rounded_product import rounded_product
from tilewright.passes.decompose.tensor import Emitter, Tensor


def multiply(left: Tensor, right: Tensor) -> Tensor:
    """Return the product; for bools it is true where both are true."""
    return left & right if left.element == i1 else left * right


def _term(left: Tensor, right: Tensor) -> Tensor:
    """Return the product, which a reduction then sums."""
    return multiply(left, right) if left.element == i1 else rounded_product(left, right)


class Inner(Decomposition[torch.InnerOp]):
    """Decomposition of `inner`: the sum over k of `input[..., k] * other[..., k]`."""

    def decompose(self, op: torch.InnerOp, emit: Emitter) -> Tensor:
        left, right = emit(op.input), emit(op.other)
        if not left.rank or not right.rank:
            return multiply(left, right)
        left = left.unsqueeze(range(left.rank - 1, left.rank + right.rank - 2))
        product = _term(left, right)
        return product.sum([product.rank - 1])


class Outer(Decomposition[torch.OuterOp]):
    """Decomposition of `outer`: `input[i] * vec2[j]`."""

    def decompose(self, op: torch.OuterOp, emit: Emitter) -> Tensor:
        return multiply(emit(op.input).unsqueeze([1]), emit(op.vec2))


class Addr(Decomposition[torch.AddrOp]):
    """
    Decomposition of `addr`: `beta * input + alpha * vec1[i] * vec2[j]`; the input is not read if
    `beta` is 0.
    """

    def decompose(self, op: torch.AddrOp, emit: Emitter) -> Tensor:
        outer = scaled(emit(op.vec1).unsqueeze([1]) * emit(op.vec2), emit(op.alpha))
        beta = emit(op.beta)
        return scaled(emit(op.input), beta) + outer if beta else outer


class Term(NamedTuple):
    """Tensor with one label for each dimension."""

    labels: Labels
    tensor: Tensor

    def over(self, domain: Labels, shape: tuple[int, ...]) -> Tensor:
        """Return the tensor viewed over a domain of labels; dimensions of size 1 are repeated."""
        coordinates: list[AffineExpr] = [
            AffineConstantExpr(0) if size == 1 else AffineExpr.dimension(domain.index(label))
            for label, size in zip(self.labels, self.tensor.shape, strict=True)
        ]
        return self.tensor.view(coordinates, shape)

    def summed(self, kept: Sequence[str]) -> "Term":
        """Return the term summed over all labels except those in `kept`."""
        dims = [dim for dim, label in enumerate(self.labels) if label not in kept]
        labels = tuple(label for label in self.labels if label in kept)
        return Term(labels, self.tensor.sum(dims))


def diagonal(labels: Labels, tensor: Tensor) -> Term:
    """
    Return the diagonal of a tensor over the dimensions that share a label, so that each label
    occurs once.
    """
    own = tuple(dict.fromkeys(labels))
    shape = tuple(tensor.shape[labels.index(label)] for label in own)
    coordinates = [AffineExpr.dimension(own.index(label)) for label in labels]
    return Term(own, tensor.view(coordinates, shape))


def contract_terms(left: Term, right: Term, kept: Labels) -> Term:
    """
    Return the product of two terms, summed over all labels except those in `kept`; the result has
    the order of `kept`.
    """
    left = left.summed((*kept, *right.labels))
    right = right.summed((*kept, *left.labels))
    size = dict(zip(left.labels, left.tensor.shape))
    for label, of_right in zip(right.labels, right.tensor.shape):
        size[label] = of_right if size.get(label, 1) == 1 else size[label]
    domain = tuple(sorted(size, key=lambda x: kept.index(x) if x in kept else len(kept)))
    shape = tuple(size[label] for label in domain)
    factors = left.over(domain, shape), right.over(domain, shape)
    is_summed = any(label not in kept for label in domain)
    product = _term(*factors) if is_summed else multiply(*factors)
    return Term(domain, product).summed(kept)


class Einsum(Decomposition[torch.EinsumOp]):
    """Decomposition of `einsum`: pairs of operands are contracted in the order of the path."""

    def decompose(self, op: torch.EinsumOp, emit: Emitter) -> Tensor:
        equation = op.parsed()
        operands = zip(equation.operands, op.tensors, strict=True)
        terms = [diagonal(labels, emit(tensor)) for labels, tensor in operands]
        for pair in op.steps():
            right, left = terms.pop(max(pair)), terms.pop(min(pair))
            needed = dict.fromkeys([*equation.result, *(x for t in terms for x in t.labels)])
            product = contract_terms(left, right, tuple(needed))
            terms.insert(0 if op.path is None else len(terms), product)
        (term,) = terms
        return term.summed(equation.result).over(equation.result, equation.result_shape)


def _manhattan(difference: Tensor) -> Tensor:
    return difference.sum([difference.rank - 1])


def _euclidean(difference: Tensor) -> Tensor:
    return (difference * difference).sum([difference.rank - 1]).sqrt()


def _largest(difference: Tensor) -> Tensor:
    *shape, size = difference.shape
    if not size:
        return difference.emit.constant(0.0, tuple(shape))
    return difference.max([difference.rank - 1])


def _count(difference: Tensor) -> Tensor:
    return difference.differs(0.0).cast(difference.element).sum([difference.rank - 1])


_NORMS: dict[float, Callable[[Tensor], Tensor]] = {
    0.0: _count,
    1.0: _manhattan,
    2.0: _euclidean,
    inf: _largest,
}


class CdistForward(Decomposition[torch.CdistForwardOp]):
    """
    Decomposition of `_cdist_forward`: the sum over k of `|x1[..., i, k] - x2[..., j, k]|^p`, to the
    power of `1 / p`.
    """

    def decompose(self, op: torch.CdistForwardOp, emit: Emitter) -> Tensor:
        left, right, p = emit(op.x1), emit(op.x2), op.p.value.data
        left, right = left.unsqueeze([left.rank - 1]), right.unsqueeze([right.rank - 2])
        difference = (left - right).abs()
        if p in _NORMS:
            return _NORMS[p](difference)
        powers = elementwise(ScalarFunction.POW, difference, p)
        return elementwise(ScalarFunction.POW, powers.sum([powers.rank - 1]), 1.0 / p)


PATTERNS: Table = {
    torch.InnerOp: Inner(),
    torch.OuterOp: Outer(),
    torch.AddrOp: Addr(),
    torch.EinsumOp: Einsum(),
    torch.CdistForwardOp: CdistForward(),
}
