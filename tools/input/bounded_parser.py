# SPDX-License-Identifier: Apache-2.0
"""
Bounded version of xDSL's parser. Numbers, shapes and maps that later stages cannot represent, and
blocks that are defined twice, are errors with a place. xDSL itself accepts numbers of any length,
and packs them into attributes unchecked.
"""

import struct
from collections.abc import Callable
from math import prod
from typing import TypeVar

from xdsl.dialects.builtin import (
    AnyDenseElement,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    RankedStructure,
    ShapedType,
)
from xdsl.ir import Block, TypeAttribute
from xdsl.ir.affine import AffineConstantExpr, AffineExpr, AffineMap, AffineSet
from xdsl.parser import Parser
from xdsl.parser.affine_parser import AffineParser
from xdsl.utils.exceptions import ParseError
from xdsl.utils.mlir_lexer import MLIRToken

from tilewright.errors import one_line

_SIGNED = 1 << 63
"""
Bound of integers, exclusive above and inclusive for its negative: sizes, extents and indices are
`i64`.
"""

_MOST_ELEMENTS = 1 << 58
"""Maximum number of elements of a type: its size in bits fits 64 bits with any element type."""

_MOST_LITERALS = 1 << 24
"""Maximum number of elements of a constant, whose elements are separate objects in memory."""

_UNPACKABLE = (OverflowError, struct.error, ValueError)
"""Errors of `struct` and `int` for a number that does not fit its type."""

_DIVISIONS = ("floordiv", "ceildiv", "mod")

T = TypeVar("T")


class BoundedParser(Parser):
    """xDSL's parser, with errors for numbers beyond 64 bits and for maps that are not affine."""

    _unsigned = False
    """True inside typed literals, in which 64 bits may hold unsigned numbers."""

    def parse_optional_integer(
        self, allow_boolean: bool = True, allow_negative: bool = True
    ) -> int | None:
        start = self.pos
        value = super().parse_optional_integer(allow_boolean, allow_negative)
        end = 2 * _SIGNED if self._unsigned else _SIGNED
        if value is not None and not -_SIGNED <= value < end:
            self.raise_error(f"{value} does not fit 64 bits", start, self.pos)
        return value

    def parse_optional_builtin_int_or_float_attr(self) -> IntegerAttr | FloatAttr | None:
        was, self._unsigned, start = self._unsigned, True, self.pos
        try:
            attr = self._packed(super().parse_optional_builtin_int_or_float_attr)
        finally:
            self._unsigned = was
        if isinstance(attr, IntegerAttr) and isinstance(attr.type, IndexType):
            if not -_SIGNED <= attr.value.data < _SIGNED:
                self.raise_error(f"{attr.value.data} does not fit 64 bits", start, self.pos)
        return attr

    def _parse_builtin_densearray_attr(self) -> DenseArrayBase | None:
        return self._packed(super()._parse_builtin_densearray_attr)

    def parse_dense_int_or_fp_elements_attr(
        self, type: RankedStructure[AnyDenseElement] | None
    ) -> DenseIntOrFPElementsAttr:
        parse = super().parse_dense_int_or_fp_elements_attr
        return self._packed(lambda: parse(type))

    def _parse_dense_literal_type(self) -> RankedStructure[AnyDenseElement]:
        start = self.pos
        type = super()._parse_dense_literal_type()
        self._check_size(type, start, _MOST_LITERALS, "a constant")
        return type

    def _parse_optional_builtin_parametrized_type(self) -> TypeAttribute | None:
        start = self.pos
        type = super()._parse_optional_builtin_parametrized_type()
        self._check_size(type, start, _MOST_ELEMENTS, "a type")
        return type

    def _parse_block(self) -> Block:
        token = self._current_token
        _, defined_at = self.blocks.get(name := token.text[1:], (None, token.span))
        # xDSL records no place for a block that was referenced before its definition
        if defined_at is None and name not in self.forward_block_references:
            raise ParseError(token.span, f"the block '{token.text}' is defined a second time")
        return super()._parse_block()

    def parse_affine_map(self) -> AffineMap:
        return _BoundedAffineParser(self._parser_state).parse_affine_map()

    def parse_affine_set(self) -> AffineSet:
        return _BoundedAffineParser(self._parser_state).parse_affine_set()

    def _packed(self, parse: Callable[[], T]) -> T:
        """Return `parse()`; if a number does not fit its type, raise an error at the literal."""
        start = self.pos
        try:
            return parse()
        except ParseError:
            raise
        except _UNPACKABLE:
            literal = self.lexer.input.slice(start, self.pos)
            self.raise_error(f"'{one_line(literal)}' does not fit its type", start, self.pos)

    def _check_size(self, type: object, start: int, most: int, what: str) -> None:
        """Raise an error at `start` if the type has more than `most` elements."""
        if not isinstance(type, ShapedType) or not type.has_static_shape():
            return
        if (elements := prod(max(extent, 1) for extent in type.get_shape())) > most:
            message = f"{what} of {elements} elements; at most {most} are supported"
            self.raise_error(message, start, self.pos)


class _BoundedAffineParser(AffineParser):
    """xDSL's parser of affine maps, with errors for non-affine maps and numbers beyond 64 bits."""

    def _parse_primary(self, parse_optional_bare_id: Callable[[], AffineExpr | None]) -> AffineExpr:
        span = self._current_token.span
        expr = super()._parse_primary(parse_optional_bare_id)
        if isinstance(expr, AffineConstantExpr) and not -_SIGNED <= expr.value < _SIGNED:
            raise ParseError(span, f"{expr.value} does not fit 64 bits")
        return expr

    def _create_binop_expr(self, lhs: AffineExpr, rhs: AffineExpr, binop: MLIRToken) -> AffineExpr:
        kind, constants = binop.text, [isinstance(e, AffineConstantExpr) for e in (lhs, rhs)]
        if kind == "*" and not any(constants):
            raise ParseError(binop.span, "a map is affine: one factor must be a constant")
        if kind in _DIVISIONS and not (isinstance(rhs, AffineConstantExpr) and rhs.value > 0):
            expr = f"({lhs} {kind} {rhs})"
            raise ParseError(binop.span, f"the divisor in '{expr}' must be a positive constant")
        return super()._create_binop_expr(lhs, rhs, binop)
