# SPDX-License-Identifier: Apache-2.0
"""Kernels of Loop and Tile IR, and launches of kernels at every level."""

from collections.abc import Hashable, Sequence
from typing import cast

from xdsl.dialects.builtin import (
    ContainerType,
    IntegerAttr,
    MemRefType,
    ShapedType,
    StringAttr,
    SymbolRefAttr,
    i64,
)
from xdsl.ir import Attribute, BlockArgument, Operation, Region, SSAValue
from xdsl.irdl import (
    base,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, SymbolTable, SymbolUserOpInterface
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.argument_facts import IN_PLACE
from tilewright.dialects.faster_xdsl.segments import SegmentedOp, segmented, start_of
from tilewright.dialects.faster_xdsl.verify_once import FormedOp
from tilewright.dialects.kernel_like import KernelLikeOp
from tilewright.dialects.schedule import ScheduleAttr
from tilewright.dialects.types import memref_type


@irdl_op_definition
class KernelOp(KernelLikeOp):
    """
    One kernel: it reads its inputs and writes its outputs.

    The kernel writes every element of an output, except of outputs that it updates. The body is a
    loop nest (Loop IR). In Tile IR it is one `tile.launch`, after scalars that the whole kernel
    uses. The `schedule` that made the launch, and the steps that are still `planned`, follow as
    pipelines.

    ```mlir
    loop.kernel @relu(%x: memref<16x64xf32>) -> (%out: memref<16x64xf32>) {
      %zero = arith.constant 0.000000e+00 : f32
      loop.for %i in 16, %j in 64 {
        %0 = loop.load %x[%i, %j] : memref<16x64xf32>
        %1 = arith.maximumf %0, %zero : f32
        loop.store %1, %out[%i, %j] : memref<16x64xf32>
      }
    }
    ```
    """

    name = "loop.kernel"

    planned = opt_prop_def(ScheduleAttr)
    """Passes that are still to schedule the kernel, with their options decided."""

    assembly_format = (
        "custom<Signature>($sym_name, $num_outputs, $arg_attrs, $body) "
        "(`schedule` $schedule^)? (`planned` $planned^)? attr-dict"
    )

    def __init__(self, name: str, body: Region, num_outputs: int):
        super().__init__(
            properties={"sym_name": StringAttr(name), "num_outputs": IntegerAttr(num_outputs, i64)},
            regions=[body],
        )

    def verify_(self) -> None:
        self.verify_signature()
        if any(map(self.in_place, self.outputs)):
            raise VerifyException(
                f"{IN_PLACE} is for Kernel IR: at higher levels it is undecided which thread reads "
                "an element"
            )
        for argument in self.body.block.args:
            if not isinstance(argument.type, MemRefType):
                raise VerifyException(f"kernel arguments are memrefs, not {argument.type}")
            if not (type := memref_type(argument)).has_static_shape():
                raise VerifyException(f"kernel arguments have static shapes, unlike {type}")


def kernel_of_argument(memref: SSAValue) -> KernelOp | None:
    """Return the kernel that `memref` is an argument of; None if it is not one."""
    if not isinstance(memref, BlockArgument):
        return None
    op = memref.owner.parent_op()
    return op if isinstance(op, KernelOp) else None


def _accepts(parameter: Attribute, buffer: SSAValue) -> bool:
    """
    True if a parameter of that type takes `buffer`; a pointer takes any buffer of its element type.
    """
    if not isinstance(parameter, ContainerType) or isinstance(parameter, ShapedType):
        return parameter == buffer.type
    pointer = cast(ContainerType[Attribute], parameter)
    return pointer.get_element_type() == memref_type(buffer).element_type


def _callee(launch: "LaunchOp") -> Operation | None:
    """
    Return the op that the launch calls, or None.

    `SymbolTable.lookup_symbol` is slow in modules with many launches.
    """
    table = launch.parent_op()
    while table is not None and not table.has_trait(SymbolTable):
        table = table.parent_op()
    ops = () if table is None else table.regions[0].block.ops
    name = launch.kernel.string_value()
    return next((op for op in ops if _is_called(op, name)), None)


def _is_called(op: Operation, name: str) -> bool:
    symbol = op.properties.get("sym_name")
    return isinstance(symbol, StringAttr) and symbol.data == name


def _parameters(callee: Operation) -> list[Attribute]:
    is_kernel = isinstance(callee, KernelLikeOp)
    buffers = callee.buffers if is_kernel else callee.regions[0].block.args
    return [buffer.type for buffer in buffers]


class LaunchCallsKernel(SymbolUserOpInterface):
    """Trait of launches: the callee exists and takes the buffers that the launch passes."""

    def verify(self, op: Operation) -> None:
        assert isinstance(op, LaunchOp)
        callee = _callee(op)
        if callee is None:
            raise VerifyException(f"no kernel {op.kernel} in this module")
        expected = _parameters(callee)
        if len(expected) != len(op.operands) or not all(map(_accepts, expected, op.operands)):
            raise VerifyException(
                f"kernel {op.kernel} takes ({', '.join(str(t) for t in expected)}), "
                f"the launch passes ({', '.join(str(v.type) for v in op.operands)})"
            )
        outputs = callee.properties.get("num_outputs")
        if isinstance(outputs, IntegerAttr) and outputs.value.data != len(op.outputs):
            raise VerifyException(
                f"kernel {op.kernel} has {outputs.value.data} output(s), "
                f"the launch passes {len(op.outputs)}"
            )


@segmented
@irdl_op_definition
class LaunchOp(FormedOp, SegmentedOp):
    """
    Launch of a kernel over buffers, at every level from Loop IR to CUDA IR.

    The launches of a function run in order.

    ```mlir
    loop.launch @relu(%x) -> (%out) : (memref<16x64xf32>) -> (memref<16x64xf32>)
    ```
    """

    name = "loop.launch"

    kernel = prop_def(base(SymbolRefAttr))
    inputs = var_operand_def(base(MemRefType))
    outputs = var_operand_def(base(MemRefType))

    traits = traits_def(LaunchCallsKernel(), MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = (
        "$kernel `(` $inputs `)` `->` `(` $outputs `)` attr-dict "
        "`:` `(` type($inputs) `)` `->` `(` type($outputs) `)`"
    )

    def __init__(self, kernel: str, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]):
        super().__init__(operands=[inputs, outputs], properties={"kernel": SymbolRefAttr(kernel)})

    def is_output(self, index: int) -> bool:
        """True if the operand at position `index` is an output; inputs come first."""
        return index >= start_of(self, 1)

    def surroundings(self) -> Hashable:
        callee = _callee(self)
        if callee is None:
            return None
        parameters = tuple(_parameters(callee))
        return parameters, callee.properties.get("num_outputs"), self._has_distinct_outputs()

    def _has_distinct_outputs(self) -> bool:
        outputs = {*self.outputs}
        return len(outputs) == len(self.outputs) and outputs.isdisjoint(self.inputs)

    def verify_(self) -> None:
        if not self._has_distinct_outputs():
            raise VerifyException(
                "a launch writes each output once and reads none of them; allocate a buffer for "
                "each"
            )
