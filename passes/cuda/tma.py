# SPDX-License-Identifier: Apache-2.0
"""
Copies of boxes by the tensor memory accelerator. A slab that is stored in pieces of its innermost
axis is copied piece by piece.
"""

from collections.abc import Callable

from xdsl.ir import SSAValue

from tilewright.dialects import kernel
from tilewright.dialects.cuda_copies import AddressOp
from tilewright.dialects.cuda_threads import PerformOp
from tilewright.dialects.tile_layout import layout_of
from tilewright.dialects.types import memref_type
from tilewright.passes.cuda.conversion import Conversion
from tilewright.passes.cuda.index import Index
from tilewright.passes.cuda.places import piece_stride
from tilewright.passes.cuda.tensor_maps import tensor_map_of


def tma_copies(to: Conversion, op: kernel.TmaCopyOp, full: Callable[[], SSAValue]) -> None:
    """Begin the copies; `full` writes the barrier that learns of them."""
    source, target = to.accesses.places[op]
    *outer, last = source.terms
    (start,) = target.terms
    type = memref_type(op.target)
    inner = layout_of(type).inner.data
    extent = list(op.box.get_values())[-1]
    map, slab = to.tensor_maps[tensor_map_of(op, to.source)], to.writer.use(op.target)
    for piece in range(extent // inner if inner else 1):
        to_element = _plus(start, piece * piece_stride(type)) if inner else start
        coordinates = [_plus(last, piece * inner), *reversed(outer)]
        arguments = [
            AddressOp(slab, [to.indices.value(to_element)]).result,
            map,
            *[to.indices.value(coordinate) for coordinate in coordinates],
            full(),
        ]
        to.writer.statement(PerformOp(f"tma_copy_{len(coordinates)}d", arguments))


def _plus(index: Index, constant: int) -> Index:
    return index._replace(constant=index.constant + constant)
