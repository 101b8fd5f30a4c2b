# SPDX-License-Identifier: Apache-2.0
"""Printer of CUDA IR's statements, one line or block each."""

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from textwrap import wrap
from typing import Any

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tilewright.codegen.c_types import C_BYTES, C_TYPES, C_VECTORS
from tilewright.codegen.expressions import EXPRESSIONS, Expressions, ScopedNames
from tilewright.dialects.cuda import matrices as matrices
from tilewright.dialects.cuda import memory as memory
from tilewright.dialects.cuda import statements as stmt
from tilewright.dialects.cuda import threads as threads
from tilewright.dialects.cuda.copies import CopyOp
from tilewright.dialects.cuda.threads import RemoteOp
from tilewright.dialects.cuda.types import ArrayType, PointerType, VariableType
from tilewright.dialects.kernel import ShuffleMode
from tilewright.dialects.origin import story
from tilewright.dialects.target import WARP_SIZE

MAX_COLUMNS = 100

_INDENT = "  "

_SHUFFLE = {ShuffleMode.XOR: "__shfl_xor_sync", ShuffleMode.IDX: "__shfl_sync"}


class StatementPrinter:
    """Printer of statements, which keeps the names of the values that they declare."""

    def __init__(self, lines: list[str] | None = None):
        """Create a printer that appends lines to `lines`."""
        self.lines: list[str] = [] if lines is None else lines
        self.notes: dict[int, str] = {}
        """Origins of the lines, by number from 1."""
        self.names = ScopedNames()
        self.expressions = Expressions(self.names)
        self._indent = ""

    def line(self, text: str) -> None:
        """Append a line with the present indentation."""
        self.lines.append(self._indent + text)

    @contextmanager
    def indented(self, amount: int = 1) -> Generator[None]:
        """Indent the lines that are printed inside the `with` by `amount` more steps."""
        outer, self._indent = self._indent, self._indent + amount * _INDENT
        yield
        self._indent = outer

    def body(self, block: Block) -> None:
        """Print the statements of a block, in an indented scope of its own."""
        with self.indented(), self.names.scope():
            for op in block.ops:
                if type(op) in EXPRESSIONS:  # printed by the statement that uses it
                    continue
                first = len(self.lines) + 1
                STATEMENTS[type(op)](self, op)
                self._note(op, range(first, len(self.lines) + 1))

    def _note(self, op: Operation, lines: range) -> None:
        """
        Record where a statement comes from, for those of its lines that have no note yet.

        Lines of inner statements have their own notes already.
        """
        if note := story(op.location):
            for line in lines:
                self.notes.setdefault(line, note)

    def comment(self, op: stmt.CommentOp) -> None:
        columns = MAX_COLUMNS - len(self._indent) - len("// ")
        for line in wrap(op.text.data, columns):
            self.line(f"// {line}")

    def let(self, op: stmt.LetOp) -> None:
        value = self.text(op.value)
        self.line(f"const {C_TYPES[op.result.type]} {self.names.declare(op.result)} = {value};")

    def variable(self, op: stmt.VarOp) -> None:
        initial = "" if op.initial is None else f" = {self.text(op.initial)}"
        type = op.variable.type
        assert isinstance(type, VariableType)
        self.line(f"{C_TYPES[type.element]} {self.names.declare(op.variable)}{initial};")

    def assignment(self, op: stmt.AssignOp) -> None:
        self.line(f"{self.text(op.variable)} = {self.text(op.value)};")

    def store(self, op: stmt.StoreOp) -> None:
        target = self.expressions.element(op.pointer, op.indices)
        self.line(f"{target} = {self.text(op.value)};")

    def branch(self, op: stmt.IfOp) -> None:
        self.line(f"if ({self.text(op.condition)}) {{")
        self.body(op.then_body.block)
        if op.else_body is not None:
            self.line("} else {")
            self.body(op.else_body.block)
        self.line("}")

    def loop(self, op: stmt.ForOp) -> None:
        low, high = self.text(op.low), self.expressions.bound(op.high)
        step = op.step.value.data
        with self.names.scope():
            k = self.names.declare(op.counter)
            advance = f"++{k}" if step == 1 else f"{k} += {step}"
            if op.unroll is not None:
                self.line("#pragma unroll")
            if op.unroll_by is not None:
                self.line(f"#pragma unroll {op.unroll_by.value.data}")
            type = C_TYPES[op.counter.type]
            self.line(f"for ({type} {k} = {low}; {k} < {high}; {advance}) {{")
            self.body(op.body.block)
        self.line("}")

    def local_array(self, op: memory.LocalOp) -> None:
        type = op.array.type
        assert isinstance(type, ArrayType)
        extents = "".join(f"[{extent}]" for extent in type.extents)
        element = f"{_aligned(op.align)}{C_TYPES[type.element]}"
        zeros = "" if op.zeroed is None else " = {}"
        self.line(f"{element} {self.names.declare(op.array)}{extents}{zeros};")

    def shared_array(self, op: memory.SharedOp) -> None:
        element = f"{_aligned(op.align)}{c_element(op.pointer.type)}"
        self.line(f"__shared__ {element} {self.names.declare(op.pointer)}[{op.size.value.data}];")

    def pool(self, op: memory.PoolOp) -> None:
        type = f"__align__({memory.POOL_ALIGNMENT}) {c_element(op.pointer.type)}"
        self.line(f"extern __shared__ {type} {self.names.declare(op.pointer)}[];")

    def pooled_array(self, op: memory.PooledOp) -> None:
        type, offset = c_element(op.pointer.type), op.offset.value.data
        start = f"{self.text(op.pool)} + {offset}" if offset else self.text(op.pool)
        name = self.names.declare(op.pointer)
        self.line(f"{type} *const {name} = reinterpret_cast<{type} *>({start});")

    def remote_array(self, op: RemoteOp) -> None:
        type, name = c_element(op.pointer.type), self.names.declare(op.pointer)
        call = f"of_rank({self.text(op.source)}, {self.text(op.rank)})"
        self.line(f"const {type} *const {name} = {call};")

    def copy(self, op: CopyOp) -> None:
        type = _vector(op)
        source = f"*reinterpret_cast<const {type} *>({self.text(op.source)})"
        if op.condition is not None:
            source = f"{self.text(op.condition)} ? {source} : {type}()"
        self._assignment(f"*reinterpret_cast<{type} *>({self.text(op.target)})", source)

    def _assignment(self, target: str, value: str) -> None:
        """Print an assignment, in two lines if it is too long for one."""
        whole = f"{target} = {value};"
        if len(whole) + len(self._indent) <= MAX_COLUMNS:
            self.line(whole)
            return
        self.line(f"{target} =")
        with self.indented(2):
            self.line(f"{value};")

    def barrier(self, op: threads.SyncthreadsOp) -> None:
        self.line("__syncthreads();")

    def action(self, op: threads.PerformOp) -> None:
        constants = ", ".join(map(str, op.template_arguments()))
        name = op.callee.string_value() + (f"<{constants}>" if constants else "")
        self.line(f"{name}({', '.join(self.text(a) for a in op.arguments)});")

    def shuffle(self, op: threads.ShuffleOp) -> None:
        width = op.width.value.data
        arguments = f"0xffffffff, {self.text(op.value)}, {op.offset.value.data}"
        if width != WARP_SIZE:
            arguments += f", {width}"
        call = f"{_SHUFFLE[op.mode.data]}({arguments})"
        self.line(f"const {C_TYPES[op.result.type]} {self.names.declare(op.result)} = {call};")

    def load_matrix(self, op: matrices.LoadMatrixOp) -> None:
        self.line(f"{op.function}({self.text(op.target)}, {self.text(op.row)});")

    def matrix_multiply(self, op: matrices.MatrixMultiplyOp) -> None:
        fragments = ", ".join(self.text(fragment) for fragment in (op.d, op.a, op.b))
        self.line(f"{op.function}({fragments});")

    def group_multiply(self, op: matrices.GroupMultiplyOp) -> None:
        transposed = ", ".join(map(str, op.template_arguments()))
        self.line(f"{op.function}<{transposed}>(")
        with self.indented(2):
            for factor in (op.d, op.a):
                self.line(f"{self.text(factor)},")
            self.line(f"{self.text(op.b)});")

    def text(self, value: SSAValue) -> str:
        """Return the text of the expression that defines `value`, or its name."""
        return self.expressions.text(value)


