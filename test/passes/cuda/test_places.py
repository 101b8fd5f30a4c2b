# SPDX-License-Identifier: Apache-2.0
"""Offsets in the CUDA text agree with the layout, for any layout and every element."""

from math import prod

from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import MemRefType, f16, f32, f64
from xdsl.ir import Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects import kernel, loop
from tilewright.dialects.index import delinearize
from tilewright.dialects.tile import SHARED
from tilewright.dialects.tile.layout import SlabLayoutAttr, layout_of
from tilewright.dialects.types import size_of
from tilewright.passes.cuda.accesses import Accesses
from tilewright.passes.cuda.index import Index
from tilewright.passes.cuda.places import Place


def is_legal(type: MemRefType) -> bool:
    """True if memory can have this layout."""
    try:
        layout_of(type).verify_for(type)
    except VerifyException:
        return False
    return True


@st.composite
def types(draw: st.DrawFn) -> MemRefType:
    """Draw the type of shared memory of up to 1024 elements."""
    extents = st.sampled_from((1, 2, 4, 6, 8, 16, 32))
    shape = draw(st.lists(extents, min_size=2, max_size=3).filter(lambda s: prod(s) <= 1024))
    slots = draw(st.booleans())
    rank = len(shape) - slots
    span = draw(st.sampled_from((0, 32, 64, 128)))
    element = draw(st.sampled_from((f16, f32, f64)))
    layout = SlabLayoutAttr.get(
        order=draw(st.just(()) | st.permutations(range(rank))),
        pad=()
        if span
        else draw(st.just(()) | st.lists(st.integers(0, 3), min_size=rank, max_size=rank)),
        inner=draw(st.sampled_from((0, 2, 4, 8, 16))) if not span else span // size_of(element),
        swizzle=span,
        slots=slots,
    )
    return MemRefType(element, shape, layout, SHARED)


def place_of(type: MemRefType) -> tuple[Place, SSAValue]:
    """Return the place of thread t's element, the t-th in row-major order, and the thread's id."""
    body = Block(arg_types=[MemRefType(type.element_type, [1])])
    thread, shared = kernel.ThreadIdOp(), kernel.SharedOp(type)
    subscripts = delinearize(AffineExpr.dimension(0), type.get_shape())
    load = loop.LoadOp(shared.memref, (subscripts, [thread.result]))
    body.add_ops([thread, shared, load])
    threads = prod(type.get_shape())
    function = kernel.FuncOp("k", Region(body), 1, grid=1, block=threads)
    (place,) = Accesses(function).places[load]
    return place, thread.result


def value(index: Index, thread: SSAValue, number: int) -> int:
    """Return the index for the thread of that number."""
    assert all(operand is thread for operand in index.operands)
    return index.variable.eval([number] * len(index.operands), []) + index.constant


def element_of(place: Place, thread: SSAValue, number: int) -> int:
    """Return the offset that the text computes."""
    (term,) = place.terms
    offset = value(term, thread, number)
    if place.swizzle is None:
        return offset
    key = value(place.swizzle.key, thread, number) * place.swizzle.chunk
    return offset + (value(place.swizzle.low, thread, number) ^ key)


@given(types().filter(is_legal))
def test_offsets_in_the_text_agree_with_the_layout(type: MemRefType):
    layout, size, shape = layout_of(type), size_of(type.element_type), type.get_shape()
    place, thread = place_of(type)
    found: set[int] = set()
    for number in range(prod(shape)):
        subscripts = delinearize(AffineExpr.constant(number), shape)
        byte = layout.offset(subscripts, type).eval([], []) * size
        element = element_of(place, thread, number)
        assert element * size == layout.swizzled(byte)
        found.add(element)
    assert len(found) == prod(shape)
    assert max(found) < layout.size(type)
