# SPDX-License-Identifier: Apache-2.0
"""The function of one thread of a kernel, and the indices of threads and blocks."""

from typing import ClassVar

from xdsl.dialects.builtin import (
    AffineMapAttr,
    IndexType,
    IntegerAttr,
)
from xdsl.ir import Operation
from xdsl.irdl import (
    irdl_op_definition,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import (
    Pure,
)
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.assembly import Subscripts
from tilewright.dialects.axes import (
    Access,
    RangedIndex,
    canonical_access,
    range_of_value,
    verify_affine,
)
from tilewright.dialects.faster_xdsl.verify_once import FormedOp
from tilewright.dialects.index import Range, range_of
from tilewright.dialects.kernel_like import ThreadFuncOp


@irdl_op_definition
class FuncOp(ThreadFuncOp):
    """
    Program of one thread of a kernel, launched as `grid` blocks of `block` threads, both linear.

    ```mlir
    kernel.func grid 8 block 128 @copy(%x: memref<1024xf32>) -> (%out: memref<1024xf32>) {
      %b = kernel.block_id
      %t = kernel.thread_id
      %0 = loop.load %x[%b * 128 + %t] : memref<1024xf32>
      loop.store %0, %out[%b * 128 + %t] : memref<1024xf32>
    }
    ```
    """

    name = "kernel.func"

    def verify_(self) -> None:
        self.verify_launch()


def function_of(op: Operation) -> FuncOp:
    """Return the `kernel.func` that contains `op`."""
    parent = op.parent_op()
    assert parent is not None
    return parent if isinstance(parent, FuncOp) else function_of(parent)


class IdOp(RangedIndex, FormedOp):
    """
    Base class of thread and block ids: an index from 0 up to the launch size of the enclosing
    function.
    """

    result = result_def(IndexType())

    traits = traits_def(Pure())
    assembly_format = "attr-dict"

    LAUNCH_PROPERTY: ClassVar[str]

    def __init__(self) -> None:
        super().__init__(result_types=[IndexType()])

    def result_range(self) -> Range | None:
        op = self.parent_op()
        while op is not None and not isinstance(op, FuncOp):
            op = op.parent_op()
        if op is None:
            return None
        extent = op.properties[self.LAUNCH_PROPERTY]
        assert isinstance(extent, IntegerAttr)
        return Range.extent(extent.value.data)


@irdl_op_definition
class BlockIdOp(IdOp):
    """
    Number of the block in the grid.

    ```mlir
    %b = kernel.block_id
    ```
    """

    name = "kernel.block_id"
    LAUNCH_PROPERTY: ClassVar[str] = "grid"


@irdl_op_definition
class ThreadIdOp(IdOp):
    """
    Number of the thread in its block.

    ```mlir
    %t = kernel.thread_id
    ```
    """

    name = "kernel.thread_id"
    LAUNCH_PROPERTY: ClassVar[str] = "block"


@irdl_op_definition
class IndexOp(RangedIndex, FormedOp):
    """
    Named index: an affine expression of other indices.

    ```mlir
    %row = kernel.index [%b * 4 + %t floordiv 32]
    ```
    """

    name = "kernel.index"

    indices = var_operand_def(IndexType)
    map = prop_def(AffineMapAttr)
    result = result_def(IndexType())

    traits = traits_def(Pure())
    custom_directives = (Subscripts,)
    assembly_format = "` ` custom<Subscripts>($indices, $map) attr-dict"

    def __init__(self, value: Access):
        map, indices = canonical_access(*value)
        super().__init__(
            operands=[indices],
            properties={"map": AffineMapAttr(map)},
            result_types=[IndexType()],
        )

    def result_range(self) -> Range | None:
        (expr,) = self.map.data.results
        return range_of(expr, [range_of_value(v) for v in self.indices])

    def verify_(self) -> None:
        if self.map.data.num_dims != len(self.indices):
            dims = self.map.data.num_dims
            raise VerifyException(f"the map takes {dims} indices, got {len(self.indices)}")
        verify_affine(self.map.data)
        if len(self.map.data.results) != 1:
            raise VerifyException("an index is one expression")