def c_element(type: Attribute) -> str:
    """Return the C++ type of a pointer's elements."""
    assert isinstance(type, PointerType)
    return C_TYPES[type.element]


def _aligned(align: IntegerAttr | None) -> str:
    return "" if align is None else f"__align__({align.value.data}) "


def _vector(op: CopyOp) -> str:
    """
    Return the C++ type of the unit that a copy moves: an element, a vector of elements, or unsigned
    words of the same size.
    """
    type = op.source.type
    assert isinstance(type, PointerType)
    name = C_TYPES[type.element]
    width = op.width.value.data
    return name if width == 1 else C_VECTORS.get((name, width), C_BYTES[op.num_bytes])


STATEMENTS: Mapping[type[Operation], Callable[[StatementPrinter, Any], None]] = {
    stmt.CommentOp: StatementPrinter.comment,
    stmt.LetOp: StatementPrinter.let,
    stmt.VarOp: StatementPrinter.variable,
    stmt.AssignOp: StatementPrinter.assignment,
    stmt.StoreOp: StatementPrinter.store,
    stmt.IfOp: StatementPrinter.branch,
    stmt.ForOp: StatementPrinter.loop,
    memory.LocalOp: StatementPrinter.local_array,
    memory.SharedOp: StatementPrinter.shared_array,
    memory.PoolOp: StatementPrinter.pool,
    memory.PooledOp: StatementPrinter.pooled_array,
    RemoteOp: StatementPrinter.remote_array,
    matrices.LoadMatrixOp: StatementPrinter.load_matrix,
    matrices.MatrixMultiplyOp: StatementPrinter.matrix_multiply,
    matrices.GroupMultiplyOp: StatementPrinter.group_multiply,
    CopyOp: StatementPrinter.copy,
    threads.SyncthreadsOp: StatementPrinter.barrier,
    threads.PerformOp: StatementPrinter.action,
    threads.ShuffleOp: StatementPrinter.shuffle,
}
"""The function that prints a statement op, by the op's class."""
