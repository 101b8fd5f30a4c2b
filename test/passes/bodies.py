# SPDX-License-Identifier: Apache-2.0
"""
Random bodies of kernels, drawn line by line: loads, arithmetic and reductions over given axes.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from itertools import count
from typing import ClassVar, NamedTuple, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

T = TypeVar("T")
Shape = tuple[int, ...]

# No function that grows faster than a product: float64 must distinguish a mistake from rounding.
_UNARY = ("arith.negf", "math.absf", "math.tanh")
_BINARY = ("arith.addf", "arith.mulf", "arith.subf", "arith.maximumf")
_MONOIDS = ("add", "max", "min", "mul")
_PAIR_MONOIDS = ("argmax", "argmin")
_SMALL_SIZES = (2, 1, 3)


class Axis(NamedTuple):
    """An index from 0 to `extent` - 1."""

    name: str
    extent: int


Axes = Sequence[Axis]


class Buffer(NamedTuple):
    """A memref that a body may read wherever all of `axes` are in scope."""

    name: str
    shape: Shape
    axes: frozenset[Axis] = frozenset()
    space: str = ""

    @property
    def type(self) -> str:
        """Type of the memref, as text."""
        sizes = "".join(f"{size}x" for size in self.shape)
        return f"memref<{sizes}f32{self.space}>"


def names(buffers: Iterable[Buffer]) -> str:
    """Return the names of the buffers, as in an argument list."""
    return ", ".join(buffer.name for buffer in buffers)


def types(buffers: Iterable[Buffer]) -> str:
    """Return the types of the buffers."""
    return ", ".join(buffer.type for buffer in buffers)


def parameters(buffers: Iterable[Buffer]) -> str:
    """Return the buffers as parameters, with their types."""
    return ", ".join(f"{buffer.name}: {buffer.type}" for buffer in buffers)


class Value(NamedTuple):
    """A scalar that a body may use wherever all of `axes` are in scope."""

    name: str
    axes: frozenset[Axis]


class Index(NamedTuple):
    """An affine expression with values from 0 to `last`."""

    text: str
    last: int


class Body:
    """Lines of a random kernel. Later values may use each value that an earlier line defines."""

    reduced_sizes: ClassVar[Shape] = (2, 1, 3, 5, 33, 40, 100)
    """Trip counts of an outer reduction."""

    def __init__(self, draw: DrawFn, inputs: Iterable[Buffer], has_masks: bool):
        self.draw, self.buffers, self.has_masks = draw, [*inputs], has_masks
        self.lines: list[str] = []
        self.values: list[Value] = []
        self._depth, self._names = 1, count()

    def pick(self, choices: Sequence[T]) -> T:
        """Draw one of `choices`; a failing example shrinks towards the first."""
        return self.draw(st.sampled_from(choices))

    def fresh(self, prefix: str) -> str:
        """Return a new name."""
        return f"%{prefix}{next(self._names)}"

    def line(self, text: str) -> None:
        """Append a line at the current indentation."""
        self.lines.append("  " * self._depth + text)

    @contextmanager
    def region(self, header: str, footer: str = "") -> Generator[None]:
        """Enclose the lines of the block in `header {` and `}`, followed by `footer`."""
        self.line(f"{header} {{")
        self._depth += 1
        yield
        self._depth -= 1
        self.line(f"}}{footer}")

    def define(self, text: str, axes: Iterable[Axis]) -> str:
        """Return the name of a new value, which the operation `text` computes inside `axes`."""
        name = self.fresh("v")
        self.line(f"{name} = {text}")
        self.offer([name], axes)
        return name

    def offer(self, names: Iterable[str], axes: Iterable[Axis]) -> None:
        """Allow later lines to use the values called `names` inside `axes`."""
        self.values += [Value(name, frozenset(axes)) for name in names]

    def value(self, axes: Axes, depth: int) -> str:
        """Return a value of one to three operands, with at most `depth` nested regions."""
        result = self.operand(axes, depth)
        for _ in range(self.pick((1, 0, 2))):
            is_constant = self.pick((False, False, False, True))
            other = self.constant(axes) if is_constant else self.operand(axes, depth)
            result = self.define(f"{self.pick(_BINARY)} {result}, {other} : f32", axes)
        return self.unary(self.pick(_UNARY), result, axes) if self.pick((False, True)) else result

    def unary(self, name: str, value: str, axes: Axes) -> str:
        """Return the operation `name` on `value`."""
        return self.define(f"{name} {value} : f32", axes)

    def operand(self, axes: Axes, depth: int) -> str:
        """
        Return an element of a buffer, an existing value, or a new value of an op with a region.
        """
        known = [value.name for value in self.values if value.axes <= frozenset(axes)]
        makers: list[Callable[[], str]] = [lambda: self.load(axes)] * 4
        if axes:
            makers += [lambda: self.place(axes), lambda: self.gather(axes)]
        if known:
            makers += [lambda: self.pick(known[::-1])] * 2
        if depth:
            makers += self.regions(axes, depth)
        return self.pick(makers)()

    def regions(self, axes: Axes, depth: int) -> list[Callable[[], str]]:
        """Return functions that make a value by an op with a region."""
        return [
            lambda: self.reduce(axes, depth),
            lambda: self.pick((self.reduce, self.fold_places, self.where_best, self.weighted))(
                axes, depth
            ),
        ]

    def constant(self, axes: Axes) -> str:
        """Return a number that float32 represents exactly."""
        return self.define(f"arith.constant {self.pick((0.75, -2.0))} : f32", axes)

    def load(self, axes: Axes) -> str:
        """Return an element of some buffer."""
        readable = [buffer for buffer in self.buffers if buffer.axes <= frozenset(axes)]
        return self.load_from(self.pick(readable), axes)

    def place(self, axes: Axes) -> str:
        """Return a number computed from the indices `axes`, or one of two values chosen by them."""
        if self.pick((True, False)):
            return self.small(self.integer(axes)[0], "i64", axes)
        chosen = f"{self._holds(axes)}, {self.load(axes)}, {self.load(axes)}"
        return self.define(f"arith.select {chosen} : f32", axes)

    def small(self, integer: str, type: str, axes: Axes) -> str:
        """
        Return a float from -1 to 1 that distinguishes integers, also if they are huge as
        identities.
        """
        real, scale = self.fresh("f"), self.fresh("f")
        self.line(f"{real} = arith.sitofp {integer} : {type} to f32")
        self.line(f"{scale} = arith.constant 1.562500e-02 : f32")
        product = self.define(f"arith.mulf {real}, {scale} : f32", axes)
        return self.unary("math.tanh", product, axes)

    def integer(self, axes: Axes) -> Index:
        """Return the name of an i64 computed from the indices `axes`; it is from 0 to `last`."""
        text, last = self._index(axes, self.pick(axes).extent)
        name = self.fresh("n")
        self.line(f"{name} = loop.index [{text}] : i64")
        return Index(name, last)

    def _holds(self, axes: Axes) -> str:
        """Return the name of a bool that depends on the indices `axes`."""
        text, last = self._index(axes, self.pick(axes).extent)
        name, low = self.fresh("p"), self.draw(st.integers(0, last))
        self.line(f"{name} = loop.predicate [({text}) - {low}, {last} - ({text})] : i1")
        return name

    def gather(self, axes: Axes) -> str:
        """Return an element of some buffer, at an index that is a value."""
        value, last = self.integer(axes)
        index = Axis(self.fresh("g"), last + 1)
        self.line(f"{index.name} = loop.to_index {value} below {last + 1}{self.where(axes)} : i64")
        readable = [buffer for buffer in self.buffers if buffer.axes <= frozenset(axes)]
        return self.load_from(self.pick(readable), axes, [index, *axes])

    def load_from(self, buffer: Buffer, axes: Axes, indices: Axes | None = None) -> str:
        """Return an element of `buffer`, masked where it is out of bounds."""
        subscripts: list[str] = []
        bounds: list[str] = []
        for size in buffer.shape:
            text, *bound = self._subscript(indices or axes, size)
            subscripts.append(text)
            bounds += bound
        where = self.where(axes, bounds)
        text = f"loop.load {buffer.name}[{', '.join(subscripts)}]{where} : {buffer.type}"
        return self.define(text, axes)

    def _subscript(self, axes: Axes, size: int) -> tuple[str, ...]:
        """Return a subscript of an axis of `size`, and the mask that it needs, if any."""
        text, last = self._index(axes, size)
        if last < size:
            return (self.pick((text, text, text, f"{size - 1} - ({text})")),)
        steps = -(-(last + 1) // size)
        inside = [(f"({text}) mod {size}",), (f"({text}) floordiv {steps}",)]
        masked = [(text, f"{size - 1} - ({text})")] if self.has_masks else []
        return self.pick([*inside, *masked])

    def _index(self, axes: Axes, size: int) -> Index:
        """
        Return an index of one axis, preferably with the extent `size`, of two axes, or a constant.
        """
        if not axes or self.pick([False] * 7 + [True]):
            constant = self.draw(st.integers(0, size - 1))
            return Index(str(constant), constant)
        fitting = [axis for axis in axes if axis.extent == size]
        one, other = self.pick([*fitting * 5, *axes]), self.pick(axes)
        step = self.pick([0] * 5 + [1, other.extent])
        if not step:
            return Index(one.name, one.extent - 1)
        last = (one.extent - 1) * step + other.extent - 1
        return Index(f"{one.name} * {step} + {other.name}", last)

    def where(self, axes: Axes, bounds: Sequence[str] = ()) -> str:
        """
        Return the mask of an operation: `bounds`, and sometimes one more, which is true at step 0.
        """
        masks = [*bounds]
        if self.has_masks and axes and self.pick((True, False)):
            text, last = self._index(axes, self.pick(axes).extent)
            masks.append(f"{self.draw(st.integers(last // 2, last))} - ({text})")
        return f" where [{', '.join(masks)}]" if masks else ""

    def reduce(self, axes: Axes, depth: int) -> str:
        """Return a result of a reduction of one or two values."""
        return self.pick(self._reduction(axes, depth, self.pick(_MONOIDS), self.pick((1, 1, 2))))

    def fold_places(self, axes: Axes, depth: int) -> str:
        """
        Return a reduction of integers, or a choice between two values by a reduction of bools.
        """
        axis = Axis(self.fresh("k"), self.pick(_SMALL_SIZES))
        inner, name = (*axes, axis), self.fresh("s")
        is_integer = self.pick((True, False))
        type, monoids = ("i64", _MONOIDS) if is_integer else ("i1", ("and", "or"))
        header = f"{name} = loop.reduce {axis.name} in {axis.extent} with {self.pick(monoids)}"
        with self.region(header, f" : {type}"):
            value = self.integer(inner)[0] if is_integer else self._holds(inner)
            self.line(f"loop.yield {value}{self.where(inner)} : {type}")
        if is_integer:
            return self.small(name, type, axes)
        return self.define(f"arith.select {name}, {self.load(axes)}, {self.load(axes)} : f32", axes)

    def where_best(self, axes: Axes, depth: int) -> str:
        """Return the position of a loop's largest or smallest element, or that element."""
        sizes = _SMALL_SIZES if depth == 1 else self.reduced_sizes
        axis = Axis(self.fresh("k"), self.pick(sizes))
        inner, value, index = (*axes, axis), self.fresh("s"), self.fresh("n")
        header = f"loop.reduce {axis.name} in {axis.extent} with {self.pick(_PAIR_MONOIDS)}"
        with self.region(f"{value}, {index} = {header}", " : f32, i64"):
            pair = f"{self.load(inner)}, {self.integer(inner)[0]}"
            self.line(f"loop.yield {pair}{self.where(inner)} : f32, i64")
        self.offer([value], axes)
        return self.pick((self.small(index, "i64", axes), value))

    def weighted(self, axes: Axes, depth: int) -> str:
        """Return the largest score of a loop, or a sum that the scores' exponentials weight."""
        sizes = _SMALL_SIZES if depth == 1 else self.reduced_sizes
        axis = Axis(self.fresh("k"), self.pick(sizes))
        inner, names = (*axes, axis), [self.fresh("s") for _ in range(3)]
        types = "f32, f32, f32"
        header = f"{', '.join(names)} = loop.reduce {axis.name} in {axis.extent} with softmax"
        same = self.load(axes)  # in each step
        with self.region(header, f" : {types}"):
            values = [self.load(inner), same, self.value(inner, depth - 1)]
            self.line(f"loop.yield {', '.join(values)}{self.where(inner)} : {types}")
        self.offer(names, axes)
        return self.pick(names)

    def prefix(self, value: str, axes: Axes) -> str:
        """Return the prefix of `value` in the scan around it, or the position of a best element."""
        if self.pick((False, False, True)):
            best, index = self.fresh("s"), self.fresh("n")
            pair = f"{self.load(axes)}, {self.integer(axes)[0]}"
            self.line(
                f"{best}, {index} = loop.prefix {pair} with {self.pick(_PAIR_MONOIDS)} : f32, i64"
            )
            return self.small(index, "i64", axes)
        monoid = self.pick(_MONOIDS)
        bounded = self.unary("math.tanh", value, axes) if monoid == "mul" else value
        return self.define(f"loop.prefix {bounded} with {monoid} : f32", axes)

    def _reduction(self, axes: Axes, depth: int, monoid: str, width: int) -> list[str]:
        sizes = _SMALL_SIZES if depth == 1 or monoid == "mul" else self.reduced_sizes
        axis = Axis(self.fresh("k"), self.pick(sizes))
        inner, types = (*axes, axis), ", ".join(["f32"] * width)
        names = [self.fresh("s") for _ in range(width)]
        header = f"{', '.join(names)} = loop.reduce {axis.name} in {axis.extent} with {monoid}"
        with self.region(header, f" : {types}"):
            yielded = self.step(inner, depth - 1, monoid, width)
            self.line(f"loop.yield {', '.join(yielded)}{self.where(inner)} : {types}")
        self.offer(names, axes)
        return names

    def step(self, axes: Axes, depth: int, monoid: str, width: int) -> list[str]:
        """
        Return the values that a step of a reduction yields; they are often reductions of a chunk.
        """
        if depth and self.pick((False, True)):
            return self._reduction(axes, depth, self.pick((monoid, monoid, *_MONOIDS)), width)
        values = [self.value(axes, depth) for _ in range(width)]
        return [self.unary("math.tanh", v, axes) if monoid == "mul" else v for v in values]
