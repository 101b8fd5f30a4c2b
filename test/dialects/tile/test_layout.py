# SPDX-License-Identifier: Apache-2.0
"""Offsets of the elements of a slab in each layout."""

from itertools import product
from math import prod
from typing import Any

import pytest
from xdsl.dialects.builtin import MemRefType, f32
from xdsl.ir.affine import AffineExpr
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.tile.layout import SlabLayoutAttr

SHAPE = (8, 32)


def places(layout: SlabLayoutAttr, shape: tuple[int, ...] = SHAPE) -> dict[tuple[int, ...], int]:
    """Return the element of memory, 4 bytes each, in which each element of the slab lies."""
    dims = [AffineExpr.dimension(axis) for axis in range(len(shape))]
    offset = layout.offset(dims, MemRefType(f32, shape))
    return {at: layout.swizzled(offset.eval(at, ()) * 4) // 4 for at in product(*map(range, shape))}


@pytest.mark.parametrize(
    "layout",
    [
        SlabLayoutAttr.get(),
        SlabLayoutAttr.get(order=[1, 0]),
        SlabLayoutAttr.get(pad=[0, 4]),
        SlabLayoutAttr.get(order=[1, 0], pad=[1, 0]),
        SlabLayoutAttr.get(inner=16, swizzle=64),
        SlabLayoutAttr.get(inner=8, swizzle=32),
        SlabLayoutAttr.get(swizzle=128),
        SlabLayoutAttr.get(deal=4),
        SlabLayoutAttr.get(deal=2, pad=[0, 4]),
        SlabLayoutAttr.get(deal=8, order=[1, 0]),
        SlabLayoutAttr.get(deal=4, inner=16, swizzle=64),
    ],
)
def test_elements_have_places_of_their_own(layout: SlabLayoutAttr):
    found = places(layout)
    assert len({*found.values()}) == prod(SHAPE)
    assert max(found.values()) < layout.size(MemRefType(f32, SHAPE))


def test_order_and_padding():
    found = places(SlabLayoutAttr.get(order=[1, 0], pad=[1, 0]))
    assert found[1, 0] == 1
    assert found[0, 1] == SHAPE[0] + 1


@pytest.mark.parametrize(("layout", "unit"), [({"pad": [0, 1]}, 32), ({"swizzle": 128}, 256)])
def test_slots_are_aligned(layout: dict[str, Any], unit: int):
    plain, ring = SlabLayoutAttr.get(**layout), SlabLayoutAttr.get(**layout, slots=True)
    slot, slots = places(plain, (3, 32)), places(ring, (2, 3, 32))
    assert {at: slots[0, *at] for at in slot} == slot
    size = ring.size(MemRefType(f32, (2, 3, 32))) // 2
    assert size % unit == 0
    assert {at: slots[1, *at] - size for at in slot} == slot


def test_pieces_of_the_inner_axis():
    found = places(SlabLayoutAttr.get(inner=16))
    assert found[1, 0] == 16
    assert found[0, 16] == SHAPE[0] * 16


def test_rows_are_dealt_out_to_piles():
    found = places(SlabLayoutAttr.get(deal=4))
    rows = [found[row, 0] // SHAPE[1] for row in range(SHAPE[0])]
    assert rows == [0, 2, 4, 6, 1, 3, 5, 7]


@pytest.mark.parametrize(("span", "rows"), [(32, 4), (64, 2), (128, 1)])
def test_chunks_are_permuted_with_each_128_bytes(span: int, rows: int):
    # CUDA driver API, CUtensorMapSwizzle: 16-byte chunks, xor the number of the 128 bytes.
    found = places(SlabLayoutAttr.get(swizzle=span), (8 * rows, span // 4))
    chunks = span // 16
    for row, chunk in product(range(8 * rows), range(chunks)):
        expected = chunk ^ (row // rows % chunks)
        assert found[row, chunk * 4] == row * span // 4 + expected * 4


def test_a_column_of_chunks_meets_each_bank_once():
    # The purpose of swizzling: 8 lanes read 16 bytes of one column of 8 rows.
    found = places(SlabLayoutAttr.get(swizzle=128))
    assert len({found[row, 0] // 4 % 8 for row in range(8)}) == 8


def test_there_is_no_padding_below_zero():
    with pytest.raises(VerifyException, match="padding is at least 0 elements"):
        SlabLayoutAttr.get(pad=[0, -1])


@pytest.mark.parametrize(
    ("layout", "shape", "message"),
    [
        ({"deal": 3}, (8, 32), "3 piles do not divide 8 rows"),
        ({"deal": 4}, (32,), "a slab of one axis has no rows to deal out"),
        ({"deal": 4, "pad": [1, 0]}, (8, 32), "have no padding between them"),
    ],
)
def test_rows_that_cannot_be_dealt_out(
    layout: dict[str, Any], shape: tuple[int, ...], message: str
):
    with pytest.raises(VerifyException, match=message):
        SlabLayoutAttr.get(**layout).verify_for(MemRefType(f32, shape))
