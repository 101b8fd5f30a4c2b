# SPDX-License-Identifier: Apache-2.0
"""
The general C++ statements of CUDA IR: each is one line or block of the text, in order.

Statements that only CUDA has are in `memory.py`, `copies.py` and `threads.py`.
"""

from abc import ABC
from collections.abc import Iterator, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, UnitAttr, i1, i32, i64
from xdsl.ir import Attribute, BlockArgument, Region, SSAValue
from xdsl.irdl import (
    AnyAttr,
    AtLeast,
    IRDLOperation,
    ParamAttrConstraint,
    VarConstraint,
    eq,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    opt_region_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    OperandVariable,
    ParsingState,
    PrintingState,
    RegionVariable,
    TypeDirective,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    MemoryWriteEffect,
    NoTerminator,
    Pure,
    RecursiveMemoryEffect,
)
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cuda.expressions import elements_of, verify_indices
from tilewright.dialects.cuda.types import PointerType, VariableType, number
from tilewright.dialects.faster_xdsl.verify_once import FormedOp
from tilewright.dialects.kernel.comment import TextOp


class StatementOp(FormedOp, ABC):
    """Base class of C++ statements."""

    def writes(self) -> Iterator[SSAValue]:
        """
        Yield the pointers and variables whose contents this statement changes, its bodies excluded.
        """
        yield from ()

    def writes_all_memory(self) -> bool:
        """True if writes of other threads become visible at this statement."""
        return False


@irdl_op_definition
class CommentOp(TextOp, StatementOp):
    """
    A comment about the statements that follow: `// softmax: maximum across 32 threads`.

    ```mlir
    cuda.comment "softmax: maximum across 32 threads"
    ```
    """

    name = "cuda.comment"


@irdl_op_definition
class LetOp(StatementOp):
    """
    Declaration of a constant for an expression: `const float v = e;`.

    ```mlir
    %v = cuda.let %0 : f32
    ```
    """

    name = "cuda.let"

    T: ClassVar = VarConstraint("T", AnyAttr())

    value = operand_def(T)
    result = result_def(T)

    traits = traits_def(Pure())
    assembly_format = "$value attr-dict `:` type($result)"

    def __init__(self, value: SSAValue, name: str | None = None):
        super().__init__(operands=[value], result_types=[value.type])
        self.result.name_hint = name


@irdl_op_definition
class VarOp(StatementOp):
    """
    Declaration of a variable that `cuda.assign` changes: `float v = e;`, or `float v;`.

    ```mlir
    %sum = cuda.var %0 : !cuda.var<f32>
    ```
    """

    name = "cuda.var"

    T: ClassVar = VarConstraint("T", AnyAttr())

    initial = opt_operand_def(T)
    variable = result_def(ParamAttrConstraint(VariableType, (T,)))

    traits = traits_def(MemoryWriteEffect())
    assembly_format = "($initial^)? attr-dict `:` type($variable)"

    def __init__(self, initial: SSAValue | None, type: Attribute, name: str | None = None):
        super().__init__(operands=[initial], result_types=[VariableType.get(type)])
        self.variable.name_hint = name


@irdl_op_definition
class AssignOp(StatementOp):
    """
    Assignment to a variable: `v = e;`.

    ```mlir
    cuda.assign %sum, %1 : !cuda.var<f32>
    ```
    """

    name = "cuda.assign"

    T: ClassVar = VarConstraint("T", AnyAttr())

    variable = operand_def(ParamAttrConstraint(VariableType, (T,)))
    value = operand_def(T)

    traits = traits_def(MemoryWriteEffect())
    assembly_format = "$variable `,` $value attr-dict `:` type($variable)"

    def __init__(self, variable: SSAValue, value: SSAValue):
        super().__init__(operands=[variable, value])

    def writes(self) -> Iterator[SSAValue]:
        yield self.variable


@irdl_op_definition
class StoreOp(StatementOp):
    """
    Store to memory, `p[i] = e;`, or to an array, `a[i][j] = e;`.

    ```mlir
    cuda.store %v, %p[%i] : !cuda.ptr<f32>, i32
    ```
    """

    name = "cuda.store"

    T: ClassVar = VarConstraint("T", AnyAttr())

    value = operand_def(T)
    pointer = operand_def(elements_of(T))
    indices = var_operand_def(eq(i32) | eq(i64))

    traits = traits_def(MemoryWriteEffect())
    assembly_format = (
        "$value `,` $pointer `[` $indices `]` attr-dict `:` type($pointer) `,` type($indices)"
    )

    def __init__(self, value: SSAValue, pointer: SSAValue, indices: Sequence[SSAValue]):
        super().__init__(operands=[value, pointer, *indices])

    def writes(self) -> Iterator[SSAValue]:
        yield self.pointer

    def verify_(self) -> None:
        type = self.pointer.type
        if isinstance(type, PointerType) and type.is_const:
            raise VerifyException(f"cannot store through {type}")
        verify_indices(type, len(self.indices))


