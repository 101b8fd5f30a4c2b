# SPDX-License-Identifier: Apache-2.0
"""Directives for the assembly format of Tile IR: the headers of launches and stages."""

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    i64,
)
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    RegionVariable,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.hints import isa

from tilewright.dialects.tile.attributes import AxisAttr, RingAttr, Transport, TransportAttr

_INDEX = IndexType()


def _number(parser: Parser) -> int:
    return parser.parse_integer(allow_boolean=False, allow_negative=False)


@irdl_custom_directive
class LaunchAxes(CustomDirective):
    """Directive for a launch: `(%b = block 4 m, %t = thread 128 n) min_blocks 2 { ... }`."""

    axes: AttributeVariable
    min_blocks: AttributeVariable
    body: RegionVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        axes = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: self._parse_axis(parser)
        )
        self.axes.set(state, ArrayAttr(binding for _, binding in axes))
        if parser.parse_optional_keyword("min_blocks"):
            self.min_blocks.set(state, IntegerAttr(_number(parser), i64))
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
        if isinstance(min_blocks := self.min_blocks.get(op), IntegerAttr):
            printer.print_string(f" min_blocks {min_blocks.value.data}")
        printer.print_string(" ")
        printer.print_region(body, print_entry_block_args=False, print_empty_block=False)

    def _print_axis(self, printer: Printer, value: SSAValue, binding: AxisAttr) -> None:
        printer.print_ssa_value(value)
        printer.print_string(f" = {binding.binding()}")


@irdl_custom_directive
class StageHeader(CustomDirective):
    """
    Directive for a stage: `(%i, %j) in [128, 16] ring(depth 2) transport(cp_async) { ... }`.

    The names are slab coordinates, followed by their extents.
    """

    extents: AttributeVariable
    ring: AttributeVariable
    transport: AttributeVariable
    body: RegionVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        arguments = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parser.parse_argument(expect_type=False)
        )
        parser.parse_keyword("in")
        extents = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: _number(parser)
        )
        self.extents.set(state, DenseArrayBase.from_list(i64, extents))
        if parser.parse_optional_keyword("ring"):
            with parser.in_parens():
                self.ring.set(state, RingAttr.parse_parts(parser))
        if parser.parse_optional_keyword("transport"):
            with parser.in_parens():
                self.transport.set(state, TransportAttr(parser.parse_str_enum(Transport)))
        self.body.set(state, parser.parse_region([a.resolve(_INDEX) for a in arguments]))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        extents, body = self.extents.get(op), self.body.get(op)
        assert isinstance(extents, DenseArrayBase)
        state.print_whitespace(printer)
        with printer.in_parens():
            printer.print_list(body.block.args, printer.print_ssa_value)
        printer.print_string(" in ")
        with printer.in_square_brackets():
            printer.print_list(extents.get_values(), lambda e: printer.print_string(str(e)))
        if isinstance(ring := self.ring.get(op), RingAttr):
            printer.print_string(f" ring({ring.parts()})")
        if isinstance(transport := self.transport.get(op), TransportAttr):
            printer.print_string(f" transport({transport.data})")
        printer.print_string(" ")
        printer.print_region(body, print_entry_block_args=False)
