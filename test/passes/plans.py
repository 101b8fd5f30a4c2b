# SPDX-License-Identifier: Apache-2.0
"""Random plans in Loop IR, as if written by hand: a function that launches random kernels."""

from collections.abc import Iterable, Sequence
from math import prod
from typing import NamedTuple, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from .bodies import Axes, Axis, Body, Buffer, Shape, names, parameters, types

T = TypeVar("T")

_SIZES = (2, 1, 3, 5, 33, 40, 100)
_MAX_ELEMENTS = 1500

shapes = st.one_of(
    st.tuples(st.sampled_from(_SIZES), st.sampled_from(_SIZES)).filter(
        lambda shape: prod(shape) <= _MAX_ELEMENTS
    ),
    st.tuples(st.sampled_from(_SIZES)),
    st.sampled_from([(33, 5), (5, 40), ()]),
)


class Kernel(NamedTuple):
    """A kernel: its signature and its text."""

    name: str
    inputs: Sequence[Shape]
    outputs: Sequence[Shape]
    text: str


@st.composite
def plans(draw: DrawFn) -> str:
    """Draw the text of a module with one to five launches, the last of which makes a result."""
    plan = _Plan(draw)
    for _ in range(draw(st.sampled_from([3, 1, 2, 4, 5]))):
        plan.launch()
    return plan.text()


class _Plan:
    """A function `@main` and its kernels."""

    def __init__(self, draw: DrawFn):
        self.draw = draw
        self.inputs = [Buffer(f"%a{n}", draw(shapes)) for n in range(2)]
        self.written: list[Buffer] = []
        self.kernels: list[Kernel] = []
        self.lines: list[str] = []

    def pick(self, choices: Sequence[T]) -> T:
        """Draw one of `choices`."""
        return self.draw(st.sampled_from(choices))

    def launch(self) -> None:
        """Add a launch of a new kernel or of an existing one."""
        buffers = [*self.inputs, *self.written]
        held = {buffer.shape for buffer in buffers}
        known = [kernel for kernel in self.kernels if held.issuperset(kernel.inputs)]
        if known and self.pick((False, False, False, True)):
            kernel = self.pick(known)
            read = [self.pick([b for b in buffers if b.shape == shape]) for shape in kernel.inputs]
        else:
            # most plans continue from the newest buffer
            read = [buffers[-1], *self.draw(st.lists(st.sampled_from(buffers), max_size=2))]
            kernel = self._new_kernel([buffer.shape for buffer in read])
        written: list[Buffer] = []
        for shape in kernel.outputs:
            written.append(self._output(shape, [*read, *written]))
        passed = f"({names(read)}) -> ({names(written)})"
        signature = f"({types(read)}) -> ({types(written)})"
        self.lines.append(f"loop.launch @{kernel.name}{passed} : {signature}")

    def _new_kernel(self, inputs: Sequence[Shape]) -> Kernel:
        shape = self.draw(st.one_of(st.sampled_from(inputs), shapes))
        kernel = self.draw(kernels(f"k{len(self.kernels)}", inputs, shape))
        self.kernels.append(kernel)
        return kernel

    def _output(self, shape: Shape, taken: Sequence[Buffer]) -> Buffer:
        """Return a new buffer, or one that has been written before."""
        old = [buffer for buffer in self.written if buffer.shape == shape and buffer not in taken]
        chosen = self.pick([None, None, *old])
        if chosen is not None:
            self.written.remove(chosen)  # it is now the newest one
        else:
            chosen = Buffer(f"%t{sum('alloc' in line for line in self.lines)}", shape)
            self.lines.append(f"{chosen.name} = memref.alloc() : {chosen.type}")
        self.written.append(chosen)
        return chosen

    def text(self) -> str:
        """Return the whole module."""
        also = self.pick([None, None, None, *self.written[:-1]])
        results = [self.written[-1], *([also] if also else [])]
        lines = [
            f"func.func @main({parameters(self.inputs)}) -> ({types(results)}) {{",
            *(f"  {line}" for line in self.lines),
            f"  func.return {names(results)} : {types(results)}",
            "}",
            *(kernel.text for kernel in self.kernels),
        ]
        return "\n".join(lines)


@st.composite
def kernels(draw: DrawFn, name: str, inputs: Sequence[Shape], shape: Shape) -> Kernel:
    """
    Draw a kernel that computes an output of `shape`.

    Two of three kernels are plain, as fusion expects. The others may have masks, two nests, a
    transposed output, and reversed stores.
    """
    is_plain = draw(st.sampled_from([True, True, False]))
    buffers = [Buffer(f"%x{n}", size) for n, size in enumerate(inputs)]
    body = Body(draw, buffers, has_masks=not is_plain)
    axes = [Axis(f"%i{d}", size) for d, size in enumerate(shape)]
    looped = draw(st.permutations([a for a in axes if a.extent > 1 or draw(st.booleans())]))
    cut = 0 if is_plain else draw(st.integers(0, len(looped)))
    orders = [axes] if is_plain else [axes, *draw(st.lists(st.permutations(axes), max_size=1))]
    outputs = [Buffer(f"%o{n}", tuple(a.extent for a in order)) for n, order in enumerate(orders)]
    reverse = not is_plain and draw(st.booleans())
    stores = [
        f"{out.name}[{', '.join(_subscript(a, looped, reverse) for a in order)}] : {out.type}"
        for out, order in zip(outputs, orders, strict=True)
    ]
    depth = draw(st.sampled_from([0, 2])) if is_plain else 2
    scanned = looped[-1:] if draw(st.sampled_from([False, False, False, True])) else []
    looped = looped[: len(looped) - len(scanned)]
    nests = [part for part in (looped[cut:], looped[:cut]) if part]
    _nest(body, nests, (), scanned, stores, depth)
    header = f"loop.kernel @{name}({parameters(buffers)}) -> ({parameters(outputs)}) {{"
    text = "\n".join([header, *body.lines, "}"])
    return Kernel(name, inputs, [out.shape for out in outputs], text)


def _subscript(axis: Axis, looped: Axes, reverse: bool) -> str:
    """Return the subscript of a step of `axis` in a store."""
    if axis not in looped:
        return "0"
    return f"{axis.extent - 1} - {axis.name}" if reverse else axis.name


def _nest(
    body: Body,
    nests: Sequence[Axes],
    axes: Axes,
    scanned: Axes,
    stores: Iterable[str],
    depth: int,
) -> None:
    """
    Add loops over the axes of each of `nests`, and a scan along the axis of `scanned`.

    Values before each loop are operands of the lines inside.
    """
    if not nests:
        _store(body, axes, scanned, stores, depth)
        return
    if body.pick((False, False, True)):
        body.value(axes, depth)
    header = ", ".join(f"{axis.name} in {axis.extent}" for axis in nests[0])
    with body.region(f"loop.for {header}"):
        _nest(body, nests[1:], (*axes, *nests[0]), scanned, stores, depth)


def _store(body: Body, axes: Axes, scanned: Axes, stores: Iterable[str], depth: int) -> None:
    """Add stores of values, or of their prefixes along the axis of `scanned`."""
    if not scanned:
        for store in stores:
            body.line(f"loop.store {body.value(axes, depth)}, {store}")
        return
    inner = (*axes, *scanned)
    with body.region(f"loop.scan {scanned[0].name} in {scanned[0].extent}"):
        for store in stores:
            prefix = body.prefix(body.value(inner, depth), inner)
            body.line(f"loop.store {prefix}, {store}")
