# SPDX-License-Identifier: Apache-2.0
"""
Ops for tensor cores, which all lanes of a warp execute together.

A multiplication adds its products to D by the run's model of sums (`tilewright/matrix_sums.py`). In
a run with widened floats, nothing is rounded, and operands of tf32 keep all bits.
"""

from collections.abc import Mapping

import numpy as np
from xdsl.dialects.builtin import bf16, f16, f32
from xdsl.ir import Attribute, Operation
from xdsl.ir.affine import AffineMap

from tilewright.dialects.kernel import (
    HalveTf32Op,
    LoadMatrixOp,
    MatrixMultiplyOp,
    NearestFiniteOp,
    RoundTf32Op,
)
from tilewright.dialects.kernel.matrix import Fragment
from tilewright.dialects.loop import StoreOp
from tilewright.dialects.matrix_instruction import (
    MATRIX_ROW_BYTES,
    MATRIX_ROWS,
    REGISTER_BYTES,
    MatrixInstruction,
)
from tilewright.dialects.target import WARP_SIZE
from tilewright.dialects.tile import layout_of
from tilewright.dialects.types import memref_type, size_of
from tilewright.interpreters.access import Place, offsets, read, write
from tilewright.interpreters.buffer import Buffer
from tilewright.interpreters.errors import fail
from tilewright.interpreters.kernel.copy import misaligned
from tilewright.interpreters.kernel.threads import Threads
from tilewright.interpreters.machine import Handlers, evaluate
from tilewright.interpreters.types import Array, ElementTypes
from tilewright.matrix_sums import BFLOAT16, FLOAT16, TF32, FactorType, multiply_add

_DROPPED_BITS = 13
"""Low bits of a float32 that tf32 lacks."""

_FACTOR_TYPES: Mapping[Attribute, FactorType] = {bf16: BFLOAT16, f16: FLOAT16, f32: TF32}

_LANES = np.arange(WARP_SIZE)[:, None]


def _load_matrix(machine: Threads, op: LoadMatrixOp) -> None:
    _check_warps(machine, op)
    type = memref_type(op.source)
    axis, each = layout_of(type).innermost(type), REGISTER_BYTES // size_of(op.element)
    source = Place(op.source, op.source_map.data, (*op.source_indices,), axis, op.row_elements)
    offset = offsets(machine, op, source, machine.active)
    _check_rows(machine, op, source)
    is_row = machine.thread_id % WARP_SIZE < op.addressing_lanes
    is_row = is_row if machine.active is None else is_row & machine.active
    values = read(op, machine.values[op.source], offset, is_row, machine.accessors())
    matrix, part = np.divmod(np.arange(op.target_elements), each)
    row, column = _LANES // 4, _LANES % 4 * each + part
    if op.transposed is not None:
        row, column = column, row
    target = Fragment(op.target, op.target_map, (*op.target_indices,), op.target_elements)
    rows = _by_warp(machine, values)
    _write(machine, op, target, rows[..., matrix * MATRIX_ROWS + row, column])


def _matrix_multiply(machine: Threads, op: MatrixMultiplyOp) -> None:
    _check_warps(machine, op)
    sizes, (of_a, of_b, of_d) = op.instruction.data.fragments, op.fragments()
    a = _matrix(_operand(machine, op, of_a), sizes.a, (sizes.m, sizes.k))
    b = _matrix(_operand(machine, op, of_b), sizes.b, (sizes.k, sizes.n))
    d = _matrix(_fragment(machine, op, of_d), sizes.d, (sizes.m, sizes.n))
    result = multiply_matrices(machine.types, op.instruction.data, a, b, d)
    _write(machine, op, of_d, result[..., *_elements(sizes.d, of_d.elements)])


def multiply_matrices(
    types: ElementTypes, instruction: MatrixInstruction, a: Array, b: Array, d: Array
) -> Array:
    """Return `A * B + D` for matrices of shape (..., warps, rows, columns) in float64."""
    if types.numbers is not None:
        return types.numbers.multiply_add(a, b, d)
    if types.floats is not None:
        return (d + a @ b).astype(types.floats)
    compute = multiply_add(types.matrix_sums, _FACTOR_TYPES[instruction.fragments.element])
    stacks = [matrices.reshape(-1, *matrices.shape[-2:]) for matrices in (a, b, d)]
    return compute(stacks[0], stacks[1], stacks[2].astype(np.float32)).reshape(d.shape)


def _round_tf32(machine: Threads, op: RoundTf32Op) -> None:
    machine.define(op, round_to_tf32(machine.array(op.value)))


def round_to_tf32(x: Array) -> Array:
    """
    Return the nearest values with 10 bits after the leading bit, ties away from zero; widened
    floats are returned unchanged.
    """
    if x.dtype != np.float32:
        return x
    half = np.uint32(1 << (_DROPPED_BITS - 1))
    rounded = _truncated((x.view(np.uint32) + half).view(np.float32))
    return np.where(np.isfinite(x), rounded, x)


def _halve_tf32(machine: Threads, op: HalveTf32Op) -> None:
    value, numbers = machine.array(op.value), machine.types.numbers
    half = half_as_tf32(value) if numbers is None else numbers.halve(value, _factor_of(op))
    machine.define(op, half)


