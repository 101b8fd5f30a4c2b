# SPDX-License-Identifier: Apache-2.0
"""The loops of Loop IR: free axes and reductions."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import lru_cache

from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    UnitAttr,
    f32,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import (
    AtLeast,
    RangeOf,
    base,
    eq,
    irdl_op_definition,
    lazy_traits_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import (
    IsTerminator,
    NoTerminator,
    Pure,
    RecursiveMemoryEffect,
    SingleBlockImplicitTerminator,
)
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.assembly import Where
from tilewright.dialects.axes import (
    Access,
    AxesOp,
    MaskedOp,
    Role,
    RoleAttr,
    canonical_access,
    extents_attribute,
    extents_in,
    verify_affine,
)
from tilewright.dialects.canonicalization import SIMPLIFIED_ACCESSES
from tilewright.dialects.element_types import HALVES
from tilewright.dialects.faster_xdsl.segments import segmented
from tilewright.dialects.faster_xdsl.verify_once import FormedOp, types_at_the_end
from tilewright.dialects.fastmath import counts_as_finite
from tilewright.dialects.index import simplify
from tilewright.dialects.loop.syntax import ForAxes, ReduceAxis
from tilewright.dialects.matrix_instruction import MatrixInstruction, MatrixInstructionAttr
from tilewright.dialects.monoid import Monoid, MonoidAttr, verify_monoid


@lru_cache(maxsize=1 << 10)  # few distinct tuples occur
def _roles(roles: tuple[Role, ...]) -> ArrayAttr[RoleAttr]:
    return ArrayAttr(RoleAttr(role) for role in roles)


@irdl_op_definition
class ForOp(FormedOp, AxesOp):
    """
    Nest of free loops: every step of every axis is independent of the others.

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
                "extents": extents_attribute(extents),
                "roles": _roles(tuple(roles or [Role.FREE] * len(extents))),
            },
            regions=[body],
        )

    def axis_extents(self) -> Sequence[int]:
        return extents_in(self.extents)

    def axis_roles(self) -> Sequence[Role]:
        """Return the role of each axis."""
        return [attr.data for attr in self.roles]

    def verify_(self) -> None:
        axes = len(self.body.block.args)
        if len(self.extents) != axes or len(self.roles) != axes:
            raise VerifyException(f"give one extent and one role for each of the {axes} axes")
        if (least := min(self.axis_extents(), default=0)) < 0:
            raise VerifyException(f"extents are at least 0, not {least}")
        if not axes:
            raise VerifyException("a nest has at least one axis; ops that run once need no nest")


_OF_SOFTMAX = ("fastmath", "weights")
"""Properties that describe the products of `softmax`."""


