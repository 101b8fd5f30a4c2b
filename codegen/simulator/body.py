# SPDX-License-Identifier: Apache-2.0
"""
Parser for the statements of one kernel in a PTX module. PTX ISA, "Syntax".

Names belong to scopes; inline assembly opens a scope of its own. All statements are read first and
operands are resolved afterwards, because a label may be declared after its use.
"""

import re
from collections.abc import Callable, Iterator, Mapping

from tilewright.codegen.simulator.declarations import FLOAT, NUMBER, add_variable, parameter
from tilewright.codegen.simulator.findings import SimulatorError
from tilewright.codegen.simulator.kernel import Kernel, Variable
from tilewright.codegen.simulator.operands import (
    TYPES,
    Address,
    Immediate,
    Instruction,
    Operand,
    Pair,
    Predicate,
    Register,
    Sink,
    Symbol,
    TensorPlace,
    Vector,
)
from tilewright.codegen.simulator.source_lines import SourceLines
from tilewright.errors import one_line, shortened

_MALFORMED = (ValueError, KeyError, IndexError, AssertionError)
"""Errors of Python that text outside the syntax causes."""

Scope = tuple[int, ...]
"""Numbers of the braces that enclose a place, outermost first."""

_LABEL = re.compile(r"([\w$]+)\s*:(?!:)")
_STATEMENT = re.compile(r"[^;{}]*(?:\{[^{}]*\}[^;{}]*)*;")
_INSTRUCTION = re.compile(r"(?:@(!?)([%\w$]+)\s+)?([a-z][\w.:]*)\s*(.*)$", re.DOTALL)
_ADDRESS = re.compile(r"([%\w$.]+)\s*(?:\+\s*(-?\w+))?$")


