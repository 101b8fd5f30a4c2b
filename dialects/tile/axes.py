# SPDX-License-Identifier: Apache-2.0
"""The axes of a launch: which level of the machine takes their steps, and how that is written."""

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
from xdsl.utils.str_enum import StrEnum

from tilewright.dialects.axes import Role, RoleAttr

_INDEX = IndexType()


class Level(StrEnum):
    """
    A level of the machine, outermost first. `thread` is warp and lane not yet told apart; the
    steps of a `register` axis are done by one thread, each with registers of its own.
    """

    BLOCK = "block"
    WARP = "warp"
    THREAD = "thread"
    LANE = "lane"
    REGISTER = "register"

    @property
    def is_thread(self) -> bool:
        """Whether different steps are different threads of one block."""
        return self in (Level.WARP, Level.THREAD, Level.LANE)


@irdl_attr_definition
class LevelAttr(EnumAttribute[Level], SpacedOpaqueSyntaxAttribute):
    """The level of an axis."""

    name = "tile.level"


@irdl_attr_definition
class AxisAttr(ParametrizedAttribute):
    """What an axis of a launch is bound to: level, number of steps, role."""

    name = "tile.axis"

    level: LevelAttr
    extent: IntAttr
    role: RoleAttr

    @staticmethod
    @lru_cache(maxsize=1 << 10)
    def get(level: Level, extent: int, role: Role = Role.FREE) -> "AxisAttr":
        """The axis of `extent` steps at `level`."""
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
        """`thread 16 m`; the role `free` is not written."""
        level = parser.parse_str_enum(Level)
        extent = parser.parse_integer(allow_boolean=False, allow_negative=False)
        role = parser.parse_optional_keyword_in(list(Role)) or Role.FREE
        return AxisAttr.get(level, extent, Role(role))

    def binding(self) -> str:
        """The text that `parse_binding` reads."""
        role = "" if self.role.data is Role.FREE else f" {self.role.data}"
        return f"{self.level.data} {self.extent.data}{role}"


class Axis(NamedTuple):
    """An axis of a launch, as passes see it."""

    value: BlockArgument
    level: Level
    extent: int
    role: Role
