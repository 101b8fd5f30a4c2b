# SPDX-License-Identifier: Apache-2.0
"""
PTX text, as NVRTC writes it, into instructions.

Understands what a compiler emits for one module: variables, entries, scopes (inline assembly opens
them), labels, branch tables and `.loc` lines. Reference: PTX ISA 9.0, chapters 4 and 5.
"""

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tilewright.codegen.simulator.findings import SimulatorError
from tilewright.codegen.simulator.functions import Functions, closing
from tilewright.codegen.simulator.kernel import Kernel, Parameter, Variable
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

Scope = tuple[int, ...]
"""The braces around a place, outermost first."""

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_LINE_DIRECTIVE = re.compile(r"^([ \t]*\.(?:loc|file|version|target|address_size)\b[^\n;]*)$", re.M)
_PROPERTY = re.compile(r"\.(\w+)\s+([\d, ]+)")
_ENTRY = re.compile(r"\.entry\s+([\w$]+)\s*(?:\((.*?)\))?([^{;]*)\{", re.DOTALL)
_VARIABLE = re.compile(
    r"(?:\.visible\s+|\.weak\s+|\.extern\s+)*\.(global|const|shared|local)\s+"
    r"(?:\.align\s+(\d+)\s+)?(?:\.align\s+\d+\s+)?\.(\w+)\s+([\w$]+)\s*(\[\d*\])?\s*(?:=\s*(.*))?$",
    re.DOTALL,
)
_PARAMETER = re.compile(r"\.param\s+.*?\.([usbf]\d+)\b.*?([\w$]+)\s*(\[\d+\])?\s*$", re.DOTALL)
_LABEL = re.compile(r"([\w$]+)\s*:(?!:)")
_STATEMENT = re.compile(r"[^;{}]*(?:\{[^{}]*\}[^;{}]*)*;")
_INSTRUCTION = re.compile(r"(?:@(!?)([%\w$]+)\s+)?([a-z][\w.:]*)\s*(.*)$", re.DOTALL)
_ADDRESS = re.compile(r"([%\w$.]+)\s*(?:\+\s*(-?\w+))?$")
_NUMBER = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|\d+)U?$")
_FLOAT = re.compile(r"0[fFdD]([0-9a-fA-F]{8}|[0-9a-fA-F]{16})$")


def parse(text: str, name: str) -> Kernel:
    """The kernel `name` of a PTX module, with the module's variables."""
    text = _LINE_DIRECTIVE.sub(r"\1;", _COMMENT.sub(" ", text).split("\n\t.section", 1)[0])
    entries = {match[1]: match for match in _ENTRY.finditer(text)}
    if name not in entries:
        known = ", ".join(entries) or "none"
        raise SimulatorError(f"the PTX has no kernel {name!r}", remedy=f"its kernels: {known}")
    entry = entries[name]
    parameters = [_parameter(part) for part in (entry[2] or "").split(",") if part.strip()]
    kernel = Kernel(name, parameters, _max_threads(entry[3]), _cluster(entry[3]))
    for statement in text[: min(match.start() for match in entries.values())].split(";"):
        _add_variable(kernel, statement.strip())
    body = text[entry.end() : closing(text, entry.end())]
    _Body(kernel, Functions(text).inlined(body)).parse()
    return kernel


def _parameter(text: str) -> Parameter:
    match = _PARAMETER.search(text)
    if match is None:
        raise SimulatorError(f"cannot read the PTX parameter {text.strip()!r}")
    return Parameter(match[2], match[1], int(match[3][1:-1]) if match[3] else None)


def _max_threads(properties: str) -> int | None:
    for name, values in _PROPERTY.findall(properties):
        if name in ("maxntid", "reqntid"):
            return int(np.prod([int(value) for value in values.split(",")]))
    return None


def _cluster(properties: str) -> tuple[int, int, int]:
    for name, values in _PROPERTY.findall(properties):
        if name == "reqnctapercluster":
            x, y, z = (*(int(value) for value in values.split(",")), 1, 1)[:3]
            return x, y, z
    return 1, 1, 1