class Body:
    """
    Parser of the statements of one kernel: first it reads declarations, then it resolves operands.
    """

    def __init__(self, kernel: Kernel, text: str):
        self.kernel = kernel
        self.text = text
        self.names: dict[tuple[Scope, str], str] = {}
        self.lines = SourceLines()
        self.pending: list[tuple[Scope, int, re.Match[str]]] = []
        """Instructions that are not resolved yet: their operands may be declared later."""
        self.tables: list[tuple[Scope, str, list[str]]] = []
        """Branch tables that are not resolved yet: their labels may be declared later."""

    def parse(self) -> None:
        """Read all statements of the text into the kernel."""
        for scope, statement in self.statements():
            try:
                self.read(scope, statement)
            except _MALFORMED:
                raise self.unreadable(statement, self.lines.line) from None
        self.kernel.instructions = [self.resolved(*item) for item in self.pending]
        for scope, label, targets in self.tables:
            names = [self.resolve(scope, target) or target for target in targets]
            self.kernel.branch_tables[label] = names

    def read(self, scope: Scope, statement: str) -> None:
        """Read a label, a directive or an instruction."""
        if statement.endswith(":"):
            self.declare_label(scope, statement[:-1])
        elif statement.startswith("."):
            directive = statement.split(None, 1)[0]
            _DIRECTIVES.get(directive, Body.declare_variable)(self, scope, statement)
        elif match := _INSTRUCTION.match(statement):
            self.pending.append((scope, self.lines.line, match))
        else:
            raise self.unreadable(statement, self.lines.line)

    def resolved(self, scope: Scope, line: int, match: re.Match[str]) -> Instruction:
        """Return the instruction of a statement. Raises `SimulatorError` with the statement."""
        try:
            return self.instruction(scope, line, match)
        except _MALFORMED:
            raise self.unreadable(match[0], line) from None

    @staticmethod
    def unreadable(statement: str, line: int) -> SimulatorError:
        """Return the error for a statement that is no PTX, or none that the simulator knows."""
        text = shortened(one_line(statement))
        return SimulatorError(f"cannot read the PTX statement {text!r}").at_line(line)

    def statements(self) -> Iterator[tuple[Scope, str]]:
        """
        Yield the scope and text of each statement and label; a statement without its `;`, a label
        with its `:`.
        """
        scope: Scope = ()
        opened = position = 0
        while position < len(self.text):
            if self.text[position].isspace():
                position += 1
            elif self.text[position] == "{":
                opened += 1
                scope = (*scope, opened)
                position += 1
            elif self.text[position] == "}":
                scope = scope[:-1]
                position += 1
            else:
                match = _LABEL.match(self.text, position) or _STATEMENT.match(self.text, position)
                if match is None:
                    raise SimulatorError(f"cannot read the PTX {self.text[position:][:60]!r}")
                position = match.end()
                statement = match[0].rstrip("; \t\n") if match.re is _STATEMENT else f"{match[1]}:"
                if statement:
                    yield scope, statement

    def declare(self, scope: Scope, name: str) -> str:
        unique = ".".join([name, *map(str, scope)])
        self.names[scope, name] = unique
        return unique

    def locate(self, _: Scope, statement: str) -> None:
        """Record the source line of the statements that follow a `.loc` directive."""
        self.lines.read(statement)

    def declare_label(self, scope: Scope, name: str) -> None:
        """Declare a label at the place of the next instruction."""
        self.kernel.labels[self.declare(scope, name)] = len(self.pending)

    def declare_table(self, scope: Scope, statement: str) -> None:
        """
        Record the targets of a branch by index; the label before the directive names the table.
        """
        targets = [target.strip() for target in statement.split(None, 1)[1].split(",")]
        self.tables.append((scope, list(self.kernel.labels)[-1], targets))

    def declare_variable(self, _: Scope, statement: str) -> None:
        """Declare a variable in memory; ignore a directive that has no meaning for a simulator."""
        add_variable(self.kernel, statement)

    def declare_registers(self, scope: Scope, statement: str) -> None:
        _, type, names = statement.split(None, 2)
        for name in (part.strip() for part in names.split(",")):
            ranged = re.match(r"([%\w$]+)<(\d+)>$", name)
            all_names = [f"{ranged[1]}{i}" for i in range(int(ranged[2]))] if ranged else [name]
            for each in all_names:
                self.kernel.registers[self.declare(scope, each)] = type.removeprefix(".")

    def declare_parameter(self, scope: Scope, statement: str) -> None:
        """Declare a `.param` variable of a call as local memory of the thread."""
        passed = parameter(statement)
        unique = self.declare(scope, passed.name)
        size = TYPES[passed.type].itemsize * (passed.length or 1)
        self.kernel.variables[unique] = Variable(unique, "local", 16, size)

    def resolve(self, scope: Scope, name: str) -> str | None:
        for depth in range(len(scope), -1, -1):
            if (unique := self.names.get((scope[:depth], name))) is not None:
                return unique
        return None

    def instruction(self, scope: Scope, line: int, match: re.Match[str]) -> Instruction:
        negated, guard, opcode, rest = match.groups()
        operands = tuple(self.operand(scope, part) for part in split_operands(rest))
        predicate = None
        if guard:
            register = self.operand(scope, guard)
            assert isinstance(register, Register)
            predicate = Predicate(register, bool(negated))
        if any(isinstance(o, Address) and self.is_passed(o) for o in operands):
            opcode = opcode.replace(".param", ".local")
        return Instruction(opcode, operands, predicate, line)

    def is_passed(self, address: Address) -> bool:
        """
        True if an address names a variable for an argument or result of a call, and not a parameter
        of the kernel.
        """
        base = address.base
        return isinstance(base, Symbol) and base.name in self.kernel.variables

    def operand(self, scope: Scope, text: str) -> Operand:
        if text == "_":
            return Sink()
        if text.startswith("{"):
            return Vector(tuple(self.operand(scope, t) for t in split_operands(text[1:-1])))
        if text.startswith("["):
            address, *coordinates = split_operands(text[1:-1])
            if coordinates:
                vector = self.operand(scope, coordinates[0])
                assert isinstance(vector, Vector)
                return TensorPlace(self.address(scope, address), vector)
            return self.address(scope, address)
        if "|" in text:
            value, predicate = text.split("|")
            return Pair(self.operand(scope, value), self.operand(scope, predicate))
        if FLOAT.match(text):
            return Immediate(int(text[2:], 16), "f32" if len(text) == 10 else "f64")
        if NUMBER.match(text):
            return Immediate(int(text.rstrip("U"), 0) & (1 << 64) - 1)
        unique = self.resolve(scope, text)
        if unique in self.kernel.registers or text.startswith("%"):
            return Register(unique or text)
        return Symbol(unique or text)

    def address(self, scope: Scope, text: str) -> Address:
        match = _ADDRESS.match(text)
        if match is None:
            raise SimulatorError(f"cannot read the PTX address [{text}]")
        base = self.operand(scope, match[1])
        assert isinstance(base, Register | Immediate | Symbol)
        return Address(base, int(match[2] or "0", 0))


_DIRECTIVES: Mapping[str, Callable[[Body, Scope, str], None]] = {
    ".loc": Body.locate,
    ".reg": Body.declare_registers,
    ".param": Body.declare_parameter,
    ".branchtargets": Body.declare_table,
}


def split_operands(text: str) -> list[str]:
    """Split a text at the commas outside of brackets and braces."""
    parts = re.findall(r"(?:\{[^{}]*\}|\[[^\[\]]*\]|[^,\s])(?:\{[^{}]*\}|\[[^\[\]]*\]|[^,])*", text)
    return [part.strip() for part in parts]
