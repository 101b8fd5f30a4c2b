# SPDX-License-Identifier: Apache-2.0
"""
CUDA IR: C++ statements and expressions, one to one with the text that `-t cuda` prints.

A statement (`dialects/cuda_statements.py`) is one line or block of the text; its operands are
expressions (`dialects/cuda_expressions.py`) or names. The names of values become those of the text.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, StringAttr, SymbolNameConstraint, i64
from xdsl.ir import BlockArgument, Dialect, Region
from xdsl.irdl import (
    AtLeast,
    IRDLOperation,
    eq,
    irdl_op_definition,
    prop_def,
    region_def,
    traits_def,
)
from xdsl.traits import IsolatedFromAbove, NoTerminator, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.assembly import Signature
from tilewright.dialects.cuda_expressions import EXPRESSIONS
from tilewright.dialects.cuda_names import is_identifier
from tilewright.dialects.cuda_placement import verify_placement
from tilewright.dialects.cuda_statements import STATEMENTS, SharedOp
from tilewright.dialects.cuda_types import (
    BinaryOperatorAttr,
    BuiltinAttr,
    ComparisonAttr,
    PointerType,
    VariableType,
)
from tilewright.dialects.tile import MAX_THREADS

MAX_STATIC_SHARED = 48 * 1024
"""
Bytes of shared memory that a kernel may declare (CUDA C++ Programming Guide, technical
specifications). ptxas lets more pass on some targets, and the launch fails.
"""


@irdl_op_definition
class FuncOp(IRDLOperation):
    """
    `extern "C" __global__ void __launch_bounds__(block) name(...)`, for a launch of `grid` blocks
    of `block` threads. Its symbol is its name in the text.

    ```mlir
    cuda.func grid 8 block 128 @copy(%x: !cuda.ptr<f32, const>) -> (%out: !cuda.ptr<f32>) {
      %0 = cuda.builtin thread_idx : i32
      %t = cuda.let %0 : i32
      %1 = cuda.subscript %x[%t] : !cuda.ptr<f32, const>, i32
      cuda.store %1, %out[%t] : !cuda.ptr<f32>, i32
    }
    ```
    """

    name = "cuda.func"

    sym_name = prop_def(SymbolNameConstraint())
    num_outputs = prop_def(IntegerAttr.constr(type=eq(i64)))
    grid = prop_def(IntegerAttr.constr(type=eq(i64), value=AtLeast(1)))
    block = prop_def(IntegerAttr.constr(type=eq(i64), value=AtLeast(1)))
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), NoTerminator(), SymbolOpInterface())
    custom_directives = (Signature,)
    assembly_format = (
        "`grid` $grid `block` $block custom<Signature>($sym_name, $num_outputs, $body) attr-dict"
    )

    def __init__(self, name: str, body: Region, num_outputs: int, *, grid: int, block: int):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "num_outputs": IntegerAttr(num_outputs, i64),
                "grid": IntegerAttr(grid, i64),
                "block": IntegerAttr(block, i64),
            },
            regions=[body],
        )

    @property
    def inputs(self) -> Sequence[BlockArgument]:
        """The pointers that the kernel reads through."""
        return self.body.block.args[: -self.num_outputs.value.data]

    @property
    def outputs(self) -> Sequence[BlockArgument]:
        """The pointers that the kernel writes through."""
        return self.body.block.args[-self.num_outputs.value.data :]

    @property
    def shared_bytes(self) -> int:
        """The shared memory that a block declares."""
        return sum(op.num_bytes for op in self.body.walk() if isinstance(op, SharedOp))

    def verify_(self) -> None:
        if not is_identifier(self.sym_name.data):
            raise VerifyException(f"'{self.sym_name.data}' cannot be the name of a CUDA kernel")
        if self.block.value.data > MAX_THREADS:
            raise VerifyException(f"a block has at most {MAX_THREADS} threads")
        if not 1 <= self.num_outputs.value.data <= len(self.body.block.args):
            raise VerifyException("a kernel writes at least one output")
        for argument in self.body.block.args:
            if not isinstance(argument.type, PointerType):
                raise VerifyException(f"kernel parameters are pointers, not {argument.type}")
        if self.shared_bytes > MAX_STATIC_SHARED:
            raise VerifyException(
                f"{self.shared_bytes} bytes of shared memory; "
                f"a kernel may declare {MAX_STATIC_SHARED}"
            )
        verify_placement(self.body.block)


Cuda = Dialect(
    "cuda",
    [FuncOp, *STATEMENTS, *EXPRESSIONS],
    [PointerType, VariableType, BinaryOperatorAttr, BuiltinAttr, ComparisonAttr],
)
