# SPDX-License-Identifier: Apache-2.0
"""
Loop IR: one kernel is one loop nest over memrefs.

`loop.for` axes are free (every step is independent), `loop.reduce` folds an axis with a monoid.
Subscripts are affine expressions of axes; a mask is visible as `where [expr, ...]` and holds where
every expression is at least 0. Tile IR uses the same bodies.
"""

from collections.abc import Sequence
from typing import ClassVar, cast

from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    ContainerType,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    MemRefType,
    ShapedType,
    StringAttr,
    SymbolRefAttr,
    i64,
)
from xdsl.ir import (
    Attribute,
    BlockArgument,
    Dialect,
    Operation,
    Region,
    SSAValue,
)
from xdsl.irdl import (
    AnyAttr,
    AtLeast,
    AttrSizedOperandSegments,
    IRDLOperation,
    RangeOf,
    VarConstraint,
    base,
    eq,
    irdl_op_definition,
    lazy_traits_def,
    operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import (
    IsTerminator,
    MemoryReadEffect,
    MemoryWriteEffect,
    NoTerminator,
    Pure,
    RecursiveMemoryEffect,
    SingleBlockImplicitTerminator,
    SymbolTable,
    SymbolUserOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.assembly import Subscripts, Where
from tilewright.dialects.axes import (
    Access,
    AxesOp,
    MaskedOp,
    Role,
    RoleAttr,
    canonical_access,
    optional_mask,
    verify_subscripts,
)
from tilewright.dialects.kernel_like import KernelLikeOp
from tilewright.dialects.loop_syntax import ForAxes, ReduceAxis
from tilewright.dialects.monoid import MonoidAttr, verify_monoid
from tilewright.dialects.types import memref_type


@irdl_op_definition
class KernelOp(KernelLikeOp):
    """
    One kernel: reads its inputs, writes every element of its outputs. The body is a loop nest
    (Loop IR) or, after scalars that the whole kernel uses, one `tile.launch` (Tile IR).

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

    assembly_format = "custom<Signature>($sym_name, $num_outputs, $body) attr-dict"

    def __init__(self, name: str, body: Region, num_outputs: int):
        super().__init__(
            properties={"sym_name": StringAttr(name), "num_outputs": IntegerAttr(num_outputs, i64)},
            regions=[body],
        )

    def verify_(self) -> None:
        self.verify_outputs()
        for argument in self.body.block.args:
            if not isinstance(argument.type, MemRefType):
                raise VerifyException(f"kernel arguments are memrefs, not {argument.type}")
            if not (type := memref_type(argument)).has_static_shape():
                raise VerifyException(f"a kernel is made for sizes that are known, not for {type}")


def is_scalar(op: Operation) -> bool:
    """Whether `op` computes values by itself: it neither loops nor stores."""
    return not op.regions and not isinstance(op, StoreOp)


def _takes(parameter: Attribute, buffer: SSAValue) -> bool:
    """A pointer, which has elements but no shape, takes any buffer of its elements."""
    if not isinstance(parameter, ContainerType) or isinstance(parameter, ShapedType):
        return parameter == buffer.type
    pointer = cast(ContainerType[Attribute], parameter)
    return pointer.get_element_type() == memref_type(buffer).element_type


class LaunchCallsKernel(SymbolUserOpInterface):
    """The callee exists and takes what the launch passes."""

    def verify(self, op: Operation) -> None:
        assert isinstance(op, LaunchOp)
        callee = SymbolTable.lookup_symbol(op, op.kernel)
        if callee is None:
            raise VerifyException(f"no kernel {op.kernel} in this module")
        expected = [argument.type for argument in callee.regions[0].block.args]
        if len(expected) != len(op.operands) or not all(map(_takes, expected, op.operands)):
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


@irdl_op_definition
class LaunchOp(IRDLOperation):
    """
    Runs a kernel over buffers, from `loop.kernel` down to its CUDA form. The launches of a
    function run in order.

    ```mlir
    loop.launch @relu(%x) -> (%out) : (memref<16x64xf32>) -> (memref<16x64xf32>)
    ```
    """

    name = "loop.launch"

    kernel = prop_def(base(SymbolRefAttr))
    inputs = var_operand_def(base(MemRefType))
    outputs = var_operand_def(base(MemRefType))

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(LaunchCallsKernel(), MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = (
        "$kernel `(` $inputs `)` `->` `(` $outputs `)` attr-dict "
        "`:` `(` type($inputs) `)` `->` `(` type($outputs) `)`"
    )

    def __init__(self, kernel: str, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]):
        super().__init__(operands=[inputs, outputs], properties={"kernel": SymbolRefAttr(kernel)})

    def verify_(self) -> None:
        if len({*self.outputs}) != len(self.outputs) or not {*self.outputs}.isdisjoint(self.inputs):
            raise VerifyException("a launch writes each output once and reads none of them")


@irdl_op_definition
class ForOp(AxesOp):
    """
    A nest of free loops: every step of every axis is independent of the others.

    ```mlir
    loop.for %i in 16 m, %j in 64 n {
      loop.store %v, %out[%i, %j] : memref<16x64xf32>
    }
    ```
    """

    name = "loop.for"

    extents = prop_def(DenseArrayBase.constr(i64))
    roles = prop_def(ArrayAttr[RoleAttr])
    body = region_def("single_block", entry_args=RangeOf(base(IndexType)))

    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())
    custom_directives = (ForAxes,)
    assembly_format = "custom<ForAxes>($extents, $roles, $body) attr-dict"

    def __init__(self, extents: Sequence[int], body: Region, roles: Sequence[Role] | None = None):
        super().__init__(
            properties={
                "extents": DenseArrayBase.from_list(i64, extents),
                "roles": ArrayAttr(RoleAttr(r) for r in roles or [Role.FREE] * len(extents)),
            },
            regions=[body],
        )

    def axis_extents(self) -> Sequence[int]:
        return self.extents.get_values()

    def axis_roles(self) -> Sequence[Role]:
        """The role of each axis."""
        return [attr.data for attr in self.roles]

    def verify_(self) -> None:
        axes = len(self.body.block.args)
        if len(self.extents) != axes or len(self.roles) != axes:
            raise VerifyException(f"give one extent and one role for each of the {axes} axes")
        if any(extent < 0 for extent in self.axis_extents()):
            raise VerifyException("extents are at least 0")
        if not axes:
            raise VerifyException("a nest has at least one axis")


@irdl_op_definition
class ReduceOp(AxesOp):
    """
    Folds what the body yields along one axis; where a yield's mask fails, the identity joins. The
    order of joining is unspecified, so that the axis may be split and shared.

    ```mlir
    %s = loop.reduce %k in 64 with add {
      %0 = loop.load %x[%i, %k] : memref<16x64xf32>
      loop.yield %0 : f32
    } : f32
    ```
    """

    name = "loop.reduce"

    extent = prop_def(IntegerAttr.constr(type=eq(i64), value=AtLeast(0)))
    monoid = prop_def(MonoidAttr)
    body = region_def("single_block", entry_args=RangeOf(base(IndexType)))
    results_ = var_result_def()

    traits = lazy_traits_def(
        lambda: (SingleBlockImplicitTerminator(YieldOp), RecursiveMemoryEffect())
    )
    custom_directives = (ReduceAxis,)
    assembly_format = "custom<ReduceAxis>($extent, $monoid, $body) attr-dict `:` type($results_)"

    def __init__(self, extent: int, monoid: MonoidAttr, body: Region):
        terminator = body.block.last_op
        assert isinstance(terminator, YieldOp)
        super().__init__(
            properties={"extent": IntegerAttr(extent, i64), "monoid": monoid},
            regions=[body],
            result_types=[[v.type for v in terminator.values]],
        )

    @property
    def axis(self) -> BlockArgument:
        """The index that steps through the reduction."""
        return self.body.block.args[0]

    @property
    def yield_op(self) -> "YieldOp":
        """The terminator of the body."""
        terminator = self.body.block.last_op
        assert isinstance(terminator, YieldOp)
        return terminator

    def axis_extents(self) -> Sequence[int]:
        return (self.extent.value.data,)

    def verify_(self) -> None:
        if len(self.body.block.args) != 1:
            raise VerifyException("a reduction has one axis; nest reductions for several")
        if [v.type for v in self.yield_op.values] != [r.type for r in self.results_]:
            raise VerifyException("the body must yield one value of each result's type")
        verify_monoid(self.monoid, list(self.results_.types))


@irdl_op_definition
class YieldOp(MaskedOp):
    """
    Ends a body with its values. Where the mask fails, the values count as the reduction's
    identity (`loop.reduce`), or as zero (`tile.stage`).

    ```mlir
    loop.yield %v where [99 - %k] : f32
    ```
    """

    name = "loop.yield"

    values = var_operand_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(IsTerminator(), Pure())
    custom_directives = (Where,)
    assembly_format = "$values custom<Where>($mask_operands, $mask) attr-dict `:` type($values)"

    def __init__(self, values: Sequence[SSAValue], where: Access | None = None):
        operands, mask = optional_mask(where)
        super().__init__(operands=[values, operands], properties={"mask": mask})

    def verify_(self) -> None:
        self.verify_mask()
        parent = self.parent_op()
        if parent is None or not parent.has_trait(SingleBlockImplicitTerminator(YieldOp)):
            raise VerifyException("a yield ends a loop.reduce or a tile.stage")


def _kernel_argument(memref: SSAValue) -> KernelOp | None:
    """The kernel that `memref` is an argument of."""
    if not isinstance(memref, BlockArgument):
        return None
    op = memref.owner.parent_op()
    return op if isinstance(op, KernelOp) else None


@irdl_op_definition
class LoadOp(MaskedOp):
    """
    Reads one element. Where the mask fails nothing is read and the value is zero; an unmasked
    subscript out of bounds is an error.

    ```mlir
    %v = loop.load %x[%i * 4 + %j, %k] where [99 - %k] : memref<16x100xf32>
    ```
    """

    name = "loop.load"

    T: ClassVar = VarConstraint("T", AnyAttr())

    memref = operand_def(MemRefType.constr(T))
    indices = var_operand_def(IndexType)
    map = prop_def(AffineMapAttr)
    result = result_def(T)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(MemoryReadEffect())
    custom_directives = (Subscripts, Where)
    assembly_format = (
        "$memref custom<Subscripts>($indices, $map) custom<Where>($mask_operands, $mask) "
        "attr-dict `:` type($memref)"
    )

    def __init__(self, memref: SSAValue, subscripts: Access, where: Access | None = None):
        map, indices = canonical_access(*subscripts)
        mask_operands, mask = optional_mask(where)
        super().__init__(
            operands=[memref, indices, mask_operands],
            properties={"map": AffineMapAttr(map), "mask": mask},
            result_types=[memref_type(memref).element_type],
        )

    def verify_(self) -> None:
        verify_subscripts(self.memref, self.map.data, self.indices)
        self.verify_mask()
        kernel = _kernel_argument(self.memref)
        if kernel is not None and self.memref in kernel.outputs:
            raise VerifyException(
                f"reads %{self.memref.name_hint or 'memref'}, which is an output; "
                "what a kernel stores is for later launches"
            )


@irdl_op_definition
class StoreOp(MaskedOp):
    """
    Writes one element, where the mask holds.

    ```mlir
    loop.store %v, %out[%i * 4 + %j] where [99 - %i * 4 - %j] : memref<100xf32>
    ```
    """

    name = "loop.store"

    T: ClassVar = VarConstraint("T", AnyAttr())

    value = operand_def(T)
    memref = operand_def(MemRefType.constr(T))
    indices = var_operand_def(IndexType)
    map = prop_def(AffineMapAttr)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(MemoryWriteEffect())
    custom_directives = (Subscripts, Where)
    assembly_format = (
        "$value `,` $memref custom<Subscripts>($indices, $map) "
        "custom<Where>($mask_operands, $mask) attr-dict `:` type($memref)"
    )

    def __init__(
        self,
        value: SSAValue,
        memref: SSAValue,
        subscripts: Access,
        where: Access | None = None,
    ):
        map, indices = canonical_access(*subscripts)
        mask_operands, mask = optional_mask(where)
        super().__init__(
            operands=[value, memref, indices, mask_operands],
            properties={"map": AffineMapAttr(map), "mask": mask},
        )

    def verify_(self) -> None:
        verify_subscripts(self.memref, self.map.data, self.indices)
        self.verify_mask()
        kernel = _kernel_argument(self.memref)
        if kernel is not None and self.memref in kernel.inputs:
            raise VerifyException(
                f"stores to %{self.memref.name_hint or 'memref'}, which is an input"
            )


Loop = Dialect(
    "loop",
    [KernelOp, LaunchOp, ForOp, ReduceOp, YieldOp, LoadOp, StoreOp],
    [RoleAttr],
)
