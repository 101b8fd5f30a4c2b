# SPDX-License-Identifier: Apache-2.0
"""
Precision of float32 contractions, as attributes of a module at Torch IR:

    builtin.module attributes {torch.matmul_precision = "high", torch.conv_precision = "high"} {

The words are those of `torch.set_float32_matmul_precision`. An absent attribute means `highest`.
`decompose` reads the attributes and removes them.
"""

from enum import StrEnum
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp, StringAttr, f32
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.faster_xdsl.walk import ops_in
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


class Precision(StrEnum):
    """Precision to which the factors of float32 products may be rounded."""

    HIGHEST = "highest"
    """Factors are not rounded."""
    HIGH = "high"
    """Factors may be rounded to tf32, which has 11 significant bits."""
    MEDIUM = "medium"
    """Factors may be rounded to bfloat16, which has 8 significant bits."""


WORDS = tuple(str(each) for each in Precision)
"""Words for precisions, from the most to the least precise."""


class Precisions(NamedTuple):
    """Precisions of the float32 contractions of a program."""

    matmul: Precision = Precision.HIGHEST
    """Precision of matrix products, einsum and attention."""
    conv: Precision = Precision.HIGHEST
    """Precision of convolutions."""

    @classmethod
    def of_word(cls, word: str) -> "Precisions":
        """
        Return the precisions for one word that names the precision of matrix products. Convolutions
        may round factors to tf32 unless the word is `highest`.
        """
        matmul = Precision(word)
        return cls(matmul, min(matmul, Precision.HIGH, key=[*Precision].index))


_ATTRIBUTES = {"matmul": "torch.matmul_precision", "conv": "torch.conv_precision"}
"""Names of the attributes, by the fields of `Precisions`."""


def precisions_of(module: ModuleOp) -> Precisions:
    """
    Return the precisions that the attributes of a module name. Raises `VerifyException` for an
    attribute that is none of `WORDS`.
    """
    return Precisions(**{field: _precision(module, name) for field, name in _ATTRIBUTES.items()})


def _precision(module: ModuleOp, name: str) -> Precision:
    attribute = module.attributes.get(name)
    if attribute is None:
        return Precision.HIGHEST
    if isinstance(attribute, StringAttr) and attribute.data in WORDS:
        return Precision(attribute.data)
    words = ", ".join(f'"{word}"' for word in WORDS)
    raise VerifyException(f"{name} is {attribute}, but has to be one of {words}")


def set_precisions(module: ModuleOp, precisions: Precisions) -> None:
    """
    Set the attributes of a module to `precisions`. An attribute that changes nothing is removed:
    `highest`, or a precision of contractions that the module does not have.
    """
    kinds = {is_convolution(op) for op in ops_in(module) if is_rounded(op)}
    for name, precision, is_conv in zip(_ATTRIBUTES.values(), precisions, (False, True)):
        module.attributes.pop(name, None)
        if precision is not Precision.HIGHEST and is_conv in kinds:
            module.attributes[name] = StringAttr(precision)


def allows_rounding(module: ModuleOp) -> bool:
    """True if the attributes of a module allow to round factors of its products."""
    return precisions_of(module) != Precisions()


def remove_precisions(module: ModuleOp) -> None:
    """Remove the attributes of a module that name precisions."""
    set_precisions(module, Precisions())


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
