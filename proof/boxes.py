# SPDX-License-Identifier: Apache-2.0
"""
Obligations `box` of a slab that the tensor memory accelerator (TMA) copies from a tensor:

* each coordinate of the slab runs along one axis of the tensor, one element a step, in order;
* the mask is true exactly within the tensor, because TMA writes zeros for what is outside;
* the hardware can copy a box of this size.

    loop.load %x[%g, %bm * 128 + %i, %ko * 16 + %k]       a box [1, 128, 16] for (%i, %k)
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.ir.affine import AffineDimExpr, AffineExpr

from tilewright.dialects.kernel.boxes import BOX_ALIGNMENT, box_problem
from tilewright.dialects.tile import StageOp
from tilewright.dialects.types import memref_type, size_of
from tilewright.proof.answer import PROVED, Answer, Obligation, Outcome
from tilewright.proof.claim import Claim
from tilewright.proof.formulas import All, Variables, constant, equal, same_truth, within
from tilewright.proof.points import NotCoveredError, Point, name_of
from tilewright.proof.scope import with_values
from tilewright.proof.solver import Solver


def box_obligations(op: StageOp) -> Iterator[Obligation]:
    """Yield the obligations of a slab that TMA copies."""
    if (load := op.copied_load()) is None:
        raise NotCoveredError(f"{op.name} transport({op.transport_kind}) of computed values")
    at, shape = Point(Variables(), load), memref_type(load.memref).get_shape()
    subscripts, mask = at.exprs((load.map.data.results, load.indices)), at.holds(load.where)
    coordinates = [at.axes[axis] for axis in op.body.block.args]
    moved = _moved(subscripts, coordinates, at.variables)
    subject = f"box of slab {name_of(op.slab)}"
    shown = at.shown() | {f"subscript {n}": expr for n, expr in enumerate(subscripts)}
    first = _at_first(subscripts, coordinates, at.variables)
    yield Claim(
        *("box", f"{subject} along axes of {name_of(load.memref)}", op),
        variables=at.variables,
        steps=at.facts,
        claim=equal([a - b for a, b in zip(subscripts, first, strict=True)], moved),
        shown=shown,
        is_of_data=bool(at.data),
    )
    yield Claim(
        *("box", f"{subject} with the bounds of {name_of(load.memref)} as mask", op),
        variables=at.variables,
        steps=at.facts,
        claim=same_truth(All(mask), within(subscripts, shape)),
        shown=shown,
        is_of_data=bool(at.data),
    )
    sizes = dict(zip(coordinates, op.axis_extents(), strict=True))
    yield Size("box", f"{subject} in hardware", op, [sizes.get(axis, 1) for axis in moved])


def _at_first(
    subscripts: Sequence[AffineExpr], coordinates: Sequence[AffineExpr], variables: Variables
) -> Sequence[AffineExpr]:
    """Return the subscripts of the slab's first element."""
    positions = [dim.position for dim in coordinates if isinstance(dim, AffineDimExpr)]
    exprs = with_values(variables, dict.fromkeys(positions, constant(0)))
    return [expr.replace_dims_and_symbols(exprs, ()) for expr in subscripts]


def _moved(
    subscripts: Sequence[AffineExpr], coordinates: Sequence[AffineExpr], variables: Variables
) -> Sequence[AffineExpr]:
    """
    Return the coordinate that runs along each axis of the tensor, or 0, as a step from the first
    element shows it. Each coordinate is listed once, in order.
    """
    left, found = [*coordinates], list[AffineExpr]()
    origin = [0] * len(variables.names)
    for subscript in subscripts:
        runs = bool(left) and subscript.eval(_stepped(origin, left[0]), ()) != subscript.eval(
            origin, ()
        )
        found.append(left.pop(0) if runs else constant(0))
    return found


def _stepped(origin: Sequence[int], coordinate: AffineExpr) -> Sequence[int]:
    assert isinstance(coordinate, AffineDimExpr)
    return [*origin[: coordinate.position], 1, *origin[coordinate.position + 1 :]]


@dataclass(frozen=True)
class Size(Obligation):
    """Statement that the hardware can copy a box (CUDA driver API, `cuTensorMapEncodeTiled`)."""

    box: Sequence[int]
    """Extents along the axes of the tensor."""

    def decide(self, solver: Solver) -> Answer:
        assert isinstance(self.op, StageOp)
        load = self.op.copied_load()
        assert load is not None
        tensor = memref_type(load.memref)
        row = tensor.get_shape()[-1] * size_of(tensor.element_type)
        slab = memref_type(self.op.slab)
        problem = box_problem(tensor.get_shape(), self.box, slab)
        if prod(self.box) != prod(slab.get_shape()):
            problem = f"the box has {prod(self.box)} elements, not {prod(slab.get_shape())}"
        if len(self.box) > 1 and row % BOX_ALIGNMENT:
            problem = f"rows of the tensor are {row} bytes, not a multiple of {BOX_ALIGNMENT}"
        return PROVED if problem is None else Answer(Outcome.REFUTED, problem)
