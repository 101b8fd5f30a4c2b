# SPDX-License-Identifier: Apache-2.0
"""Syntax of Tensor IR: one type where all types are equal, and the sources of an index map."""

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, AffineMapAttr, ArrayAttr
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineMap
from xdsl.irdl import IRDLOperation, traits_def
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    TypeDirective,
    VariadicOperandVariable,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from tilewright.dialects.faster_xdsl.verify_once import FormedOp
from tilewright.dialects.types import shape_of


@irdl_custom_directive
class EqualTypes(CustomDirective):
    """
    Directive for types: `tensor<4xf32>` if operands and result share it, else `(types) -> type`.
    """

    inputs: TypeDirective
    result: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        if parser.parse_optional_punctuation("("):
            types = parser.parse_optional_undelimited_comma_separated_list(
                parser.parse_optional_type, parser.parse_type
            )
            parser.parse_punctuation(")")
            parser.parse_punctuation("->")
            self.inputs.set(state, types or [])
            self.result.set(state, [parser.parse_type()])
            return
        type = parser.parse_type()
        count = len(state.operands[0] or ())
        self.inputs.set(state, [type] * count)
        self.result.set(state, [type])

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        result = op.results[0].type
        if any(operand.type != result for operand in op.operands):
            with printer.in_parens():
                printer.print_list(op.operand_types, printer.print_attribute)
            printer.print_string(" -> ")
        printer.print_attribute(result)


def _always(map: AffineMap) -> AffineMapAttr:
    """Return a mask over the dimensions of `map` that is always true."""
    return AffineMapAttr(AffineMap(map.num_dims, 0, ()))


@irdl_custom_directive
class Sources(CustomDirective):
    """
    Directive for sources: `%a by MAP where MASK, %b by MAP else 0.0 : f32`; trivial masks are
    omitted.
    """

    inputs: VariadicOperandVariable
    maps: AttributeVariable
    masks: AttributeVariable
    fill: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        maps: list[AffineMapAttr] = []
        masks: list[AffineMapAttr] = []

        def parse_source() -> object:
            operand = parser.parse_unresolved_operand()
            parser.parse_keyword("by")
            maps.append(_parse_map(parser))
            is_masked = parser.parse_optional_keyword("where")
            masks.append(_parse_map(parser) if is_masked else _always(maps[-1].data))
            return operand

        operands = parser.parse_comma_separated_list(parser.Delimiter.NONE, parse_source)
        self.inputs.set(state, operands)  # pyright: ignore[reportArgumentType]
        self.maps.set(state, ArrayAttr(maps))
        self.masks.set(state, ArrayAttr(masks))
        if parser.parse_optional_keyword("else"):
            self.fill.set(state, parser.parse_attribute())

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        maps, masks, fill = self.maps.get(op), self.masks.get(op), self.fill.get(op)
        assert isa(maps, ArrayAttr[AffineMapAttr])
        assert isa(masks, ArrayAttr[AffineMapAttr])
        for position, operand in enumerate(self.inputs.get(op)):
            printer.print_string(", " if position else "")
            printer.print_ssa_value(operand)
            printer.print_string(" by ")
            printer.print_attribute(maps.data[position])
            if masks.data[position].data.results:
                printer.print_string(" where ")
                printer.print_attribute(masks.data[position])
        if fill is not None:
            printer.print_string(" else ")
            printer.print_attribute(fill)


def _parse_map(parser: Parser) -> AffineMapAttr:
    map = parser.parse_attribute()
    if not isinstance(map, AffineMapAttr):
        parser.raise_error("expected an affine_map")
    return map


@irdl_custom_directive
class SourceTypes(CustomDirective):
    """Directive for types: `type -> type` for one source, `(types) -> type` for several."""

    inputs: TypeDirective
    result: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        types: Sequence[Attribute]
        if parser.parse_optional_punctuation("("):
            types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
            parser.parse_punctuation(")")
        else:
            types = [parser.parse_type()]
        parser.parse_punctuation("->")
        self.inputs.set(state, types)
        self.result.set(state, [parser.parse_type()])

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        types = op.operand_types
        printer.print_string("" if len(types) == 1 else "(")
        printer.print_list(types, printer.print_attribute)
        printer.print_string(" -> " if len(types) == 1 else ") -> ")
        printer.print_attribute(op.result_types[0])


class PrimOp(FormedOp):
    """Base class of ops whose operands and results are tensors of static shape."""

    traits = traits_def(Pure())

    def verify_(self) -> None:
        for value in (*self.operands, *self.results):
            if DYNAMIC_INDEX in shape_of(value):
                raise VerifyException(f"{value.type} has an unknown size; shapes are static here")
