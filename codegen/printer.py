# SPDX-License-Identifier: Apache-2.0
"""
CUDA IR as CUDA C++ text, which NVRTC and nvcc compile as it is: the prelude as far as it is used,
then the kernels. The host function, which launches them, is not part of the text.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import singledispatchmethod
from io import StringIO
from typing import IO, NamedTuple

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import FloatAttr, ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.base_printer import BasePrinter
from xdsl.utils.target import Target

from tilewright.codegen.c_types import C_TYPES
from tilewright.codegen.literals import literal
from tilewright.codegen.names import ScopedNames
from tilewright.codegen.prelude import Call, prelude
from tilewright.dialects import cuda, loop
from tilewright.dialects import cuda_expressions as expr
from tilewright.dialects import cuda_statements as stmt
from tilewright.dialects.cuda_types import (
    BinaryOperator,
    Builtin,
    Comparison,
    PointerType,
    VariableType,
)
from tilewright.dialects.kernel import WARP_SIZE, ShuffleMode
from tilewright.dialects.parameter_layout import load_axes
from tilewright.dialects.types import memref_type
from tilewright.errors import UsageError
from tilewright.passes.levels import Level, level_of, pipeline_between

MAX_COLUMNS = 100

# How tightly operators bind, as in C++; what binds no tighter than its surroundings needs parens.
_TERNARY, _OR, _AND, _BIT_OR, _BIT_XOR, _BIT_AND = range(6)
_EQUALITY, _RELATION, _SUM, _PRODUCT, _PREFIX, _POSTFIX = range(6, 12)

_BINARY = {
    BinaryOperator.ADD: ("+", _SUM),
    BinaryOperator.SUB: ("-", _SUM),
    BinaryOperator.MUL: ("*", _PRODUCT),
    BinaryOperator.DIV: ("/", _PRODUCT),
    BinaryOperator.REM: ("%", _PRODUCT),
    BinaryOperator.AND: ("&&", _AND),
    BinaryOperator.OR: ("||", _OR),
    BinaryOperator.BIT_AND: ("&", _BIT_AND),
    BinaryOperator.BIT_OR: ("|", _BIT_OR),
    BinaryOperator.BIT_XOR: ("^", _BIT_XOR),
}

_BITWISE = (_BIT_OR, _BIT_XOR, _BIT_AND)
"""Operators that bind otherwise than readers think: their operands stand in parentheses."""

_COMPARISON = {
    Comparison.LT: ("<", _RELATION),
    Comparison.LE: ("<=", _RELATION),
    Comparison.GT: (">", _RELATION),
    Comparison.GE: (">=", _RELATION),
    Comparison.EQ: ("==", _EQUALITY),
    Comparison.NE: ("!=", _EQUALITY),
}

_BUILTIN = {Builtin.BLOCK: "blockIdx.x", Builtin.THREAD: "threadIdx.x"}

_SHUFFLE = {ShuffleMode.XOR: "__shfl_xor_sync", ShuffleMode.IDX: "__shfl_sync"}


class Text(NamedTuple):
    """An expression's text, and how tightly its outermost operator binds."""

    text: str
    binding: int

    def within(self, binding: int) -> str:
        """The text where something that binds like `binding` surrounds it."""
        return self.text if self.binding > binding else f"({self.text})"