def _factor_of(op: HalveTf32Op) -> str:
    """
    Return the factor of matrix products that a half is stored to, `a` or `b`; empty if it is
    neither or both.
    """
    stores = (use.operation for use in op.result.uses)
    arrays = {store.memref for store in stores if isinstance(store, StoreOp)}
    products = {use.operation for array in arrays for use in array.uses}
    factors = {
        name
        for product in products
        if isinstance(product, MatrixMultiplyOp)
        for name, factor in (("a", product.a), ("b", product.b))
        if factor in arrays
    }
    return factors.pop() if len(factors) == 1 else ""


def half_as_tf32(x: Array) -> Array:
    """
    Return halves with 10 bits after the leading bit, at most 2^-11 off; for widened floats, exact
    halves.
    """
    if x.dtype != np.float32:
        return x / 2
    return _truncated(x * np.float32(0.5 + 2.0**-12))


def _nearest_finite(machine: Threads, op: NearestFiniteOp) -> None:
    largest = np.finfo(np.float32).max
    machine.define(op, np.fmin(np.fmax(machine.array(op.value), -largest), largest))


def _truncated(x: Array) -> Array:
    """Return float32 values with zeros in place of the bits that tf32 lacks."""
    kept = np.uint32(0xFFFFFFFF >> _DROPPED_BITS << _DROPPED_BITS)
    return (x.view(np.uint32) & kept).view(np.float32)


def _check_warps(machine: Threads, op: Operation) -> None:
    """Raise `InterpreterError` unless all 32 lanes of each warp that reaches `op` are active."""
    machine.arriving_warps(op, "op")


def _check_rows(machine: Threads, op: LoadMatrixOp, rows: Place) -> None:
    """Raise `InterpreterError` unless each row is 16 adjacent bytes at a multiple of 16 bytes."""
    inner = layout_of(memref_type(rows.memref)).inner.data
    if inner % rows.width:
        raise fail(op, f"a row of {rows.width} elements crosses pieces of {inner} elements")
    byte = misaligned(machine, rows, machine.active, MATRIX_ROW_BYTES)
    if byte is not None:
        raise fail(
            op,
            f"a row begins at byte {byte} of {rows.name}, not at a multiple of {MATRIX_ROW_BYTES}",
            remedy="pad rows to a multiple of 16 bytes, and step by whole rows of a matrix",
        )


def _operand(machine: Threads, op: MatrixMultiplyOp, fragment: Fragment) -> Array:
    """Return the elements of A or B that a multiplication uses, by warp, lane and element."""
    values = _fragment(machine, op, fragment)
    return _truncated(values) if values.dtype == np.float32 else values


def _fragment(machine: Threads, op: Operation, fragment: Fragment) -> Array:
    """Return the elements of a fragment, of shape (..., warps, lanes, elements)."""
    place = _place(machine, op, fragment)
    offset = offsets(machine, op, place, machine.active)
    buffer: Buffer = machine.values[fragment.memref]
    return _by_warp(machine, read(op, buffer, offset, machine.active, None))


def _write(machine: Threads, op: Operation, fragment: Fragment, values: Array) -> None:
    """Store the elements of a fragment, given by warp, lane and element."""
    by_thread = values.reshape(*machine.shape, fragment.elements)
    place = _place(machine, op, fragment)
    write(machine, op, place, np.moveaxis(by_thread, -1, 0), machine.active)


def _place(machine: Threads, op: Operation, fragment: Fragment) -> Place:
    """Return the place of a fragment; raise `InterpreterError` unless it begins at a word."""
    place = Place(fragment.memref, fragment.map.data, fragment.indices, None, fragment.elements)
    byte = misaligned(machine, place, machine.active, REGISTER_BYTES)
    if byte is not None:
        raise fail(
            op,
            f"a fragment begins at byte {byte} of {place.name}, inside of a register",
            remedy=f"begin at a multiple of {REGISTER_BYTES} bytes",
        )
    return place


def _by_warp(machine: Threads, values: Array) -> Array:
    """Return values given by (element, thread) with the shape (..., warps, lanes, elements)."""
    whole = np.broadcast_to(values, (len(values), *machine.shape))
    return np.moveaxis(whole, 0, -1).reshape(*machine.shape[:-1], -1, WARP_SIZE, len(values))


def _matrix(values: Array, map: AffineMap, shape: tuple[int, int]) -> Array:
    """Return the matrices of all warps in float64, from the elements that their lanes hold."""
    matrix = np.zeros((*values.shape[:-2], *shape))
    matrix[..., *_elements(map, values.shape[-1])] = values
    return matrix


def _elements(map: AffineMap, count: int) -> tuple[Array, Array]:
    """Return the rows and the columns of the first `count` elements of each lane."""
    row, column = (evaluate(expr, (_LANES, np.arange(count))) for expr in map.results)
    return np.asarray(row), np.asarray(column)


MATRICES: Handlers = {
    LoadMatrixOp: _load_matrix,
    MatrixMultiplyOp: _matrix_multiply,
    RoundTf32Op: _round_tf32,
    HalveTf32Op: _halve_tf32,
    NearestFiniteOp: _nearest_finite,
}
