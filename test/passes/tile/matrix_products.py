# SPDX-License-Identifier: Apache-2.0
"""
Random products of matrices for matrix instructions: batched, in every layout and element type, with
prologues and epilogues. Few sizes are multiples of a tile.

Inputs are small integers or standard normal floats. Integers have exact results in any order of
sums, so that a single misplaced element is found.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from .schedules.drawing import Draw
from .schedules.elements import ELEMENTS, Array, widened
from .schedules.text import Text

INSTRUCTIONS: Mapping[str, str] = {
    "m16n8k16_bf16": "bf16",
    "m16n8k16_f16": "f16",
    "m16n8k8_tf32": "f32",
    "m16n8k8_tf32x3": "f32",
}
"""Element type of the factors of each matrix instruction."""

GROUPED: Mapping[str, str] = {"m64nNk16_bf16": "bf16", "m64nNk16_f16": "f16"}
"""Element type of the factors of each instruction of warpgroups."""

SIZES = (2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 40, 48, 63, 65, 70, 100, 129, 200)
"""Sizes of matrices. Factors of products with one row or one column are not read again."""

SPLIT_ONLY = 1 << 13
"""Largest magnitude of integers that need both parts of a split float32."""


class MatrixProduct(NamedTuple):
    """Kernel in Loop IR, with inputs and expected results."""

    text: str
    instruction: str
    steps: int
    """Steps of K."""
    is_double: bool
    """True if the kernel computes two products, which share a factor."""
    is_exact: bool
    """True if the inputs are integers, so that rounding errors cannot occur before the store."""
    inputs: Sequence[Array]
    expected: Sequence[Array]
    """Expected results: in the kernel's types if they are exact, else in float64."""
    roundoff: float
    """Allowed error of an element, relative to the largest."""


class Factor(NamedTuple):
    """Order of the axes of a factor, subscript of its batch, and its prologue."""

    is_transposed: bool
    batch: str
    prologue: str


def matrix_product(
    draw: Draw, *, is_exact: bool, largest: int = 200, grouped: bool = False
) -> MatrixProduct:
    """
    Return a random product whose sizes are `largest` at most, for warps or for warpgroups. Plain
    tf32 is drawn for exact results only, because it rounds its factors.
    """
    return _Product(draw, is_exact, largest, GROUPED if grouped else INSTRUCTIONS).drawn()