def _add_variable(kernel: Kernel, statement: str) -> None:
    match = _VARIABLE.search(statement)
    if match is None:
        return
    space, align, type, name, length, initial = match.groups()
    element = TYPES[type]
    count = int(length[1:-1] or 0) if length else 1
    data = _initial(initial, element).tobytes() if initial else b""
    size = count * element.itemsize
    kernel.variables[name] = Variable(name, space, int(align or element.itemsize), size, data)


def _initial(text: str, element: np.dtype) -> NDArray[np.generic]:
    items = text.strip(" {}").split(",")
    if not all(_NUMBER.match(item.strip()) or _FLOAT.match(item.strip()) for item in items):
        raise SimulatorError(f"cannot read the PTX initialiser {text[:40]!r}")
    return np.concatenate([_literal(item.strip()).astype(element) for item in items])


def _literal(text: str) -> NDArray[np.generic]:
    if _FLOAT.match(text):
        pattern = bytes.fromhex(text[2:])[::-1]
        return np.frombuffer(pattern, f"f{len(pattern)}")
    return np.array([int(text.rstrip("U"), 0) & (1 << 64) - 1], np.uint64)


class _Body:
    """The statements of one kernel: declarations first seen, then operands resolved."""

    def __init__(self, kernel: Kernel, text: str):
        self.kernel = kernel
        self.text = text
        self.names: dict[tuple[Scope, str], str] = {}
        self.registers: dict[tuple[Scope, str], str] = {}

    def parse(self) -> None:
        lines = SourceLines()
        pending: list[tuple[Scope, int, re.Match[str]]] = []
        tables: list[tuple[Scope, str, str]] = []
        for scope, statement in self.statements():
            if statement.endswith(":"):
                label = self.declare(scope, statement[:-1])
                self.kernel.labels[label] = len(pending)
            elif statement.split(None, 1)[0] == ".loc":
                lines.read(statement)
            elif statement.startswith(".reg"):
                self.declare_registers(scope, statement)
            elif statement.startswith(".branchtargets"):
                tables.append((scope, list(self.kernel.labels)[-1], statement))
            elif statement.startswith(".param"):
                self.declare_parameter(scope, statement)
            elif statement.startswith("."):
                _add_variable(self.kernel, statement)
            elif match := _INSTRUCTION.match(statement):
                pending.append((scope, lines.line, match))
            else:
                raise SimulatorError(f"cannot read the PTX statement {statement!r}")
        self.kernel.instructions = [self.instruction(*item) for item in pending]
        for scope, label, statement in tables:
            targets = [target.strip() for target in statement.split(None, 1)[1].split(",")]
            names = [self.resolve(scope, target) or target for target in targets]
            self.kernel.branch_tables[label] = names

    def statements(self) -> Iterator[tuple[Scope, str]]:
        """Each statement without its `;`, each label with its `:`, and the scope it stands in."""
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

    def declare_registers(self, scope: Scope, statement: str) -> None:
        type, names = re.match(r"\.reg\s+\.(\w+)\s+(.*)$", statement, re.DOTALL).groups()  # pyright: ignore[reportOptionalMemberAccess]
        for name in (part.strip() for part in names.split(",")):
            ranged = re.match(r"([%\w$]+)<(\d+)>$", name)
            all_names = [f"{ranged[1]}{i}" for i in range(int(ranged[2]))] if ranged else [name]
            for each in all_names:
                self.kernel.registers[self.declare(scope, each)] = type

    def declare_parameter(self, scope: Scope, statement: str) -> None:
        """What a call passes: memory of the thread's own."""
        parameter = _parameter(statement)
        unique = self.declare(scope, parameter.name)
        size = TYPES[parameter.type].itemsize * (parameter.length or 1)
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
        """Whether a call passes what lies there: not a parameter of the kernel."""
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
        if _FLOAT.match(text):
            return Immediate(int(text[2:], 16), "f32" if len(text) == 10 else "f64")
        if _NUMBER.match(text):
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


def split_operands(text: str) -> list[str]:
    """Split at the commas that no bracket holds."""
    parts = re.findall(r"(?:\{[^{}]*\}|\[[^\[\]]*\]|[^,\s])(?:\{[^{}]*\}|\[[^\[\]]*\]|[^,])*", text)
    return [part.strip() for part in parts]
