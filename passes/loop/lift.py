# SPDX-License-Identifier: Apache-2.0
"""
Tensor IR to Loop IR: each primitive becomes a kernel of its own, and tensors become buffers.

    %b = prim.index_map %bias by affine_map<(d0, d1) -> (d1)> : tensor<64xf32> -> tensor<16x64xf32>
    %a = prim.elementwise add(%x, %b) : tensor<16x64xf32>

becomes

    %a = memref.alloc() : memref<16x64xf32>
    loop.launch @a(%x, %bias) -> (%a) : ...

    loop.kernel @a(%x: memref<16x64xf32>, %bias: memref<64xf32>) -> (%out: memref<16x64xf32>) {
      loop.for %i in 16, %j in 64 {
        %0 = loop.load %x[%i, %j] : memref<16x64xf32>
        %1 = loop.load %bias[%j] : memref<64xf32>
        %2 = arith.addf %0, %1 : f32
        loop.store %2, %out[%i, %j] : memref<16x64xf32>
      }
    }

Index maps, positions, predicates and constants get no kernel: whoever reads them reads through
them. Only a function's result must be in memory. Several reduced axes become one, so that it can be
split and shared.
"""

from collections.abc import Sequence
from math import copysign, prod
from typing import NamedTuple, cast

from xdsl.context import Context
from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    FunctionType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    TensorType,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap, AffineSymExpr
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from tilewright.dialects import loop, prim
from tilewright.dialects.index import delinearize
from tilewright.dialects.monoid import Monoid
from tilewright.dialects.types import tensor_type
from tilewright.passes.loop.kernel_builder import KernelBuilder, KernelNames
from tilewright.passes.loop.scalar_function import constant_of, scalar_function
from tilewright.passes.trace import Rule, rewriting

RULE = Rule("l", 1, "lift")


class View(NamedTuple):
    """
    Where a tensor's elements are: in a buffer, in a constant, or in what an op that needs no
    memory says of coordinates. The map takes the tensor's coordinates to those.
    """

    source: SSAValue | FloatAttr | IntegerAttr | prim.IotaOp | prim.PredicateOp | prim.IndexMapOp
    map: AffineMap


