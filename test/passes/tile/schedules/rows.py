# SPDX-License-Identifier: Apache-2.0
"""
Random schedules of computations on rows, which may be stored as columns. A block has one or several
rows, strips and vectors of registers, and a loop over the remaining chunks. The rows are staged or
not. A join has one or two values.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from .drawing import Draw, Drawn, launch
from .elements import ELEMENTS, Array, widened
from .row_tiles import RowTiles
from .slabs import SHARED_BYTES, drawn_layout
from .text import Text, memref, where


class Kind(NamedTuple):
    """Computation on a row. Each of its `joins` depends on the joins before it."""

    name: str
    is_row: bool
    """True if the result is a row."""
    joins: int


_KINDS = (
    Kind("softmax", True, 2),
    Kind("norm", True, 1),
    Kind("sums", False, 1),
    Kind("argmax", False, 1),
    Kind("center", True, 1),
    Kind("spread", False, 2),
)
_FLOATS_ONLY = ("softmax", "norm")


def rows(draw: Draw) -> Drawn:
    """Return a random scheduled row kernel."""
    return _Rows(draw).drawn()


class _Rows:
    def __init__(self, draw: Draw):
        self.draw, self.text = draw, Text("rows")
        self.kind = draw.one(_KINDS)
        element = ELEMENTS[draw.one(("f32", "f32", "f32", *ELEMENTS))]
        if not element.is_float and self.kind.name in _FLOATS_ONLY:
            element = ELEMENTS["f32"]
        self.element, self.type = element, element.computed
        self.memory = draw.one(("rc", "rc", "cr"))
        self.tiles = RowTiles(draw)
        self.layout = self._drawn_stage()

    def _drawn_stage(self) -> str | None:
        """Return the layout of the slab of the rows, or None if they are not staged."""
        extents = [self.tiles.row_cut.size, self.tiles.per_block]
        self.slab = ELEMENTS[self.type] if self.draw.chance() else self.element
        if not self.draw.chance(3) or extents[0] * extents[1] * self.slab.bytes > SHARED_BYTES:
            return None
        return drawn_layout(self.draw, extents, self.slab, tma=False)

    @property
    def _slab_type(self) -> str:
        extents = [self.tiles.row_cut.size, self.tiles.per_block]
        return memref(extents, self.slab.stored, self.layout or "", ", 3 : i64")

    def drawn(self) -> Drawn:
        """Write the kernel, and return it with its inputs and expected results."""
        text, kind, element = self.text, self.kind, self.element
        shape = (self.tiles.rows, self.tiles.length)
        text.inputs["%x"] = (shape if self.memory == "rc" else shape[::-1]), element.stored
        if kind.name == "norm":
            text.inputs["%w"] = (self.tiles.length,), element.stored
        self.out = element if kind.is_row and self.draw.chance() else ELEMENTS[self.type]
        self.outputs = {
            "argmax": {"%best": self.type, "%index": "i64"},
            "sums": {"%sum": self.type, "%squares": self.type},
            "spread": {"%spread": self.type},
        }.get(kind.name, {})
        if kind.is_row:
            text.outputs["%out"] = shape, self.out.stored
        self.also_statistic = kind.is_row and self.draw.chance(3)
        if self.also_statistic:
            self.outputs = {"%statistic": self.type}
        text.outputs |= {name: ((self.tiles.rows,), type) for name, type in self.outputs.items()}
        axes, roles = self.tiles.axes()
        with text.region(launch(self.draw, axes, roles)):
            if self.layout is not None:
                self._stage()
            getattr(self, f"_{kind.name}")()
        source = text.kernel()
        inputs = text.values(len(source))
        given = [widened(array) for array in inputs]
        expected = self._reference(*given)
        return Drawn(source, inputs, expected, [self._allowed(given[0], r) for r in expected])

    def _stage(self) -> None:
        text, start = self.text, f"%s * {self.tiles.per_block} + " if self.tiles.split > 1 else ""
        row = (f"%rb * {self.tiles.row_cut.size} + " if self.tiles.blocks > 1 else "") + "%r"
        header = f"%xs = tile.stage (%r, %c) in [{self.tiles.row_cut.size}, {self.tiles.per_block}]"
        with text.region(header, f" : {self._slab_type}"):
            value = self._loaded(row, f"{start}%c")
            if self.slab.stored == self.type:
                value = text.widened(value, self.element)
            text.line(f"loop.yield {value} : {self.slab.stored}")

    def _loaded(self, row: str, column: str) -> str:
        subscripts = [row, column] if self.memory == "rc" else [column, row]
        masks = [*self.tiles.row_masks(row), *self.tiles.column_masks(column)]
        return self.text.load("%x", subscripts, masks)

    def _x(self) -> str:
        """
        Write the read of the row's element at this thread's index; return it in the computed type.
        """
        if self.layout is None:
            return self.text.widened(self._loaded(self.tiles.row, self.tiles.column), self.element)
        here = f"%xs[{self.tiles.row_cut.at}, {self.tiles.local_column}]"
        value = self.text.let(f"loop.load {here} : {self._slab_type}")
        return self.text.widened(value, self.slab)

    def _joined(
        self, monoid: str, types: Sequence[str], values: Callable[[], Sequence[str]]
    ) -> list[str]:
        """
        Write the reduction along the row of the values that `values` writes. Return the names of
        its results.
        """
        text, typed = self.text, ", ".join(types)
        across = [name for name, _, _ in self.tiles.columns.axes]
        across += ["%s"] * (self.tiles.split > 1)
        if self.tiles.chunks > 1:
            names = [text.fresh("p") for _ in types]
            header = f"{', '.join(names)} = loop.reduce %kc in {self.tiles.chunks} with {monoid}"
            with text.region(header, f" : {typed}"):
                found = values()
                masks = where(self.tiles.column_masks(self.tiles.column))
                text.line(f"loop.yield {', '.join(found)}{masks} : {typed}")
            masks = ""
        else:
            names, masks = list(values()), where(self.tiles.column_masks(self.tiles.column))
        for part in self._parts(across):
            join = ""
            if "%s" in part:
                kinds = ("cluster",) if self._needs_all else ("", "cluster", "last_block")
                kind = self.draw.one((*kinds, *(("workspace",) * (not self._needs_all))))
                join = f" join({kind})" if kind else ""
            results = [text.fresh("c") for _ in types]
            text.line(
                f"{', '.join(results)} = tile.combine {', '.join(names)} across {', '.join(part)} "
                f"with {monoid}{masks}{join} : {typed}"
            )
            names, masks = results, ""
        return names

    def _parts(self, across: Sequence[str]) -> list[list[str]]:
        """Return the axes of a join in random order: all at once, or in two parts."""
        order = self.draw.shuffled(across)
        at = self.draw.one((0, *range(len(order))))
        return [part for part in (order[:at], order[at:]) if part]

    @property
    def _needs_all(self) -> bool:
        """True if all blocks of a row need the joined value."""
        return self.kind.is_row or self.kind.joins > 1

    def _store_row(self, value: Callable[[], str]) -> None:
        text = self.text
        masks = [*self.tiles.row_masks(self.tiles.row), *self.tiles.column_masks(self.tiles.column)]
        if self.tiles.chunks > 1:
            with text.region(f"loop.for %kc in {self.tiles.chunks}"):
                found = text.narrowed(value(), self.out)
                text.store(found, "%out", [self.tiles.row, self.tiles.column], masks)
            return
        text.store(
            text.narrowed(value(), self.out), "%out", [self.tiles.row, self.tiles.column], masks
        )

    def _store_statistics(self, values: Sequence[str]) -> None:
        once = ["0 - %t"] if any(name == "%t" for name, _, _ in self.tiles.columns.axes) else []
        masks = [*self.tiles.row_masks(self.tiles.row), *once]
        for value, name in zip(values, self.outputs, strict=False):
            self.text.store(value, name, [self.tiles.row], masks)

    def _softmax(self) -> None:
        text, type = self.text, self.type
        (best,) = self._joined("max", [type], lambda: [self._x()])

        def power() -> str:
            return text.let(f"math.exp {text.binary('sub', self._x(), best, type)} : {type}")

        (total,) = self._joined("add", [type], lambda: [power()])
        self._store_row(lambda: text.binary("div", power(), total, type))
        self._store_statistics([total])

    def _norm(self) -> None:
        text, type = self.text, self.type

        def square() -> str:
            x = self._x()
            return text.binary("mul", x, x, type)

        (total,) = self._joined("add", [type], lambda: [square()])
        mean = text.binary("div", total, text.constant(self.tiles.length, type), type)
        shifted = text.binary("add", mean, text.constant(2.0**-7, type), type)
        scale = text.let(f"math.rsqrt {shifted} : {type}")

        def weighed() -> str:
            weight = text.load(
                "%w", [self.tiles.column], self.tiles.column_masks(self.tiles.column)
            )
            scaled = text.binary("mul", self._x(), scale, type)
            return text.binary("mul", scaled, text.widened(weight, self.element), type)

        self._store_row(weighed)
        self._store_statistics([mean])

    def _sums(self) -> None:
        def both() -> list[str]:
            x = self._x()
            return [x, self.text.binary("mul", x, x, self.type)]

        self._store_statistics(self._joined("add", [self.type] * 2, both))

    def _argmax(self) -> None:
        def pair() -> list[str]:
            return [self._x(), self.text.let(f"loop.index [{self.tiles.column}] : i64")]

        self._store_statistics(self._joined("argmax", [self.type, "i64"], pair))

    def _center(self) -> None:
        (best,) = self._joined("max", [self.type], lambda: [self._x()])
        self._store_row(lambda: self.text.binary("sub", self._x(), best, self.type))
        self._store_statistics([best])

    def _spread(self) -> None:
        """Write the sum over a row of the differences between its maximum and each element."""
        (best,) = self._joined("max", [self.type], lambda: [self._x()])

        def below() -> list[str]:
            return [self.text.binary("sub", best, self._x(), self.type)]

        self._store_statistics(self._joined("add", [self.type], below))

    def _reference(self, *arrays: Array) -> list[Array]:
        x = arrays[0] if self.memory == "rc" else arrays[0].T
        best = x.max(1)
        below = x - best[:, None]
        match self.kind.name:
            case "softmax":
                power = np.exp(below)
                results = [power / power.sum(1)[:, None], power.sum(1)]
            case "norm":
                mean = (x * x).sum(1) / self.tiles.length
                results = [x / np.sqrt(mean[:, None] + 2.0**-7) * arrays[1], mean]
            case "sums":
                return [x.sum(1, dtype=x.dtype), (x * x).sum(1, dtype=x.dtype)]
            case "argmax":
                return [best, x.argmax(1)]
            case "center":
                results = [below, best]
            case _:
                return [-below.sum(1, dtype=x.dtype)]
        return results if self.also_statistic else results[:1]

    def _allowed(self, x: Array, result: Array) -> float:
        if not self.element.is_float or result.dtype.kind in "iu":
            return 0.0
        largest = max(float(np.abs(result).max()), float((x * x).mean()))
        steps = (self.tiles.length + 64) * ELEMENTS[self.type].roundoff
        return (steps + 2 * self.out.roundoff) * largest * 4
