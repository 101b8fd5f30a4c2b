# SPDX-License-Identifier: Apache-2.0
"""Attributes of Tile IR: levels of axes, transports of slabs into shared memory, and rings."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from xdsl.dialects.builtin import IndexType, IntAttr
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import (
    Attribute,
    BlockArgument,
    ParametrizedAttribute,
    SpacedOpaqueSyntaxAttribute,
)
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from tilewright.dialects.axes import Role, RoleAttr

_INDEX = IndexType()


class Level(StrEnum):
    """
    Level of the machine that an axis is bound to, outermost first.

    `thread` is a thread that is not yet split into warp and lane. One thread does all steps of a
    `register` axis, each with its own registers.
    """

    BLOCK = "block"
    WARP = "warp"
    THREAD = "thread"
    LANE = "lane"
    REGISTER = "register"

    @property
    def is_thread(self) -> bool:
        """True if different steps are different threads of one block."""
        return self in (Level.WARP, Level.THREAD, Level.LANE)


@irdl_attr_definition
class LevelAttr(EnumAttribute[Level], SpacedOpaqueSyntaxAttribute):
    """Attribute for the level of an axis."""

    name = "tile.level"


@irdl_attr_definition
class AxisAttr(ParametrizedAttribute):
    """Binding of an axis of a launch: level, number of steps, role."""

    name = "tile.axis"

    level: LevelAttr
    extent: IntAttr
    role: RoleAttr

    @staticmethod
    @lru_cache(maxsize=1 << 10)
    def get(level: Level, extent: int, role: Role = Role.FREE) -> "AxisAttr":
        """Return the binding of an axis of `extent` steps to `level`."""
        return AxisAttr(LevelAttr(level), IntAttr(extent), RoleAttr(role))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return cls.parse_binding(parser).parameters

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.binding())

    @staticmethod
    def parse_binding(parser: AttrParser) -> "AxisAttr":
        """Parse and return a binding such as `thread 16 m`; without a role, the role is `free`."""
        level = parser.parse_str_enum(Level)
        extent = parser.parse_integer(allow_boolean=False, allow_negative=False)
        role = parser.parse_optional_keyword_in(list(Role)) or Role.FREE
        return AxisAttr.get(level, extent, Role(role))

    def binding(self) -> str:
        """Return the text that `parse_binding` reads."""
        role = "" if self.role.data is Role.FREE else f" {self.role.data}"
        return f"{self.level.data} {self.extent.data}{role}"


class Axis(NamedTuple):
    """An axis of a launch: its index value, and its binding."""

    value: BlockArgument
    level: Level
    extent: int
    role: Role


class Transport(StrEnum):
    """Way in which a slab is moved into shared memory."""

    SYNC = "sync"
    """Synchronous, through registers: threads load, compute and store."""
    CP_ASYNC = "cp_async"
    """Asynchronous by `cp.async`, 16, 8 or 4 bytes at a time (sm_80 on)."""
    TMA = "tma"
    """Asynchronous by the tensor memory accelerator, the whole slab at once (sm_90 on)."""


@irdl_attr_definition
class TransportAttr(EnumAttribute[Transport], SpacedOpaqueSyntaxAttribute):
    """Attribute for the way in which a slab is moved into shared memory."""

    name = "tile.transport"


MOST_SLOTS = 64
"""Most slots of a ring, because passes and kernels list the first steps one by one."""


def verify_slots(depth: int) -> None:
    """Raise `VerifyException` for a ring with more slots than `MOST_SLOTS`."""
    if depth > MOST_SLOTS:
        raise VerifyException(f"a ring has at most {MOST_SLOTS} slots, not {depth}")


@irdl_attr_definition
class RingAttr(ParametrizedAttribute):
    """
    Number of slots of a loop's slab, and number of steps that they are filled ahead.

    A slot is refilled only after all threads have read it, therefore `lookahead` is below `depth`.
    """

    name = "tile.ring"

    depth: IntAttr
    lookahead: IntAttr

    @staticmethod
    def get(depth: int, lookahead: int = 0) -> "RingAttr":
        """Return a ring of `depth` slots, each filled `lookahead` steps before it is read."""
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
        """
        Parse and return a ring such as `depth 4, lookahead 2`; without a lookahead, the lookahead
        is 0.
        """
        parser.parse_keyword("depth")
        depth, lookahead = parser.parse_integer(allow_boolean=False, allow_negative=False), 0
        if parser.parse_optional_punctuation(","):
            parser.parse_keyword("lookahead")
            lookahead = parser.parse_integer(allow_boolean=False, allow_negative=False)
        return RingAttr.get(depth, lookahead)

    def parts(self) -> str:
        """Return the text that `parse_parts` reads."""
        ahead = f", lookahead {self.lookahead.data}" if self.lookahead.data else ""
        return f"depth {self.depth.data}{ahead}"
