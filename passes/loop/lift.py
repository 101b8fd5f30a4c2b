# SPDX-License-Identifier: Apache-2.0
"""
Lowers Tensor IR to Loop IR: each primitive becomes a kernel, and tensors become buffers.

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

Index maps, positions, predicates, constants and casts of half types to wider floats get no kernel:
their readers read through them (see `views`). Exceptions, which are written to memory, are results
of a function and index maps with many sources, as `torch.cat` of many tensors is: a reader would
have to select each element from all sources. Several kernels write the buffer of a map with many
sources. Each writes a part that has few sources (see `parts`).
"""

from collections.abc import Sequence
from typing import cast

from xdsl.context import Context
from xdsl.dialects import func, memref
from xdsl.dialects.builtin import (
    DenseArrayBase,
    FunctionType,
    ModuleOp,
    TensorType,
    UnrankedTensorType,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.passes import ModulePass

from tilewright.dialects import loop, prim
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.types import memref_of, tensor_type
from tilewright.passes.facts.host_functions import reason_not_launched
from tilewright.passes.loop.name_kernels import KernelNames
from tilewright.passes.loop.parts import Part, in_steps, is_wide, parts, within
from tilewright.passes.loop.primitive_kernel import (
    Primitive,
    PrimitiveKernel,
    free_axes,
    needed_results,
    write_body,
)
from tilewright.passes.loop.views import (
    Alternative,
    Choice,
    View,
    is_widening,
    read,
    view_of,
    whole,
)
from tilewright.passes.reporting.refusal import refused
from tilewright.passes.reporting.trace import Rule, rewriting

RULE = Rule("l", 1, "lift")

_NO_SIZES = DenseArrayBase.from_list(i32, [0, 0])
"""Numbers of dynamic sizes and of symbols of a buffer."""


class LiftPass(ModulePass):
    """Turn each function over tensors into a plan of launches over buffers."""

    name = "lift"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Lift the functions of the module."""
        with rewriting(RULE, op):
            names = KernelNames(op)
            for function in [f for f in op.ops if isinstance(f, func.FuncOp)]:
                types = (*function.function_type.inputs, *function.function_type.outputs)
                if any(isinstance(type, TensorType | UnrankedTensorType) for type in types):
                    if reason := reason_not_launched(function):
                        raise refused(function, reason)
                    _Lifting(function, names).run()


class _Lifting:
    """State of the walk that lifts one function, with a view for each tensor seen."""

    def __init__(self, function: func.FuncOp, names: KernelNames):
        self.function = function
        self.names = names
        self.kernels: list[Operation] = []
        self.views: dict[SSAValue, View] = {}
        self.plan = Block(arg_types=[_buffer_type(a.type) for a in function.body.block.args])

    def run(self) -> None:
        """Replace the function by its lifted form, followed by its kernels."""
        for old, new in zip(self.function.body.block.args, self.plan.args, strict=True):
            new.name_hint = old.name_hint
            self.views[old] = whole(new, old)
        for op in self.function.body.block.ops:
            self._lift(op)
        self._replace_function()

    def _lift(self, op: Operation) -> None:
        match op:
            case prim.ConstantOp() | prim.IotaOp() | prim.PredicateOp() | prim.IndexMapOp():
                self.views[op.result] = view_of(op, self.views)
                if op.result.uses and is_wide(self.views[op.result]):
                    self._write_parts(op.result)
            case prim.ElementwiseOp() if is_widening(op):
                self.views[op.result] = view_of(op, self.views)
            case prim.ElementwiseOp() | prim.GatherOp() | prim.ReduceOp() | prim.ScanOp():
                self._lift_primitive(op)
            case func.CallOp():
                self._lift_call(op)
            case func.ReturnOp():
                self.plan.add_op(func.ReturnOp(*map(self._in_memory, op.arguments)))
            case _:
                reason = "is not Tensor IR that can be lifted; run to-tensor first"
                raise refused(op, f"'{op.name}' {reason}")

    def _lift_primitive(self, op: Primitive) -> None:
        results = needed_results(op)
        buffers = [self._allocate(value) for value in results]
        if not _is_empty(results[0]):
            kernel = PrimitiveKernel(free_axes(op), buffers, self.views)
            write_body(op, kernel)
            self._launch(kernel, results[0])
        for value, buffer in zip(results, buffers, strict=True):
            self.views[value] = whole(buffer, value)

    def _lift_call(self, op: func.CallOp) -> None:
        buffers = [self._in_memory(value) for value in op.arguments]
        call = func.CallOp(op.callee, buffers, [_buffer_type(r.type) for r in op.results])
        call.location = op.location
        self.plan.add_op(call)
        for old, new in zip(op.results, call.results, strict=True):
            new.name_hint = old.name_hint
            self.views[old] = whole(new, old)

    def _in_memory(self, value: SSAValue) -> SSAValue:
        """
        Return a buffer that holds `value` in its own layout; a view of another tensor is copied.
        """
        view = self.views[value]
        if isinstance(view.source, SSAValue) and view.source.type == _buffer_type(value.type):
            if view.map == AffineMap.identity(len(view.map.results)):
                return view.source
        return self._copied(value)

    def _copied(self, value: SSAValue) -> SSAValue:
        buffer = self._allocate(value)
        if not _is_empty(value):
            kernel = PrimitiveKernel(tensor_type(value).get_shape(), [buffer], self.views)
            kernel.store([kernel.read(value, kernel.coordinates)])
            self._launch(kernel, value)
        self.views[value] = whole(buffer, value)
        return buffer

    def _write_parts(self, value: SSAValue) -> None:
        """Write a tensor with many sources to a buffer, part by part."""
        view, shape = self.views[value], tensor_type(value).get_shape()
        assert isinstance(view.source, Choice)
        buffer = self._allocate(value)
        for part in parts(view, shape):
            self._write_part(part, value, buffer)
        self.views[value] = whole(buffer, value)

    def _write_part(self, part: Part, value: SSAValue, buffer: SSAValue) -> None:
        """
        Write a part to its place in `buffer`. A part with more sources than one kernel reads goes
        through temporary buffers.
        """
        last, left = in_steps(part)
        while left:
            before = self._allocate(value, part.extents)
            self._copy(last, value, before, [0] * len(part.box))
            seen = Alternative(AffineMap(len(part.box), 0, ()), within(before, part.box))
            last, left = in_steps(Part(part.box, Choice([*left, seen], None)))
        kernel = self._copy(last, value, buffer, [known.low for known in part.box])
        if part.extents != [*tensor_type(value).get_shape()]:
            kernel.set_updated(kernel.outputs[0])

    def _copy(
        self, part: Part, value: SSAValue, buffer: SSAValue, at: Sequence[int]
    ) -> loop.KernelOp:
        """Launch a kernel that writes a part to `buffer`, beginning at the coordinates `at`."""
        kernel = PrimitiveKernel(part.extents, [buffer], self.views)
        steps = kernel.coordinates
        seen = [step + known.low for step, known in zip(steps, part.box, strict=True)]
        view = View(part.choice, AffineMap.identity(len(seen)))
        element = read(kernel, view, seen)
        kernel.store([element], [step + first for step, first in zip(steps, at, strict=True)])
        return self._launch(kernel, value)

    def _allocate(self, value: SSAValue, shape: Sequence[int] | None = None) -> SSAValue:
        """Allocate a buffer for `value`, or for a part of it if a `shape` is given."""
        type = tensor_type(value)
        extents = tuple(shape or type.get_shape())
        buffer = memref.AllocOp.create(  # its constructor checks each segment of operands
            result_types=[memref_of(type.element_type, extents)],
            properties={"operandSegmentSizes": _NO_SIZES},
        )
        buffer.memref.name_hint = value.name_hint
        self.plan.add_op(buffer)
        return buffer.memref

    def _launch(self, builder: PrimitiveKernel, result: SSAValue) -> loop.KernelOp:
        """Finish a kernel, name it after the value that it computes, and launch it."""
        kernel = builder.finish(self.names.unique(result.name_hint or "kernel"))
        launch = loop.LaunchOp(kernel.sym_name.data, builder.inputs, builder.buffers)
        if isinstance(primitive := result.owner, Operation):
            for op in (launch, *ops_in(kernel)):
                op.location = primitive.location
        self.kernels.append(kernel)
        self.plan.add_op(launch)
        return kernel

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


def _is_empty(value: SSAValue) -> bool:
    return 0 in tensor_type(value).get_shape()


def _buffer_type(type: Attribute) -> Attribute:
    if not isinstance(type, TensorType):
        return type
    tensor = cast(TensorType[Attribute], type)
    return memref_of(tensor.element_type, tensor.get_shape())
