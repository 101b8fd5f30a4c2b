# SPDX-License-Identifier: Apache-2.0
"""
Walk over a kernel that converts it to CUDA IR; tables give the handler for each class of op. Unused
names, and comments with no statement below them, are erased afterwards.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, NoneAttr
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from tilewright.dialects import cuda, kernel
from tilewright.dialects.cuda import FuncOp
from tilewright.dialects.cuda.expressions import BuiltinOp, ExpressionOp
from tilewright.dialects.cuda.memory import LocalOp, PooledOp, PoolOp, SharedOp
from tilewright.dialects.cuda.statements import AssignOp, CommentOp, ForOp, IfOp, LetOp, VarOp
from tilewright.dialects.cuda.threads import RemoteOp, ShuffleOp
from tilewright.dialects.cuda.types import Builtin, PointerType, TensorMapType
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.kernel.boxes import BOX_ALIGNMENT, Pieces
from tilewright.dialects.tile.layout import SlabLayoutAttr, layout_of
from tilewright.dialects.types import memref_type, size_of
from tilewright.passes.cuda.accesses import Accesses
from tilewright.passes.cuda.index_type import index_type
from tilewright.passes.cuda.indices import Indices
from tilewright.passes.cuda.scalars import scalar_expression
from tilewright.passes.cuda.shared_memory import SharedMemory
from tilewright.passes.cuda.writer import Writer, cannot_lower
from tilewright.passes.facts.vector_width import require_aligned_arguments
from tilewright.passes.rewriting.op_table import OpTable

Handler = Callable[["Conversion", Any], None]
"""Function that converts one op of a class."""

Handlers = Mapping[type[Operation], Handler]


class Conversion:
    """Walk that converts one kernel function to CUDA IR."""

    def __init__(self, source: kernel.FuncOp, handlers: OpTable[Handler]):
        self.source, self.handlers = source, handlers
        self.accesses = Accesses(source)
        self.body = Block()
        self.writer = Writer(self.body, source, index_type(self.accesses))
        self.indices = Indices(self.writer, self.accesses)
        self.shared = SharedMemory(self.accesses.ops, self.writer)
        self.tensor_maps: dict[kernel.TmaCopyOp, SSAValue] = {}
        self.barriers: dict[SSAValue, tuple[SSAValue, ...]] = {}
        """Mbarriers of each ring."""
        self.done: set[Operation] = set()
        """Ops that were converted together with an earlier op."""
        self._thread: SSAValue | None = None

    def run(self) -> cuda.FuncOp:
        """Return the CUDA function that does the work of the kernel."""
        num_maps = self._add_tensor_maps()
        for argument in self.source.body.block.args:
            type = PointerType.get(self.element(argument), const=argument in self.source.inputs)
            self.writer.values[argument] = self._parameter(type, argument.name_hint)
        with self.indices.scope(self.source.body.block):
            self.shared.begin()
            self.convert_all(self.source.body.block.ops)
        self._add_literals()
        require_aligned_arguments(self.source)
        function = self._function()
        erase_unused(function)
        function.set_facts([*({} for _ in range(num_maps)), *self.source.facts])
        return function

    def _add_tensor_maps(self) -> int:
        """
        Add a tensor map parameter for each kind of box that the kernel copies; return their number.
        """
        maps: dict[TensorMapType, SSAValue] = {}
        for op, pieces in self.accesses.boxes.items():
            type = _tensor_map_of(op, pieces, self.source)
            if type not in maps:
                maps[type] = self._parameter(type, f"{op.source.name_hint or 'x'}_map")
            self.tensor_maps[op] = maps[type]
        return len(maps)

    def _add_literals(self) -> None:
        """Insert the literals at the top of the body, ahead of all their uses."""
        literals = self.writer.literals.values()
        if (first := self.body.first_op) is not None:
            self.body.insert_ops_before([*literals], first)

    def _parameter(self, type: Attribute, name: str | None) -> SSAValue:
        parameter = self.body.insert_arg(type, len(self.body.args))
        parameter.name_hint = name
        return parameter

    def _function(self) -> cuda.FuncOp:
        source = self.source
        function = cuda.FuncOp(
            source.sym_name.data,
            Region(self.body),
            source.num_outputs.value.data,
            grid=source.grid.value.data,
            block=source.block.value.data,
            min_blocks=_optional(source.min_blocks),
            cluster=_optional(source.cluster),
        )
        function.schedule = source.schedule
        return function

    def element(self, memref: SSAValue) -> Attribute:
        """
        Return the C++ type of the elements of a memref; raise `UnsupportedError` for unsupported
        memory.
        """
        if not isinstance(memref.type, MemRefType):
            raise self.writer.unsupported(f"a parameter of type {memref.type}")
        type = memref_type(memref)
        is_plain = isinstance(type.layout, NoneAttr | SlabLayoutAttr) and type.has_static_shape()
        if not is_plain or isinstance(type.element_type, IndexType):
            raise self.writer.unsupported(f"memory of type {type}")
        return self.writer.type(type.element_type)

    def thread(self) -> SSAValue:
        """Return the thread id as a named value, which is defined if the kernel has none."""
        for op in self.source.body.block.ops:
            if isinstance(op, kernel.ThreadIdOp) and op.result in self.writer.values:
                return self.writer.values[op.result]
        if self._thread is None:
            value = BuiltinOp(Builtin.THREAD, self.writer.index_type).result
            with self.writer.inside(self.body):
                self._thread = self.writer.let(value, "t")
        return self._thread

    def convert_all(self, ops: Iterable[Operation]) -> None:
        """Convert ops of one block, in order."""
        gone = self.accesses.filled.gone
        for op in self.writer.at_each(ops):
            if op not in gone and op not in self.done:
                self.done.add(op)
                self._convert(op)

    def _convert(self, op: Operation) -> None:
        if (handler := self.handlers.get(type(op))) is not None:
            handler(self, op)
        else:
            self._convert_scalar(op)

    def _convert_scalar(self, op: Operation) -> None:
        """
        Convert an op without a handler as scalar arithmetic; raise `UnsupportedError` if it is
        none.
        """
        values = [self.writer.use(v) for v in op.operands]
        if (value := scalar_expression(op, values, self.writer)) is None:
            types = ", ".join(str(v.type) for v in op.operands)
            raise self.writer.unsupported(f"'{op.name}' on ({types})")
        self.writer.bind(op.results[0], value)


def _optional(property: IntegerAttr | None) -> int | None:
    return None if property is None else property.value.data


def _tensor_map_of(op: kernel.TmaCopyOp, pieces: Pieces, source: kernel.FuncOp) -> TensorMapType:
    """
    Return the type of the tensor map with which the hardware copies the box of `op` in `pieces`.
    Boxes of the same kind share a map.
    """
    type, layout = memref_type(op.source), layout_of(memref_type(op.target))
    _check_box(op, source)
    input = [*source.inputs].index(cast(BlockArgument, op.source))
    swizzle = layout.swizzle_bytes.data
    return TensorMapType.get(
        pieces.tensor, type.element_type, pieces.piece, swizzle, input, pieces.strides
    )


def _check_box(op: kernel.TmaCopyOp, source: kernel.FuncOp) -> None:
    """Raise `UnsupportedError` if the hardware cannot copy the box from its source."""
    if op.source not in source.inputs:
        raise cannot_lower(source, op, "a box is copied from memory that is no input of the kernel")
    type = memref_type(op.source)
    row = type.get_shape()[-1] * size_of(type.element_type)
    if type.get_num_dims() > 1 and row % BOX_ALIGNMENT:
        begin = f"rows that TMA copies must begin at multiples of {BOX_ALIGNMENT} bytes"
        raise cannot_lower(source, op, f"rows of {row} bytes in {type}; {begin}")


_NAMES = (LetOp, VarOp, LocalOp, SharedOp, PoolOp, PooledOp, RemoteOp, ShuffleOp, ExpressionOp)


def erase_unused(function: FuncOp) -> None:
    """
    Erase unused names, variables that are only assigned, empty bodies, and comments with no
    statement below them.
    """
    while _erase_some(function):
        pass


def _erase_some(function: FuncOp) -> bool:
    """
    Erase unused ops in one walk, last op first; return True if an erased variable may leave more
    unused ops.
    """
    again = False
    _, *ops = ops_in(function)
    for op in reversed(ops):
        if op.parent is None:  # an assignment that was erased with its variable
            continue
        if isinstance(op, VarOp):
            again |= _erase_assignments(op)
        if _is_unused(op):
            op.detach()
            op.erase()
    return again


def _is_unused(op: Operation) -> bool:
    if op.regions:
        is_empty = all(block.is_empty for region in op.regions for block in region.blocks)
        return is_empty and isinstance(op, IfOp | ForOp)
    if op.results:
        return op.results[0].first_use is None and isinstance(op, _NAMES)
    return isinstance(op, CommentOp) and _is_idle(op)


def _is_idle(comment: CommentOp) -> bool:
    """True if no statement follows the comment before the next comment or the end of the block."""
    following = comment.next_op
    while isinstance(following, ExpressionOp):
        following = following.next_op
    return following is None or isinstance(following, CommentOp)


def _erase_assignments(op: VarOp) -> bool:
    users = [use.operation for use in op.variable.uses]
    if not users or not all(isinstance(user, AssignOp) for user in users):
        return False
    for user in users:
        user.detach()
        user.erase()
    return True
