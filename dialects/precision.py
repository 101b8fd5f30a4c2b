# SPDX-License-Identifier: Apache-2.0
"""
Precision of float32 contractions, as attributes of a module at Torch IR:

    builtin.module attributes {torch.matmul_precision = "high", torch.conv_precision = "high"} {

The words are those of `torch.set_float32_matmul_precision`. An absent attribute means `highest`.
`decompose` reads the attributes and removes them.
"""

from enum import StrEnum
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.utils.exceptions import VerifyException


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


ATTRIBUTES = {"matmul": "torch.matmul_precision", "conv": "torch.conv_precision"}
"""Names of the attributes, by the fields of `Precisions`."""


def precisions_of(module: ModuleOp) -> Precisions:
    """
    Return the precisions that the attributes of a module name. Raises `VerifyException` for an
    attribute that is none of `WORDS`.
    """
    return Precisions(**{field: _precision(module, name) for field, name in ATTRIBUTES.items()})


def _precision(module: ModuleOp, name: str) -> Precision:
    attribute = module.attributes.get(name)
    if attribute is None:
        return Precision.HIGHEST
    if isinstance(attribute, StringAttr) and attribute.data in WORDS:
        return Precision(attribute.data)
    words = ", ".join(f'"{word}"' for word in WORDS)
    raise VerifyException(f"{name} is {attribute}, but has to be one of {words}")


def allows_rounding(module: ModuleOp) -> bool:
    """True if the attributes of a module allow to round factors of its products."""
    return precisions_of(module) != Precisions()


def remove_precisions(module: ModuleOp) -> None:
    """Remove the attributes of a module that name precisions."""
    for name in ATTRIBUTES.values():
        module.attributes.pop(name, None)
