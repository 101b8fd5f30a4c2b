# SPDX-License-Identifier: Apache-2.0
"""
Parser of IR that records the places of operations, so that later errors can point to the source.
"""

import re
from bisect import bisect_right
from codecs import BOM_UTF8
from collections.abc import Mapping
from dataclasses import replace
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr, UnknownLoc
from xdsl.ir import AttributeInvT, Operation, SSAValue
from xdsl.parser import ForwardDeclaredValue, ParserState, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.lexer import Input, Span
from xdsl.utils.mlir_lexer import MLIRLexer

from tilewright.errors import TilewrightError, UsageError, did_you_mean
from tilewright.passes.driver.levels import LEVELS
from tilewright.passes.driver.lowering import context
from tilewright.passes.driver.verification import InvalidOpError, verify_module
from tilewright.text_file import read_text_file
from tilewright.tools.input.bounded_parser import BoundedParser
from tilewright.tools.output.diagnostics import (
    PlacedParseError,
    PlacedVerifyError,
    location_text,
    render,
)

# Errors that invalid text can cause during parsing. xDSL checks attributes and inferred types in
# the parser and raises `VerifyException` without a place; a malformed block name is a `ValueError`.
_PROVOKED = (VerifyException, ValueError, TilewrightError, NotImplementedError)

_LANGUAGES = {".cu": "CUDA", ".cuh": "CUDA", ".ptx": "PTX", ".py": "Python"}
"""Languages that may be mistaken for IR, by file name extension."""

_CUDA = re.compile(r'^(extern "C" |__(global|device|constant)__ |#include )', re.MULTILINE)
"""Beginning of a line of CUDA text that cannot occur in IR."""

_UNKNOWN_OP = re.compile(r"Operation (\S+) is not registered")
_CHOICE = re.compile(r"`([^`]+)`")


class SourceLexer(MLIRLexer):
    """
    xDSL's lexer with a pattern of strings that takes no exponential time if the closing quote is
    missing.
    """

    # xDSL 0.74 has `[^...]+` in this place, which backtracks exponentially if the quote is missing.
    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*"')


class SourceParser(BoundedParser):
    """
    xDSL's parser, which also records the place of each operation and gives every error a place.

    The text follows the first `line_offset` lines of the file `name`.
    """

    places: dict[Operation, Span]

    def __init__(self, ctx: Context, text: str, name: str, line_offset: int = 0):
        super().__init__(ctx, "", name)
        self._parser_state = ParserState(SourceLexer(Input(text, name)))
        self.line_offset = line_offset
        self.places = {}
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self.first_uses: dict[str, Span] = {}

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        """Return the module of the whole input; raises `PlacedParseError` if it does not parse."""
        try:
            if self.lexer.input.content.isspace() or not self.lexer.input.content:
                self.raise_error("the input is empty")
            return super().parse_module(allow_implicit_module)
        except ParseError as err:
            if _CUDA.search(self.lexer.input.content) is not None:
                raise _not_ir(self.lexer.input.name, "CUDA") from err
            undefined = next(iter(self.forward_ssa_references), "")
            if err.msg.startswith("values used but not defined"):
                message = f"%{undefined} is used but never defined"
                raise self._placed(message, self.first_uses.get(undefined, err.span)) from err
            raise self._placed(self._with_near_matches(err), err.span) from err
        except _PROVOKED as err:
            raise self._placed(" ".join(map(str, err.args))) from err
        except RecursionError as err:
            raise self._placed("nested too deeply") from err

    def parse_operation(self) -> Operation:
        start = self.pos
        op = super().parse_operation()
        self.places[op] = Span(start, start + 1, self.lexer.input, self.line_offset)
        if isinstance(op.location, UnknownLoc):
            op.location = self._location(start)
        return op

    def _location(self, start: int) -> FileLineColLoc:
        """Return the place in the file, which the op keeps when passes move or replace it."""
        line = bisect_right(self._line_starts, start)
        column = start - self._line_starts[line - 1] + 1
        return FileLineColLoc(
            StringAttr(self.lexer.input.name), IntAttr(self.line_offset + line), IntAttr(column)
        )

    def resolve_operand(self, operand: UnresolvedOperand, type: AttributeInvT) -> SSAValue:
        value = super().resolve_operand(operand, type)
        if isinstance(value, ForwardDeclaredValue):
            self.first_uses.setdefault(operand.operand_name, operand.span)
        return value

    def _with_near_matches(self, err: ParseError) -> str:
        """
        Return the error's message, with near matches of an unknown word instead of all choices.
        """
        if (unknown := _UNKNOWN_OP.fullmatch(err.msg)) is not None:
            remedy = did_you_mean(unknown[1], [op.name for op in self.ctx.loaded_ops])
            return f"{err.msg} ({remedy})" if remedy else err.msg
        choices = _CHOICE.findall(err.msg) if err.msg.startswith("Expected `") else []
        if remedy := len(choices) > 1 and did_you_mean(err.span.text, choices):
            return f"unknown word '{err.span.text}' ({remedy})"
        return err.msg

    def _placed(self, message: str, span: Span[Any] | None = None) -> PlacedParseError:
        span = self._current_token.span if span is None else span
        end = len(self.lexer.input.content.rstrip())
        if span.start > end:  # at the end of the input: point behind the last character
            span = Span(end, end, span.input)
        return PlacedParseError(replace(span, line_offset=self.line_offset), message)


def _not_ir(name: str, language: str) -> UsageError:
    levels = ", ".join(LEVELS[:-2])
    return UsageError(
        f"'{name}' is {language}: a FILE is IR, as --ir {levels} or {LEVELS[-2]} prints it"
    )


def read_bytes(path: str) -> BytesIO:
    """
    Return the contents of a text file, or of stdin if `path` is `-`; raises `UsageError` if it is
    not text.
    """
    data = read_text_file(path).removeprefix(BOM_UTF8)  # some editors write a byte order mark
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as err:
        raise UsageError(f"cannot read '{path}': it is not text") from err
    return BytesIO(data)


def placed(err: InvalidOpError, places: Mapping[Operation, Span]) -> PlacedVerifyError:
    """
    Return `err` with its place: in the source, or else the location that the operation carries.
    """
    exit_code = 1 if err.made_by else 2
    if (span := places.get(err.op)) is not None:
        return PlacedVerifyError(render(span, str(err)), exit_code)
    where = location_text(err.op.location)
    prefix = f"{where}: " if where else ""
    return PlacedVerifyError(f"{prefix}error: {err}\n{_first_line(err.op)}", exit_code)


def _first_line(op: Operation) -> str:
    """
    Return the first line of `op` in generic form, which can be printed even if the op is
    ill-formed.
    """
    text = StringIO()
    Printer(stream=text, print_generic_format=True).print_op(op)
    return text.getvalue().split("\n", 1)[0][:120]


def read_module(path: str) -> ModuleOp:
    """Return the module in a file, or in stdin if `path` is `-`; its errors point into the text."""
    name = "<stdin>" if path == "-" else path
    if (language := _LANGUAGES.get(Path(path).suffix)) is not None:
        raise _not_ir(path, language)
    parser = SourceParser(context(), read_bytes(path).read().decode("utf-8"), name)
    module = parser.parse_module()
    try:
        verify_module(module)
    except InvalidOpError as err:
        raise placed(err, parser.places) from err
    return module
