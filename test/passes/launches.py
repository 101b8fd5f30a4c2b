# SPDX-License-Identifier: Apache-2.0
"""Random kernels in Tile IR, as if scheduled by hand: one launch over random axes."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from math import prod
from typing import NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from .bodies import Axes, Axis, Body, Buffer, parameters

_MONOIDS = ("add", "max", "min")
_THREAD_LEVELS = ("thread", "thread", "warp", "lane")
_INPUT_SHAPES = ((40, 33), (100,), (5, 64), (2, 3))
_SLAB_SIZES = (2, 1, 5, 8, 33)
# Whole warps and not, powers of two and not, within a warp and across.
_THREADS = ((64,), (32, 3), (3, 32), (5, 8), (4, 2, 8), (24,), (128,), (33,), (2, 64), (6, 16), ())


class Launch(NamedTuple):
    """The axes of a launch, in order, each with its level."""

    levels: dict[Axis, str]

    @property
    def header(self) -> str:
        """The launch's header, as text."""
        axes = [f"{axis.name} = {level} {axis.extent}" for axis, level in self.levels.items()]
        return f"tile.launch ({', '.join(axes)})"

    def within_block(self, axes: Axes) -> list[Axis]:
        """Return those of `axes` that are thread or register axes of the launch."""
        return [axis for axis in axes if self.levels.get(axis, "block") != "block"]

    def threads(self, axes: Axes) -> list[Axis]:
        """Return those of `axes` whose steps are different threads."""
        return [axis for axis in axes if self.levels.get(axis) in _THREAD_LEVELS]


@st.composite
def launches(draw: DrawFn) -> Launch:
    """Draw a launch of blocks, threads and registers, in any order."""
    blocks = draw(_extents((2, 1, 3), most=2, product=6))
    threads = draw(st.sampled_from(_THREADS))
    registers = draw(_extents((2, 1, 3), most=2, product=4))
    levels = {Axis(f"%b{n}", extent): "block" for n, extent in enumerate(blocks)}
    for n, extent in enumerate(threads):
        levels[Axis(f"%t{n}", extent)] = draw(st.sampled_from(_THREAD_LEVELS))
    levels |= {Axis(f"%r{n}", extent): "register" for n, extent in enumerate(registers)}
    return Launch(dict(draw(st.permutations([*levels.items()]))))


def _extents(sizes: Sequence[int], most: int, product: int) -> SearchStrategy[list[int]]:
    extents = st.lists(st.sampled_from(sizes), max_size=most)
    return extents.filter(lambda drawn: prod(drawn) <= product)


class LaunchBody(Body):
    """Lines of a launch, including values that threads join, and slabs that a block shares."""

    reduced_sizes = (2, 5, 3, 1)  # threads may join in every step

    def __init__(self, draw: DrawFn, inputs: Iterable[Buffer], launch: Launch):
        super().__init__(draw, inputs, has_masks=draw(st.sampled_from([True, True, False])))
        self.launch = launch
        self.coordinates: set[Axis] = set()
        """Coordinates of all slabs."""

    def regions(self, axes: Axes, depth: int) -> list[Callable[[], str]]:
        """Return makers of values; threads join only where all of them run, not inside a stage."""
        makers = super().regions(axes, depth)
        within = self.launch.within_block(axes)
        if within:
            makers += [lambda: self.combine(axes, depth, self.draw(_some(within)))] * 2
            makers += [lambda: self.combine_places(axes, self.draw(_some(within)))]
            makers += [lambda: self.combine_weighted(axes, self.draw(_some(within)))]
        if self._has_all_threads(axes):
            makers += [lambda: self.stage(axes, depth)]
        return makers

    def _has_all_threads(self, axes: Axes) -> bool:
        return self.launch.levels.keys() <= {*axes} and self.coordinates.isdisjoint(axes)

    def step(self, axes: Axes, depth: int, monoid: str, width: int) -> list[str]:
        """
        Return the values of a step of a reduction, which often first stages the elements it reads.
        """
        if depth and self._has_all_threads(axes) and self.pick((True, False)):
            self.stage(axes, depth)
        return super().step(axes, depth, monoid, width)

    def combine(self, axes: Axes, depth: int, across: Axes) -> str:
        """Return a result of joining one or two values `across` axes."""
        values = [self.value(axes, depth - 1) for _ in range(self.pick((1, 1, 2)))]
        joined = ", ".join(axis.name for axis in across)
        names = [self.fresh("v") for _ in values]
        self.line(
            f"{', '.join(names)} = tile.combine {', '.join(values)} across {joined} "
            f"with {self.pick(_MONOIDS)}{self.where(axes)} : {', '.join('f32' for _ in values)}"
        )
        self.offer(names, [axis for axis in axes if axis not in across])
        return self.pick(names)

    def combine_weighted(self, axes: Axes, across: Axes) -> str:
        """Return a sum that the exponentials of scores weight, joined `across` axes."""
        names, values = [self.fresh("v"), self.fresh("v")], [self.load(axes), self.load(axes)]
        joined = ", ".join(axis.name for axis in across)
        self.line(
            f"{', '.join(names)} = tile.combine {', '.join(values)} across {joined} "
            f"with softmax{self.where(axes)} : f32, f32"
        )
        self.offer(names, [axis for axis in axes if axis not in across])
        return names[1]

    def combine_places(self, axes: Axes, across: Axes) -> str:
        """Return the position of the best of some elements, joined `across` axes."""
        value, index = self.fresh("v"), self.fresh("n")
        pair = f"{self.load(axes)}, {self.integer(axes)[0]}"
        joined = ", ".join(axis.name for axis in across)
        self.line(
            f"{value}, {index} = tile.combine {pair} across {joined} "
            f"with {self.pick(('argmax', 'argmin'))}{self.where(axes)} : f32, i64"
        )
        return self.small(index, "i64", [axis for axis in axes if axis not in across])

    def stage(self, axes: Axes, depth: int) -> str:
        """
        Write a stage that fills a new slab, and return an element that is loaded from the slab.
        """
        sizes = self.draw(st.lists(st.sampled_from(_SLAB_SIZES), min_size=1, max_size=2))
        coordinates = [Axis(self.fresh("c"), size) for size in sizes]
        self.coordinates |= {*coordinates}
        within = self.launch.within_block(axes)
        uniform = [axis for axis in axes if axis not in within]
        slab = Buffer(self.fresh("slab"), tuple(sizes), frozenset(uniform), ", 3 : i64")
        names = ", ".join(axis.name for axis in coordinates)
        with self.region(f"{slab.name} = tile.stage ({names}) in {sizes}", f" : {slab.type}"):
            inner = [*uniform, *coordinates]
            value = self.value(inner, depth - 1)
            self.line(f"loop.yield {value}{self.where(inner)} : f32")
        self.buffers.append(slab)
        return self.load_from(slab, axes)