@irdl_op_definition
class IfOp(StatementOp):
    """
    Conditional statement: `if (c) { ... } else { ... }`.

    ```mlir
    cuda.if %0 {
      cuda.store %v, %p[%i] : !cuda.ptr<f32>, i32
    }
    ```
    """

    name = "cuda.if"

    condition = operand_def(i1)
    then_body = region_def("single_block")
    else_body = opt_region_def("single_block")

    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())
    assembly_format = "$condition attr-dict-with-keyword $then_body (`else` $else_body^)?"

    def __init__(self, condition: SSAValue, then_body: Region, else_body: Region | None = None):
        super().__init__(operands=[condition], regions=[then_body, else_body])


@irdl_custom_directive
class ForHeader(CustomDirective):
    """Directive for the header and body of a loop: `%k = %low to %high step 1 : i32 { ... }`."""

    low: OperandVariable
    type: TypeDirective
    high: OperandVariable
    step: AttributeVariable
    body: RegionVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        counter = parser.parse_argument(expect_type=False)
        parser.parse_punctuation("=")
        self.low.set(state, parser.parse_unresolved_operand())
        parser.parse_keyword("to")
        self.high.set(state, parser.parse_unresolved_operand())
        parser.parse_keyword("step")
        self.step.set(state, IntegerAttr(parser.parse_integer(allow_boolean=False), i64))
        parser.parse_punctuation(":")
        type = parser.parse_type()
        self.type.set(state, (type,))
        self.body.set(state, parser.parse_region([counter.resolve(type)]))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        assert isinstance(op, ForOp)
        state.print_whitespace(printer)
        printer.print_ssa_value(op.counter)
        printer.print_string(" = ")
        printer.print_ssa_value(op.low)
        printer.print_string(" to ")
        printer.print_ssa_value(op.high)
        printer.print_string(f" step {op.step.value.data} : ")
        printer.print_attribute(op.counter.type)
        printer.print_string(" ")
        printer.print_region(op.body, print_entry_block_args=False, print_empty_block=False)


@irdl_op_definition
class ForOp(StatementOp):
    """
    Counted loop `for (int k = low; k < high; k += step) { ... }`; `unroll` adds `#pragma unroll`.
    `unroll_by 3` adds `#pragma unroll 3`.

    ```mlir
    cuda.for %k = %0 to %1 step 1 : i32 {
      cuda.store %v, %p[%k] : !cuda.ptr<f32>, i32
    }
    ```
    """

    name = "cuda.for"

    T: ClassVar = VarConstraint("T", AnyAttr())

    low = operand_def(T)
    high = operand_def(T)
    step = prop_def(IntegerAttr.constr(type=eq(i64), value=AtLeast(1)))
    unroll = opt_prop_def(UnitAttr)
    unroll_by = opt_prop_def(IntegerAttr.constr(type=eq(i64), value=AtLeast(2)))
    body = region_def("single_block")

    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())
    custom_directives = (ForHeader,)
    assembly_format = (
        "(`unroll` $unroll^)? (`unroll_by` $unroll_by^)? "
        "custom<ForHeader>($low, type($low), $high, $step, $body) attr-dict"
    )

    def __init__(
        self,
        low: SSAValue,
        high: SSAValue,
        step: int,
        body: Region,
        *,
        unroll: bool = False,
        unroll_by: int | None = None,
    ):
        super().__init__(
            operands=[low, high],
            properties={
                "step": number(step),
                "unroll": UnitAttr() if unroll else None,
                "unroll_by": None if unroll_by is None else number(unroll_by),
            },
            regions=[body],
        )

    @property
    def counter(self) -> BlockArgument:
        """The loop counter, which is the body's block argument."""
        return self.body.block.args[0]

    def verify_(self) -> None:
        if [a.type for a in self.body.block.args] != [self.low.type]:
            raise VerifyException(
                f"the body takes one counter of the bounds' type, {self.low.type}"
            )


STATEMENTS: list[type[StatementOp]] = [CommentOp, LetOp, VarOp, AssignOp, StoreOp, IfOp, ForOp]
