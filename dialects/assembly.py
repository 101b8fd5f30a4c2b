# SPDX-License-Identifier: Apache-2.0
"""
Directives for `assembly_format` that several dialects share: subscripts, `where` masks and monoids.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import AffineMapAttr, IndexType
from xdsl.ir import SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)
from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    VariadicOperandVariable,
    irdl_custom_directive,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from tilewright.dialects.index import Term, signed_terms, simplify_map
from tilewright.dialects.monoid import Monoid, MonoidAttr

_INDEX = IndexType()


class AffineExprParser:
    """
    A parser of affine expressions over SSA values: `%i * 128 + %l`, `99 - %k`, `%n floordiv 4`.

    The values become dimensions 0, 1, ... in the order of their first appearance.
    """

    def __init__(self, parser: Parser):
        self.parser = parser
        self.operands: list[UnresolvedOperand] = []

    def parse_map(self) -> AffineMap:
        """
        Parse `[expr, expr, ...]` and return it as a map in the canonical form of `index.simplify`.
        """
        exprs = self.parser.parse_comma_separated_list(self.parser.Delimiter.SQUARE, self._sum)
        return simplify_map(AffineMap(len(self.operands), 0, tuple(exprs)))

    def _sum(self) -> AffineExpr:
        expr = self._product()
        while True:
            if self.parser.parse_optional_punctuation("+"):
                expr = expr + self._product()
            elif self.parser.parse_optional_punctuation("-"):
                expr = expr + self._product() * -1
            else:
                return expr

    def _product(self) -> AffineExpr:
        expr = self._factor()
        while True:
            if self.parser.parse_optional_punctuation("*"):
                expr = self._times(expr, self._factor())
            elif self.parser.parse_optional_keyword("floordiv"):
                expr = expr // self._divisor()
            elif self.parser.parse_optional_keyword("mod"):
                expr = expr % self._divisor()
            else:
                return expr

    def _times(self, lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr:
        if not isinstance(lhs, AffineConstantExpr) and not isinstance(rhs, AffineConstantExpr):
            self.parser.raise_error("a subscript is affine: one factor must be a constant")
        return lhs * rhs

    def _divisor(self) -> int:
        divisor = self.parser.parse_integer(allow_boolean=False, allow_negative=False)
        if divisor == 0:
            self.parser.raise_error("expected a positive divisor")
        return divisor

    def _factor(self) -> AffineExpr:
        if self.parser.parse_optional_punctuation("-"):
            return self._factor() * -1
        if self.parser.parse_optional_punctuation("("):
            expr = self._sum()
            self.parser.parse_punctuation(")")
            return expr
        if (operand := self.parser.parse_optional_unresolved_operand()) is not None:
            return AffineExpr.dimension(self._position(operand))
        return AffineExpr.constant(self.parser.parse_integer(allow_boolean=False))

    def _position(self, operand: UnresolvedOperand) -> int:
        for position, known in enumerate(self.operands):
            if (known.operand_name, known.index) == (operand.operand_name, operand.index):
                return position
        self.operands.append(operand)
        return len(self.operands) - 1


def print_affine_expr(printer: Printer, expr: AffineExpr, operands: Sequence[SSAValue]) -> None:
    """Print `expr` in human order: `99 - %i * 128`, `(%n + 3) floordiv 4`."""
    positive, negative = signed_terms(expr)
    for position, term in enumerate(positive):
        if position:
            printer.print_string(" + ")
        _print_term(printer, term, operands)
    if not positive:
        printer.print_string("0")
    for term in negative:
        printer.print_string(" - ")
        _print_term(printer, term, operands)


def _print_term(printer: Printer, term: Term, operands: Sequence[SSAValue]) -> None:
    atom, factor = term
    if isinstance(atom, AffineConstantExpr):
        printer.print_int(atom.value * factor)
        return
    _print_atom(printer, atom, operands)
    if factor != 1:
        printer.print_string(f" * {factor}")


def _print_atom(printer: Printer, atom: AffineExpr, operands: Sequence[SSAValue]) -> None:
    match atom:
        case AffineDimExpr(position):
            printer.print_ssa_value(operands[position])
        case AffineBinaryOpExpr(kind, lhs, rhs):
            is_single = isinstance(lhs, AffineDimExpr)
            printer.print_string("" if is_single else "(")
            print_affine_expr(printer, lhs, operands)
            printer.print_string(f"{'' if is_single else ')'} {kind.get_token()} {rhs}")
        case _:
            raise ValueError(f"not an affine expression over dimensions: {atom}")


def print_subscripts(printer: Printer, map: AffineMap, operands: Sequence[SSAValue]) -> None:
    """Print a map as `[expr, expr, ...]`, canonicalized."""
    canonical = simplify_map(map)  # maps in generic form may not be canonical
    with printer.in_square_brackets():
        printer.print_list(
            canonical.results, lambda expr: print_affine_expr(printer, expr, operands)
        )


@irdl_custom_directive
class Subscripts(CustomDirective):
    """
    Directive for subscripts, `[%i * 4 + %v, %k]`: index operands and the affine map over them.
    """

    operands: VariadicOperandVariable
    map: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        subscripts = AffineExprParser(parser)
        self.map.set(state, AffineMapAttr(subscripts.parse_map()))
        self.operands.set(state, subscripts.operands)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        map = self.map.get(op)
        assert isinstance(map, AffineMapAttr)
        print_subscripts(printer, map.data, self.operands.get(op))
        state.last_was_punctuation = False
        state.should_emit_space = True


@irdl_custom_directive
class Where(CustomDirective):
    """
    Directive for an optional mask, `where [99 - %k, ...]`: it holds where every expression is >= 0.
    """

    operands: VariadicOperandVariable
    map: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        if not parser.parse_optional_keyword("where"):
            self.operands.set(state, ())
            return
        mask = AffineExprParser(parser)
        self.map.set(state, AffineMapAttr(mask.parse_map()))
        self.operands.set(state, mask.operands)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        map = self.map.get(op)
        if map is None:
            return
        assert isinstance(map, AffineMapAttr)
        state.print_whitespace(printer)
        printer.print_string("where ")
        print_subscripts(printer, map.data, self.operands.get(op))


@irdl_custom_directive
class WithMonoid(CustomDirective):
    """Directive for the monoid of a reduction: `with add`."""

    monoid: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        parser.parse_keyword("with")
        self.monoid.set(state, MonoidAttr(parser.parse_str_enum(Monoid)))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        monoid = self.monoid.get(op)
        assert isinstance(monoid, MonoidAttr)
        state.print_whitespace(printer)
        printer.print_string(f"with {monoid.data}")