@irdl_op_definition
class ReduceOp(FormedOp, AxesOp):
    """
    Reduction along one axis: the monoid combines the values that the body yields.

    Where a yield's mask is false, the identity takes part instead. The order is unspecified,
    therefore the axis may be split and distributed. In a launch, `from` and `below` bound the
    steps: a step runs if it is at least every expression of `from`, and below every expression of
    `below`. `by` names the matrix instruction that adds the products of several steps at once.
    `unroll` requests an unrolled loop. `fastmath` holds for the products of weights and values that
    `softmax` adds: with `nnan,ninf` the values count as finite, and a weight of 0 has no effect.
    With `afn` both factors may be rounded to tf32. Weights may be rounded to `weights`, the type of
    the values that they multiply.

    ```mlir
    %s = loop.reduce %k in 64 with add {
      %0 = loop.load %x[%i, %k] : memref<16x64xf32>
      loop.yield %0 : f32
    } : f32
    %t = loop.reduce %k in 64 from [%i * 4 - 8] below [%i * 4 + 4] with add unroll { ... } : f32
    %u = loop.reduce %k in 64 with add by(m16n8k16_bf16) { ... } : f32
    %m, %v = loop.reduce %k in 64 with softmax fastmath<nnan,ninf> weights(bf16) { ... } : f32, f32
    ```
    """

    name = "loop.reduce"

    extent = prop_def(IntegerAttr.constr(type=eq(i64), value=AtLeast(0)))
    bound_operands = var_operand_def(IndexType)
    lower_bound = opt_prop_def(AffineMapAttr)
    upper_bound = opt_prop_def(AffineMapAttr)
    monoid = prop_def(MonoidAttr)
    fastmath = opt_prop_def(FastMathFlagsAttr)
    weights = opt_prop_def()
    by = opt_prop_def(MatrixInstructionAttr)
    unroll = opt_prop_def(UnitAttr)
    body = region_def("single_block", entry_args=RangeOf(base(IndexType)))
    results_ = var_result_def()

    traits = lazy_traits_def(
        lambda: (SingleBlockImplicitTerminator(YieldOp), RecursiveMemoryEffect())
    )
    custom_directives = (ReduceAxis,)
    assembly_format = (
        "custom<ReduceAxis>($extent, $bound_operands, $lower_bound, $upper_bound, $monoid, "
        "$fastmath, $weights, $by, $unroll, $body) attr-dict `:` type($results_)"
    )

    def __init__(
        self,
        extent: int,
        monoid: MonoidAttr,
        body: Region,
        *,
        fastmath: FastMathFlagsAttr | None = None,
        weights: Attribute | None = None,
        unroll: bool = False,
    ):
        terminator = body.block.last_op
        assert isinstance(terminator, YieldOp)
        super().__init__(
            operands=[()],
            properties={
                "extent": IntegerAttr(extent, i64),
                "monoid": monoid,
                "fastmath": fastmath,
                "weights": weights,
                "unroll": UnitAttr() if unroll else None,
            },
            regions=[body],
            result_types=[[v.type for v in terminator.values]],
        )

    def begun(self, extent: int, axis: str | None) -> "ReduceOp":
        """
        Return a reduction like this one with an empty body, along an axis with that extent and
        name.

        Ops inserted into the new body are simplified with the range of its axis.
        """
        block = Block(arg_types=[IndexType()])
        block.args[0].name_hint = axis
        kept = {name: self.properties[name] for name in _OF_SOFTMAX if name in self.properties}
        new = ReduceOp.create(
            result_types=self.result_types,
            properties={"extent": IntegerAttr(extent, i64), "monoid": self.monoid, **kept},
            regions=[Region(block)],
        )
        new.location = self.location
        for old_result, new_result in zip(self.results, new.results, strict=True):
            new_result.name_hint = old_result.name_hint
        return new

    @property
    def axis(self) -> BlockArgument:
        """Index that steps through the reduction."""
        return self.body.block.args[0]

    @property
    def yield_op(self) -> "YieldOp":
        """Terminator of the body."""
        terminator = self.body.block.last_op
        assert isinstance(terminator, YieldOp)
        return terminator

    @property
    def start(self) -> Access | None:
        """Lower bounds (`from`) of the steps, in addition to 0; None if there are none."""
        return self._access(self.lower_bound)

    @property
    def below(self) -> Access | None:
        """
        Exclusive upper bounds (`below`) of the steps, in addition to the extent; None if there are
        none.
        """
        return self._access(self.upper_bound)

    def _access(self, bound: AffineMapAttr | None) -> Access | None:
        return None if bound is None else (bound.data.results, self.bound_operands)

    def set_bounds(self, start: Access | None, below: Access | None) -> None:
        """Replace the bounds of the steps; None stands for 0 and for the extent."""
        self.lower_bound, self.upper_bound, self.operands = _canonical_bounds(start, below)

    @property
    def done_where(self) -> Access:
        """Mask that is true at a step that the bounds `from` and `below` let run."""
        start, below = (bound[0] if bound else () for bound in (self.start, self.below))
        return within(self.axis, start, below, self.bound_operands)

    @property
    def is_bounded(self) -> bool:
        """True if bounds may exclude steps."""
        return self.lower_bound is not None or self.upper_bound is not None

    @property
    def partial_below(self) -> Access | None:
        """
        Expressions of `below` that may stop the axis partway; None if there are none.

        A bound that is always a multiple of the extent lets either all steps run or none.
        """
        if self.upper_bound is None:
            return None
        extent = self.extent.value.data
        none = AffineExpr.constant(0)
        exprs = [e for e in self.upper_bound.data.results if simplify(e % extent) != none]
        return (exprs, self.bound_operands) if exprs else None

    @property
    def is_unrolled(self) -> bool:
        """True if the loop requests unrolling."""
        return self.unroll is not None

    @property
    def has_one_step(self) -> bool:
        """True if the body runs exactly once, whatever the values of outer indices."""
        return self.extent.value.data == 1 and not self.is_bounded

    @property
    def counts_as_finite(self) -> bool:
        """True if the values that `softmax` weights count as finite, by the flags."""
        return counts_as_finite(self.fastmath)

    def joins_all_steps(self, monoid: Monoid) -> bool:
        """True if values are joined with `monoid`, and no bound or mask leaves steps out."""
        is_whole = not self.is_bounded and self.yield_op.mask is None
        return is_whole and self.monoid.data is monoid

    @property
    def is_softmax(self) -> bool:
        """True if the monoid is `softmax`."""
        return self.monoid.data is Monoid.SOFTMAX

    def operands_of(self, result: int) -> Sequence[SSAValue]:
        """
        Return the operands of the reduction and of its yield on which the result with that number
        depends. A sum of `softmax` depends on the scores, and on the values that it adds.
        """
        yielded = self.yield_op
        if not self.is_softmax:
            return (*self.operands, *yielded.operands)
        values = [yielded.values[at] for at in sorted({0, result})]
        return (*self.operands, *yielded.mask_operands, *values)

    @property
    def instruction(self) -> MatrixInstruction | None:
        """Matrix instruction that the reduction is lowered to, or None."""
        return None if self.by is None else self.by.data

    def axis_extents(self) -> Sequence[int]:
        return (self.extent.value.data,)

    def surroundings(self) -> Hashable:
        is_scheduled = (self.is_bounded or self.by is not None) and self._is_scheduled()
        return types_at_the_end(self), is_scheduled

    def verify_(self) -> None:
        if len(self.body.block.args) != 1:
            raise VerifyException("a reduction has one axis; nest reductions for several")
        if [v.type for v in self.yield_op.values] != [r.type for r in self.results_]:
            raise VerifyException("the body must yield one value of each result's type")
        verify_monoid(self.monoid, list(self.results_.types))
        self._verify_softmax()
        self._verify_bounds()
        self._verify_instruction()

    def _verify_softmax(self) -> None:
        if self.is_softmax and (self.weights is None or self.weights in HALVES):
            return
        if self.is_softmax:
            raise VerifyException(f"'softmax' rounds weights to a half type, not to {self.weights}")
        if self.fastmath is not None:
            raise VerifyException(
                f"'fastmath' is for the products of 'softmax'; '{self.monoid.data}' has none: put "
                "the flags on arith.mulf"
            )
        if self.weights is not None:
            raise VerifyException(
                f"'{self.monoid.data}' has no weights; leave out 'weights({self.weights})'"
            )

    def _verify_bounds(self) -> None:
        bounds = [bound for bound in (self.lower_bound, self.upper_bound) if bound is not None]
        given = len(self.bound_operands)
        if not bounds and given:
            raise VerifyException(f"no bound takes the {given} operands")
        for bound in bounds:
            if (dims := bound.data.num_dims) != given:
                raise VerifyException(f"the bound takes {dims} operands, got {given}")
            if not bound.data.results:
                raise VerifyException("a bound has at least one expression; remove an empty one")
            verify_affine(bound.data)
        if bounds and not self._is_scheduled():
            raise VerifyException("a bound is part of a schedule; mask the yield instead")

    def _verify_instruction(self) -> None:
        if (instruction := self.instruction) is None:
            return
        if self.monoid.data is not Monoid.ADD or any(type != f32 for type in self.result_types):
            raise VerifyException("a matrix instruction adds products to f32; leave out 'by'")
        if self.extent.value.data % instruction.fragments.k or self.is_bounded:
            raise VerifyException(
                f"'{instruction}' does {instruction.fragments.k} steps at once; give an extent "
                f"that is a multiple, and no bounds"
            )
        if not self._is_scheduled():
            raise VerifyException("'by' is part of a schedule; leave it out before tile.launch")

    def _is_scheduled(self) -> bool:
        return any(op.name == "tile.launch" for op in _ancestors(self))


