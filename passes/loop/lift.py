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

Index maps and constants get no kernel: whoever reads them reads through them. Only a function's
result must be in memory. Several reduced axes become one, so that it can be split and shared.
"""

from collections.abc import Sequence
from math import prod
from typing import NamedTuple, cast

from xdsl.context import Context
from xdsl.dialects import arith, func, math, memref
from xdsl.dialects.builtin import (
    FloatAttr,
    FunctionType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    TensorType,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from tilewright.dialects import loop, prim
from tilewright.dialects.index import delinearize
from tilewright.dialects.prim import ScalarFunction
from tilewright.dialects.types import tensor_type
from tilewright.passes.loop.floor_divide import floor_divide
from tilewright.passes.loop.kernel_builder import KernelBuilder, KernelNames
from tilewright.passes.trace import Rule, rewriting

RULE = Rule("l", 1, "lift")

_SCALAR_OPS: dict[ScalarFunction, type[Operation]] = {
    ScalarFunction.ADD: arith.AddfOp,
    ScalarFunction.SUB: arith.SubfOp,
    ScalarFunction.MUL: arith.MulfOp,
    ScalarFunction.DIV: arith.DivfOp,
    ScalarFunction.NEG: arith.NegfOp,
    ScalarFunction.ABS: math.AbsFOp,
    ScalarFunction.EXP: math.ExpOp,
    ScalarFunction.LOG: math.LogOp,
    ScalarFunction.SQRT: math.SqrtOp,
    ScalarFunction.RSQRT: math.RsqrtOp,
    ScalarFunction.TANH: math.TanhOp,
    ScalarFunction.ERF: math.ErfOp,
    ScalarFunction.TRUNC: math.TruncOp,
    ScalarFunction.POW: math.PowFOp,
    ScalarFunction.MAXIMUM: arith.MaximumfOp,
    ScalarFunction.MINIMUM: arith.MinimumfOp,
}


class View(NamedTuple):
    """Where a tensor's elements are: in a buffer, at subscripts given by a map; or one constant."""

    source: SSAValue | FloatAttr | IntegerAttr
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
            self.views[old] = View(new, AffineMap.identity(tensor_type(old).get_num_dims()))
        for op in self.function.body.block.ops:
            self._lift(op)
        self._replace_function()

    def _lift(self, op: Operation) -> None:
        match op:
            case prim.ConstantOp(value=value, result=result):
                self.views[result] = View(value, AffineMap(0, 0, ()))
            case prim.IndexMapOp(input=input, map=map, result=result):
                view = self.views[input]
                self.views[result] = View(view.source, view.map.compose(map.data))
            case prim.ElementwiseOp():
                self._lift_elementwise(op)
            case prim.ReduceOp():
                self._lift_reduce(op)
            case func.ReturnOp():
                self._lift_return(op)
            case _:
                raise PassFailedException(
                    f"lift: '{op.name}' is not Tensor IR; to-tensor makes it of Torch IR"
                )

    def _lift_elementwise(self, op: prim.ElementwiseOp) -> None:
        with self._kernel(op.result) as kernel:
            values = [kernel.read(self.views[v], kernel.coordinates) for v in op.inputs]
            kernel.store([kernel.compute(op.function.data, values)])

    def _lift_reduce(self, op: prim.ReduceOp) -> None:
        shape = tensor_type(op.inputs[0]).get_shape()
        reduced = op.dims.get_values()
        extents = [shape[d] for d in reduced]
        with self._kernel(*op.results_) as kernel:
            axis = kernel.begin_reduce()
            folded = delinearize(kernel.dimension(axis), extents)
            coordinates = _interleave(len(shape), reduced, folded, kernel.coordinates)
            values = [kernel.read(self.views[v], coordinates) for v in op.inputs]
            kernel.store(kernel.end_reduce(prod(extents), op.monoid, values))

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

    def _kernel(self, *results: SSAValue) -> "_LiftedKernel":
        return _LiftedKernel(self, results)

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

    def __init__(self, lifting: _Lifting, results: Sequence[SSAValue]):
        self.lifting, self.results = lifting, results
        self.buffers = [_allocate(lifting.plan, value) for value in results]
        super().__init__(tensor_type(results[0]).get_shape(), self.buffers)

    def read(self, view: View, coordinates: Sequence[AffineExpr]) -> SSAValue:
        """The element of `view` at `coordinates`, expressions over this kernel's axes."""
        if not isinstance(view.source, SSAValue):
            return self.add(arith.ConstantOp(view.source))
        subscripts = [e.replace_dims_and_symbols(coordinates, ()) for e in view.map.results]
        return self.load(view.source, subscripts)

    def compute(self, function: ScalarFunction, values: Sequence[SSAValue]) -> SSAValue:
        """`function` of `values`: one op for all but one."""
        if function is ScalarFunction.FLOORDIV:
            return floor_divide(self.add, *values)
        return self.add(_SCALAR_OPS[function](*values))

    def __enter__(self) -> "_LiftedKernel":
        return self

    def __exit__(self, *_: object) -> None:
        for value, buffer in zip(self.results, self.buffers, strict=True):
            rank = tensor_type(value).get_num_dims()
            self.lifting.views[value] = View(buffer, AffineMap.identity(rank))
        if 0 in self.shape:
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


def _buffer_type(type: Attribute) -> Attribute:
    if not isinstance(type, TensorType):
        return type
    tensor = cast(TensorType[Attribute], type)
    return MemRefType(tensor.element_type, tensor.get_shape())


def _interleave(
    rank: int,
    reduced: Sequence[int],
    folded: Sequence[AffineExpr],
    kept: Sequence[AffineExpr],
) -> list[AffineExpr]:
    """Coordinates of the operand: `folded` at the reduced axes, `kept` at the others."""
    inner, outer = iter(folded), iter(kept)
    return [next(inner) if axis in reduced else next(outer) for axis in range(rank)]
