# SPDX-License-Identifier: Apache-2.0
"""
Interpreter of Tensor IR, which computes whole arrays at once. Broadcasts and views take no memory.
"""

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.dialects.builtin import AnyFloat, i1
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineMap, AffineSymExpr

from tilewright.dialects.prim import (
    ConstantOp,
    ElementwiseOp,
    GatherOp,
    IndexMapOp,
    IotaOp,
    PredicateOp,
    ReduceOp,
    ScalarFunction,
    ScanOp,
    ScatterOp,
    Source,
)
from tilewright.dialects.types import element_of, shape_of
from tilewright.interpreters.errors import TooLargeError, error_at, fail
from tilewright.interpreters.machine import Handlers, Machine, evaluate
from tilewright.interpreters.monoid import accumulate, fold, identities
from tilewright.interpreters.scalar_function import cast
from tilewright.interpreters.types import Array

_MAX_ELEMENTS = 1 << 28
"""Limit of the elements of an array that is computed and held whole: 1 GiB of float32."""


def _check_size(op: Operation) -> None:
    elements = prod(shape_of(op.results[0]))
    if elements > _MAX_ELEMENTS:
        message = f"the tensor has {elements} elements, too many to hold"
        remedy = "interpret at loop level, where it is never built, or use smaller shapes"
        raise error_at(TooLargeError, op, message, remedy)


def _elementwise(machine: Machine, op: ElementwiseOp) -> None:
    _check_size(op)
    function, arrays = op.function.data, [machine.array(value) for value in op.inputs]
    if function is ScalarFunction.CAST:
        machine.define(op, _cast(machine, arrays[0], op))
        return
    machine.define(op, machine.numbers.scalar_functions[function](*arrays))


def _cast(machine: Machine, array: Array, op: ElementwiseOp) -> Array:
    source, target = element_of(op.inputs[0]), element_of(op.result)
    dtype, numbers = machine.types[target], machine.types.numbers
    if numbers is None or isinstance(source, AnyFloat) is isinstance(target, AnyFloat):
        return cast(array, dtype)
    if isinstance(target, AnyFloat):
        return machine.types.number(array, target)
    return cast(array, dtype) if target == i1 else numbers.to_integer(array, source, dtype)


def _reduce(machine: Machine, op: ReduceOp) -> None:
    arrays = [machine.array(value) for value in op.inputs]
    elements = [element_of(value) for value in op.results_]
    start = identities(machine.types, op.monoid, elements)
    dims = op.dims.get_values()
    machine.define(op, *fold(op.monoid.data, arrays, dims, start, machine.numbers))


def _scan(machine: Machine, op: ScanOp) -> None:
    dim = op.dim.value.data
    arrays = [np.moveaxis(machine.array(value), dim, 0) for value in op.inputs]
    joined = accumulate(op.monoid.data, arrays, machine.numbers)
    machine.define(op, *(np.moveaxis(array, 0, dim) for array in joined))


def _index_map(machine: Machine, op: IndexMapOp) -> None:
    shape = shape_of(op.result)
    if len(op.inputs) > 1 or op.fill is not None:
        _check_size(op)
    result = np.zeros((), machine.types[element_of(op.result)])
    if op.fill is not None:
        result = machine.types.constant(op.fill)
    for source in reversed(op.sources):
        result = _overlaid(machine, source, shape, result)
    machine.define(op, np.broadcast_to(result, shape))


def _overlaid(machine: Machine, source: Source, shape: Sequence[int], rest: Array) -> Array:
    """
    Return an array of `shape` with the source's elements where its mask is true, and those of
    `rest` elsewhere.
    """
    array, coordinates = machine.array(source.tensor), _coordinates(shape)
    mask = np.ones((1,) * len(shape), bool)
    for bound in source.mask.results:
        mask = mask & (evaluate(bound, coordinates) >= 0)
    if 0 in shape or not mask.any():
        return rest
    subscripts = [np.asarray(evaluate(e, coordinates)) for e in source.map.results]
    if source.mask.results:
        sizes = zip(subscripts, array.shape, strict=True)
        subscripts = [np.clip(subscript, 0, size - 1) for subscript, size in sizes]
    values = array[tuple(subscripts)]
    return values if not source.mask.results else np.where(mask, values, rest)


def _coordinates(shape: Sequence[int]) -> list[Array]:
    """Return the coordinates along each axis of `shape`, as arrays that broadcast to it."""
    rank = len(shape)
    return [
        np.arange(size).reshape((-1, *[1] * (rank - axis - 1))) for axis, size in enumerate(shape)
    ]


def _iota(machine: Machine, op: IotaOp) -> None:
    dtype, shape = machine.types[element_of(op.result)], shape_of(op.result)
    value = np.asarray(evaluate(op.map.data.results[0], _coordinates(shape)), dtype)
    machine.define(op, np.broadcast_to(value, shape))


def _predicate(machine: Machine, op: PredicateOp) -> None:
    shape = shape_of(op.result)
    holds = np.ones((1,) * len(shape), bool)
    for bound in op.map.data.results:
        holds = holds & (np.asarray(evaluate(bound, _coordinates(shape))) >= 0)
    machine.define(op, np.broadcast_to(holds, shape))


def _subscripts(
    machine: Machine, op: GatherOp | ScatterOp, map: AffineMap, tensor: SSAValue, steps: SSAValue
) -> tuple[Array, ...]:
    """
    Return the subscripts at which an op accesses `tensor`, one array for each axis. Raises
    `InterpreterError` if one is out of bounds.
    """
    symbols = [machine.array(index) for index in op.indices]
    coordinates = _coordinates(shape_of(steps))
    values = [
        symbols[e.position] if isinstance(e, AffineSymExpr) else evaluate(e, coordinates)
        for e in map.results
    ]
    for axis, (value, size) in enumerate(zip(values, shape_of(tensor), strict=True)):
        wrong = np.asarray((value < 0) | (value >= size))
        if wrong.any():
            first = np.broadcast_to(value, wrong.shape)[wrong][0]
            raise fail(op, f"subscript {axis} is {first}, out of bounds for an axis of size {size}")
    return tuple(np.broadcast_to(value, shape_of(steps)) for value in values)


def _gather(machine: Machine, op: GatherOp) -> None:
    source = machine.array(op.source)
    machine.define(op, source[_subscripts(machine, op, op.map.data, op.source, op.result)])


def _scatter(machine: Machine, op: ScatterOp) -> None:
    result, updates = np.array(machine.array(op.base)), machine.array(op.updates)
    where = _subscripts(machine, op, op.map.data, op.base, op.updates)
    if op.combiner is None:
        for position in np.ndindex(updates.shape):
            result[tuple(axis[position] for axis in where)] = updates[position]
    else:
        machine.numbers.joins[op.combiner.data].at(result, where, updates)
    machine.define(op, result)


def _constant(machine: Machine, op: ConstantOp) -> None:
    value = machine.types.constant(op.value)
    machine.define(op, np.broadcast_to(value, shape_of(op.result)))


PRIM_OPS: Handlers = {
    ElementwiseOp: _elementwise,
    ReduceOp: _reduce,
    ScanOp: _scan,
    IndexMapOp: _index_map,
    GatherOp: _gather,
    ScatterOp: _scatter,
    IotaOp: _iota,
    PredicateOp: _predicate,
    ConstantOp: _constant,
}
