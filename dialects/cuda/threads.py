# SPDX-License-Identifier: Apache-2.0
"""
Statements of CUDA IR for cooperation: barriers, calls for their effect, shuffles, remote addresses.
"""

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
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cuda.identifiers import EFFECTS
from tilewright.dialects.cuda.statements import StatementOp
from tilewright.dialects.cuda.types import PointerType, number, symbol
from tilewright.dialects.element_types import HALVES
from tilewright.dialects.kernel import ShuffleMode, ShuffleModeAttr
from tilewright.dialects.kernel.shuffle import verify_segment


@lru_cache(maxsize=1 << 10)
def _constants(values: tuple[int, ...]) -> DenseArrayBase:
    return DenseArrayBase.from_list(i64, values)


@irdl_op_definition
class SyncthreadsOp(StatementOp):
    """
    Barrier of all threads of the block: `__syncthreads();`.

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
    Call of a function for its effect: `copy_async<16>(&s[i], &x[j]);`.

    The prelude defines the function, or it is a function of CUDA's own whose result is not used.

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
        """Return the template arguments, which are printed in angle brackets."""
        return () if self.constants is None else tuple(self.constants.get_values())

    def writes_all_memory(self) -> bool:
        return True

    def verify_(self) -> None:
        if self.callee.string_value() not in EFFECTS:
            raise VerifyException(f"{self.callee} is not a function with an effect")


@irdl_op_definition
class ShuffleOp(StatementOp):
    """
    Shuffle that reads a value from another lane.

    The op prints as `const float o = __shfl_xor_sync(0xffffffff, v, 16);`.

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


@irdl_op_definition
class RemoteOp(StatementOp):
    """
    Read-only address of the same array in the shared memory of another block of the cluster.

    The op prints as `const float *const theirs = of_rank(partial, rank);`, where `rank` is that
    block's rank in the cluster.

    ```mlir
    %theirs = cuda.remote %partial of %rank : !cuda.ptr<f32>, i32 to !cuda.ptr<f32, const>
    ```
    """

    name = "cuda.remote"

    source = operand_def(base(PointerType))
    rank = operand_def()
    pointer = result_def(base(PointerType))

    traits = traits_def(Pure())
    assembly_format = (
        "$source `of` $rank attr-dict `:` type($source) `,` type($rank) `to` type($pointer)"
    )

    def __init__(self, source: SSAValue, rank: SSAValue, name: str):
        type = source.type
        assert isinstance(type, PointerType)
        super().__init__(
            operands=[source, rank], result_types=[PointerType.get(type.element, const=True)]
        )
        self.pointer.name_hint = name

    def verify_(self) -> None:
        source, pointer = self.source.type, self.pointer.type
        assert isinstance(source, PointerType)
        expected = PointerType.get(source.element, const=True)
        if pointer != expected:
            raise VerifyException(
                f"an address in another block's {source} is {expected}, not {pointer}"
            )


THREAD_STATEMENTS: list[type[StatementOp]] = [SyncthreadsOp, PerformOp, ShuffleOp, RemoteOp]
