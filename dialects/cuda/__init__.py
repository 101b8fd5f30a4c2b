# SPDX-License-Identifier: Apache-2.0
"""
CUDA IR: C++ statements and expressions, one to one with the text that `-t cuda` prints.

A statement (`dialects/cuda/statements.py`) is one line or block of the text; its operands are
expressions (`dialects/cuda/expressions.py`) or names. Value names become variable names in the
text.
"""

from collections.abc import Sequence

from xdsl.ir import BlockArgument, Dialect
from xdsl.irdl import (
    irdl_op_definition,
)
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cuda.copies import COPY_EXPRESSIONS, COPY_STATEMENTS
from tilewright.dialects.cuda.expressions import EXPRESSIONS
from tilewright.dialects.cuda.identifiers import is_identifier
from tilewright.dialects.cuda.matrices import MATRIX_STATEMENTS
from tilewright.dialects.cuda.memory import MEMORY_STATEMENTS, PoolOp, SharedOp
from tilewright.dialects.cuda.operators import OPERATORS
from tilewright.dialects.cuda.placement import verify_placement
from tilewright.dialects.cuda.statements import STATEMENTS
from tilewright.dialects.cuda.threads import THREAD_STATEMENTS
from tilewright.dialects.cuda.types import (
    ArrayType,
    BinaryOperatorAttr,
    BuiltinAttr,
    ComparisonAttr,
    PointerType,
    TensorMapType,
    VariableType,
)
from tilewright.dialects.faster_xdsl.walk import ops_of
from tilewright.dialects.kernel_like import ThreadFuncOp

MAX_STATIC_SHARED = 48 * 1024
"""
Most bytes of shared memory that a kernel may declare statically (CUDA C++ Programming Guide,
technical specifications).

ptxas accepts more on some targets, and then the launch fails.
"""


@irdl_op_definition
class FuncOp(ThreadFuncOp):
    """
    A kernel for launches of `grid` blocks of `block` threads; its symbol is its name in the text.

    The op prints as `extern "C" __global__ void __launch_bounds__(block) name(...)`. Parameters are
    tensor maps first, then pointers.

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
    def tensor_maps(self) -> Sequence[TensorMapType]:
        """Types of the tensor maps that the host must pass, for arrays that TMA copies in boxes."""
        return [t for t in self.body.block.arg_types if isinstance(t, TensorMapType)]

    @property
    def buffers(self) -> Sequence[BlockArgument]:
        return self.body.block.args[len(self.tensor_maps) :]

    @property
    def static_shared_bytes(self) -> int:
        """Bytes of shared memory that the text declares statically."""
        return sum(op.num_bytes for op in ops_of(SharedOp, self))

    @property
    def dynamic_shared_bytes(self) -> int:
        """Bytes of shared memory whose size the launch sets."""
        return sum(op.size.value.data for op in ops_of(PoolOp, self))

    @property
    def shared_bytes(self) -> int:
        """Bytes of shared memory of a block, static and dynamic."""
        return self.static_shared_bytes + self.dynamic_shared_bytes

    def verify_(self) -> None:
        if not is_identifier(self.sym_name.data):
            raise VerifyException(f"'{self.sym_name.data}' cannot be the name of a CUDA kernel")
        self.verify_launch()
        for buffer in self.buffers:
            if not isinstance(buffer.type, PointerType):
                raise VerifyException(
                    f"kernel parameters are tensor maps, then pointers, not {buffer.type}"
                )
        for map in self.tensor_maps:
            if map.input.data >= len(self.inputs):
                raise VerifyException(f"{map} is of an input that the kernel lacks")
        if (static := self.static_shared_bytes) > MAX_STATIC_SHARED:
            raise VerifyException(
                f"{static} bytes of shared memory; a kernel may declare {MAX_STATIC_SHARED}"
            )
        if len(ops_of(PoolOp, self)) > 1:
            raise VerifyException("a kernel has one pool")
        verify_placement(self.body.block)


Cuda = Dialect(
    "cuda",
    [
        FuncOp,
        *STATEMENTS,
        *MEMORY_STATEMENTS,
        *THREAD_STATEMENTS,
        *COPY_STATEMENTS,
        *MATRIX_STATEMENTS,
        *EXPRESSIONS,
        *OPERATORS,
        *COPY_EXPRESSIONS,
    ],
    [
        ArrayType,
        PointerType,
        VariableType,
        TensorMapType,
        BinaryOperatorAttr,
        BuiltinAttr,
        ComparisonAttr,
    ],
)
