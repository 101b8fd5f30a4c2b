# SPDX-License-Identifier: Apache-2.0
"""The op that combines values across axes of a launch, and the ways in which blocks can do this."""

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IndexType
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import (
    AnyAttr,
    RangeOf,
    RangeVarConstraint,
    irdl_attr_definition,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from tilewright.dialects.assembly import Where, WithMonoid
from tilewright.dialects.axes import Access, MaskedOp
from tilewright.dialects.canonicalization import SIMPLIFIED_ACCESSES
from tilewright.dialects.faster_xdsl.segments import segmented
from tilewright.dialects.monoid import Monoid, MonoidAttr, verify_monoid
from tilewright.dialects.tile.attributes import Level
from tilewright.dialects.tile.launch import Axes, MeetingOp, launch_of


class Join(StrEnum):
    """Way in which blocks combine their values; only `atomic` has no fixed order."""

    CLUSTER = "cluster"
    """Blocks of one cluster read each other's shared memory (sm_90 on, up to 8 blocks)."""
    LAST_BLOCK = "last_block"
    """
    Each block writes its values to a workspace; the last block to arrive combines them and
    continues.
    """
    WORKSPACE = "workspace"
    """Each block writes its values to a workspace; a second kernel combines them and continues."""
    ATOMIC = "atomic"
    """Each block adds its values to the result atomically, in order of arrival."""

    def cluster(self, blocks: int) -> int:
        """
        Return the number of blocks in a cluster, if `blocks` blocks combine values in this way.
        """
        return blocks if self is Join.CLUSTER else 1


@irdl_attr_definition
class JoinAttr(EnumAttribute[Join], SpacedOpaqueSyntaxAttribute):
    """Attribute for the way in which blocks combine their values."""

    name = "tile.join"


@segmented
@irdl_op_definition
class CombineOp(MaskedOp, MeetingOp):
    """
    Combination of values across axes of any level; every step of those axes gets the result.

    Where the mask is false, the identity takes part instead. The order is unspecified. `join`
    chooses the way across blocks, if a block axis is among the axes.

    ```mlir
    %s = tile.combine %v across %t with add where [99 - %t] : f32
    %p = tile.combine %w across %b with add join(cluster) : f32
    ```
    """

    name = "tile.combine"

    T: ClassVar = RangeVarConstraint("T", RangeOf(AnyAttr()))

    values = var_operand_def(T)
    axes = var_operand_def(IndexType)
    monoid = prop_def(MonoidAttr)
    join = opt_prop_def(JoinAttr)
    results_ = var_result_def(T)

    traits = traits_def(Pure(), SIMPLIFIED_ACCESSES)
    custom_directives = (Where, WithMonoid)
    assembly_format = (
        "$values `across` $axes custom<WithMonoid>($monoid) "
        "custom<Where>($mask_operands, $mask) (`join` `(` $join^ `)`)? "
        "attr-dict `:` type($values)"
    )

    def __init__(
        self,
        values: Sequence[SSAValue],
        axes: Sequence[SSAValue],
        monoid: MonoidAttr,
        where: Access | None = None,
        join: Join | None = None,
    ):
        super().__init__(
            operands=[values, axes],
            where=where,
            properties={"monoid": monoid, **({} if join is None else {"join": JoinAttr(join)})},
            result_types=[v.type for v in values],
        )

    @property
    def join_kind(self) -> Join:
        """Way in which blocks combine values, if they do; `last_block` by default."""
        return Join.LAST_BLOCK if self.join is None else self.join.data

    def operands_of(self, result: int) -> Sequence[SSAValue]:
        """
        Return the values and mask operands on which the result with that number depends. A sum of
        `softmax` depends on the score, and on the value that it adds.
        """
        if self.monoid.data is not Monoid.SOFTMAX:
            return (*self.values, *self.mask_operands)
        return (*(self.values[at] for at in sorted({0, result})), *self.mask_operands)

    def varies_among(self, axes: Axes) -> Axes:
        return axes - set(self.axes)

    def verify_(self) -> None:
        self.verify_mask()
        verify_monoid(self.monoid, list(self.values.types))
        if not self.values or not self.axes:
            raise VerifyException("combine at least one value across at least one axis")
        if len(set(self.axes)) != len(self.axes):
            raise VerifyException("name each axis once")
        launches = [launch_of(axis) for axis in self.axes]
        if any(launch is None for launch in launches):
            raise VerifyException("combine across axes of the enclosing tile.launch")
        if self.join is not None and not self._joins_blocks():
            raise VerifyException("'join' is for block axes only; remove it")

    def _joins_blocks(self) -> bool:
        launch = launch_of(self.axes[0])
        assert launch is not None
        return any(axis.value in self.axes for axis in launch.axes_at(Level.BLOCK))
