# SPDX-License-Identifier: Apache-2.0
"""
Layouts of slabs: the position of each element in shared memory.

A layout is part of a slab's type, and subscripts stay logical: a load of `%s[%m, %k]` does not
mention padding or swizzles. A slab without a layout is row-major and dense.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any, TypeVar

from xdsl.dialects.builtin import (
    ArrayAttr,
    IntAttr,
    MemRefLayoutAttr,
    MemRefType,
)
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.faster_xdsl.shortcuts import cache_hash
from tilewright.dialects.index import linearize
from tilewright.dialects.types import memref_of, size_of

T = TypeVar("T")

SWIZZLES = (32, 64, 128)
"""Spans in bytes within which the tensor memory accelerator (TMA) can swizzle."""

CHUNK_BYTES = 16
"""Bytes that a swizzle moves as one chunk (CUDA driver API, `CUtensorMapSwizzle`)."""

ROW_BYTES = 128
"""Bytes of one row of all shared memory banks."""

_NUMBERS = ("deal", "inner", "swizzle")


@cache_hash
@irdl_attr_definition
class SlabLayoutAttr(ParametrizedAttribute, MemRefLayoutAttr):
    """
    Layout of a slab, in these parts:

    * `slots`: the first axis counts slots of a ring; each slot is a slab stored by itself, aligned;
    * `order`: the slab's axes from the outermost to the innermost in memory;
    * `pad`: unused elements at the end of each axis, listed in the slab's own order of axes;
    * `deal`: rows, which are the steps of the axis before the innermost, are dealt out to this many
      piles. One pile is stored after the other, which moves consecutive rows apart;
    * `inner`: the innermost axis is cut into pieces of this many elements. One piece, with all
      other axes, is stored after the other;
    * `swizzle`: the chunks of 16 bytes in each 128 bytes are permuted, as by TMA. The chunk's new
      number within the span is its old number xor the number of the 128 bytes.

    ```mlir
    memref<128x16xf32, #tile.layout<pad [0, 4]>, 3 : i64>
    memref<4x128x32xf32, #tile.layout<slots, inner 16, swizzle 64>, 3 : i64>
    memref<128x32xf32, #tile.layout<deal 4, swizzle 128>, 3 : i64>
    ```
    """

    name = "tile.layout"

    order: ArrayAttr[IntAttr]
    pad: ArrayAttr[IntAttr]
    deal: IntAttr
    inner: IntAttr
    swizzle_bytes: IntAttr
    slots: IntAttr

    @staticmethod
    def get(
        *,
        order: Sequence[int] = (),
        pad: Sequence[int] = (),
        deal: int = 0,
        inner: int = 0,
        swizzle: int = 0,
        slots: bool = False,
    ) -> "SlabLayoutAttr":
        """Return the layout with these parts; the defaults change nothing."""
        return SlabLayoutAttr(
            ArrayAttr(map(IntAttr, order)),
            ArrayAttr(map(IntAttr, pad)),
            IntAttr(deal),
            IntAttr(inner),
            IntAttr(swizzle),
            IntAttr(int(slots)),
        )

    def with_slots(self) -> "SlabLayoutAttr":
        """Return the layout of a ring whose slots have this layout."""
        return _with(self, slots=IntAttr(1))

    def with_pad(self, type: MemRefType, elements: int) -> "SlabLayoutAttr":
        """Return this layout with `elements` unused elements at the end of the innermost axis."""
        return _with_pad(self, type.get_num_dims(), elements)

    def with_deal(self, piles: int) -> "SlabLayoutAttr":
        """Return this layout with rows dealt out to `piles` piles."""
        return _with(self, deal=IntAttr(piles))

    def with_swizzle(self, span: int, inner: int = 0) -> "SlabLayoutAttr":
        """
        Return this layout with a swizzle within `span` bytes, and with pieces of `inner` elements
        if not 0.
        """
        return _with(self, inner=IntAttr(inner), swizzle_bytes=IntAttr(span))

    def get_affine_map(self) -> AffineMap:
        raise ValueError(
            "the position of an element depends on the slab's shape, too: use `offset`"
        )

    def verify(self) -> None:
        if sorted(axis.data for axis in self.order) != [*range(len(self.order))]:
            raise VerifyException("the order names each axis of the slab once")
        if any(pad.data < 0 for pad in self.pad):
            raise VerifyException("padding is at least 0 elements")
        if self.swizzle_bytes.data and self.swizzle_bytes.data not in SWIZZLES:
            raise VerifyException(f"swizzles span {SWIZZLES} bytes, not {self.swizzle_bytes.data}")

    def verify_for(self, type: MemRefType) -> None:
        """Raise `VerifyException` unless memory of `type` can have this layout."""
        shape = self._slab(type.get_shape())
        if len(self.order) not in (0, len(shape)) or len(self.pad) not in (0, len(shape)):
            raise VerifyException(f"the layout is not one of {len(shape)} axes")
        if self.has_slots and not type.get_shape():
            raise VerifyException("the layout has slots, but the slab has no axis that counts them")
        innermost = shape[self.axes(len(shape))[-1]] if shape else 1
        if self.deal.data:
            self._verify_deal(shape)
        if self.inner.data and innermost % self.inner.data:
            raise VerifyException(f"pieces of {self.inner.data} do not divide {innermost} elements")
        if not self.swizzle_bytes.data:
            return
        span = (self.inner.data or innermost) * size_of(type.element_type)
        if span != self.swizzle_bytes.data:
            raise VerifyException(
                f"a swizzle of {self.swizzle_bytes.data} bytes needs as many bytes innermost, "
                f"not {span}"
            )
        if any(pad.data for pad in self.pad):
            raise VerifyException("a swizzled slab has no padding")

    def _verify_deal(self, shape: Sequence[int]) -> None:
        if len(shape) < 2:
            raise VerifyException("a slab of one axis has no rows to deal out")
        row = self.axes(len(shape))[-2]
        if shape[row] % self.deal.data:
            raise VerifyException(f"{self.deal.data} piles do not divide {shape[row]} rows")
        if self.pad and self.pad.data[row].data:
            raise VerifyException("rows that are dealt out have no padding between them")

    def axes(self, rank: int) -> Sequence[int]:
        """Return the axes of a slab from the outermost to the innermost in memory."""
        return [axis.data for axis in self.order] or range(rank)

    def innermost(self, type: MemRefType) -> int:
        """
        Return the innermost axis of memory of `type` with more than one step; its elements are
        adjacent.
        """
        return _innermost(self, type)

    @property
    def alignment(self) -> int:
        """
        Alignment of each slot in bytes; a swizzled slot begins where the swizzle's pattern repeats.
        """
        return 8 * ROW_BYTES if self.swizzle_bytes.data else ROW_BYTES

    @property
    def has_slots(self) -> bool:
        """True if the first axis counts slots."""
        return bool(self.slots.data)

    def size(self, type: MemRefType) -> int:
        """Return the number of elements that memory of `type` takes, padding included."""
        return _size(self, type)

    def find_size(self, type: MemRefType) -> int:
        """Return what `size` returns, without the cache."""
        if not self.has_slots:
            return prod(self._stored(type.get_shape()))
        return type.get_shape()[0] * self._slot_size(type)

    def offset(self, subscripts: Sequence[AffineExpr], type: MemRefType) -> AffineExpr:
        """
        Return the offset of the element at `subscripts` from the start of memory, before the
        swizzle.
        """
        return _offset(self, tuple(subscripts), type)

    def find_offset(self, subscripts: Sequence[AffineExpr], type: MemRefType) -> AffineExpr:
        """Return what `offset` returns, without the cache."""
        within = self._offset_within(self._slab(subscripts), self._slab(type.get_shape()))
        if not self.has_slots:
            return within
        return subscripts[0] * self._slot_size(type) + within

    def swizzled(self, byte: int) -> int:
        """
        Return the swizzled position of a byte, given its offset from the start of memory before the
        swizzle.
        """
        if not (span := self.swizzle_bytes.data):
            return byte
        return byte ^ (byte // ROW_BYTES % (span // CHUNK_BYTES) * CHUNK_BYTES)

    def _slab(self, parts: Sequence[T]) -> Sequence[T]:
        return parts[1:] if self.has_slots else parts

    def _stored(self, shape: Sequence[int]) -> list[int]:
        """Return the extents of a slab in memory, outermost first, padding included."""
        pads = [pad.data for pad in self.pad] or [0] * len(shape)
        return [shape[axis] + pads[axis] for axis in self.axes(len(shape))]

    def _slot_size(self, type: MemRefType) -> int:
        unit = self.alignment // size_of(type.element_type)
        return -(-prod(self._stored(type.get_shape()[1:])) // unit) * unit

    def _offset_within(self, subscripts: Sequence[AffineExpr], shape: Sequence[int]) -> AffineExpr:
        stored = self._stored(shape)
        parts = [subscripts[axis] for axis in self.axes(len(shape))]
        if deal := self.deal.data:
            parts[-2:-1] = [parts[-2] % deal, parts[-2] // deal]
            stored[-2:-1] = [deal, stored[-2] // deal]
        if inner := self.inner.data:
            *rest, last = parts
            parts = [last // inner, *rest, last % inner]
            stored = [stored[-1] // inner, *stored[:-1], inner]
        return linearize(parts, stored)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        found = parser.parse_comma_separated_list(
            parser.Delimiter.ANGLE, lambda: cls._parse_part(parser)
        )
        parts = dict(found)
        if len(parts) < len(found):
            parser.raise_error("a layout has each of its parts once")
        return cls.get(**parts).parameters

    @staticmethod
    def _parse_part(parser: AttrParser) -> tuple[str, Any]:
        """Parse one part of a layout; return the name of a parameter of `get`, and its value."""

        def number() -> int:
            return parser.parse_integer(allow_boolean=False, allow_negative=False)

        keyword = parser.parse_keyword_in(("slots", "order", "pad", *_NUMBERS))
        if keyword == "slots":
            return keyword, True
        if keyword not in _NUMBERS:
            return keyword, parser.parse_comma_separated_list(parser.Delimiter.SQUARE, number)
        value = number()
        if value == 0:
            parser.raise_error(f"'{keyword}' is at least 1; omit it for none")
        return keyword, value

    def print_parameters(self, printer: Printer) -> None:
        lists = {"order": self.order, "pad": self.pad}
        numbers = dict(zip(_NUMBERS, (self.deal, self.inner, self.swizzle_bytes), strict=True))
        parts = ["slots"] if self.has_slots else []
        parts += [f"{key} [{_commas(value)}]" for key, value in lists.items() if value.data]
        parts += [f"{key} {value.data}" for key, value in numbers.items() if value.data]
        with printer.in_angle_brackets():
            printer.print_string(", ".join(parts))


def _commas(values: ArrayAttr[IntAttr]) -> str:
    return ", ".join(str(value.data) for value in values)


# A kernel has few layouts and memory types, and every pass asks for the same offsets.


@lru_cache(maxsize=1 << 12)
def _with(layout: SlabLayoutAttr, **parts: Attribute) -> SlabLayoutAttr:
    """Return `layout` with the given parameters replaced."""
    names = [name for name, _ in SlabLayoutAttr.get_irdl_definition().parameters]
    own = dict(zip(names, layout.parameters, strict=True))
    return SlabLayoutAttr.new([*{**own, **parts}.values()])


@lru_cache(maxsize=1 << 12)
def _with_pad(layout: SlabLayoutAttr, rank: int, elements: int) -> SlabLayoutAttr:
    pad = [each.data for each in layout.pad] or [0] * rank
    pad[layout.axes(rank)[-1]] = elements
    return _with(layout, pad=ArrayAttr(map(IntAttr, pad)))


@lru_cache(maxsize=1 << 14)
def _offset(
    layout: SlabLayoutAttr, subscripts: tuple[AffineExpr, ...], type: MemRefType
) -> AffineExpr:
    return layout.find_offset(subscripts, type)


@lru_cache(maxsize=1 << 12)
def _size(layout: SlabLayoutAttr, type: MemRefType) -> int:
    return layout.find_size(type)


@lru_cache(maxsize=1 << 12)
def _innermost(layout: SlabLayoutAttr, type: MemRefType) -> int:
    slots, shape = int(layout.has_slots), type.get_shape()
    axes = [slots + axis for axis in layout.axes(len(shape) - slots)]
    return next((axis for axis in reversed(axes) if shape[axis] > 1), axes[-1])


def layout_of(type: MemRefType) -> SlabLayoutAttr:
    """Return the layout of a memory type; dense and row-major if the type has none."""
    return type.layout if isinstance(type.layout, SlabLayoutAttr) else _DENSE


_DENSE = SlabLayoutAttr.get()


def with_layout(type: MemRefType, layout: SlabLayoutAttr) -> MemRefType:
    """Return the memory type `type` with `layout`."""
    return memref_of(type.element_type, type.get_shape(), type.memory_space, layout)
