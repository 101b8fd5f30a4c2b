# SPDX-License-Identifier: Apache-2.0
"""Tensor IR: whole arrays at once. A broadcast or a view costs no memory."""

from math import prod

import numpy as np

from tilewright.dialects.prim import ConstantOp, ElementwiseOp, IndexMapOp, ReduceOp
from tilewright.dialects.types import tensor_type
from tilewright.interpreters.errors import TooLargeError, place_of
from tilewright.interpreters.machine import Handlers, Machine, evaluate
from tilewright.interpreters.monoid import fold, identities
from tilewright.interpreters.scalar import PRIM
from tilewright.interpreters.types import Array

_MAX_ELEMENTS = 1 << 28
"""Elements of an array that is computed and held whole: 1 GiB of float32."""


def _elementwise(machine: Machine, op: ElementwiseOp) -> None:
    shape = tensor_type(op.result).get_shape()
    if prod(shape) > _MAX_ELEMENTS:
        raise TooLargeError(
            f"the tensor has {prod(shape)} elements, too many to hold",
            where=place_of(op),
            remedy="interpret at loop level, where it is never built, or use smaller shapes",
        )
    machine.define(op, PRIM[op.function.data](*map(machine.array, op.inputs)))


def _reduce(machine: Machine, op: ReduceOp) -> None:
    elements = [tensor_type(result).element_type for result in op.results_]
    start = identities(machine.types, op.monoid, elements)
    values = [machine.array(value) for value in op.inputs]
    machine.define(op, *fold(op.monoid.data, values, tuple(op.dims.get_values()), start))


def _index_map(machine: Machine, op: IndexMapOp) -> None:
    shape, source = tensor_type(op.result).get_shape(), machine.array(op.input)
    if 0 in shape:
        machine.define(op, np.zeros(shape, source.dtype))
        return
    coordinates = [_axis(size, len(shape) - position - 1) for position, size in enumerate(shape)]
    subscripts = [evaluate(expr, coordinates) for expr in op.map.data.results]
    machine.define(op, np.broadcast_to(source[tuple(subscripts)], shape))


def _axis(size: int, inner: int) -> Array:
    """The coordinates of an axis that has `inner` axes inside it."""
    return np.arange(size).reshape((-1, *[1] * inner))


def _constant(machine: Machine, op: ConstantOp) -> None:
    value = machine.types.constant(op.value)
    machine.define(op, np.broadcast_to(value, tensor_type(op.result).get_shape()))


PRIM_OPS: Handlers = {
    ElementwiseOp: _elementwise,
    ReduceOp: _reduce,
    IndexMapOp: _index_map,
    ConstantOp: _constant,
}
