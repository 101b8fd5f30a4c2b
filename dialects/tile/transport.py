# SPDX-License-Identifier: Apache-2.0
"""How a slab gets into shared memory, and how many of them a loop has under way."""

from collections.abc import Sequence

from xdsl.dialects.builtin import IntAttr
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, ParametrizedAttribute, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum


class Transport(StrEnum):
    """How a slab gets into shared memory."""

    SYNC = "sync"
    """Through registers: threads load, compute and store."""
    CP_ASYNC = "cp_async"
    """By `cp.async`, 16, 8 or 4 bytes at a time (sm_80 on)."""
    TMA = "tma"
    """By the tensor memory accelerator, the whole slab at once (sm_90 on)."""


@irdl_attr_definition
class TransportAttr(EnumAttribute[Transport], SpacedOpaqueSyntaxAttribute):
    """How a slab gets into shared memory."""

    name = "tile.transport"


MOST_SLOTS = 64
"""Number of slots a ring may have: passes and kernels name the first steps one by one."""


def verify_slots(depth: int) -> None:
    """Raise `VerifyException` for a ring of more slots than are supported."""
    if depth > MOST_SLOTS:
        raise VerifyException(f"a ring has at most {MOST_SLOTS} slots, not {depth}")


@irdl_attr_definition
class RingAttr(ParametrizedAttribute):
    """
    How many slots the slab of a loop has, and how many steps ahead they are filled. A slot is
    filled again only after all threads have read it, so that `lookahead` is below `depth`.
    """

    name = "tile.ring"

    depth: IntAttr
    lookahead: IntAttr

    @staticmethod
    def get(depth: int, lookahead: int = 0) -> "RingAttr":
        """A ring of `depth` slots, each filled `lookahead` steps before it is read."""
        return RingAttr(IntAttr(depth), IntAttr(lookahead))

    def verify(self) -> None:
        depth, lookahead = self.depth.data, self.lookahead.data
        if depth < 2:
            raise VerifyException(f"a ring has two slots or more, not {depth}")
        verify_slots(depth)
        if lookahead >= depth:
            raise VerifyException(
                f"{depth} slots are filled at most {depth - 1} steps ahead, not {lookahead}"
            )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return cls.parse_parts(parser).parameters

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.parts())

    @staticmethod
    def parse_parts(parser: AttrParser) -> "RingAttr":
        """`depth 4, lookahead 2`; no lookahead is not written."""
        parser.parse_keyword("depth")
        depth, lookahead = parser.parse_integer(allow_boolean=False, allow_negative=False), 0
        if parser.parse_optional_punctuation(","):
            parser.parse_keyword("lookahead")
            lookahead = parser.parse_integer(allow_boolean=False, allow_negative=False)
        return RingAttr.get(depth, lookahead)

    def parts(self) -> str:
        """The text that `parse_parts` reads."""
        ahead = f", lookahead {self.lookahead.data}" if self.lookahead.data else ""
        return f"depth {self.depth.data}{ahead}"
