# SPDX-License-Identifier: Apache-2.0
"""Statements of CUDA IR by which threads meet, and calls that do something."""

from collections.abc import Sequence
from functools import lru_cache
from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, SymbolRefAttr, i64
from xdsl.ir import SSAValue
from xdsl.irdl import (
    AnyAttr,
    AtLeast,
    VarConstraint,
    base,
    eq,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cuda.names import EFFECTS
from tilewright.dialects.cuda.statements import StatementOp
from tilewright.dialects.cuda.types import HALVES, number, symbol
from tilewright.dialects.kernel import ShuffleMode, ShuffleModeAttr
from tilewright.dialects.kernel.shuffle import verify_segment


@lru_cache(maxsize=1 << 10)
def _constants(values: tuple[int, ...]) -> DenseArrayBase:
    return DenseArrayBase.from_list(i64, values)


@irdl_op_definition
class SyncthreadsOp(StatementOp):
    """
    `__syncthreads();`.

    ```mlir
    cuda.syncthreads
    ```
    """

    name = "cuda.syncthreads"

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "attr-dict"

    def writes_all_memory(self) -> bool:
        return True


@irdl_op_definition
class PerformOp(StatementOp):
    """
    A call of a function of the prelude that does something: `copy_async<16>(&s[i], &x[j]);`.

    ```mlir
    cuda.perform @copy_async [16](%0, %1) : !cuda.ptr<f32>, !cuda.ptr<f32, const>
    ```
    """

    name = "cuda.perform"

    callee = prop_def(base(SymbolRefAttr))
    constants = opt_prop_def(DenseArrayBase.constr(i64))
    arguments = var_operand_def()

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = (
        "$callee ($constants^)? (`(` $arguments^ `)`)? attr-dict (`:` type($arguments)^)?"
    )

    def __init__(
        self, callee: str, arguments: Sequence[SSAValue] = (), constants: Sequence[int] = ()
    ):
        super().__init__(
            operands=arguments,
            properties={
                "callee": symbol(callee),
                "constants": _constants(tuple(constants)) if constants else None,
            },
        )

    def template_arguments(self) -> tuple[int, ...]:
        """What stands in angle brackets."""
        return () if self.constants is None else tuple(self.constants.get_values())

    def writes_all_memory(self) -> bool:
        return True

    def verify_(self) -> None:
        if self.callee.string_value() not in EFFECTS:
            raise VerifyException(f"{self.callee} is no function of the prelude that acts")


@irdl_op_definition
class ShuffleOp(StatementOp):
    """
    Names what another lane holds: `const float o = __shfl_xor_sync(0xffffffff, v, 16);`.

    ```mlir
    %o = cuda.shuffle xor %v, 16 width 32 : f32
    ```
    """

    name = "cuda.shuffle"

    T: ClassVar = VarConstraint("T", AnyAttr())

    mode = prop_def(ShuffleModeAttr)
    value = operand_def(T)
    offset = prop_def(IntegerAttr.constr(type=eq(i64), value=AtLeast(0)))
    width = prop_def(IntegerAttr.constr(type=eq(i64), value=AtLeast(1)))
    result = result_def(T)

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "$mode $value `,` $offset `width` $width attr-dict `:` type($value)"

    def __init__(
        self, mode: ShuffleMode, value: SSAValue, offset: int, width: int, name: str | None = None
    ):
        super().__init__(
            operands=[value],
            properties={
                "mode": ShuffleModeAttr(mode),
                "offset": number(offset),
                "width": number(width),
            },
            result_types=[value.type],
        )
        self.result.name_hint = name

    def verify_(self) -> None:
        if self.value.type in HALVES:
            raise VerifyException(f"lanes do not exchange {self.value.type}; cast it to f32 first")
        verify_segment(self.offset.value.data, self.width.value.data)


THREAD_STATEMENTS: list[type[StatementOp]] = [SyncthreadsOp, PerformOp, ShuffleOp]
