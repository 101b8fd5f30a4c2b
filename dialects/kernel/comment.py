# SPDX-License-Identifier: Apache-2.0
"""What the ops that follow are for, in words: comments of Kernel IR, which end up in the text."""

from abc import ABC

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation
from xdsl.irdl import irdl_op_definition, prop_def, traits_def
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind, Resource
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.faster_xdsl.verify_once import FormedOp


class _Text(Resource):
    """The text of the program: no memory."""

    def name(self) -> str:
        return "text"


TEXT = _Text()


class WritesText(MemoryEffect):
    """It does nothing, but stays where it is."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        """Return a change of the text alone."""
        return {EffectInstance(MemoryEffectKind.WRITE, resource=TEXT)}


class TextOp(FormedOp, ABC):
    """One line of words, which is printed as a comment."""

    text = prop_def(StringAttr)

    traits = traits_def(WritesText())
    assembly_format = "$text attr-dict"

    def __init__(self, text: str):
        super().__init__(properties={"text": StringAttr(text)})

    def verify_(self) -> None:
        text = self.text.data
        if not text.strip():
            raise VerifyException("the comment is empty; say what follows, or leave it out")
        if not text.isprintable() or "\\" in text:
            raise VerifyException("a comment is one printable line without backslashes")


@irdl_op_definition
class CommentOp(TextOp):
    """
    What the ops from here to the next comment, or to the end of the body, are for.

    ```mlir
    kernel.comment "softmax: maximum across 32 threads"
    ```
    """

    name = "kernel.comment"
