# SPDX-License-Identifier: Apache-2.0
"""
Inputs that reveal a kernel's errors: with them, a result changes if any single contribution is
lost.

Ordinary random numbers hide many errors. A softmax subtracts the maximum of its row only against
overflow: its result is right whatever is subtracted, unless an element is so large that `exp`
overflows. Therefore one input at a time has an element of 30000 in each row, at another place in
each row. If the lane, register, chunk or block with it is missed, the result differs. A zero from
outside of a mask is detected if all numbers are far from zero.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import gcd, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilewright.arrays import ROUNDOFF
from tilewright.codegen.launch_plan import ArrayType
from tilewright.codegen.random_inputs import INDEX_TYPES, random_inputs

Array = NDArray[Any]

SPIKES = (3e4, 300.0, 20.0)
"""Sizes of the extreme element; the first one that does not overflow in the kernel is used."""

DISTANCES = (200.0, 20.0, 2.0)
"""
Distances of all numbers from zero; the first one that does not overflow in the kernel is used.
"""

INDICES = (256, 64, 8, 2)
"""
Upper bounds of random integers, which may be indices; the first one that the kernel accepts is
used.
"""

TURNS = 4
"""
Maximum number of sets for each input, by default, in which the extreme element is at different
places.
"""

_GOLDEN = 0.6180339887


@dataclass(frozen=True)
class InputSet:
    """
    Inputs for one run, as functions that make them in versions, from the most to the least extreme.
    """

    what: str
    versions: Sequence[Callable[[], list[Array]]]


def input_sets(types: Sequence[ArrayType], seed: int = 0, turns: int = TURNS) -> Iterator[InputSet]:
    """
    Yield the sets of inputs for judging a kernel, starting with those that find most errors.

    `ordered` rows are below zero and have their maximum at one end. `normal` numbers have sums near
    zero. `low` numbers are far below zero. `ties` have few distinct values far above zero, for
    `argmax` and similar operators. `spikes` have one extreme element per line, in one input at a
    time, in at most `turns` sets.
    """
    yield InputSet("ordered", _with_indices(types, seed, _ordered))
    yield InputSet("normal", _with_indices(types, seed + 1, np.asarray))
    yield InputSet("low", _versions(types, seed + 2, _below, DISTANCES))
    yield InputSet("ties", _versions(types, seed + 3, _tied, DISTANCES))
    for number, type in enumerate(types):
        if type.dtype.name in ROUNDOFF:
            for turn in range(min(turns, _turns(type.shape))):
                what = f"spikes in input {number}, turn {turn}"
                yield InputSet(what, _with_spikes(types, seed + 4, number, turn))


def spiked(array: Array, turn: int, size: float) -> Array:
    """
    Return the array with an extreme element in each line of its longest axis.

    The element's place moves along the axis from line to line and from turn to turn: first the last
    place, then places that spread evenly. Its sign alternates from turn to turn, and after as many
    lines as there are places.
    """
    result = np.array(array)
    if not array.size:
        return result
    lines = np.moveaxis(result, _longest(array.shape), -1) if array.ndim else result[None]
    shape, length = lines.shape[:-1], lines.shape[-1]
    line = np.arange(prod(shape))
    number = line + turn * len(line)
    places = (number * _step(length) - 1) % length
    signs = np.where((turn + line // length) % 2, -1.0, 1.0)
    at = (*np.unravel_index(line, shape), places) if shape else (places,)
    lines[at] = (signs * size).astype(array.dtype)
    return result


def _longest(shape: Sequence[int]) -> int:
    """Return the number of the longest axis; the last one, if several are equally long."""
    return max(range(len(shape)), key=lambda axis: (shape[axis], axis))


def _step(length: int) -> int:
    """Return a number coprime to `length`, whose multiples spread evenly modulo `length`."""
    step = max(1, round(length * _GOLDEN))
    while gcd(step, length) != 1:
        step += 1
    return step


def _turns(shape: Sequence[int]) -> int:
    """
    Return the number of sets that put an extreme element of both signs at each place of the longest
    axis.
    """
    length, elements = max(shape, default=1), max(prod(shape), 1)
    return -(-2 * length * length // elements)


def _with_indices(
    types: Sequence[ArrayType], seed: int, change: Callable[[Array], Array]
) -> list[Callable[[], list[Array]]]:
    """
    Return functions that make random inputs whose floats `change` has changed, one for each upper
    bound of integers.
    """
    return [partial(_changed, types, seed, change, bound) for bound in _bounds(types)]


def _bounds(types: Sequence[ArrayType]) -> Sequence[int]:
    """
    Return the bounds of integers to try: all if an input may be an index, else only the smallest.
    """
    return INDICES if any(_is_index(type) for type in types) else INDICES[-1:]


def _versions(
    types: Sequence[ArrayType],
    seed: int,
    change: Callable[..., Array],
    sizes: Sequence[float],
) -> list[Callable[[], list[Array]]]:
    """
    Return functions that make random inputs whose floats `change` has changed, one for each size.
    """
    changes = [partial(change, size=size) for size in sizes]
    return [partial(_changed, types, seed, change, INDICES[-1]) for change in changes]


def _changed(
    types: Sequence[ArrayType], seed: int, change: Callable[[Array], Array], bound: int
) -> list[Array]:
    arrays = random_inputs(types, seed, bound)
    return [change(a).astype(a.dtype) if _is_float(a) else a for a in arrays]


def _with_spikes(
    types: Sequence[ArrayType], seed: int, number: int, turn: int
) -> list[Callable[[], list[Array]]]:
    """
    Return functions that make random inputs with spikes in input `number`, one for each size and
    each upper bound of integers.
    """

    def version(size: float, bound: int) -> list[Array]:
        arrays = random_inputs(types, seed + turn, bound)
        if turn == 0:
            arrays = [_at_end(a, bound) if _is_position(a) else a for a in arrays]
        arrays[number] = spiked(arrays[number], turn, size)
        return arrays

    return [partial(version, size, bound) for size in SPIKES for bound in _bounds(types)]


def _at_end(array: Array, bound: int) -> Array:
    """
    Return an array full of the last position, `bound - 1`: a program that masks elements behind a
    position then masks none.
    """
    return np.full_like(array, bound - 1)


def _ordered(array: Array) -> Array:
    """
    Return numbers below zero with alternately rising and falling rows, in which an added zero is
    visible.
    """
    if not array.ndim:
        return array - 4
    rows = np.sort(array - 4, axis=-1).reshape(-1, array.shape[-1])
    rows[1::2] = rows[1::2, ::-1]
    return rows.reshape(array.shape)


def _below(array: Array, size: float) -> Array:
    return array - size


def _tied(array: Array, size: float) -> Array:
    return np.rint(array) + size


def _is_float(array: Array) -> bool:
    return array.dtype.name in ROUNDOFF


def _is_position(array: Array) -> bool:
    """True if the array may be a single index, such as a token's position in a cache."""
    return array.size == 1 and _is_index(array)


def _is_index(type: ArrayType | Array) -> bool:
    return type.dtype.name in INDEX_TYPES
