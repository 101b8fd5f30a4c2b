# SPDX-License-Identifier: Apache-2.0
"""
Kernel IR to CUDA IR: what one thread does becomes C++ statements.

    kernel.func grid 8 block 128 @relu(%x: memref<1000xf32>) -> (%out: memref<1000xf32>) {
      %b = kernel.block_id
      %t = kernel.thread_id
      %zero = arith.constant 0.0 : f32
      %v = loop.load %x[%b * 128 + %t] where [999 - %b * 128 - %t] : memref<1000xf32>
      %r = arith.maximumf %v, %zero : f32
      loop.store %r, %out[%b * 128 + %t] where [999 - %b * 128 - %t] : memref<1000xf32>
    }

becomes the `cuda.func` whose text is

    const int b = blockIdx.x;
    const int t = threadIdx.x;
    const int i = b * 128 + t;
    const bool in = i < 1000;
    const float v = in ? x[i] : 0.0f;
    if (in) {
      out[i] = max_nan(v, 0.0f);
    }

Subscripts become row-major offsets, loads stay in order, and arithmetic that is used once is
written where it is used. Launches stay as they are; a kernel whose name C++ has taken is renamed.
"""

from collections.abc import Iterable, Sequence
from functools import singledispatchmethod

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import (
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
    NoneAttr,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.hints import isa

from tilewright.dialects import cuda, kernel, loop
from tilewright.dialects.cuda_expressions import (
    BuiltinOp,
    CallOp,
    CastOp,
    ExpressionOp,
    LiteralOp,
    ReadOp,
    SubscriptOp,
    TernaryOp,
)
from tilewright.dialects.cuda_statements import (
    AssignOp,
    ForOp,
    IfOp,
    SharedOp,
    ShuffleOp,
    StoreOp,
    SyncthreadsOp,
    VarOp,
)
from tilewright.dialects.cuda_types import Builtin, PointerType
from tilewright.dialects.types import memref_type
from tilewright.passes.cuda.accesses import Accesses
from tilewright.passes.cuda.casts import cast
from tilewright.passes.cuda.erase_unused import erase_unused
from tilewright.passes.cuda.filled_loads import fill_of
from tilewright.passes.cuda.index_type import index_type
from tilewright.passes.cuda.indices import Indices
from tilewright.passes.cuda.kernel_names import rename_kernels
from tilewright.passes.cuda.scalars import scalar_expression
from tilewright.passes.cuda.writer import Writer, is_pending, stays_inline
from tilewright.passes.trace import Rule, rewriting

RULE = Rule("c", 1, "convert_kernel_to_cuda")

UNROLL = "unroll"
"""The attribute by which an `scf.for` asks to be unrolled."""


class _Conversion:
    """One walk over a kernel function."""

    def __init__(self, source: kernel.FuncOp):
        self.source = source
        self.accesses = Accesses(source)
        self.body = Block()
        self.writer = Writer(self.body, source.sym_name.data, index_type(source, self.accesses))
        self.indices = Indices(self.writer, self.accesses)

    def run(self) -> cuda.FuncOp:
        """The CUDA function that does what the kernel does."""
        for argument in self.source.body.block.args:
            element = self._element(argument)
            is_const = argument in self.source.inputs
            pointer = self.body.insert_arg(
                PointerType.get(element, const=is_const), len(self.body.args)
            )
            pointer.name_hint = argument.name_hint
            self.writer.values[argument] = pointer
        with self.indices.scope(self.source.body.block):
            self._convert_all(self.source.body.block.ops)
        erase_unused(self.body)
        function = cuda.FuncOp(
            self.source.sym_name.data,
            Region(self.body),
            self.source.num_outputs.value.data,
            grid=self.source.grid.value.data,
            block=self.source.block.value.data,
        )
        function.set_facts(self.source.facts)
        if function.shared_bytes > cuda.MAX_STATIC_SHARED:
            raise self.writer.unsupported(
                f"{function.shared_bytes} bytes of shared memory; it may declare "
                f"{cuda.MAX_STATIC_SHARED}"
            )
        return function

    def _element(self, memref: SSAValue) -> Attribute:
        """The type of the elements of a memref."""
        if not isinstance(memref.type, MemRefType):
            raise self.writer.unsupported(f"a parameter of type {memref.type}")
        type = memref_type(memref)
        is_plain = isinstance(type.layout, NoneAttr) and type.has_static_shape()
        if not is_plain or isinstance(type.element_type, IndexType):
            raise self.writer.unsupported(f"memory of type {type}")
        return self.writer.type(type.element_type)

    def _convert_all(self, ops: Iterable[Operation]) -> None:
        for op in ops:
            if op not in self.accesses.filled.gone:
                self._convert(op)

    @singledispatchmethod
    def _convert(self, op: Operation) -> None:
        """Everything that has no case of its own is scalar arithmetic."""
        values = [self.writer.use(v) for v in op.operands]
        if (value := scalar_expression(op, values, self.writer)) is None:
            types = ", ".join(str(v.type) for v in op.operands)
            raise self.writer.unsupported(f"'{op.name}' on ({types})")
        self.writer.bind(op.results[0], value)

    @_convert.register
    def _(self, op: arith.ConstantOp) -> None:
        value = op.value
        if isinstance(value, IntegerAttr) and isinstance(value.type, IndexType):
            value = IntegerAttr(value.value, self.writer.index_type)
        if not isinstance(value, IntegerAttr | FloatAttr):
            raise self.writer.unsupported(f"the constant {value}")
        self.writer.type(value.type)
        self.writer.constants[op.result] = value

    @_convert.register
    def _(self, op: kernel.BlockIdOp) -> None:
        self._name_builtin(op, Builtin.BLOCK, "b")

    @_convert.register
    def _(self, op: kernel.ThreadIdOp) -> None:
        self._name_builtin(op, Builtin.THREAD, "t")

    def _name_builtin(self, op: kernel.IdOp, variable: Builtin, hint: str) -> None:
        value = BuiltinOp(variable, self.writer.index_type).result
        self.writer.values[op.result] = self.writer.let(value, op.result.name_hint or hint)

    @_convert.register
    def _(self, op: kernel.IndexOp) -> None:
        self.writer.values[op.result] = self.indices.named(op)

    @_convert.register
    def _(self, op: loop.IndexOp) -> None:
        type = op.result.type
        assert isa(type, IntegerType)
        if (known := self.indices.known(op)) is not None:
            self.writer.constants[op.result] = IntegerAttr(known, type, truncate_bits=True)
            return
        index = self.indices.offset(op)
        if index.type == type or stays_inline(op.result, index):
            self.writer.bind(op.result, cast(index, type))
            return
        name = self.writer.let(index, op.result.name_hint or "i") if is_pending(index) else index
        self.writer.indices[op.result] = name

    @_convert.register
    def _(self, op: loop.ToIndexOp) -> None:
        condition, value = self.indices.condition(op), self.writer.use(op.value)
        type = op.value.type
        assert isa(type, IntegerType)
        bound = LiteralOp(IntegerAttr(op.bound.value.data, type)).result
        value = CallOp("checked_index", [value, bound], value.type).result
        if condition is not None:
            condition = self.writer.name_if_long(condition, value, "in")
            value = TernaryOp(condition, value, self.writer.zero(value.type)).result
        if value.type != self.writer.index_type:
            value = CastOp(value, self.writer.index_type).result
        hint = op.result.name_hint or "s"
        self.writer.values[op.result] = self.writer.let(value, hint)

    @_convert.register
    def _(self, op: loop.PredicateOp) -> None:
        condition = self.indices.condition(op)
        if condition is None:
            self.writer.constants[op.result] = IntegerAttr(1, 1)
            return
        self.writer.bind(op.result, condition)

    @_convert.register
    def _(self, op: kernel.SharedOp) -> None:
        element = self._element(op.memref)
        size = 1
        for extent in memref_type(op.memref).get_shape():
            size *= extent
        shared = SharedOp(size, element, op.memref.name_hint or "shared")
        self.writer.statement(shared)
        self.writer.values[op.memref] = shared.pointer

    @_convert.register
    def _(self, op: kernel.BarrierOp) -> None:
        self.writer.statement(SyncthreadsOp())

    @_convert.register
    def _(self, op: kernel.ShuffleOp) -> None:
        value, hint = self.writer.use(op.value), op.result.name_hint
        offset, width = op.offset.value.data, op.width.value.data
        shuffle = ShuffleOp(op.mode.data, value, offset, width, hint)
        self.writer.statement(shuffle)
        self.writer.values[op.result] = shuffle.result

    @_convert.register
    def _(self, op: loop.LoadOp) -> None:
        condition, offset = self.indices.condition(op), self.indices.offset(op)
        if condition is not None:
            condition = self.writer.name_if_long(condition, offset, "in")
            offset = self.writer.name_if_long(offset, condition, "i")
        value: SSAValue = SubscriptOp(self.writer.use(op.memref), offset).result
        select = self.accesses.filled.selects.get(op)
        if condition is not None:
            fill = None if select is None else fill_of(select)
            zero = self.writer.zero(value.type) if fill is None else LiteralOp(fill).result
            value = TernaryOp(condition, value, zero).result
        hint = op.result.name_hint or op.memref.name_hint
        result = op.result if select is None else select.result
        self.writer.values[result] = self.writer.let(value, hint)

    @_convert.register
    def _(self, op: loop.StoreOp) -> None:
        joins = self.accesses.joins_previous_store(op)
        condition = None if joins else self.indices.condition(op)
        offset, value = self.indices.offset(op), self.writer.use(op.value)
        offset = self.writer.name_if_long(offset, value, "i")
        store = StoreOp(value, self.writer.use(op.memref), offset)
        if joins and isinstance(guard := self.writer.block.last_op, IfOp):
            with self.writer.inside(guard.then_body.block):
                self.writer.statement(store)
            return
        if joins:  # unless the name of the offset has come in between
            condition = self.indices.condition(op)
        if condition is None:
            self.writer.statement(store)
            return
        body = Block()
        with self.writer.inside(body):
            self.writer.statement(store)
        self.writer.statement(IfOp(condition, Region(body)))

    @_convert.register
    def _(self, op: scf.IfOp) -> None:
        if isinstance(known := self.writer.constants.get(op.cond), IntegerAttr):
            self._convert_taken(op.true_region if known.value.data else op.false_region, op.results)
            return
        condition = self.writer.use(op.cond)
        variables = [self._variable(result) for result in op.results]
        then_body = self._branch(op.true_region, variables)
        else_body = self._branch(op.false_region, variables)
        self.writer.statement(
            IfOp(condition, then_body, else_body if else_body.block.ops else None)
        )

    def _convert_taken(self, region: Region, results: Sequence[SSAValue]) -> None:
        """The only branch that runs, without its braces."""
        if not region.blocks:
            return
        *ops, terminator = region.block.ops
        with self.indices.scope(region.block):
            self._convert_all(ops)
        for result, value in zip(results, terminator.operands, strict=True):
            self.writer.bind(result, self.writer.use(value))

    def _variable(self, result: SSAValue) -> SSAValue:
        variable = VarOp(None, self.writer.type(result.type), result.name_hint)
        self.writer.statement(variable)
        self.writer.values[result] = variable.variable
        return variable.variable

    def _branch(self, region: Region, variables: Sequence[SSAValue]) -> Region:
        body = Block()
        with self.writer.inside(body):
            self._convert_body(region, variables)
        return Region(body)

    def _convert_body(self, region: Region, variables: Sequence[SSAValue]) -> None:
        """The ops of a body, whose terminator gives the variables their values."""
        if not region.blocks:
            return
        *ops, terminator = region.block.ops
        with self.indices.scope(region.block):
            self._convert_all(ops)
        self._assign(variables, terminator.operands)

    def _assign(self, variables: Sequence[SSAValue], yielded: Sequence[SSAValue]) -> None:
        """All at once: what reads a variable that is assigned before it is named first."""
        values = [self.writer.use(v) for v in yielded]
        for position, value in enumerate(values):
            if _reads(value, variables[:position]):
                hint = yielded[position].name_hint or variables[position].name_hint
                values[position] = self.writer.let(value, hint)
        for variable, value in zip(variables, values, strict=True):
            if not (isinstance(value.owner, ReadOp) and value.owner.variable is variable):
                self.writer.statement(AssignOp(variable, value))

    @_convert.register
    def _(self, op: scf.ForOp) -> None:
        step = self.writer.constants.get(op.step)
        if not isinstance(step, IntegerAttr) or step.value.data < 1:
            raise self.writer.unsupported("'scf.for' with a step that is no positive constant")
        low, high = self.writer.use(op.lb), self._bound(op.ub)
        carried = op.body.block.args[1:]
        variables = [
            self._carried(*names) for names in zip(carried, op.iter_args, op.results, strict=True)
        ]
        body = Block(arg_types=[low.type])
        body.args[0].name_hint = op.body.block.args[0].name_hint or "k"
        self.writer.values[op.body.block.args[0]] = body.args[0]
        with self.writer.inside(body):
            self._convert_body(op.body, variables)
        unroll = UNROLL in op.attributes
        self.writer.statement(ForOp(low, high, step.value.data, Region(body), unroll=unroll))

    def _bound(self, bound: SSAValue) -> SSAValue:
        """The bound is evaluated at each step: name what is more than a literal."""
        value = self.writer.use(bound)
        is_simple = bound in self.writer.constants or not is_pending(value)
        return value if is_simple else self.writer.let(value, bound.name_hint or "end")

    def _carried(self, argument: SSAValue, initial: SSAValue, result: SSAValue) -> SSAValue:
        """The variable that a loop carries from step to step, and leaves behind."""
        hint = argument.name_hint or result.name_hint or "acc"
        variable = VarOp(self.writer.use(initial), self.writer.type(result.type), hint)
        self.writer.statement(variable)
        self.writer.values[argument] = self.writer.values[result] = variable.variable
        return variable.variable


def _reads(value: SSAValue, variables: Sequence[SSAValue]) -> bool:
    if not is_pending(value):
        return False
    expression = value.owner
    assert isinstance(expression, ExpressionOp)
    return expression.reads() in variables or any(_reads(v, variables) for v in expression.operands)


class ConvertKernelToCudaPass(ModulePass):
    """Turn every kernel function into CUDA statements."""

    name = "convert-kernel-to-cuda"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Each kernel of the module."""
        rename_kernels(op)
        for source in [k for k in op.ops if isinstance(k, kernel.FuncOp)]:
            with rewriting(RULE, source, whole_module=True):
                function = _Conversion(source).run()
                op.body.block.insert_op_before(function, source)
                source.detach()
                source.erase()