@dataclass(eq=False, repr=False)
class CudaPrinter(BasePrinter):
    """Prints kernels, statement by statement."""

    names: ScopedNames = field(default_factory=ScopedNames, init=False)

    def line(self, text: str) -> None:
        """One line, indented."""
        self.print_string(f"\n{text}")

    def kernel(self, op: cuda.FuncOp) -> None:
        """A kernel, with its launch above it."""
        grid, block = op.grid.value.data, op.block.value.data
        self.line(f"// grid {grid}, block {block}")
        with self.names.scope():
            shared = _in_place(op)
            parameters = [
                _parameter(a.type, self.names.declare(a), restrict=a not in shared)
                for a in op.body.block.args
            ]
            self._signature(f"__launch_bounds__({block}) {op.sym_name.data}(", parameters)
            self._body(op.body.block)
        self.line("}\n")

    def _signature(self, name: str, parameters: list[str]) -> None:
        head = f'extern "C" __global__ void {name}'
        whole = f"{head}{', '.join(parameters)}) {{"
        if len(whole) <= MAX_COLUMNS:
            self.line(whole)
            return
        self.line(head)
        with self.indented(2):
            self.line(",\n".join(parameters) + ") {")

    def _body(self, block: Block) -> None:
        with self.indented(), self.names.scope():
            for op in block.ops:
                self.statement(op)

    @singledispatchmethod
    def statement(self, op: Operation) -> None:
        """A statement; expressions print nothing of their own."""
        assert isinstance(op, expr.ExpressionOp), f"'{op.name}' has no C++ text"

    @statement.register
    def _(self, op: stmt.LetOp) -> None:
        value = self.text(op.value)
        self.line(f"const {C_TYPES[op.result.type]} {self.names.declare(op.result)} = {value};")

    @statement.register
    def _(self, op: stmt.VarOp) -> None:
        initial = "" if op.initial is None else f" = {self.text(op.initial)}"
        type = op.variable.type
        assert isinstance(type, VariableType)
        self.line(f"{C_TYPES[type.element]} {self.names.declare(op.variable)}{initial};")

    @statement.register
    def _(self, op: stmt.AssignOp) -> None:
        self.line(f"{self.text(op.variable)} = {self.text(op.value)};")

    @statement.register
    def _(self, op: stmt.StoreOp) -> None:
        self.line(f"{self.text(op.pointer)}[{self.text(op.index)}] = {self.text(op.value)};")

    @statement.register
    def _(self, op: stmt.IfOp) -> None:
        self.line(f"if ({self.text(op.condition)}) {{")
        self._body(op.then_body.block)
        if op.else_body is not None:
            self.line("} else {")
            self._body(op.else_body.block)
        self.line("}")

    @statement.register
    def _(self, op: stmt.ForOp) -> None:
        low, high = self.text(op.low), self.expression(op.high).within(_RELATION)
        step = op.step.value.data
        with self.names.scope():
            k = self.names.declare(op.counter)
            advance = f"++{k}" if step == 1 else f"{k} += {step}"
            if op.unroll is not None:
                self.line("#pragma unroll")
            type = C_TYPES[op.counter.type]
            self.line(f"for ({type} {k} = {low}; {k} < {high}; {advance}) {{")
            self._body(op.body.block)
        self.line("}")

    @statement.register
    def _(self, op: stmt.SharedOp) -> None:
        type = op.pointer.type
        assert isinstance(type, PointerType)
        name = self.names.declare(op.pointer)
        self.line(f"__shared__ {C_TYPES[type.element]} {name}[{op.size.value.data}];")

    @statement.register
    def _(self, op: stmt.SyncthreadsOp) -> None:
        self.line("__syncthreads();")

    @statement.register
    def _(self, op: stmt.ShuffleOp) -> None:
        width = op.width.value.data
        arguments = f"0xffffffff, {self.text(op.value)}, {op.offset.value.data}"
        if width != WARP_SIZE:
            arguments += f", {width}"
        call = f"{_SHUFFLE[op.mode.data]}({arguments})"
        self.line(f"const {C_TYPES[op.result.type]} {self.names.declare(op.result)} = {call};")

    def text(self, value: SSAValue) -> str:
        """An expression where nothing surrounds it."""
        return self.expression(value).text

    def expression(self, value: SSAValue) -> Text:
        """A name, or the expression that makes `value`."""
        if isinstance(owner := value.owner, expr.ExpressionOp):
            return self.made_by(owner)
        return Text(self.names[value], _POSTFIX)

    @singledispatchmethod
    def made_by(self, op: expr.ExpressionOp) -> Text:
        """The text of an expression."""
        raise NotImplementedError(f"'{op.name}' has no C++ text")

    @made_by.register
    def _(self, op: expr.LiteralOp) -> Text:
        text = literal(op.value)
        return Text(text, _PREFIX if text.startswith("-") else _POSTFIX)

    @made_by.register
    def _(self, op: expr.BuiltinOp) -> Text:
        return Text(_BUILTIN[op.variable.data], _POSTFIX)

    @made_by.register
    def _(self, op: expr.BinaryOp) -> Text:
        symbol, binding = _BINARY[op.operator.data]
        lhs = self.expression(op.lhs)
        if binding in _BITWISE:
            rhs = self.expression(op.rhs)
            return Text(f"{lhs.within(_PRODUCT)} {symbol} {rhs.within(_PRODUCT)}", binding)
        # `a && b || c` means what it seems to, but compilers warn of it.
        is_mixed = binding == _OR and lhs.binding == _AND
        left = f"({lhs.text})" if is_mixed else lhs.within(binding - 1)
        return Text(f"{left} {symbol} {self._right(op.rhs, binding)}", binding)

    @made_by.register
    def _(self, op: expr.CompareOp) -> Text:
        symbol, binding = _COMPARISON[op.comparison.data]
        left, right = self.expression(op.lhs), self.expression(op.rhs)
        return Text(f"{left.within(_RELATION)} {symbol} {right.within(_RELATION)}", binding)

    def _right(self, value: SSAValue, binding: int) -> str:
        """The right operand of an operator: `a - (b - c)`, `a - (-b)`."""
        operand = self.expression(value)
        is_signed = operand.text.startswith("-")
        is_mixed = binding == _OR and operand.binding == _AND
        return f"({operand.text})" if is_signed or is_mixed else operand.within(binding)

    @made_by.register
    def _(self, op: expr.NegOp) -> Text:
        return self._prefixed("-", op.value)

    @made_by.register
    def _(self, op: expr.NotOp) -> Text:
        return self._prefixed("!", op.value)

    @made_by.register
    def _(self, op: expr.CastOp) -> Text:
        return self._prefixed(f"({C_TYPES[op.result.type]})", op.value)

    def _prefixed(self, operator: str, value: SSAValue) -> Text:
        return Text(f"{operator}{self.expression(value).within(_PREFIX)}", _PREFIX)

    @made_by.register
    def _(self, op: expr.CallOp) -> Text:
        arguments = ", ".join(self.text(a) for a in op.arguments)
        return Text(f"{op.callee.string_value()}({arguments})", _POSTFIX)

    @made_by.register
    def _(self, op: expr.TernaryOp) -> Text:
        condition = self.expression(op.condition).within(_TERNARY)
        then_text = self.expression(op.then_value).within(_TERNARY)
        else_text = self.expression(op.else_value).within(_TERNARY)
        return Text(f"{condition} ? {then_text} : {else_text}", _TERNARY)

    @made_by.register
    def _(self, op: expr.SubscriptOp) -> Text:
        pointer = self.expression(op.pointer)
        return Text(f"{pointer.within(_PREFIX)}[{self.text(op.index)}]", _POSTFIX)

    @made_by.register
    def _(self, op: expr.ReadOp) -> Text:
        return self.expression(op.variable)


