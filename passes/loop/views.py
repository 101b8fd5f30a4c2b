# SPDX-License-Identifier: Apache-2.0
"""
Tensors that need no memory: their readers read elements through a view.

    %p = prim.index_map %x by affine_map<(d0) -> (d0 - 1)> where affine_map<(d0) -> (d0 - 1)>
        else 0.000000e+00 : f32 : tensor<16xf32> -> tensor<17xf32>

is a view of `%x`, and its element `i` is

    %0 = loop.load %x[%i - 1] where [%i - 1] : memref<16xf32>

A mask becomes a select, unless a load can apply it.

A cast of a half type to a wider float type is a view, too: readers load the half value and widen it
(`arith.extf`). The widened tensor is therefore never written to memory.
"""

from collections.abc import Mapping, Sequence
from math import copysign
from typing import NamedTuple, Union

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from tilewright.dialects import loop, prim
from tilewright.dialects.element_types import COMPUTE_FLOATS, HALVES
from tilewright.dialects.scalar_function import ScalarFunction
from tilewright.dialects.types import element_of, tensor_type
from tilewright.passes.loop.kernel_builder import KernelBuilder
from tilewright.passes.loop.scalar_function import constant_of

Number = FloatAttr | IntegerAttr


class View(NamedTuple):
    """
    The place of a tensor's elements: a buffer, or a source that needs no memory. The map takes the
    coordinates of the tensor to those of the source.
    """

    source: Union[SSAValue, Number, prim.IotaOp, prim.PredicateOp, "Choice", "Widened"]
    map: AffineMap


class Alternative(NamedTuple):
    """A view that is taken where all results of a mask are at least 0."""

    mask: AffineMap
    view: View


class Choice(NamedTuple):
    """The first of several views whose mask holds, or else a fill value."""

    alternatives: Sequence[Alternative]
    fill: Number | None


class Widened(NamedTuple):
    """The elements of a view of a half type, converted to a wider float type by each reader."""

    view: View
    type: Attribute


ViewOp = prim.ConstantOp | prim.IotaOp | prim.PredicateOp | prim.IndexMapOp | prim.ElementwiseOp
"""Ops whose results need no memory; an elementwise op must be a widening."""


def is_widening(op: Operation) -> bool:
    """True if `op` casts a half type to a wider float type."""
    if not isinstance(op, prim.ElementwiseOp) or op.function.data is not ScalarFunction.CAST:
        return False
    return element_of(op.inputs[0]) in HALVES and element_of(op.result) in COMPUTE_FLOATS


def whole(buffer: SSAValue, value: SSAValue) -> View:
    """Return the view of `value` as it lies in `buffer`."""
    return View(buffer, _identity(value))


def view_of(op: ViewOp, views: Mapping[SSAValue, View]) -> View:
    """Return the view of the result of `op`, given the views of its operands."""
    match op:
        case prim.ConstantOp(value=value, result=result):
            return View(value, AffineMap(tensor_type(result).get_num_dims(), 0, ()))
        case prim.IotaOp() | prim.PredicateOp():
            return View(op, _identity(op.result))
        case prim.IndexMapOp():
            return _mapped(op, views)
        case prim.ElementwiseOp():
            source = Widened(views[op.inputs[0]], element_of(op.result))
            return View(source, _identity(op.result))


def _mapped(op: prim.IndexMapOp, views: Mapping[SSAValue, View]) -> View:
    seen = [
        Alternative(source.mask, _composed(views[source.tensor], source.map))
        for source in op.sources
    ]
    if not seen[0].mask.results:
        return seen[0].view
    return View(Choice(seen, op.fill), _identity(op.result))


def _composed(view: View, map: AffineMap) -> View:
    return View(view.source, view.map.compose(map))


def read(
    kernel: KernelBuilder,
    view: View,
    coordinates: Sequence[AffineExpr],
    where: Sequence[AffineExpr] = (),
) -> SSAValue:
    """
    Add ops that read the element of `view` at `coordinates`, expressions over the kernel's indices;
    return the element. Unless all of `where` are at least 0, nothing is read and the result is any
    value.
    """
    at = at_coordinates(view.map, coordinates)
    match view.source:
        case SSAValue():
            return kernel.load(view.source, at, where)
        case FloatAttr() | IntegerAttr():
            return constant_of(view.source, kernel.add)
        case prim.IotaOp(map=map, result=result):
            value = at_coordinates(map.data, at)
            type = tensor_type(result).element_type
            return kernel.add(loop.IndexOp(kernel.access(value), type))
        case prim.PredicateOp(map=map):
            return kernel.holds(at_coordinates(map.data, at))
        case Choice():
            return _read_choice(kernel, view.source, at, where)
        case Widened(view=narrow, type=type):
            return kernel.add(arith.ExtFOp(read(kernel, narrow, at, where), type))


def _read_choice(
    kernel: KernelBuilder,
    choice: Choice,
    at: Sequence[AffineExpr],
    where: Sequence[AffineExpr],
) -> SSAValue:
    """
    Add ops that read an element of a choice, and return the element: that of the last alternative,
    overridden by each earlier one whose mask holds.
    """
    result: SSAValue | None = None
    for alternative in reversed(choice.alternatives):
        mask = at_coordinates(alternative.mask, at)
        value = read(kernel, alternative.view, at, [*where, *mask])
        if not mask or (result is None and _is_zero(choice.fill) and _is_loaded(value)):
            result = value  # a load gives 0 where its mask fails
            continue
        if result is None:
            assert choice.fill is not None
            result = constant_of(choice.fill, kernel.add)
        result = kernel.add(arith.SelectOp(kernel.holds(mask), value, result))
    assert result is not None
    return result


def at_coordinates(map: AffineMap, coordinates: Sequence[AffineExpr]) -> list[AffineExpr]:
    """Return the results of `map` at `coordinates`."""
    return [expr.replace_dims_and_symbols(coordinates, ()) for expr in map.results]


def _identity(value: SSAValue) -> AffineMap:
    return AffineMap.identity(tensor_type(value).get_num_dims())


def _is_zero(fill: Number | None) -> bool:
    return fill is not None and fill.value.data == 0 and copysign(1, fill.value.data) > 0


def _is_loaded(value: SSAValue) -> bool:
    """True if `value` is the result of a load, or its widening: 0 where the load is masked."""
    source = value.owner.input if isinstance(value.owner, arith.ExtFOp) else value
    return isinstance(source.owner, loop.LoadOp)
