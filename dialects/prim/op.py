# SPDX-License-Identifier: Apache-2.0
"""What all ops of Tensor IR are: pure functions of tensors of known sizes."""

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.irdl import traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.form import FormedOp
from tilewright.dialects.types import shape_of


class PrimOp(FormedOp):
    """An op whose operands and results are tensors."""

    traits = traits_def(Pure())

    def verify_(self) -> None:
        for value in (*self.operands, *self.results):
            if DYNAMIC_INDEX in shape_of(value):
                raise VerifyException(f"{value.type} has an unknown size; shapes are static here")
