# SPDX-License-Identifier: Apache-2.0
"""`tile.stage`: a slab of a block's data in shared memory, with its transport."""

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    MemRefLayoutAttr,
    MemRefType,
    NoneAttr,
    i64,
)
from xdsl.ir import (
    Attribute,
    BlockArgument,
    Operation,
    OpResult,
    Region,
    SSAValue,
)
from xdsl.irdl import (
    RangeOf,
    base,
    irdl_op_definition,
    lazy_traits_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
)
from xdsl.traits import RecursiveMemoryEffect, SingleBlockImplicitTerminator
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.axes import AxesOp, extents_attribute, extents_in
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.loop import LoadOp, ReduceOp, StoreOp, YieldOp
from tilewright.dialects.monoid import Monoid
from tilewright.dialects.needed_first import needed_first
from tilewright.dialects.tile.attributes import Level, RingAttr, Transport, TransportAttr
from tilewright.dialects.tile.combine import CombineOp
from tilewright.dialects.tile.launch import Axes, LaunchOp, MeetingOp, launch_of, level_of
from tilewright.dialects.tile.layout import SlabLayoutAttr, layout_of
from tilewright.dialects.tile.syntax import StageHeader
from tilewright.dialects.types import memref_of, memref_type

SHARED = IntegerAttr(3, i64)
"""Memory space of shared memory, by NVPTX's number."""


@irdl_op_definition
class StageOp(AxesOp):
    """
    Slab of values that a block caches in shared memory.

    The body computes the value at each slab coordinate, and must not vary between threads. Where
    the yield's mask is false, the slab holds zero. The ring, the transport and the layout of the
    slab's type decide how it is filled and stored; they do not change values.

    ```mlir
    %s = tile.stage (%i, %k) in [16, 32] ring(depth 2, lookahead 1) transport(cp_async) {
      %0 = loop.load %x[%b * 16 + %i, %ko * 32 + %k] : memref<64x1024xf32>
      loop.yield %0 : f32
    } : memref<16x32xf32, #tile.layout<pad [0, 4]>, 3 : i64>
    ```
    """

    name = "tile.stage"

    extents = prop_def(DenseArrayBase.constr(i64))
    ring = opt_prop_def(RingAttr)
    transport = opt_prop_def(TransportAttr)
    body = region_def("single_block", entry_args=RangeOf(base(IndexType)))
    slab = result_def(base(MemRefType))

    traits = lazy_traits_def(
        lambda: (SingleBlockImplicitTerminator(YieldOp), RecursiveMemoryEffect())
    )
    custom_directives = (StageHeader,)
    assembly_format = (
        "custom<StageHeader>($extents, $ring, $transport, $body) attr-dict `:` type($slab)"
    )

    def __init__(
        self,
        extents: Sequence[int],
        body: Region,
        *,
        ring: RingAttr | None = None,
        transport: Transport = Transport.SYNC,
        layout: SlabLayoutAttr | None = None,
    ):
        terminator = body.block.last_op
        assert isinstance(terminator, YieldOp)
        element = terminator.values[0].type
        is_sync = transport is Transport.SYNC
        super().__init__(
            properties={
                "extents": extents_attribute(extents),
                "ring": ring,
                "transport": None if is_sync else TransportAttr(transport),
            },
            regions=[body],
            result_types=[_slab_type(element, extents, layout)],
        )

    @property
    def yield_op(self) -> YieldOp:
        """Terminator of the body."""
        terminator = self.body.block.last_op
        assert isinstance(terminator, YieldOp)
        return terminator

    @property
    def loop(self) -> ReduceOp | None:
        """Loop that fills the slab in each step; None if the stage is not directly in a loop."""
        parent = self.parent_op()
        return parent if isinstance(parent, ReduceOp) else None

    @property
    def depth(self) -> int:
        """Number of slots of the slab."""
        return 1 if self.ring is None else self.ring.depth.data

    @property
    def lookahead(self) -> int:
        """Number of steps that a slot is filled ahead of its use."""
        return 0 if self.ring is None else self.ring.lookahead.data

    @property
    def transport_kind(self) -> Transport:
        """Way in which the slab is moved into shared memory."""
        return Transport.SYNC if self.transport is None else self.transport.data

    @property
    def layout(self) -> SlabLayoutAttr:
        """Layout of the slab's elements."""
        return layout_of(memref_type(self.slab))

    def copied_load(self) -> LoadOp | None:
        """
        Return the load whose value the slab holds unchanged; None if the body computes anything.
        """
        (value,) = self.yield_op.values
        load = value.owner
        if not isinstance(load, LoadOp) or load.parent is not self.body.block:
            return None
        computed = {result for op in self.body.block.ops for result in op.results}
        is_copy = self.yield_op.mask is None and computed.isdisjoint(load.operands)
        return load if is_copy else None

    def axis_extents(self) -> Sequence[int]:
        return extents_in(self.extents)

    def verify_(self) -> None:
        if len(self.yield_op.values) != 1:
            raise VerifyException("the body of a stage yields one value")
        self._verify_type()
        if len(self.body.block.args) != len(self.extents):
            raise VerifyException("give one extent for each slab coordinate")
        self._verify_body()
        if self.transport_kind is not Transport.SYNC and self.copied_load() is None:
            raise VerifyException(
                f"{self.transport_kind} only copies loaded values; remove 'transport' to compute"
            )
        if any(isinstance(use.operation, StoreOp) for use in self.slab.uses):
            raise VerifyException("a stage holds what its body computes; nothing stores to it")
        self._verify_uniform()

    def _verify_type(self) -> None:
        extents = tuple(self.axis_extents())
        if 0 in extents:
            raise VerifyException("every coordinate of a slab takes at least one step")
        element = self.yield_op.values[0].type
        slab = _slab_type(element, extents, memref_type(self.slab).layout)
        if self.slab.type != slab:
            raise VerifyException(f"the slab must be {slab}, not {self.slab.type}")
        if self.layout.has_slots:
            raise VerifyException(
                "a stage's ring sets its number of slots; remove 'slots' from the layout"
            )
        self.layout.verify_for(slab)

    def _verify_body(self) -> None:
        for op in self.body.walk():
            if isinstance(op, StoreOp):
                raise VerifyException("a stage computes values; it does not store")
            if isinstance(op, StageOp | MeetingOp):
                raise VerifyException(
                    f"threads do not exchange values inside a stage; move the {op.name} out"
                )

    def _verify_uniform(self) -> None:
        for axis in sorted(varies_along(self, {}), key=lambda axis: axis.index):
            level = level_of(axis)
            if level is not Level.BLOCK:
                raise VerifyException(
                    f"a stage is the same for the whole block; it must not depend on the "
                    f"{level} axis %{axis.name_hint or axis.index}"
                )