def within(
    axis: SSAValue,
    start: Iterable[AffineExpr],
    below: Iterable[AffineExpr],
    operands: Sequence[SSAValue],
) -> Access:
    """
    Return a mask that is true where `axis` is at least every expression of `start`, and below every
    expression of `below`.
    """
    step = AffineExpr.dimension(len(operands))
    exprs = [*(step - first for first in start), *(end - 1 - step for end in below)]
    return exprs, [*operands, axis]


def _canonical_bounds(
    start: Access | None, below: Access | None
) -> tuple[AffineMapAttr | None, AffineMapAttr | None, Sequence[SSAValue]]:
    """
    Return the canonical maps of the bounds `start` and `below`, and the operands that both maps
    take. The map of a bound without expressions is None.
    """
    lower, lower_operands = start or ((), ())
    upper, upper_operands = below or ((), ())
    shift = [AffineExpr.dimension(len(lower_operands) + d) for d in range(len(upper_operands))]
    shifted = [expr.replace_dims_and_symbols(shift, ()) for expr in upper]
    map, operands = canonical_access([*lower, *shifted], [*lower_operands, *upper_operands])
    lower, upper = map.results[: len(lower)], map.results[len(lower) :]
    return _bound(lower, operands), _bound(upper, operands), operands


def _bound(exprs: Sequence[AffineExpr], operands: Sequence[SSAValue]) -> AffineMapAttr | None:
    distinct = tuple(dict.fromkeys(exprs))
    return AffineMapAttr(AffineMap(len(operands), 0, distinct)) if exprs else None


def _ancestors(op: Operation) -> Iterator[Operation]:
    while (parent := op.parent_op()) is not None:
        yield parent
        op = parent


@segmented
@irdl_op_definition
class YieldOp(FormedOp, MaskedOp):
    """
    Terminator that yields the values of a body.

    Where the mask is false, the values count as the reduction's identity (`loop.reduce`), or as
    zero (`tile.stage`).

    ```mlir
    loop.yield %v where [99 - %k] : f32
    ```
    """

    name = "loop.yield"

    values = var_operand_def()

    traits = traits_def(IsTerminator(), Pure(), SIMPLIFIED_ACCESSES)
    custom_directives = (Where,)
    assembly_format = "$values custom<Where>($mask_operands, $mask) attr-dict `:` type($values)"

    def __init__(self, values: Sequence[SSAValue], where: Access | None = None):
        super().__init__(operands=[values], where=where, properties={})

    def verify_(self) -> None:
        self.verify_mask()
        parent = self.parent_op()
        if parent is None or not parent.has_trait(SingleBlockImplicitTerminator(YieldOp)):
            raise VerifyException("a yield ends a loop.reduce or a tile.stage")
