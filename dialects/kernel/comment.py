# SPDX-License-Identifier: Apache-2.0
"""Comments of Kernel IR: text about the ops that follow, which is printed in the CUDA source."""

from abc import ABC

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation
from xdsl.irdl import irdl_op_definition, prop_def, traits_def
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind, Resource
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.faster_xdsl.verify_once import FormedOp


class _Text(Resource):
    """The text of the program, as a resource apart from memory."""

    def name(self) -> str:
        return "text"


TEXT = _Text()


class WritesText(MemoryEffect):
    """Memory effect of a comment: it writes text only, therefore it is neither erased nor moved."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        """Return the one effect: a write to the text of the program."""
        return {EffectInstance(MemoryEffectKind.WRITE, resource=TEXT)}


class TextOp(FormedOp, ABC):
    """Base class of ops that are one line of text, printed as a comment."""

    text = prop_def(StringAttr)

    traits = traits_def(WritesText())
    assembly_format = "$text attr-dict"

    def __init__(self, text: str):
        super().__init__(properties={"text": StringAttr(text)})

    def verify_(self) -> None:
        text = self.text.data
        if not text.strip():
            raise VerifyException(
                "the comment is empty; describe the ops that follow, or remove it"
            )
        if not text.isprintable() or "\\" in text:
            raise VerifyException("a comment is one printable line without backslashes")


@irdl_op_definition
class CommentOp(TextOp):
    """
    Comment about the ops up to the next comment, or up to the end of the body.

    ```mlir
    kernel.comment "softmax: maximum across 32 threads"
    ```
    """

    name = "kernel.comment"