class _Product:
    def __init__(self, draw: Draw, is_exact: bool, largest: int, instructions: Mapping[str, str]):
        self.draw, self.is_exact = draw, is_exact
        names = [name for name in instructions if is_exact or name != "m16n8k8_tf32"]
        self.instruction = draw.one(names)
        self.element = ELEMENTS[instructions[self.instruction]]
        sizes = [size for size in SIZES if size <= largest]
        least = 1 if self.element.stored == "f32" else 9  # a chunk holds a step of the instruction
        self.m, self.n = draw.one(sizes), draw.one(sizes)
        self.k = draw.one([size for size in sizes if size >= least])
        is_small = self.m * self.n < 32  # a block would have lines of several matrices
        self.batch = 0 if is_small else draw.one((0, 0, 0, 2, 3, 4))
        self.is_double = draw.chance(5)
        self.text = Text("product")
        self.given: dict[str, Array] = {}
        self.factors: dict[str, Factor] = {}
        self.generator = np.random.default_rng(draw.one(range(1000)))
        self.large = draw.one(("%a", "%b")) if self.instruction == "m16n8k8_tf32x3" else ""

    def drawn(self) -> MatrixProduct:
        """Write the kernel, and return it with its inputs and expected results."""
        text = self.text
        free = [("%g", self.batch), ("%i", self.m), ("%j", self.n)]
        nest = {name: size for name, size in free if size}
        out = ELEMENTS[self.element.stored if self.draw.chance() else "f32"]
        text.outputs["%out"] = tuple(nest.values()), out.stored
        with text.region(f"loop.for {', '.join(f'{axis} in {nest[axis]}' for axis in nest)}"):
            value, expected = self._epilogue(*self._sums(), nest)
            text.store(text.narrowed(value, out), "%out", [*nest])
        expected = np.broadcast_to(expected, (self.batch or 1, self.m, self.n))
        expected = expected.reshape([*nest.values()])
        if self.is_exact:
            expected = expected.astype(np.float32).astype(out.dtype)
        return MatrixProduct(
            text.kernel(),
            self.instruction,
            self.k,
            self.is_double,
            self.is_exact,
            inputs=[self.given[name] for name in text.inputs],
            expected=[expected],
            roundoff=64 * self.element.roundoff,
        )

    def _sums(self) -> tuple[str, Array]:
        """Write one product, or two that share a factor, and what combines them."""
        first, x = self._sum("b")
        if not self.is_double:
            return first, x
        second, y = self._sum("c")
        if self.is_exact:
            return self.text.binary("sub", first, second, "f32"), x - y
        gate, x = self._silu(first, x)
        return self.text.binary("mul", gate, second, "f32"), x * y

    def _sum(self, right: str) -> tuple[str, Array]:
        name = self.text.fresh("sum")
        with self.text.region(f"{name} = loop.reduce %k in {self.k} with add", " : f32"):
            x, a = self._factor("a", "%i", self.m)
            y, b = self._factor(right, "%j", self.n)
            pair = (x, y) if self.draw.chance() else (y, x)
            flags = " fastmath<afn>" if self.instruction == "m16n8k8_tf32" else ""
            product = self.text.let(f"arith.mulf {pair[0]}, {pair[1]}{flags} : f32")
            self.text.line(f"loop.yield {product} : f32")
        return name, a @ np.swapaxes(b, -1, -2)

    def _factor(self, name: str, free: str, size: int) -> tuple[str, Array]:
        """Write a factor; return its name, and its values by batch, `free` and K."""
        if name not in self.factors:
            batches = ("%g", "%g floordiv 2", *([""] if self.factors else []))
            batch = self.draw.one(batches) if self.batch else ""
            prologue = self.draw.one(("", "", "relu", "gate", "scale"))
            self.factors[name] = Factor(self.draw.chance(), batch, prologue)
        factor, text = self.factors[name], self.text
        value, array = self._loaded(f"%{name}", free, size, factor)
        if not factor.prologue:
            return value, array
        if factor.prologue == "relu":
            value, array = self._relu(value, array)
        elif factor.prologue == "scale":
            weight, of_k = self._vector(f"%{name}w", "%k", self.k)
            row, of_row = self._vector(f"%{name}r", free, size)
            value = text.binary("mul", text.binary("mul", value, weight, "f32"), row, "f32")
            array = array * of_k * of_row[:, None]
        else:
            other, up = self._loaded(f"%{name}u", free, size, factor)
            if not self.is_exact:
                value, array = self._silu(value, array)
            value, array = text.binary("mul", value, other, "f32"), array * up
        # Rounded to the element type, as eager PyTorch does.
        return text.widened(text.narrowed(value, self.element), self.element), array

    def _loaded(self, name: str, free: str, size: int, factor: Factor) -> tuple[str, Array]:
        axes, shape = [free, "%k"], [size, self.k]
        if factor.is_transposed:
            axes, shape = axes[::-1], shape[::-1]
        if factor.batch:
            groups = self.batch if factor.batch == "%g" else -(-self.batch // 2)
            axes, shape = [factor.batch, *axes], [groups, *shape]
        array = self._input(name, shape, self.element.stored)
        value = self.text.widened(self.text.load(name, axes), self.element)
        if factor.is_transposed:
            array = np.swapaxes(array, -1, -2)
        if factor.batch == "%g floordiv 2":
            array = np.repeat(array, 2, axis=0)[: self.batch]
        return value, array

    def _vector(self, name: str, axis: str, size: int) -> tuple[str, Array]:
        array = self._input(name, [size], "f32")
        return self.text.load(name, [axis]), array

    def _input(self, name: str, shape: Sequence[int], element: str) -> Array:
        """Return the values of an input in float64; the first call adds it to the kernel."""
        if name not in self.given:
            self.text.inputs[name] = tuple(shape), element
            self.given[name] = self._values(name, shape).astype(ELEMENTS[element].dtype)
        return widened(self.given[name])

    def _values(self, name: str, shape: Sequence[int]) -> Array:
        if not self.is_exact:
            return np.asarray(self.generator.standard_normal(shape))
        small = 1 if self.large or len(shape) == 1 else 3
        most = SPLIT_ONLY if name == self.large else small
        return np.asarray(self.generator.integers(-most, most + 1, shape))

    def _silu(self, value: str, array: Array, factor: float = 1.0) -> tuple[str, Array]:
        """Write `x * sigmoid(factor * x)`."""
        text = self.text
        scaled = text.binary("mul", value, text.constant(-factor, "f32"), "f32")
        powered = text.let(f"math.exp {scaled} : f32")
        divisor = text.binary("add", text.constant(1, "f32"), powered, "f32")
        with np.errstate(over="ignore"):
            return text.binary("div", value, divisor, "f32"), array / (1 + np.exp(-factor * array))

    def _relu(self, value: str, array: Array) -> tuple[str, Array]:
        zero = self.text.constant(0, "f32")
        return self.text.binary("max", value, zero, "f32"), np.maximum(array, 0)

    def _epilogue(self, value: str, array: Array, nest: Mapping[str, int]) -> tuple[str, Array]:
        """Write some steps after the sum; GELU is approximated by a sigmoid."""
        text, draw = self.text, self.draw
        if draw.chance(4):
            bias, of_n = self._vector("%bias", "%j", self.n)
            value, array = text.binary("add", value, bias, "f32"), array + of_n
        if draw.chance(4):
            rest = self._input("%rest", [*nest.values()], self.element.stored)
            loaded = text.widened(text.load("%rest", [*nest]), self.element)
            value = text.binary("add", value, loaded, "f32")
            array = array + rest.reshape(-1, self.m, self.n)
        if draw.chance(4):
            value, array = self._relu(value, array)
        if draw.chance(4):
            value = text.binary("mul", value, text.constant(0.5, "f32"), "f32")
            array = array * 0.5
        if draw.chance(4) and not self.is_exact:
            value, array = self._silu(value, array, 1.702)
        return value, array
