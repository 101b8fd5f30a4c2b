# SPDX-License-Identifier: Apache-2.0
"""Loops whose steps run in order, for prefix sums and other scans."""

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IndexType, IntegerAttr, UnitAttr, i64
from xdsl.ir import BlockArgument, Region, SSAValue
from xdsl.irdl import (
    AnyAttr,
    AtLeast,
    IRDLOperation,
    RangeOf,
    RangeVarConstraint,
    base,
    eq,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import NoMemoryEffect, NoTerminator, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.assembly import WithMonoid
from tilewright.dialects.axes import AxesOp
from tilewright.dialects.loop.syntax import ScanAxis
from tilewright.dialects.monoid import MonoidAttr, verify_monoid


@irdl_op_definition
class ScanOp(AxesOp):
    """
    Loop along one axis whose steps run in order; `loop.prefix` ops in its body accumulate.

    ```mlir
    loop.scan %k in 64 {
      %0 = loop.load %x[%i, %k] : memref<16x64xf32>
      %1 = loop.prefix %0 with add : f32
      loop.store %1, %out[%i, %k] : memref<16x64xf32>
    }
    ```
    """

    name = "loop.scan"

    extent = prop_def(IntegerAttr.constr(type=eq(i64), value=AtLeast(0)))
    body = region_def("single_block", entry_args=RangeOf(base(IndexType)))

    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())
    custom_directives = (ScanAxis,)
    assembly_format = "custom<ScanAxis>($extent, $body) attr-dict"

    def __init__(self, extent: int, body: Region):
        super().__init__(properties={"extent": IntegerAttr(extent, i64)}, regions=[body])

    @property
    def axis(self) -> BlockArgument:
        """Index that steps through the scan."""
        return self.body.block.args[0]

    @property
    def prefixes(self) -> "list[PrefixOp]":
        """Prefix ops of the body, which accumulate from step to step, in order."""
        return [op for op in self.body.block.ops if isinstance(op, PrefixOp)]

    def axis_extents(self) -> Sequence[int]:
        return (self.extent.value.data,)

    def verify_(self) -> None:
        if len(self.body.block.args) != 1:
            raise VerifyException("a scan has one axis; put free axes in a loop.for around it")
        if any(isinstance(op, ScanOp) for op in self.body.walk()):
            # else cse could replace the inner scan's prefix by the outer scan's
            raise VerifyException("scans do not nest; give the inner one a kernel of its own")


@irdl_op_definition
class PrefixOp(IRDLOperation):
    """
    Prefix: its operands at all steps of the scan up to the present one, combined.

    An `exclusive` prefix leaves the present step out; in the first step it is the identity.

    ```mlir
    %sum = loop.prefix %v with add : f32
    %before = loop.prefix %v with add exclusive : f32
    ```
    """

    name = "loop.prefix"

    T: ClassVar = RangeVarConstraint("T", RangeOf(AnyAttr()))

    values = var_operand_def(T)
    monoid = prop_def(MonoidAttr)
    exclusive = opt_prop_def(UnitAttr)
    results_ = var_result_def(T)

    # not pure: a loop-invariant value is accumulated at each step, so it must not be hoisted
    traits = traits_def(NoMemoryEffect())
    custom_directives = (WithMonoid,)
    assembly_format = (
        "$values custom<WithMonoid>($monoid) (`exclusive` $exclusive^)? attr-dict `:` type($values)"
    )

    def __init__(
        self, values: Sequence[SSAValue], monoid: MonoidAttr, *, is_exclusive: bool = False
    ):
        super().__init__(
            operands=[values],
            properties={"monoid": monoid, "exclusive": UnitAttr() if is_exclusive else None},
            result_types=[[v.type for v in values]],
        )

    @property
    def is_exclusive(self) -> bool:
        """True if the present step is left out."""
        return self.exclusive is not None

    def verify_(self) -> None:
        verify_monoid(self.monoid, list(self.values.types))
        if not self.values:
            raise VerifyException("a prefix has at least one value")
        if not isinstance(self.parent_op(), ScanOp):
            raise VerifyException("a prefix must be directly in the body of a loop.scan")
