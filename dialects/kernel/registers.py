# SPDX-License-Identifier: Apache-2.0
"""Arrays in a thread's registers, and the unrolled nests that step through them."""

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, IndexType, IntegerAttr, MemRefType, i64
from xdsl.ir import Attribute, Region
from xdsl.irdl import (
    IRDLOperation,
    RangeOf,
    base,
    irdl_op_definition,
    prop_def,
    region_def,
    result_def,
    traits_def,
)
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    RegionVariable,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryAllocEffect, NoTerminator, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.axes import AxesOp, extents_attribute, extents_in
from tilewright.dialects.faster_xdsl.verify_once import FormedOp
from tilewright.dialects.types import memref_of, memref_type

LOCAL = IntegerAttr(5, i64)
"""Memory space private to one thread, by NVPTX's number."""

UNROLL = "unroll"
"""Name of the attribute by which an `scf.for` requests unrolling."""


@irdl_op_definition
class RegistersOp(FormedOp):
    """
    Array that each thread holds in registers; its contents are undefined at first.

    The subscripts of every access must be constants once the nests around it are unrolled.

    ```mlir
    %acc = kernel.registers : memref<8x8xf32, 5 : i64>
    ```
    """

    name = "kernel.registers"

    memref = result_def(base(MemRefType))

    traits = traits_def(MemoryAllocEffect())
    assembly_format = "attr-dict `:` type($memref)"

    def __init__(self, element: Attribute, shape: Sequence[int]):
        super().__init__(result_types=[memref_of(element, tuple(shape), LOCAL)])

    def verify_(self) -> None:
        type = memref_type(self.memref)
        if type.memory_space != LOCAL:
            raise VerifyException(f"registers are memory space 5; {type} is not in it")


@irdl_custom_directive
class UnrolledAxes(CustomDirective):
    """Directive for the axes and body of an unrolled nest: `%i in 8, %j in 4 { ... }`."""

    extents: AttributeVariable
    body: RegionVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        axes = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, lambda: self._parse_axis(parser)
        )
        self.extents.set(state, DenseArrayBase.from_list(i64, [extent for _, extent in axes]))
        names = [name.resolve(IndexType()) for name, _ in axes]
        self.body.set(state, parser.parse_region(names))

    def _parse_axis(self, parser: Parser) -> tuple[Parser.UnresolvedArgument, int]:
        name = parser.parse_argument(expect_type=False)
        parser.parse_keyword("in")
        return name, parser.parse_integer(allow_boolean=False, allow_negative=False)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        assert isinstance(op, UnrollOp)
        state.print_whitespace(printer)
        for position, (axis, extent) in enumerate(
            zip(op.body.block.args, op.axis_extents(), strict=True)
        ):
            printer.print_string(", " if position else "")
            printer.print_ssa_value(axis)
            printer.print_string(f" in {extent}")
        printer.print_string(" ")
        printer.print_region(op.body, print_entry_block_args=False, print_empty_block=False)


@irdl_op_definition
class UnrollOp(FormedOp, AxesOp):
    """
    Unrolled nest of loops: the body runs for each step of its axes.

    All steps are independent, therefore any order is valid.

    ```mlir
    kernel.unroll %i in 8, %j in 8 {
      %0 = loop.load %a[%i] : memref<8xf32, 5 : i64>
      %1 = loop.load %b[%j] : memref<8xf32, 5 : i64>
      %2 = arith.mulf %0, %1 : f32
      loop.store %2, %acc[%i, %j] : memref<8x8xf32, 5 : i64>
    }
    ```
    """

    name = "kernel.unroll"

    extents = prop_def(DenseArrayBase.constr(i64))
    body = region_def("single_block", entry_args=RangeOf(base(IndexType)))

    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())
    custom_directives = (UnrolledAxes,)
    assembly_format = "custom<UnrolledAxes>($extents, $body) attr-dict"

    def __init__(self, extents: Sequence[int], body: Region):
        super().__init__(properties={"extents": extents_attribute(extents)}, regions=[body])

    def axis_extents(self) -> Sequence[int]:
        return extents_in(self.extents)

    def verify_(self) -> None:
        if not self.body.block.args:
            raise VerifyException("a nest has at least one axis")
        if len(self.extents) != len(self.body.block.args):
            raise VerifyException("give one extent for each axis")
        if any(extent < 1 for extent in self.axis_extents()):
            raise VerifyException("every axis of a nest takes at least one step")