def _slab_type(
    element: Attribute, extents: Sequence[int], layout: MemRefLayoutAttr | NoneAttr | None
) -> MemRefType:
    return memref_of(element, tuple(extents), SHARED, layout or NoneAttr())


def stages_of(launch: LaunchOp) -> list[StageOp]:
    """Return the stages of a launch, in order."""
    return [op for op in ops_in(launch) if isinstance(op, StageOp)]


def varies_along(op: Operation, known: dict[Operation, Axes]) -> Axes:
    """
    Return the axes of the launch along which the results of `op` vary, directly or through
    operands.

    `known` caches the axes of each op, and is extended.
    """
    if op in known:
        return known[op]
    for each in needed_first(op, known, _defining_ops):
        used = (value_varies_along(value, known) for value in _used(each))
        found = frozenset[BlockArgument]().union(*used)
        known[each] = each.varies_among(found) if isinstance(each, MeetingOp) else found
    return known[op]


def _used(op: Operation) -> Sequence[SSAValue]:
    """
    Return the operands of `op`, and for a `loop.reduce` or `tile.stage` also the operands of its
    yield.
    """
    has_body = isinstance(op, ReduceOp | StageOp)
    return (*op.operands, *op.yield_op.operands) if has_body else op.operands


def _defining_ops(op: Operation) -> Iterator[Operation]:
    return (value.owner for value in _used(op) if isinstance(value.owner, Operation))


def value_varies_along(value: SSAValue, known: dict[Operation, Axes]) -> Axes:
    """
    Return the axes of the launch along which a value varies; `known` caches the axes of each op.

    A sum of `softmax` does not vary with the other sums; other results vary as their op does.
    """
    if isinstance(value, BlockArgument):
        return frozenset() if launch_of(value) is None else frozenset({value})
    assert isinstance(value, OpResult)
    op = value.owner
    every = varies_along(op, known)
    if not isinstance(op, ReduceOp | CombineOp) or op.monoid.data is not Monoid.SOFTMAX:
        return every
    used = (value_varies_along(each, known) for each in op.operands_of(value.index))
    found = frozenset[BlockArgument]().union(*used)
    return op.varies_among(found) if isinstance(op, CombineOp) else found