class LiftPass(ModulePass):
    """Turn every function over tensors into a plan of launches over buffers."""

    name = "lift"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Lift the functions of the module."""
        with rewriting(RULE, op):
            names = KernelNames(op)
            for function in [f for f in op.ops if isinstance(f, func.FuncOp)]:
                types = (*function.function_type.inputs, *function.function_type.outputs)
                if any(isinstance(type, TensorType) for type in types):
                    _Lifting(function, names).run()


class _Lifting:
    """One walk over a function, with what each tensor has become."""

    def __init__(self, function: func.FuncOp, names: KernelNames):
        self.function = function
        self.names = names
        self.kernels: list[Operation] = []
        self.views: dict[SSAValue, View] = {}
        self.plan = Block(arg_types=[_buffer_type(a.type) for a in function.body.block.args])

    def run(self) -> None:
        """Replace the function by its lifted form, kernels after it."""
        for old, new in zip(self.function.body.block.args, self.plan.args, strict=True):
            new.name_hint = old.name_hint
            self.views[old] = View(new, _identity(old))
        for op in self.function.body.block.ops:
            self._lift(op)
        self._replace_function()

    def _lift(self, op: Operation) -> None:
        match op:
            case prim.ConstantOp(value=value, result=result):
                rank = tensor_type(result).get_num_dims()
                self.views[result] = View(value, AffineMap(rank, 0, ()))
            case prim.IotaOp() | prim.PredicateOp():
                self.views[op.result] = View(op, _identity(op.result))
            case prim.IndexMapOp():
                self._lift_index_map(op)
            case prim.ElementwiseOp():
                self._lift_elementwise(op)
            case prim.GatherOp():
                self._lift_gather(op)
            case prim.ReduceOp():
                self._lift_reduce(op)
            case prim.ScanOp():
                self._lift_scan(op)
            case func.CallOp():
                self._lift_call(op)
            case func.ReturnOp():
                self._lift_return(op)
            case _:
                raise PassFailedException(
                    f"lift: '{op.name}' is not Tensor IR that can be lifted; to-tensor makes it so"
                )

    def _lift_index_map(self, op: prim.IndexMapOp) -> None:
        first = op.sources[0]
        if first.mask.results:
            self.views[op.result] = View(op, _identity(op.result))
            return
        view = self.views[first.tensor]
        self.views[op.result] = View(view.source, view.map.compose(first.map))

    def _lift_elementwise(self, op: prim.ElementwiseOp) -> None:
        element = tensor_type(op.result).element_type
        with self._kernel(op.result) as kernel:
            values = [kernel.read(self.views[v], kernel.coordinates) for v in op.inputs]
            kernel.store([scalar_function(op.function.data, values, element, kernel.add)])

    def _lift_gather(self, op: prim.GatherOp) -> None:
        sizes = tensor_type(op.source).get_shape()
        with self._kernel(op.result) as kernel:
            symbols = [kernel.read(self.views[v], kernel.coordinates) for v in op.indices]
            subscripts = [
                kernel.subscript(symbols[expr.position], size)
                if isinstance(expr, AffineSymExpr)
                else expr.replace_dims_and_symbols(kernel.coordinates, ())
                for expr, size in zip(op.map.data.results, sizes, strict=True)
            ]
            kernel.store([kernel.read(self.views[op.source], subscripts)])

    def _lift_reduce(self, op: prim.ReduceOp) -> None:
        shape = tensor_type(op.inputs[0]).get_shape()
        reduced = op.dims.get_values()
        extents = [shape[d] for d in reduced]
        with self._kernel(*_used(op.results_)) as kernel:
            is_alone = _is_each_element(op, extents)
            folded = _zeros(extents) if is_alone else delinearize(kernel.begin_loop(), extents)
            coordinates = _interleave(len(shape), reduced, folded, kernel.coordinates)
            values = [kernel.read(self.views[v], coordinates) for v in op.inputs]
            if not is_alone:
                values = kernel.end_reduce(prod(extents), op.monoid, values)
            kernel.store(_of_used(values, op.results_))

    def _lift_scan(self, op: prim.ScanOp) -> None:
        shape, dim = tensor_type(op.inputs[0]).get_shape(), op.dim.value.data
        with self._kernel(*_used(op.results_), without=dim) as kernel:
            coordinates = kernel.coordinates
            coordinates[dim] = kernel.begin_loop()
            values = [kernel.read(self.views[v], coordinates) for v in op.inputs]
            prefixes = kernel.prefix(op.monoid, values)
            kernel.store(_of_used(prefixes, op.results_), coordinates)
            kernel.end_scan(shape[dim])

    def _lift_call(self, op: func.CallOp) -> None:
        buffers = [self._in_memory(value) for value in op.arguments]
        call = func.CallOp(op.callee, buffers, [_buffer_type(r.type) for r in op.results])
        call.location = op.location
        self.plan.add_op(call)
        for old, new in zip(op.results, call.results, strict=True):
            new.name_hint = old.name_hint
            self.views[old] = View(new, _identity(old))

    def _lift_return(self, op: func.ReturnOp) -> None:
        buffers = [self._in_memory(value) for value in op.arguments]
        self.plan.add_op(func.ReturnOp(*buffers))

    def _in_memory(self, value: SSAValue) -> SSAValue:
        """The buffer that holds `value` as it is; a view of another is copied."""
        view = self.views[value]
        if isinstance(view.source, SSAValue) and view.source.type == _buffer_type(value.type):
            if view.map == AffineMap.identity(len(view.map.results)):
                return view.source
        with self._kernel(value) as kernel:
            kernel.store([kernel.read(view, kernel.coordinates)])
        source = self.views[value].source
        assert isinstance(source, SSAValue)
        return source

    def _kernel(self, *results: SSAValue, without: int | None = None) -> "_LiftedKernel":
        """A kernel for `results`, whose axes are free but for the one `without`."""
        return _LiftedKernel(self, results, without)

    def _replace_function(self) -> None:
        returned = self.plan.last_op
        parent = self.function.parent
        assert returned is not None
        assert parent is not None
        lifted = func.FuncOp(
            self.function.sym_name.data,
            FunctionType.from_lists(
                [a.type for a in self.plan.args], [v.type for v in returned.operands]
            ),
            Region(self.plan),
            self.function.sym_visibility,
            arg_attrs=self.function.arg_attrs,
            res_attrs=self.function.res_attrs,
        )
        parent.insert_ops_before([lifted, *self.kernels], self.function)
        self.function.detach()
        self.function.erase()


class _LiftedKernel(KernelBuilder):
    """A kernel for one primitive; its axes are the axes of the results."""

    def __init__(self, lifting: _Lifting, results: Sequence[SSAValue], without: int | None):
        self.lifting, self.results = lifting, results
        self.buffers = [_allocate(lifting.plan, value) for value in results]
        shape = tensor_type(results[0]).get_shape()
        self.is_empty = 0 in shape
        super().__init__([1 if d == without else n for d, n in enumerate(shape)], self.buffers)

    def read(
        self, view: View, coordinates: Sequence[AffineExpr], where: Sequence[AffineExpr] = ()
    ) -> SSAValue:
        """
        The element of `view` at `coordinates`, expressions over this kernel's indices. It is any
        value, and nothing is read, unless all of `where` are at least 0.
        """
        at = _composed(view.map, coordinates)
        match view.source:
            case SSAValue():
                return self.load(view.source, at, where)
            case FloatAttr() | IntegerAttr():
                return constant_of(view.source, self.add)
            case prim.IotaOp(map=map, result=result):
                value = _composed(map.data, at)
                return self.add(loop.IndexOp(self.access(value), tensor_type(result).element_type))
            case prim.PredicateOp(map=map):
                return self.add(loop.PredicateOp(self.access(_composed(map.data, at))))
            case prim.IndexMapOp():
                return self._read_sources(view.source, at, where)

    def _read_sources(
        self, op: prim.IndexMapOp, at: Sequence[AffineExpr], where: Sequence[AffineExpr]
    ) -> SSAValue:
        """The element of the first source whose mask holds, else the fill value."""
        result: SSAValue | None = None
        for source in reversed(op.sources):
            mask = _composed(source.mask, at)
            view = self.lifting.views[source.tensor]
            value = self.read(view, _composed(source.map, at), [*where, *mask])
            if not mask or (result is None and _is_zero(op.fill) and _is_load(value)):
                result = value  # a load is 0 where its mask fails
                continue
            if result is None:
                assert op.fill is not None
                result = constant_of(op.fill, self.add)
            holds = self.add(loop.PredicateOp(self.access(mask)))
            result = self.add(arith.SelectOp(holds, value, result))
        assert result is not None
        return result

    def subscript(self, value: SSAValue, size: int) -> AffineExpr:
        """An integer value as a subscript of an axis of `size`."""
        return self.dimension(self.add(loop.ToIndexOp(value, size)))

    def __enter__(self) -> "_LiftedKernel":
        return self

    def __exit__(self, *_: object) -> None:
        for value, buffer in zip(self.results, self.buffers, strict=True):
            self.lifting.views[value] = View(buffer, _identity(value))
        if self.is_empty:
            return
        kernel = self.finish(self.lifting.names.unique(self.results[0].name_hint or "kernel"))
        launch = loop.LaunchOp(kernel.sym_name.data, self.inputs, self.buffers)
        if isinstance(primitive := self.results[0].owner, Operation):
            for op in (launch, *kernel.walk()):
                op.location = primitive.location
        self.lifting.kernels.append(kernel)
        self.lifting.plan.add_op(launch)


def _allocate(plan: Block, value: SSAValue) -> SSAValue:
    type = tensor_type(value)
    buffer = memref.AllocOp.get(type.element_type, shape=type.get_shape())
    buffer.memref.name_hint = value.name_hint
    plan.add_op(buffer)
    return buffer.memref


def _identity(value: SSAValue) -> AffineMap:
    return AffineMap.identity(tensor_type(value).get_num_dims())


def _composed(map: AffineMap, coordinates: Sequence[AffineExpr]) -> list[AffineExpr]:
    """The results of `map` at `coordinates`."""
    return [expr.replace_dims_and_symbols(coordinates, ()) for expr in map.results]


def _is_zero(fill: FloatAttr | IntegerAttr | None) -> bool:
    return fill is not None and fill.value.data == 0 and copysign(1, fill.value.data) > 0


def _is_load(value: SSAValue) -> bool:
    return isinstance(value.owner, loop.LoadOp)


def _buffer_type(type: Attribute) -> Attribute:
    if not isinstance(type, TensorType):
        return type
    tensor = cast(TensorType[Attribute], type)
    return MemRefType(tensor.element_type, tensor.get_shape())


def _is_each_element(op: prim.ReduceOp, extents: Sequence[int]) -> bool:
    """Whether every element is folded alone, to itself. The float sum of -0 is 0."""
    is_float = isinstance(tensor_type(op.inputs[0]).element_type, AnyFloat)
    return prod(extents) == 1 and not (is_float and op.monoid.data is Monoid.ADD)


def _used(results: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Of the results of an op those that are asked for, as an argmax is without the maximum."""
    return _of_used(results, results)


def _of_used(values: Sequence[SSAValue], results: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """The values for those of the results that are used; for all where none is."""
    used = [v for v, result in zip(values, results, strict=True) if result.uses]
    return used or values


def _zeros(extents: Sequence[int]) -> Sequence[AffineExpr]:
    return [AffineExpr.constant(0) for _ in extents]


def _interleave(
    rank: int,
    reduced: Sequence[int],
    folded: Sequence[AffineExpr],
    kept: Sequence[AffineExpr],
) -> list[AffineExpr]:
    """Coordinates of the operand: `folded` at the reduced axes, `kept` at the others."""
    inner, outer = iter(folded), iter(kept)
    return [next(inner) if axis in reduced else next(outer) for axis in range(rank)]
