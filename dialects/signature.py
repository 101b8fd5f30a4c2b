# SPDX-License-Identifier: Apache-2.0
"""Syntax of a kernel's arguments: `@name(%x: T {facts}, ...) -> (%out: T, ...)`."""

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, i64
from xdsl.ir import BlockArgument
from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    RegionVariable,
    SymbolNameAttributeVariable,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.hints import isa


class _Argument(NamedTuple):
    argument: Parser.Argument
    attributes: DictionaryAttr


def _parse_argument(parser: Parser) -> _Argument:
    argument = parser.parse_argument()
    attributes = DictionaryAttr(parser.parse_optional_attr_dict())
    argument.location = parser.parse_optional_location()
    return _Argument(argument, attributes)


@irdl_custom_directive
class Signature(CustomDirective):
    """
    Directive for a kernel's signature and body: `@name(%x: T, ...) -> (%out: T, ...) { ... }`.

    Inputs come before the arrow, outputs after it. Each may have attributes after its type.
    """

    sym_name: SymbolNameAttributeVariable
    num_outputs: AttributeVariable
    arg_attrs: AttributeVariable
    body: RegionVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.sym_name.set(state, parser.parse_symbol_name())
        inputs = self._parse_list(parser)
        parser.parse_punctuation("->")
        outputs = self._parse_list(parser)
        self.num_outputs.set(state, IntegerAttr(len(outputs), i64))
        everything = [*inputs, *outputs]
        if any(attributes.data for _, attributes in everything):
            self.arg_attrs.set(state, ArrayAttr(attributes for _, attributes in everything))
        self.body.set(state, parser.parse_region([argument for argument, _ in everything]))

    def _parse_list(self, parser: Parser) -> list[_Argument]:
        return parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: _parse_argument(parser)
        )

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        name, body = self.sym_name.get(op), self.body.get(op)
        num_outputs, attributes = self.num_outputs.get(op), self.arg_attrs.get(op)
        assert name is not None
        assert isinstance(num_outputs, IntegerAttr)
        state.print_whitespace(printer)
        self.sym_name.print_attr(printer, name)
        arguments = [(argument, DictionaryAttr({})) for argument in body.block.args]
        if isa(attributes, ArrayAttr[DictionaryAttr]):
            arguments = [*zip(body.block.args, attributes, strict=True)]
        split = len(arguments) - num_outputs.value.data
        _print_list(printer, arguments[:split])
        printer.print_string(" -> ")
        _print_list(printer, arguments[split:])
        printer.print_string(" ")
        printer.print_region(body, print_entry_block_args=False, print_empty_block=False)


def _print_list(
    printer: Printer, arguments: Sequence[tuple[BlockArgument, DictionaryAttr]]
) -> None:
    with printer.in_parens():
        printer.print_list(arguments, lambda pair: _print_argument(printer, *pair))


def _print_argument(printer: Printer, argument: BlockArgument, attributes: DictionaryAttr) -> None:
    printer.print_block_argument(argument, print_type=False)
    printer.print_string(": ")
    printer.print_attribute(argument.type)
    printer.print_op_attributes(attributes.data)
    if printer.print_debuginfo:
        printer.print_string(" ")
        printer.print_attribute(argument.location)
