# SPDX-License-Identifier: Apache-2.0
"""Syntax of Loop IR's loops: `%i in 16 m, %j in 64 { ... }`, `%k in 64 with add`."""

from collections.abc import Sequence

from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    RegionVariable,
    VariadicOperandVariable,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.hints import isa

from tilewright.dialects.assembly import AffineExprParser, print_subscripts
from tilewright.dialects.axes import Role, RoleAttr
from tilewright.dialects.matrix_instruction import MatrixInstruction, MatrixInstructionAttr
from tilewright.dialects.monoid import Monoid, MonoidAttr

_INDEX = IndexType()


@irdl_custom_directive
class ForAxes(CustomDirective):
    """
    Directive for the axes of a nest: `%i in 16 m, %j in 64 { ... }`; the role `free` is omitted.
    """

    extents: AttributeVariable
    roles: AttributeVariable
    body: RegionVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        axes = parser.parse_comma_separated_list(parser.Delimiter.NONE, lambda: _parse_axis(parser))
        self.extents.set(state, DenseArrayBase.from_list(i64, [extent for _, extent, _ in axes]))
        self.roles.set(state, ArrayAttr(RoleAttr(role) for _, _, role in axes))
        self.body.set(state, parser.parse_region([name.resolve(_INDEX) for name, _, _ in axes]))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        extents, roles, body = self.extents.get(op), self.roles.get(op), self.body.get(op)
        assert isinstance(extents, DenseArrayBase)
        assert isa(roles, ArrayAttr[RoleAttr])
        state.print_whitespace(printer)
        axes = zip(body.block.args, extents.get_values(), roles, strict=True)
        printer.print_list(axes, lambda axis: _print_axis(printer, *axis))
        printer.print_string(" ")
        printer.print_region(body, print_entry_block_args=False)


def _parse_axis(parser: Parser) -> tuple[Parser.UnresolvedArgument, int, Role]:
    name = parser.parse_argument(expect_type=False)
    parser.parse_keyword("in")
    extent = parser.parse_integer(allow_negative=False)
    return name, extent, Role(parser.parse_optional_keyword_in(list(Role)) or Role.FREE)


def _print_axis(printer: Printer, axis: SSAValue, extent: int | float, role: RoleAttr) -> None:
    printer.print_ssa_value(axis)
    printer.print_string(f" in {extent}" + (f" {role.data}" if role.data is not Role.FREE else ""))


@irdl_custom_directive
class ReduceAxis(CustomDirective):
    """
    Directive for a reduction: `%k in 64 from [%b - 2] below [%b * 4 + 4] with add by(m16n8k16_f16)
    unroll { ... }`, or `%k in 64 with softmax fastmath<nnan,ninf> weights(bf16) { ... }`.
    """

    extent: AttributeVariable
    bound_operands: VariadicOperandVariable
    lower_bound: AttributeVariable
    upper_bound: AttributeVariable
    monoid: AttributeVariable
    fastmath: AttributeVariable
    weights: AttributeVariable
    by: AttributeVariable
    unroll: AttributeVariable
    body: RegionVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        axis = parser.parse_argument(expect_type=False)
        parser.parse_keyword("in")
        self.extent.set(state, IntegerAttr(parser.parse_integer(allow_negative=False), i64))
        self._parse_bounds(parser, state)
        parser.parse_keyword("with")
        self.monoid.set(state, MonoidAttr(parser.parse_str_enum(Monoid)))
        if parser.parse_optional_keyword("fastmath"):
            flags = FastMathFlagsAttr(FastMathFlagsAttr.parse_parameter(parser))
            self.fastmath.set(state, flags)
        if parser.parse_optional_keyword("weights"):
            with parser.in_parens():
                self.weights.set(state, parser.parse_type())
        if parser.parse_optional_keyword("by"):
            with parser.in_parens():
                self.by.set(state, MatrixInstructionAttr(parser.parse_str_enum(MatrixInstruction)))
        if parser.parse_optional_keyword("unroll"):
            self.unroll.set(state, UnitAttr())
        self.body.set(state, parser.parse_region([axis.resolve(_INDEX)]))

    def _parse_bounds(self, parser: Parser, state: ParsingState) -> None:
        """Parse both bounds, as expressions of the same operands."""
        exprs, found = AffineExprParser(parser), list[tuple[AttributeVariable, AffineMap]]()
        for keyword, bound in self._bounds:
            if parser.parse_optional_keyword(keyword):
                found.append((bound, exprs.parse_map()))
        dims = len(exprs.operands)  # the second bound may add operands
        for bound, map in found:
            bound.set(state, AffineMapAttr(AffineMap(dims, 0, map.results)))
        self.bound_operands.set(state, exprs.operands)

    @property
    def _bounds(self) -> Sequence[tuple[str, AttributeVariable]]:
        """Keyword and attribute of each bound, in order."""
        return ("from", self.lower_bound), ("below", self.upper_bound)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        extent, monoid, body = self.extent.get(op), self.monoid.get(op), self.body.get(op)
        assert isinstance(extent, IntegerAttr)
        assert isinstance(monoid, MonoidAttr)
        state.print_whitespace(printer)
        printer.print_ssa_value(body.block.args[0])
        printer.print_string(f" in {extent.value.data} ")
        for keyword, bound in self._bounds:
            if isinstance(exprs := bound.get(op), AffineMapAttr):
                printer.print_string(f"{keyword} ")
                print_subscripts(printer, exprs.data, self.bound_operands.get(op))
                printer.print_string(" ")
        printer.print_string(f"with {monoid.data} ")
        if isinstance(flags := self.fastmath.get(op), FastMathFlagsAttr):
            printer.print_string("fastmath")
            flags.print_parameter(printer)
            printer.print_string(" ")
        if (weights := self.weights.get(op)) is not None:
            printer.print_string("weights(")
            printer.print_attribute(weights)
            printer.print_string(") ")
        if isinstance(by := self.by.get(op), MatrixInstructionAttr):
            printer.print_string(f"by({by.data}) ")
        if self.unroll.get(op) is not None:
            printer.print_string("unroll ")
        printer.print_region(body, print_entry_block_args=False)


@irdl_custom_directive
class ScanAxis(CustomDirective):
    """Directive for the axis and body of a scan: `%k in 64 { ... }`."""

    extent: AttributeVariable
    body: RegionVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        axis = parser.parse_argument(expect_type=False)
        parser.parse_keyword("in")
        self.extent.set(state, IntegerAttr(parser.parse_integer(allow_negative=False), i64))
        self.body.set(state, parser.parse_region([axis.resolve(_INDEX)]))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        extent, body = self.extent.get(op), self.body.get(op)
        assert isinstance(extent, IntegerAttr)
        state.print_whitespace(printer)
        printer.print_ssa_value(body.block.args[0])
        printer.print_string(f" in {extent.value.data} ")
        printer.print_region(body, print_entry_block_args=False)
