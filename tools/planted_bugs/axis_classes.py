# SPDX-License-Identifier: Apache-2.0
"""
Classes of axes of a Loop IR kernel that must keep equal sizes, with the multiples that each size
must be.

    loop.for %i in 32, %j in 128 {              i: multiples of 8
      loop.reduce %k in 64 with add {           k: fixed, because 64 is the stride of i
        loop.load %x[%j, %i * 64 + %k]          j: any
        loop.load %y[%j, %i floordiv 8, %k]

Two axes belong to one class if they step through the same axis of an array, or if a mask compares
them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import lcm

from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from tilewright.dialects import loop
from tilewright.dialects.axes import Access, AxesOp, MaskedOp
from tilewright.dialects.index import Sum, sum_of
from tilewright.dialects.types import memref_type

Place = tuple[SSAValue, int]
"""Axis of an array: the array, and the number of the axis."""

_READ = loop.LoadOp | loop.StoreOp | loop.PredicateOp | loop.IndexOp | loop.YieldOp | loop.ToIndexOp
"""
Operations whose use of an axis `AxisClasses` understands; an axis that other operations use keeps
its size.
"""


@dataclass(frozen=True)
class Driver:
    """
    Loop axis that steps through an array's axis, whose size is that of the loop axis times
    `factor`, divided by `divisor`.
    """

    axis: SSAValue
    factor: int
    divisor: int

    def length(self, size: int) -> int:
        """Return the size of the array's axis for a size of the loop's axis."""
        return self.factor * size // self.divisor


class AxisClasses:
    """Classes of a kernel's axes, with the sizes that they may have."""

    def __init__(self, kernel: loop.KernelOp):
        self.sizes = dict(_axes(kernel))
        self.drivers: dict[Place, list[Driver]] = {}
        self._partly = set[Place]()
        self._leader = {axis: axis for axis in self.sizes}
        self._multiple = dict.fromkeys(self.sizes, 1)
        self._fixed = set[SSAValue]()
        for op in kernel.body.walk():
            self._read(op)
        for place, drivers in self.drivers.items():
            self._settle(place, drivers)
        self._join_positions()

    @property
    def free(self) -> list[SSAValue]:
        """One axis for each class whose size may change, in the order of the nest."""
        fixed = {self.leader(axis) for axis in self._fixed}
        return [axis for axis in dict.fromkeys(map(self.leader, self.sizes)) if axis not in fixed]

    def leader(self, axis: SSAValue) -> SSAValue:
        """Return the axis that represents the class of `axis`."""
        while self._leader[axis] is not axis:
            axis = self._leader[axis]
        return axis

    def members(self, leader: SSAValue) -> list[SSAValue]:
        """Return the axes of a class."""
        return [axis for axis in self.sizes if self.leader(axis) is leader]

    def multiple(self, leader: SSAValue) -> int:
        """Return the number that the size of a class must be a multiple of."""
        return lcm(*(self._multiple[axis] for axis in self.members(leader)))

    def _read(self, op: Operation) -> None:
        if isinstance(op, loop.LoadOp | loop.StoreOp):
            self._read_access(op)
        if isinstance(op, loop.PredicateOp):
            self._read_conditions((op.map.data.results, op.indices))
        if isinstance(op, MaskedOp) and op.where is not None:
            self._read_conditions(op.where)
        if not isinstance(op, _READ):
            self._fixed |= {value for value in op.operands if value in self.sizes}

    def _read_access(self, op: loop.LoadOp | loop.StoreOp) -> None:
        shape = memref_type(op.memref).get_shape()
        for number, (expr, size) in enumerate(zip(op.map.data.results, shape, strict=True)):
            value, place = sum_of(expr), (op.memref, number)
            drivers = [*self._drivers_of(value, op.indices, size)]
            self.drivers.setdefault(place, []).extend(drivers)
            if not drivers and (value.terms or value.constant):  # element 0 exists at every size
                self._partly.add(place)
            if isinstance(op, loop.StoreOp):  # every element of an output must be written
                self._fix_all_but(drivers, value, op.indices)

    def _drivers_of(self, value: Sum, operands: Sequence[SSAValue], size: int) -> Iterator[Driver]:
        """
        Yield a `Driver` for each loop axis in the subscript `value` that steps through all of an
        array's axis of size `size`.
        """
        for atom, factor in value.terms.items():
            driver = self._driver(atom, factor, operands)
            if driver is None or driver.axis not in self.sizes:
                continue
            if driver.length(self.sizes[driver.axis]) == size and abs(value.constant) < factor:
                yield driver

    def _driver(self, atom: AffineExpr, factor: int, operands: Sequence[SSAValue]) -> Driver | None:
        """
        Return the `Driver` for a term `factor * atom` of a subscript; None unless `atom` is an
        axis, or an axis divided by a constant.
        """
        match atom:
            case AffineDimExpr():
                return Driver(operands[atom.position], factor, 1)
            case AffineBinaryOpExpr(kind, AffineDimExpr() as dim, AffineConstantExpr(divisor)):
                axis = operands[dim.position]
                self._multiple[axis] = lcm(self._multiple.get(axis, 1), divisor)
                is_quotient = kind is AffineBinaryOpKind.FloorDiv
                return Driver(axis, factor, divisor) if is_quotient else None
            case _:
                self._fixed |= {operands[position] for position in atom.used_dims()}
                return None

    def _fix_all_but(
        self, drivers: Sequence[Driver], value: Sum, operands: Sequence[SSAValue]
    ) -> None:
        used = {operands[dim] for atom in value.terms for dim in atom.used_dims()}
        self._fixed |= used - {driver.axis for driver in drivers}

    def _read_conditions(self, where: Access) -> None:
        """Read a mask: axes that it compares with each other belong to one class."""
        exprs, operands = where
        for value in map(sum_of, exprs):
            used = [operands[dim] for atom in value.terms for dim in atom.used_dims()]
            sizes = {self.sizes.get(axis) for axis in used}
            compares = sorted(value.terms.values()) == [-1, 1] and not value.constant
            if compares and len(sizes) == 1 and None not in sizes:
                self._join(*used)
            else:
                self._fixed |= {*used}

    def _settle(self, place: Place, drivers: Sequence[Driver]) -> None:
        """
        Put the axes that step through `place` with equal factors and divisors in one class. If
        these differ, or only a part is read, fix the axes' sizes.
        """
        ways = {(driver.factor, driver.divisor) for driver in drivers}
        if place in self._partly or len(ways) > 1:
            self._fixed |= {driver.axis for driver in drivers}
            return
        for driver in drivers[1:]:
            self._join(drivers[0].axis, driver.axis)

    def _join_positions(self) -> None:
        """Join an index that is only compared, not used in addresses, with a loop of equal size."""
        stepping = {driver.axis for drivers in self.drivers.values() for driver in drivers}
        loops = {self.sizes[axis]: axis for axis in self.sizes if isinstance(axis, BlockArgument)}
        for axis, size in self.sizes.items():
            if isinstance(axis, OpResult) and axis not in stepping and size in loops:
                self._join(loops[size], axis)

    def _join(self, one: SSAValue, two: SSAValue) -> None:
        self._leader[self.leader(two)] = self.leader(one)


def _axes(kernel: loop.KernelOp) -> Iterator[tuple[SSAValue, int]]:
    """Yield the axes of the nest, and indices read from data, with their sizes."""
    for op in kernel.body.walk():
        if isinstance(op, AxesOp):
            yield from zip(op.regions[0].block.args, op.axis_extents(), strict=True)
        if isinstance(op, loop.ToIndexOp):
            yield op.result, op.bound.value.data