@st.composite
def tile_kernels(draw: DrawFn) -> str:
    """
    Draw the text of a kernel `@main`.

    It joins values over all axes across some of them, and stores the results along the others,
    maybe in a loop.
    """
    launch = draw(launches())
    inputs = [Buffer(f"%x{n}", draw(st.sampled_from(_INPUT_SHAPES))) for n in range(2)]
    body = LaunchBody(draw, inputs, launch)
    if draw(st.booleans()):
        body.value((), 0)  # a scalar before the launch
    axes = [*launch.levels]
    within = launch.within_block(axes)
    across = draw(_some(within)) if within and draw(st.sampled_from([True, True, False])) else []
    steps = [Axis("%j", extent) for extent in draw(st.sampled_from([[2], [], [], [1]]))]
    kept = [*(axis for axis in axes if axis not in across), *steps]
    groups = draw(_parted(kept))
    outputs = [
        Buffer(f"%o{n}", tuple(size for _, size in groups))
        for n in range(draw(st.sampled_from([1, 1, 2])))
    ]
    place = _place(groups, launch.threads(across))
    inner = body.region(f"loop.for %j in {steps[0].extent}") if steps else nullcontext()
    with body.region(launch.header):
        body.value(axes, 2)
        with inner:
            for output in outputs:
                value = _joined(body, [*axes, *steps], across)
                body.line(f"loop.store {value}, {output.name}{place} : {output.type}")
    header = f"loop.kernel @main({parameters(inputs)}) -> ({parameters(outputs)}) {{"
    return "\n".join([header, *body.lines, "}"])


def _some(axes: Axes) -> SearchStrategy[list[Axis]]:
    return st.lists(st.sampled_from(axes), min_size=1, unique=True)


@st.composite
def _parted(draw: DrawFn, axes: Axes) -> list[tuple[Axes, int]]:
    """
    Draw the axes that subscript each axis of the outputs, and its size: some steps may overrun it.
    """
    order = draw(st.permutations(axes))
    cut = draw(st.integers(0, len(order)))
    groups: list[tuple[Axes, int]] = []
    for part in (order[cut:], order[:cut]):
        total = prod(axis.extent for axis in part)
        if part:
            groups.append(
                (part, draw(st.sampled_from([total, total, max(1, total - 1), -(-total // 2)])))
            )
    return groups


def _place(groups: Iterable[tuple[Axes, int]], silent: Axes) -> str:
    """
    Return the subscripts and the mask of a store.

    The store is masked outside of the output. Threads along `silent` axes have the same value, and
    only the first of them stores.
    """
    subscripts: list[str] = []
    masks = [f"0 - {axis.name}" for axis in silent]
    for axes, size in groups:
        strides = [prod(axis.extent for axis in axes[n + 1 :]) for n in range(len(axes))]
        terms = [f"{axis.name} * {step}" for axis, step in zip(axes, strides, strict=True)]
        subscripts.append(" + ".join(terms))
        masks.append(f"{size - 1} - ({subscripts[-1]})")
    where = f" where [{', '.join(masks)}]" if masks else ""
    return f"[{', '.join(subscripts)}]{where}"


def _joined(body: LaunchBody, axes: Axes, across: Axes) -> str:
    """Return a value that no longer varies along the axes that it was joined across."""
    joined = body.combine(axes, 2, across) if across else body.value(axes, 2)
    kept = [axis for axis in axes if axis not in across]
    return body.define(f"arith.addf {joined}, {body.value(kept, 1)} : f32", kept)
