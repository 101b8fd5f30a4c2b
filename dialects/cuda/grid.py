# SPDX-License-Identifier: Apache-2.0
"""Statements of CUDA IR by which a block finds the shared memory of others of its cluster."""

from xdsl.ir import SSAValue
from xdsl.irdl import base, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cuda.statements import StatementOp
from tilewright.dialects.cuda.types import PointerType


@irdl_op_definition
class RemoteOp(StatementOp):
    """
    What lies at the same place in the block of that rank in the cluster, to be read:
    `const float *const theirs = of_rank(partial, rank);`.

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
                f"what others have in {source} is read as {expected}, not as {pointer}"
            )


GRID_STATEMENTS: list[type[StatementOp]] = [RemoteOp]
