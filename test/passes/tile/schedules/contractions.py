# SPDX-License-Identifier: Apache-2.0
"""
Random schedules of contractions: tiles, strips, vectors, shared or split steps of K, and stages.
"""

from collections.abc import Sequence

import numpy as np

from .drawing import Draw, Drawn, launch
from .elements import ELEMENTS, Array, widened
from .operands import Operand
from .text import Text
from .tiles import Tiles


def contraction(draw: Draw) -> Drawn:
    """Return a random scheduled contraction."""
    return _Contraction(draw).drawn()


class _Contraction:
    def __init__(self, draw: Draw):
        self.draw = draw
        self.text = Text("mm")
        self.element = ELEMENTS[draw.one(("f32", "f32", "f32", *ELEMENTS))]
        self.monoid = draw.one(("add",) * 6 + ("max", "argmax"))
        if self.monoid == "argmax":  # rounding may make another element the best
            self.element = ELEMENTS[draw.one(("f64", "i32", "i64", "i8"))]
        self.is_causal = draw.chance(6)
        self.tiles = Tiles(draw)
        self.a = Operand(draw, self.text, "a", "mk", self.element, self.tiles)
        self.b = Operand(draw, self.text, "b", "kn", self.element, self.tiles)
        self._fit_rings()

    def _fit_rings(self) -> None:
        """Give both slabs one ring if TMA fills both or neither of them."""
        rings = [o.slab for o in (self.a, self.b) if o.slab is not None and o.slab.ring.depth > 1]
        if len(rings) == 2 and (rings[0].transport == "tma") == (rings[1].transport == "tma"):
            rings[1].ring = rings[0].ring

    def drawn(self) -> Drawn:
        """Write the kernel, and return it with its inputs and expected results."""
        for operand in (self.a, self.b):
            operand.declare()
        self._outputs()
        axes, roles = self._axes()
        with self.text.region(launch(self.draw, axes, roles)):
            self._body()
        text = self.text.kernel()
        inputs = self.text.values(len(text))
        expected = self.reference(*map(widened, inputs))
        return Drawn(text, inputs, expected, [self._allowed(result) for result in expected])

    def _axes(self) -> tuple[list[tuple[str, str, int]], dict[str, str]]:
        blocks = [
            ("%g", self.tiles.sizes.batch),
            ("%s", self.tiles.steps.blocks),
            *self.tiles.blocks.items(),
        ]
        self.present = {name for name, steps in blocks if steps > 1 or self.draw.chance(6)}
        axes = [(name, "block", steps) for name, steps in blocks if name in self.present]
        axes += [*self.tiles.m.axes, *self.tiles.n.axes]
        if self.tiles.steps.threads > 1:
            axes.append(("%tk", "thread", self.tiles.steps.threads))
        roles = {"%g": " batch", "%s": " split", "%tk": " k"}
        roles |= {name: f" {name[-1]}" for name, _, _ in axes if name not in roles}
        return axes, roles

    def _outputs(self) -> None:
        draw, element = self.draw, self.element
        self.join = draw.one(("", "cluster", "last_block", "workspace", "atomic"))
        can_go_on = self.monoid != "argmax" and self.join != "atomic"
        self.epilogue = []
        if can_go_on:
            self.epilogue = [e for e in ("bias", "residual", "relu") if draw.chance(3)]
        self.also_before = bool(self.epilogue) and draw.chance(3)
        narrows = element.narrow and element.is_float and draw.chance() and can_go_on
        shape = self.tiles.shape
        self.out = element if narrows else ELEMENTS[element.computed]
        self.text.outputs["%out"] = (shape, self.out.stored)
        if self.also_before:
            self.text.outputs["%before"] = (shape, element.computed)
        if "bias" in self.epilogue:
            self.text.inputs["%bias"] = (self.tiles.sizes.n,), element.stored
        if "residual" in self.epilogue:
            self.text.inputs["%residual"] = shape, element.stored
        if self.monoid == "argmax":
            self.text.outputs["%index"] = (shape, "i64")
            if self.join == "atomic":
                self.join = ""
        if self.monoid == "max" and element.is_float and self.join == "atomic":
            self.join = ""

    def _body(self) -> None:
        types = [self.element.computed, "i64"][: 2 if self.monoid == "argmax" else 1]
        for operand in (self.a, self.b):
            operand.stage("launch")
        results = self._chunks(types)
        across = ["%tk"] if self.tiles.steps.threads > 1 else []
        if "%s" in self.present:
            if across and self.draw.chance(3):
                results = self._combine(results, types, across, "")
                across = []
            across = self.draw.shuffled([*across, "%s"])
        if across:
            join = f" join({self.join})" if self.join and "%s" in across else ""
            results = self._combine(results, types, across, join)
        self._epilogue(results)

    def _combine(
        self, values: Sequence[str], types: Sequence[str], across: Sequence[str], join: str
    ) -> list[str]:
        names = [self.text.fresh("c") for _ in values]
        self.text.line(
            f"{', '.join(names)} = tile.combine {', '.join(values)} across {', '.join(across)} "
            f"with {self.monoid}{join} : {', '.join(types)}"
        )
        return names

    def _chunks(self, types: Sequence[str]) -> list[str]:
        steps, draw = self.tiles.steps, self.draw
        below = ""
        counts = self.tiles.steps.phases == 1 or not self._uses_tma()
        if self.is_causal and counts and draw.chance():
            last = f"{self.tiles.starts['m']} + {self.tiles.m.size - 1}"
            rest = steps.base_of_phase
            below = f" below [({last} - ({rest})) floordiv {steps.chunk} + 1]"
        loops = [("%kp", steps.phases, "", "phases"), ("%ko", steps.chunks, below, "chunks")]
        loops += [("%ki", steps.steps, "", ""), ("%kv", steps.vector, "", "")]
        # The masks stand on a loop's yield, so keep at least one loop, even of one step.
        loops = [loop for loop in loops if loop[1] > 1] or [loops[2]]
        in_loops = {name for name, *_ in loops}
        if "%ko" not in in_loops:
            for operand in (self.a, self.b):
                operand.stage("loop")
        return self._nest(loops, types)

    def _uses_tma(self) -> bool:
        slabs = (self.a.slab, self.b.slab)
        return any(slab is not None and slab.transport == "tma" for slab in slabs)

    def _nest(self, loops: Sequence[tuple[str, int, str, str]], types: Sequence[str]) -> list[str]:
        if not loops:
            return self._products()
        (axis, steps, below, _), *inner = loops
        names = [self.text.fresh("acc") for _ in types]
        unroll = " unroll" if axis in ("%ki", "%kv") and self.draw.chance() else ""
        header = f"{', '.join(names)} = loop.reduce {axis} in {steps}{below} with {self.monoid}"
        with self.text.region(header + unroll, f" : {', '.join(types)}"):
            if axis == "%ko":
                for operand in (self.a, self.b):
                    operand.stage("loop")
            values = self._nest(inner, types)
            masks = self._guard() if not inner else []
            guard = f" where [{', '.join(masks)}]" if masks else ""
            self.text.line(f"loop.yield {', '.join(values)}{guard} : {', '.join(types)}")
        return names

    def _guard(self) -> list[str]:
        """Return the mask conditions of the steps of K that contribute to the result."""
        masks: list[str] = []
        needs = self.monoid != "add" or not (self.a.is_zero_outside or self.b.is_zero_outside)
        if self.tiles.overrun["k"] and (needs or self.draw.chance(4)):
            masks.append(f"{self.tiles.sizes.k - 1} - ({self.tiles.steps.at})")
        if self.is_causal:
            masks.append(f"{self.tiles.m_index} - ({self.tiles.steps.at})")
        return masks

    def _products(self) -> list[str]:
        local = {"m": self.tiles.m.at, "n": self.tiles.n.at, "k": self.tiles.steps.local}
        x, y = (operand.read(local) for operand in (self.a, self.b))
        product = self.text.binary("mul", x, y, self.element.computed)
        if self.monoid != "argmax":
            return [product]
        return [product, self.text.let(f"loop.index [{self.tiles.steps.at}] : i64")]

    def _epilogue(self, results: Sequence[str]) -> None:
        text, type = self.text, self.element.computed
        tiles = self.tiles
        row, column = tiles.m_index, tiles.n_index
        subscripts = [*(["%g"] if tiles.sizes.batch > 1 else []), row, column]
        rows = [f"{tiles.sizes.m - 1} - ({row})"] if tiles.overrun["m"] else []
        columns = [f"{tiles.sizes.n - 1} - ({column})"] if tiles.overrun["n"] else []
        inside = self.draw.shuffled([*rows, *columns])
        once = ["0 - %tk"] if tiles.steps.threads > 1 else []
        value = before = results[0]
        if "bias" in self.epilogue:
            beta = text.load("%bias", [column], columns)
            value = text.binary("add", value, text.widened(beta, self.element), type)
        if "residual" in self.epilogue:
            other = text.load("%residual", subscripts, inside)
            value = text.binary("add", value, text.widened(other, self.element), type)
        if "relu" in self.epilogue:
            value = text.binary("max", value, text.constant(0, type), type)
        if self.out.narrow:
            value = text.narrowed(value, self.out)
        text.store(value, "%out", subscripts, [*inside, *once])
        if self.also_before:
            text.store(before, "%before", subscripts, [*inside, *once])
        if self.monoid == "argmax":
            text.store(results[1], "%index", subscripts, [*inside, *once])

    def reference(self, *arrays: Array) -> list[Array]:
        """Return the expected results, in float64 or integers."""
        given = dict(zip(self.text.inputs, arrays, strict=True))
        a, b = (operand.values(given) for operand in (self.a, self.b))
        products = a[..., :, :, None] * b[..., None, :, :]
        sizes = self.tiles.sizes
        products = np.broadcast_to(products, (sizes.batch, sizes.m, sizes.k, sizes.n))
        self.magnitude = float(np.abs(products).sum(-2).max())
        if self.is_causal:
            steps = np.arange(sizes.k)
            outside = steps[None, :, None] > np.arange(sizes.m)[:, None, None]
        else:
            outside = np.zeros((1, 1, 1), bool)
        shape = self.tiles.shape
        if self.monoid == "add":
            return self._finished(np.where(outside, 0, products).sum(-2).reshape(shape), given)
        lowest = -np.inf if self.element.is_float else np.iinfo(products.dtype).min
        products = np.where(outside, lowest, products)
        best = products.max(-2).reshape(shape)
        if self.monoid == "max":
            return self._finished(best, given)
        return [best, products.argmax(-2).reshape(shape)]

    def _finished(self, value: Array, given: dict[str, Array]) -> list[Array]:
        before = value
        if "bias" in self.epilogue:
            value = value + given["%bias"]
        if "residual" in self.epilogue:
            value = value + given["%residual"]
        if "relu" in self.epilogue:
            value = np.maximum(value, 0)
        return [value, before] if self.also_before else [value]

    def _allowed(self, result: Array) -> float:
        """
        Return the allowed error of `result`, from roundings of the steps of K and of stored values.
        """
        if result.dtype.kind in "iu":
            return 0.0
        slabs = [o.slab.element for o in (self.a, self.b) if o.slab is not None]
        coarse = max([element.roundoff for element in slabs if element.narrow], default=0.0)
        steps = (self.tiles.sizes.k + 16) * ELEMENTS[self.element.computed].roundoff
        stored = 2 * self.out.roundoff * float(np.abs(result).max())
        return (steps + 4 * coarse) * self.magnitude + stored
