# SPDX-License-Identifier: Apache-2.0
"""
Random schedules of a softmax that is multiplied with values. Statistics of a row are shared by the
threads of its columns or not. Scores are masked, and chunks beyond the diagonal may be skipped.
Weights are computed where they are used, or once for the block.
"""

from collections.abc import Callable, Sequence

import numpy as np

from .drawing import Cut, Draw, Drawn, ceil, cut, launch
from .elements import ELEMENTS, Array
from .slabs import Ring, drawn_layout, drawn_ring
from .text import Text, memref, where

_SIZES = (32, 5, 17, 24, 33, 48, 64)


def attention(draw: Draw) -> Drawn:
    """Return a random scheduled kernel that multiplies attention weights with values."""
    return _Attention(draw).drawn()


class _Attention:
    def __init__(self, draw: Draw):
        self.draw, self.text = draw, Text("attention")
        self.element = ELEMENTS[draw.one(("f32", "f32", "f64", "f16", "bf16"))]
        self.type = self.element.computed
        self.heads, self.group = draw.one((1, 2, 4)), draw.one((1, 2))
        self.queries, self.keys = draw.one(_SIZES), draw.one(_SIZES)
        self.columns = draw.one((8, 1, 16, 20))
        self.is_causal = draw.chance()
        tm, tn = draw.one(((8, 4), (4, 8), (4, 16), (2, 32), (3, 5), (16, 8)))
        vector_m, vector_n = draw.one((1, 2, 4)), draw.one((1, 4, 2))
        strips = ceil(self.columns, tn * vector_n)
        self.m = cut(draw, ("%tm", "thread", tm), ("%vm", "register", vector_m))
        axes = ("%tn", "thread", tn), ("%sn", "register", strips), ("%vn", "register", vector_n)
        self.n = cut(draw, *axes)
        self.tn = tn if any(name == "%tn" for name, _, _ in self.n.axes) else 1
        self.chunk = draw.one((16, 4, 8, 5))
        self.vector = draw.one([v for v in (1, 4, 2) if self.chunk % v == 0])
        self.blocks = ceil(self.queries, self.m.size)

    @property
    def m_start(self) -> str:
        """First row of the block, as text."""
        return f"%bm * {self.m.size}" if self.blocks > 1 else "0"

    @property
    def row(self) -> str:
        """Index of the row among all rows, as text."""
        return f"{self.m_start} + {self.m.at}"

    def _outside(self, index: str, size: int, covered: int) -> list[str]:
        return [f"{size - 1} - ({index})"] if covered > size else []

    def _rows_inside(self, row: str) -> list[str]:
        return self._outside(row, self.queries, self.blocks * self.m.size)

    def _counted(self, key: str, covered: int) -> list[str]:
        """Return the mask conditions under which a row attends to `key`."""
        causal = [f"{self.row} - ({key})"] if self.is_causal else []
        return [*causal, *self._outside(key, self.keys, covered)]

    def drawn(self) -> Drawn:
        """Write the kernel, and return it with its inputs and expected results."""
        draw, text, stored = self.draw, self.text, self.element.stored
        values = ceil(self.heads, self.group)
        text.inputs["%x"] = (self.heads, self.queries, self.keys), stored
        text.inputs["%w"] = (values, self.keys, self.columns), stored
        self.out = draw.one((self.element, ELEMENTS[self.type]))
        text.outputs["%out"] = (self.heads, self.queries, self.columns), self.out.stored
        axes = [("%h", "block", self.heads)]
        axes += [("%bm", "block", self.blocks)] if self.blocks > 1 else []
        axes += [*self.m.axes, *self.n.axes]
        with text.region(launch(draw, axes, {"%h": " batch"})):
            self._body()
        source = text.kernel()
        inputs = text.values(len(source))
        expected = self._reference(*(array.astype(np.float64) for array in inputs))
        steps = (2 * self.keys + 64) * ELEMENTS[self.type].roundoff
        allowed = (steps + 4 * self.element.roundoff) * float(np.abs(expected).max() + 1)
        return Drawn(source, inputs, [expected], [allowed])

    def _below(self, chunk: int) -> str:
        """
        Return a `below` bound on the chunks that some row of the block attends to, or an empty
        text.
        """
        if not self.is_causal or self.draw.chance(4):
            return ""
        return f" below [({self.m_start} + {self.m.size - 1}) floordiv {chunk} + 1]"

    def _score(self, key: str, covered: int) -> str:
        masks = [*self._rows_inside(self.row), *self._outside(key, self.keys, covered)]
        return self.text.widened(self.text.load("%x", ["%h", self.row, key], masks), self.element)

    def _statistic(self, monoid: str, value: Callable[[str, int], str]) -> str:
        """
        Write a reduction of the row's scores; the threads of its columns share it, or each repeats
        it. Return the name of its result.
        """
        text, type = self.text, self.type
        is_shared = self.tn > 1 and not self.draw.chance(4)
        chunk = self.tn if is_shared else 4
        steps = ceil(self.keys, chunk)
        key = f"%kc * {chunk} + %tn" if is_shared else f"%kc * {chunk} + %kj"
        partial = text.fresh("p")
        header = f"{partial} = loop.reduce %kc in {steps}{self._below(chunk)} with {monoid}"
        with text.region(header, f" : {type}"):
            masks = where(self._counted(key, steps * chunk))
            if is_shared:
                text.line(f"loop.yield {value(key, steps * chunk)}{masks} : {type}")
            else:
                inner = text.fresh("q")
                with text.region(f"{inner} = loop.reduce %kj in 4 with {monoid}", f" : {type}"):
                    text.line(f"loop.yield {value(key, steps * chunk)}{masks} : {type}")
                text.line(f"loop.yield {inner} : {type}")
        if not is_shared:
            return partial
        return text.let(f"tile.combine {partial} across %tn with {monoid} : {type}")

    def _body(self) -> None:
        draw, text, type = self.draw, self.text, self.type
        self.best = self._statistic("max", self._score)
        self.is_weight_staged = draw.chance()
        if self.is_weight_staged:
            slab = memref((self.m.size,), type, "", ", 3 : i64")
            text.line(f"%maxs = tile.share {self.best} at [{self.m.at}] : {slab}")
        total = self._statistic("add", lambda key, covered: self._power(self._score(key, covered)))
        steps = ceil(self.keys, self.chunk)
        acc = text.fresh("acc")
        header = f"{acc} = loop.reduce %ko in {steps}{self._below(self.chunk)} with add"
        with text.region(header, f" : {type}"):
            read_x, read_w = self._stages(steps * self.chunk)
            partial = self._chunk(read_x, read_w, steps * self.chunk)
            text.line(f"loop.yield {partial} : {type}")
        weighed = text.binary("div", acc, total, type)
        masks = [
            *self._rows_inside(self.row),
            *self._outside(self.n.at, self.columns, self.n.size),
        ]
        value = text.narrowed(weighed, self.out)
        text.store(value, "%out", ["%h", self.row, self.n.at], masks)

    def _power(self, score: str) -> str:
        text, type = self.text, self.type
        return text.let(f"math.exp {text.binary('sub', score, self.best, type)} : {type}")

    def _chunk(
        self, read_x: Callable[[str], str], read_w: Callable[[str], str], covered: int
    ) -> str:
        text, type = self.text, self.type
        loops = [("%ki", self.chunk // self.vector), ("%kv", self.vector)]
        key = Cut([(name, "", steps) for name, steps in loops]).at

        def nest(loops: Sequence[tuple[str, int]]) -> str:
            if not loops:
                read = read_x(key)
                power = read if self.is_weight_staged else self._power(read)
                return text.binary("mul", power, read_w(key), type)
            (axis, steps), *inner = loops
            name, unroll = text.fresh("s"), " unroll" if self.draw.chance() else ""
            header = f"{name} = loop.reduce {axis} in {steps} with add{unroll}"
            with text.region(header, f" : {type}"):
                value = nest(inner)
                masks = self._counted(f"%ko * {self.chunk} + {key}", covered)
                guard = where(masks) if not inner else ""
                text.line(f"loop.yield {value}{guard} : {type}")
            return name

        return nest(loops)

    def _stages(self, covered: int) -> tuple[Callable[[str], str], Callable[[str], str]]:
        """Write the stages of a chunk; return functions that read its scores and its values."""
        draw, ring = self.draw, drawn_ring(self.draw)
        kinds = [draw.one(("cp_async", "", "none")) for _ in range(2)]
        first = f"%ko * {self.chunk} + "

        def score(local: str) -> str:
            return self._score(first + local, covered)

        def value(local: str) -> str:
            return self._value(first + local, self.n.at, covered)

        x: Callable[[str], str] = score
        w: Callable[[str], str] = value

        if self.is_weight_staged:
            x = self._weights(ring, covered)
        elif kinds[0] != "none":
            m = f"{self.m_start} + %i"
            masks = [*self._rows_inside(m), *self._outside(f"{first}%c", self.keys, covered)]
            extents = (self.m.size, self.chunk)
            load = (["%h", m, f"{first}%c"], masks)
            slab = self._stage("%xs", "%x", ("%i", "%c"), extents, load, ring, kinds[0])
            x = self._reader(slab, lambda local: f"{self.m.at}, {local}")
        if kinds[1] != "none":
            masks = self._value_masks(f"{first}%d", "%j", covered)
            extents = (self.chunk, self.n.size)
            load = ([f"%h floordiv {self.group}", f"{first}%d", "%j"], masks)
            slab = self._stage("%ws", "%w", ("%d", "%j"), extents, load, ring, kinds[1])
            w = self._reader(slab, lambda local: f"{local}, {self.n.at}")
        return x, w

    def _weights(self, ring: Ring, covered: int) -> Callable[[str], str]:
        """
        Write the stage of a slab of `exp(score - maximum)`, whose maxima the threads share. Return
        a function that reads the slab.
        """
        text, extents = self.text, (self.m.size, self.chunk)
        row, key = f"{self.m_start} + %i", f"%ko * {self.chunk} + %c"
        masks = [*self._rows_inside(row), *self._outside(key, self.keys, covered)]
        layout = drawn_layout(self.draw, extents, ELEMENTS[self.type], tma=False)
        type = memref(extents, self.type, layout, ", 3 : i64")
        header = f"%xs = tile.stage (%i, %c) in {list(extents)}{ring.text}"
        with text.region(header, f" : {type}"):
            score = text.widened(text.load("%x", ["%h", row, key], masks), self.element)
            maxs = memref((self.m.size,), self.type, "", ", 3 : i64")
            best = text.let(f"loop.load %maxs[%i] : {maxs}")
            power = text.let(f"math.exp {text.binary('sub', score, best, self.type)} : {self.type}")
            text.line(f"loop.yield {power} : {self.type}")
        return lambda local: text.let(f"loop.load %xs[{self.m.at}, {local}] : {type}")

    def _value_masks(self, key: str, column: str, covered: int) -> list[str]:
        return [
            *self._outside(key, self.keys, covered),
            *self._outside(column, self.columns, self.n.size),
        ]

    def _value(self, key: str, column: str, covered: int) -> str:
        subscripts = [f"%h floordiv {self.group}", key, column]
        masks = self._value_masks(key, column, covered)
        return self.text.widened(self.text.load("%w", subscripts, masks), self.element)

    def _stage(
        self,
        name: str,
        source: str,
        axes: Sequence[str],
        extents: Sequence[int],
        load: tuple[Sequence[str], Sequence[str]],
        ring: Ring,
        transport: str,
    ) -> tuple[str, str]:
        """Write the stage `name` of elements of `source`; return its name and its type."""
        text = self.text
        layout = drawn_layout(self.draw, extents, self.element, tma=False)
        type = memref(extents, self.element.stored, layout, ", 3 : i64")
        options = ring.text + (f" transport({transport})" if transport else "")
        header = f"{name} = tile.stage ({', '.join(axes)}) in {list(extents)}{options}"
        with text.region(header, f" : {type}"):
            value = text.load(source, *load)
            text.line(f"loop.yield {value} : {self.element.stored}")
        return name, type

    def _reader(self, slab: tuple[str, str], at: Callable[[str], str]) -> Callable[[str], str]:
        name, type = slab

        def read(local: str) -> str:
            value = self.text.let(f"loop.load {name}[{at(local)}] : {type}")
            return self.text.widened(value, self.element)

        return read

    def _reference(self, x: Array, w: Array) -> Array:
        if self.is_causal:
            seen = np.arange(self.queries)[:, None] >= np.arange(self.keys)
            x = np.where(seen, x, -np.inf)
        power = np.exp(x - x.max(-1, keepdims=True))
        weights = power / power.sum(-1, keepdims=True)
        return weights @ np.repeat(w, self.group, 0)[: self.heads]
