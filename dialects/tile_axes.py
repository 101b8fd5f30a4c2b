# SPDX-License-Identifier: Apache-2.0
"""The axes of a launch: which level of the machine takes their steps, and how that is written."""

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import ArrayAttr, IndexType, IntAttr
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import (
    Attribute,
    BlockArgument,
    ParametrizedAttribute,
    SpacedOpaqueSyntaxAttribute,
    SSAValue,
)
from xdsl.irdl import IRDLOperation, irdl_attr_definition
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    RegionVariable,
    irdl_custom_directive,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.utils.hints import isa
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


@irdl_custom_directive
class LaunchAxes(CustomDirective):
    """`(%b = block 4 m, %t = thread 128 n) { ... }`."""

    axes: AttributeVariable
    body: RegionVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        axes = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: self._parse_axis(parser)
        )
        self.axes.set(state, ArrayAttr(binding for _, binding in axes))
        self.body.set(state, parser.parse_region([name.resolve(_INDEX) for name, _ in axes]))

    def _parse_axis(self, parser: Parser) -> tuple[Parser.UnresolvedArgument, AxisAttr]:
        name = parser.parse_argument(expect_type=False)
        parser.parse_punctuation("=")
        return name, AxisAttr.parse_binding(parser)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        bindings, body = self.axes.get(op), self.body.get(op)
        assert isa(bindings, ArrayAttr[AxisAttr])
        state.print_whitespace(printer)
        axes = zip(body.block.args, bindings, strict=True)
        with printer.in_parens():
            printer.print_list(axes, lambda axis: self._print_axis(printer, *axis))
        printer.print_string(" ")
        printer.print_region(body, print_entry_block_args=False, print_empty_block=False)

    def _print_axis(self, printer: Printer, value: SSAValue, binding: AxisAttr) -> None:
        printer.print_ssa_value(value)
        printer.print_string(f" = {binding.binding()}")