def _in_place(op: cuda.FuncOp) -> set[SSAValue]:
    """
    Parameters that may be the same as another: inputs that are written in place, and the outputs
    that are. With `__restrict__` the compiler would read such an input ahead of what is written,
    and by way of the cache that takes memory to be read-only.
    """
    found = set[SSAValue]()
    for output in op.outputs:
        inputs = op.in_place(output)
        found.update(op.inputs[position] for position in inputs)
        found.update([output] if inputs else [])
    return found


def _parameter(type: Attribute, name: str, *, restrict: bool) -> str:
    assert isinstance(type, PointerType)
    const = "const " if type.is_const else ""
    qualifier = "__restrict__ " if restrict else ""
    return f"{const}{C_TYPES[type.element]} *{qualifier}{name}"


def kernels_of(module: ModuleOp) -> list[cuda.FuncOp]:
    """The kernels of a module; `UsageError` if something in it is not lowered yet."""
    for op in module.ops:
        if not isinstance(op, cuda.FuncOp | func.FuncOp):
            raise _not_lowered(module, op)
        if isinstance(op, func.FuncOp):
            _check_host(module, op)
    return [op for op in module.ops if isinstance(op, cuda.FuncOp)]


_HIGHER = {"torch", "prim", "loop", "tile", "kernel"}


def _check_host(module: ModuleOp, function: func.FuncOp) -> None:
    for op in function.walk():
        dialect = op.name.partition(".")[0]
        if dialect in _HIGHER and not isinstance(op, loop.LaunchOp):
            raise _not_lowered(module, op)


def _not_lowered(module: ModuleOp, op: Operation) -> UsageError:
    passes = pipeline_between(level_of(module), Level.CUDA)
    return UsageError(
        f"'{op.name}' is not CUDA IR", remedy=f"run {passes} before" if passes else ""
    )


def _called(kernels: list[cuda.FuncOp]) -> Iterator[Call]:
    """The functions that the text of `kernels` calls."""
    for op in (op for kernel in kernels for op in kernel.walk()):
        if isinstance(op, expr.CallOp):
            type = op.arguments[0].type if op.arguments else op.result.type
            yield Call(op.callee.string_value(), C_TYPES[type])
        if isinstance(op, expr.LiteralOp) and isinstance(op.value, FloatAttr):
            yield Call(literal(op.value).strip("-()"), "")  # infinity and NaN are calls


def _types(kernels: list[cuda.FuncOp]) -> Iterator[str]:
    """The names of the types of all that the text of `kernels` names."""
    for kernel in kernels:
        yield from (_element_name(argument.type) for argument in kernel.body.block.args)
        for op in kernel.walk():
            yield from (_element_name(result.type) for result in op.results)


def _element_name(type: Attribute) -> str:
    return C_TYPES[type.element if isinstance(type, PointerType | VariableType) else type]


def _permuted_arguments(module: ModuleOp) -> Iterator[str]:
    """A comment for each argument of a host function that is not given as kernels read it."""
    for function in (op for op in module.ops if isinstance(op, func.FuncOp)):
        for position, axes in load_axes(function).items():
            argument = function.body.block.args[position]
            name = argument.name_hint or f"argument {position}"
            sizes = " x ".join(map(str, memref_type(argument).get_shape()))
            yield f"// {name}, {sizes}, is PyTorch's, permuted by {list(axes)} when loaded\n"


def cuda_source(module: ModuleOp) -> str:
    """The CUDA C++ text of a module of CUDA IR."""
    kernels = kernels_of(module)
    stream = StringIO()
    stream.writelines(_permuted_arguments(module))
    if functions := prelude(_called(kernels), _types(kernels)):
        stream.write(f"{functions}\n")
    for kernel in kernels:
        CudaPrinter(stream).kernel(kernel)
    return stream.getvalue().lstrip("\n")


@dataclass(frozen=True)
class CudaTarget(Target):
    """`-t cuda`: the text that NVRTC and nvcc compile."""

    name = "cuda"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        output.write(cuda_source(module))
