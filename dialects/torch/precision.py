# SPDX-License-Identifier: Apache-2.0
"""Torch ops whose factors may be rounded, and the precision that the module around them names."""

from xdsl.dialects.builtin import ModuleOp, StringAttr, f32
from xdsl.ir import Operation

from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.precision import ATTRIBUTES, Precision, Precisions, precisions_of
from tilewright.dialects.torch.attention import ScaledDotProductAttentionOp
from tilewright.dialects.torch.contraction import (
    AddbmmOp,
    AddmmOp,
    AddmvOp,
    BaddbmmOp,
    BmmOp,
    DotOp,
    LinearOp,
    MatmulOp,
    MmOp,
    MvOp,
)
from tilewright.dialects.torch.convolution import ConvolutionLikeOp
from tilewright.dialects.torch.op import TorchOp
from tilewright.dialects.torch.product import EinsumOp, InnerOp

PRODUCTS = (
    MatmulOp,
    MmOp,
    BmmOp,
    MvOp,
    DotOp,
    AddmmOp,
    AddmvOp,
    AddbmmOp,
    BaddbmmOp,
    LinearOp,
    InnerOp,
    EinsumOp,
    ScaledDotProductAttentionOp,
)
"""
Ops that PyTorch computes by matrix products. `bilinear` is none: PyTorch multiplies and sums its
elements.
"""


def is_convolution(op: Operation) -> bool:
    """True if `op` is a convolution, transposed or not."""
    return isinstance(op, ConvolutionLikeOp)


def is_rounded(op: Operation) -> bool:
    """True if `op` is a matrix product or convolution whose operands are promoted to float32."""
    if not isinstance(op, (*PRODUCTS, ConvolutionLikeOp)):
        return False
    assert isinstance(op, TorchOp)
    return op.common_element() == f32


def set_precisions(module: ModuleOp, precisions: Precisions) -> None:
    """
    Set the attributes of a module to `precisions`. An attribute that changes nothing is removed:
    `highest`, or a precision of contractions that the module does not have.
    """
    kinds = {is_convolution(op) for op in ops_in(module) if is_rounded(op)}
    for name, precision, is_conv in zip(ATTRIBUTES.values(), precisions, (False, True)):
        module.attributes.pop(name, None)
        if precision is not Precision.HIGHEST and is_conv in kinds:
            module.attributes[name] = StringAttr(precision)


def precision_at(op: Operation) -> Precision:
    """
    Return the precision to which the factors of an op's products may be rounded. It follows from
    the outermost module, and is `highest` for ops that `is_rounded` excludes.
    """
    module = op
    while (outer := module.parent_op()) is not None:
        module = outer
    if not isinstance(module, ModuleOp) or not is_rounded(op):
        return Precision.HIGHEST
    precisions = precisions_of(module)
    return precisions.conv if is_convolution(op) else precisions.matmul
