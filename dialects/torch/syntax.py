# SPDX-License-Identifier: Apache-2.0
"""
The common syntax of torch ops, derived from each op's declaration.

    torch.NAME %tensor, %tensor KEYWORD VALUE ... : (TENSOR TYPES) -> RESULT TYPE

Tensors that ATen requires come first. Every other argument follows its name, required ones before
optional ones. If an op has a list of tensors and other tensors, the list is in parentheses after
its name. An argument equal to ATen's default is not printed.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import ClassVar, cast

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, f64, i1, i64
from xdsl.ir import Attribute
from xdsl.irdl import (
    AttrConstraint,
    IRDLOperation,
    OpDef,
    OperandDef,
    OptionalDef,
    OptOperandDef,
    VarOperandDef,
)
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    FormatProgram,
    ParsingState,
    PrintingState,
    TypeDirective,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

_NOT_FINITE = {"inf": math.inf, "nan": math.nan}


def _float_text(value: float) -> str:
    """Return the shortest text that parses as `value`; MLIR requires a point in every float."""
    text = repr(value)
    if not math.isfinite(value) or "." in text:
        return text
    mantissa, _, exponent = text.partition("e")
    return f"{mantissa}.0e{exponent}"


def is_bool(number: Attribute) -> bool:
    """True if a number is a Python bool."""
    return isinstance(number, IntegerAttr) and i1 in number.parameters


@irdl_custom_directive
class Scalar(CustomDirective):
    """
    Directive for a Python number without type: `2` is an int, `2.0`, `-inf` and `nan` are floats,
    `true` is a bool.
    """

    value: AttributeVariable

    def is_anchorable(self) -> bool:
        return self.value.is_anchorable()

    def is_present(self, op: IRDLOperation) -> bool:
        return self.value.is_present(op)

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.value.set(state, self._parse_value(parser))

    @staticmethod
    def _parse_value(parser: Parser) -> Attribute:
        if (flag := parser.parse_optional_boolean()) is not None:
            return IntegerAttr(int(flag), i1)
        sign = -1 if parser.parse_optional_punctuation("-") else 1
        number = parser.parse_optional_number()
        if number is None:
            number = _NOT_FINITE[parser.parse_keyword_in(_NOT_FINITE, " or a number")]
        if isinstance(number, float):
            return FloatAttr(sign * number, f64)
        return IntegerAttr(sign * number, i64)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        value = cast(IntegerAttr | FloatAttr | None, self.value.get(op))
        state.print_whitespace(printer)
        if isinstance(value, FloatAttr):
            printer.print_string(_float_text(value.value.data))
            return
        assert isinstance(value, IntegerAttr)
        number = value.value.data
        printer.print_string(("false", "true")[number & 1] if is_bool(value) else str(number))


class Signature(CustomDirective):
    """
    Directive for types if several operands are optional: `(types of present operands) -> result
    types`.

    xDSL's own `functional-type(operands, results)` allows only one optional operand.
    """

    num_operands: ClassVar[int]
    types: tuple[TypeDirective, ...]

    def __init__(self, *types: TypeDirective):
        object.__setattr__(self, "types", types)

    def parse(self, parser: Parser, state: ParsingState) -> None:
        operands, results = self.types[: self.num_operands], self.types[self.num_operands :]
        parser.parse_punctuation("(")
        for i, present in enumerate(_present(state.operands)):
            if i:
                parser.parse_punctuation(",")
            operands[present].set(state, (parser.parse_type(),))
        for absent in sorted({*range(len(operands))} - {*_present(state.operands)}):
            operands[absent].set(state, ())
        parser.parse_punctuation(")")
        parser.parse_punctuation("->")
        for result, type in zip(results, _parse_results(parser, len(results)), strict=True):
            result.set(state, (type,))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        printer.print_function_type(op.operand_types, op.result_types)


def _parse_results(parser: Parser, count: int) -> Sequence[Attribute]:
    if count == 1:
        return [parser.parse_type()]
    return parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)


def _present(operands: Sequence[Sequence[object] | None]) -> list[int]:
    return [i for i, operand in enumerate(operands) if operand]


def _signature_of(operands: int, results: int) -> type[Signature]:
    """Return a subclass of `Signature` for an op with that number of operands and results."""
    parameters = {str(i): TypeDirective for i in range(operands + results)}
    members = {"parameters": parameters, "num_operands": operands}
    return type("Signature", (Signature,), members)


def _is_list(definition: OperandDef) -> bool:
    return isinstance(definition, VarOperandDef) and not isinstance(definition, OptOperandDef)


def give_syntax(op: type[IRDLOperation]) -> None:
    """
    Give `op` its printer and parser for this syntax.

    The assembly format is compiled on first use: a program uses a few of the hundreds of ops, and
    each takes a millisecond.
    """

    @cache
    def program() -> FormatProgram:
        definition = op.get_irdl_definition()
        format, directives = _syntax_of(definition)
        named = {directive.__name__: directive for directive in directives}
        return FormatProgram.from_str(format, replace(definition, custom_directives=named))

    def parse(cls: type[IRDLOperation], parser: Parser) -> IRDLOperation:
        return program().parse(parser, cls)

    def print(self: IRDLOperation, printer: Printer) -> None:
        program().print(printer, self)

    setattr(op, "parse", classmethod(parse))
    setattr(op, "print", print)


def _syntax_of(definition: OpDef) -> tuple[str, tuple[type[CustomDirective], ...]]:
    """Return the assembly format of an op, and the custom directives that it uses."""
    operands = dict(definition.operands)
    keyword_operands = [name for name, d in operands.items() if isinstance(d, OptOperandDef)]
    lists = [name for name, d in operands.items() if len(operands) > 1 and _is_list(d)]
    positional = [f"${name}" for name in operands if name not in (*keyword_operands, *lists)]
    required = [f"`{name}` `(` ${name} `)`" for name in lists]
    optional = [f"(`{name}` ${name}^)?" for name in keyword_operands]
    for name, prop in definition.properties.items():
        if name == "operandSegmentSizes":
            continue
        value = f"custom<Scalar>(${name})" if _is_scalar(prop.constr) else f"${name}"
        if isinstance(prop, OptionalDef) or prop.default_value is not None:
            optional.append(f"(`{name}` {value}^)?")
        else:
            required.append(f"`{name}` {value}")

    counts_vary = sum(isinstance(d, VarOperandDef) for d in operands.values()) > 1
    types = ", ".join(f"type(${name})" for name in (*operands, *dict(definition.results)))
    own = counts_vary or not operands  # cases that xDSL's directive lacks
    signature = f"custom<Signature>({types})" if own else "functional-type(operands, results)"
    directives = (Scalar, _signature_of(len(operands), len(definition.results)))
    tensors = " `,` ".join(positional)
    return " ".join([tensors, *required, *optional, "attr-dict `:`", signature]), directives


def _is_scalar(constraint: AttrConstraint) -> bool:
    """True if a property holds a number: all its possible attributes are integers or floats."""
    bases = constraint.get_bases()
    return bases is not None and bases <= {IntegerAttr, FloatAttr}
