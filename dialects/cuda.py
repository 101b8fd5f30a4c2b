# SPDX-License-Identifier: Apache-2.0
"""
CUDA IR: C++ statements and expressions, one to one with the text that `-t cuda` prints.

A statement (`dialects/cuda_statements.py`) is one line or block of the text; its operands are
expressions (`dialects/cuda_expressions.py`) or names. The names of values become those of the text.
"""

from xdsl.ir import Dialect
from xdsl.irdl import (
    irdl_op_definition,
)
from xdsl.utils.exceptions import VerifyException

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
from tilewright.dialects.kernel_like import ThreadFuncOp

MAX_STATIC_SHARED = 48 * 1024
"""
Bytes of shared memory that a kernel may declare (CUDA C++ Programming Guide, technical
specifications). ptxas lets more pass on some targets, and the launch fails.
"""


@irdl_op_definition
class FuncOp(ThreadFuncOp):
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

    @property
    def shared_bytes(self) -> int:
        """The shared memory that a block declares."""
        return sum(op.num_bytes for op in self.body.walk() if isinstance(op, SharedOp))

    def verify_(self) -> None:
        if not is_identifier(self.sym_name.data):
            raise VerifyException(f"'{self.sym_name.data}' cannot be the name of a CUDA kernel")
        self.verify_launch()
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
