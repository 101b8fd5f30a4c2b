# SPDX-License-Identifier: Apache-2.0
"""
Bodies of the kernels of primitives. The free axes of a kernel are the axes of its results; operands
are read through their views.

    %s = prim.reduce add(%x) dims [1, 2] : (tensor<16x4x3xf32>) -> tensor<16xf32>

is

    loop.for %i in 16 {
      %sum = loop.reduce %k in 12 with add {
        %0 = loop.load %x[%i, %k floordiv 3, %k mod 3] : memref<16x4x3xf32>
        loop.yield %0 : f32
      } : f32
      loop.store %sum, %out[%i] : memref<16xf32>
    }

Several reduced axes become one, which can then be split and shared. Contiguous elements are still
read contiguously, since quotient and remainder cancel in their address.
"""

from collections.abc import Mapping, Sequence
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr, AffineSymExpr

from tilewright.dialects import loop, prim
from tilewright.dialects.index import delinearize
from tilewright.dialects.monoid import Monoid
from tilewright.dialects.types import tensor_type
from tilewright.passes.loop.kernel_builder import KernelBuilder
from tilewright.passes.loop.scalar_function import scalar_function
from tilewright.passes.loop.views import View, read

Primitive = prim.ElementwiseOp | prim.GatherOp | prim.ReduceOp | prim.ScanOp
"""Ops that compute something, and therefore need a kernel."""


class PrimitiveKernel(KernelBuilder):
    """A builder of a kernel over `shape` that reads tensors through `views`."""

    def __init__(
        self,
        shape: Sequence[int],
        buffers: Sequence[SSAValue],
        views: Mapping[SSAValue, View],
    ):
        super().__init__(shape, buffers)
        self.buffers, self.views = buffers, views

    def read(self, value: SSAValue, coordinates: Sequence[AffineExpr]) -> SSAValue:
        """
        Add ops that read the element of a tensor at `coordinates`, expressions over this kernel's
        indices. Return the element.
        """
        return read(self, self.views[value], coordinates)

    def subscript(self, value: SSAValue, size: int) -> AffineExpr:
        """
        Convert an integer to a subscript of an axis of `size` (`loop.to_index`), and return the
        affine dimension for it.
        """
        return self.dimension(self.add(loop.ToIndexOp(value, size)))


def needed_results(op: Primitive) -> Sequence[SSAValue]:
    """
    Return the results with uses, or all results if none has any; the maximum of an argmax may have
    none.
    """
    return _of_needed(op.results, op)


def free_axes(op: Primitive) -> Sequence[int]:
    """Return the shape of the results, with the axis of a scan reduced to 1."""
    shape = [*tensor_type(op.results[0]).get_shape()]
    if isinstance(op, prim.ScanOp):
        shape[op.dim.value.data] = 1
    return shape


def write_body(op: Primitive, kernel: PrimitiveKernel) -> None:
    """Add the body of the kernel: compute each element of the results of `op` and store it."""
    match op:
        case prim.ElementwiseOp():
            _elementwise(op, kernel)
        case prim.GatherOp():
            _gather(op, kernel)
        case prim.ReduceOp():
            _reduce(op, kernel)
        case prim.ScanOp():
            _scan(op, kernel)


def _elementwise(op: prim.ElementwiseOp, kernel: PrimitiveKernel) -> None:
    element = tensor_type(op.result).element_type
    values = [kernel.read(v, kernel.coordinates) for v in op.inputs]
    result = scalar_function(op.function.data, values, element, kernel.add)
    if isinstance(result.owner, arith.MulfOp):
        result.owner.fastmath = op.fastmath
    kernel.store([result])


def _gather(op: prim.GatherOp, kernel: PrimitiveKernel) -> None:
    symbols = [kernel.read(v, kernel.coordinates) for v in op.indices]
    subscripts = [
        kernel.subscript(symbols[expr.position], size)
        if isinstance(expr, AffineSymExpr)
        else expr.replace_dims_and_symbols(kernel.coordinates, ())
        for expr, size in zip(op.map.data.results, tensor_type(op.source).get_shape(), strict=True)
    ]
    kernel.store([kernel.read(op.source, subscripts)])


def _reduce(op: prim.ReduceOp, kernel: PrimitiveKernel) -> None:
    shape = tensor_type(op.inputs[0]).get_shape()
    reduced = op.dims.get_values()
    extents = [shape[d] for d in reduced]
    is_alone = _is_each_element(op, extents)
    folded = _zeros(extents) if is_alone else delinearize(kernel.begin_loop(), extents)
    coordinates = _interleave(len(shape), reduced, folded, kernel.coordinates)
    values = [kernel.read(v, coordinates) for v in op.inputs]
    if not is_alone:
        values = kernel.end_reduce(prod(extents), op.monoid, values)
    kernel.store(_of_needed(values, op))


def _scan(op: prim.ScanOp, kernel: PrimitiveKernel) -> None:
    dim = op.dim.value.data
    coordinates = kernel.coordinates
    coordinates[dim] = kernel.begin_loop()
    values = [kernel.read(v, coordinates) for v in op.inputs]
    prefixes = kernel.prefix(op.monoid, values)
    kernel.store(_of_needed(prefixes, op), coordinates)
    kernel.end_scan(tensor_type(op.inputs[0]).get_shape()[dim])


def _of_needed(values: Sequence[SSAValue], op: Primitive) -> Sequence[SSAValue]:
    """Return the values of the needed results, out of `values`, one for each result."""
    used = [v for v, result in zip(values, op.results, strict=True) if result.uses]
    return used or values


def _is_each_element(op: prim.ReduceOp, extents: Sequence[int]) -> bool:
    """
    True if each element is reduced alone, to itself. Excludes float sums, which turn -0 into 0.
    """
    is_float = isinstance(tensor_type(op.inputs[0]).element_type, AnyFloat)
    return prod(extents) == 1 and not (is_float and op.monoid.data is Monoid.ADD)


def _zeros(extents: Sequence[int]) -> Sequence[AffineExpr]:
    return [AffineExpr.constant(0) for _ in extents]


def _interleave(
    rank: int,
    reduced: Sequence[int],
    folded: Sequence[AffineExpr],
    kept: Sequence[AffineExpr],
) -> list[AffineExpr]:
    """Return the coordinates of the operand: `folded` at the reduced axes, `kept` at the others."""
    inner, outer = iter(folded), iter(kept)
    return [next(inner) if axis in reduced else next(outer) for axis in range(rank)]
