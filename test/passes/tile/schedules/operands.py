# SPDX-License-Identifier: Apache-2.0
"""Operands of random contractions: layout in memory, prologue, and staging."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from .drawing import Draw
from .elements import ELEMENTS, Array, Element
from .slabs import SHARED_BYTES, Ring, drawn_layout, drawn_ring
from .text import Text, memref, where
from .tiles import Tiles


@dataclass
class Slab:
    """Choices for the slab of a staged operand."""

    place: str
    """Place of the stage: in the `loop` over chunks, or once in the `launch`."""
    dims: Sequence[str]
    extents: Sequence[int]
    element: Element
    layout: str
    transport: str
    ring: Ring
    is_masked: bool
    """True if the mask of the stage's yield makes elements beyond the end of K zero."""

    @property
    def type(self) -> str:
        """Memref type of the slab, as text."""
        return memref(self.extents, self.element.stored, self.layout, ", 3 : i64")


class Operand:
    """Operand of a random contraction."""

    def __init__(
        self, draw: Draw, text: Text, name: str, dims: str, element: Element, tiles: Tiles
    ):
        self.draw, self.text, self.name = draw, text, name
        self.element, self.tiles = element, tiles
        self.dims = dims
        self.memory = draw.one((dims, dims[::-1]))
        self.batch = draw.one(("own", "shared", "grouped")) if tiles.size("g") > 1 else "shared"
        floats = ("", "", "", "scale", "bias k", f"bias {dims.strip('k')}", "gate", "exp", "other")
        integers = ("", "", "scale", "bias k", "other")
        self.prologue = draw.one(floats if self.element.is_float else integers)
        self.slab = self._drawn_slab()
        self.slab_name = ""

    @property
    def is_zero_outside(self) -> bool:
        """
        True if the operand is zero beyond the end of K without a mask in the reduction. The mask of
        the slab's yield or the masks of loads ensure this.
        """
        if self.slab is not None and self.slab.is_masked:
            return True
        return self.prologue in ("", "scale", "bias k", "gate", "other")

    def _drawn_slab(self) -> Slab | None:
        draw, tiles = self.draw, self.tiles
        place = draw.one(("loop", "loop", "loop", "loop", "launch", ""))
        if not place:
            return None
        extents = dict(tiles.extents)
        if place == "launch":
            extents["k"] = tiles.steps.whole[1]
        element = self.element
        if self.prologue or draw.chance(4):
            narrows = element.is_float and draw.chance(4)
            element = element if narrows else ELEMENTS[element.computed]
        is_raw = not self.prologue and element is self.element
        transport = draw.one(("", "cp_async", "tma", "tma")) if is_raw else ""
        if transport == "tma" and not self._is_box(extents):
            transport = "cp_async"
        if transport == "tma":
            dims = self.memory
        else:
            dims = "".join(draw.one((self.dims, self.dims[::-1], self.memory)))
        shape = [extents[dim] for dim in dims]
        layout = drawn_layout(draw, shape, element, tma=transport == "tma")
        ring = drawn_ring(draw) if place == "loop" else Ring()
        if transport == "tma" and ring.depth == 1:
            ring = Ring(2, 1)
        is_masked = not transport and tiles.overrun["k"] and draw.chance()
        if 2 * prod(shape) * element.bytes * ring.depth > SHARED_BYTES:
            ring = Ring()
        if 2 * prod(shape) * element.bytes > SHARED_BYTES or (transport == "tma" and not ring.text):
            return None
        return Slab(place, dims, shape, element, layout, transport, ring, is_masked)

    def _is_box(self, extents: Mapping[str, int]) -> bool:
        """True if the tensor memory accelerator can copy a tile with these extents."""
        last, bytes = self.memory[-1], self.element.bytes
        row, box = self.tiles.size(last) * bytes, extents[last] * bytes
        return row % 16 == 0 and box % 16 == 0 and max(extents.values()) <= 256

    def declare(self) -> None:
        """Declare the inputs of the operand and its prologue."""
        memory, type = self.memory, self.element.stored
        batch = {"own": (self.tiles.size("g"),), "shared": ()}
        batch["grouped"] = (-(-self.tiles.size("g") // 2),)
        shape = {order: tuple(map(self.tiles.size, order)) for order in (memory, memory[::-1])}
        inputs = self.text.inputs
        inputs[f"%{self.name}"] = (*batch[self.batch], *shape[memory]), type
        if self.prologue == "gate":
            inputs[f"%{self.name}_up"] = shape[memory], type
        if self.prologue == "other":
            inputs[f"%{self.name}_other"] = shape[memory[::-1]], type
        if self.prologue.startswith("bias"):
            inputs[f"%{self.name}_bias"] = (self.tiles.size(self.prologue[-1]),), type

    def _loaded(self, at: Mapping[str, str]) -> str:
        """
        Write the load of the element at the indices `at`, and its prologue. Return the value's
        name.
        """
        element, text = self.element, self.text
        batch = {"own": ["%g"], "shared": [], "grouped": ["%g floordiv 2"]}[self.batch]

        def load(name: str, order: str, first: Sequence[str] = ()) -> str:
            masks = [
                f"{self.tiles.size(dim) - 1} - ({at[dim]})"
                for dim in order
                if self.tiles.overrun[dim]
            ]
            return text.load(f"%{name}", [*first, *(at[dim] for dim in order)], masks)

        value = load(self.name, self.memory, batch)
        if not self.prologue and self.slab is not None and self.slab.element is element:
            return value
        value, type = text.widened(value, element), element.computed
        match self.prologue.split():
            case ["scale"]:
                value = text.binary("mul", value, text.constant(2, type), type)
            case ["bias", dim]:
                bias = text.widened(load(f"{self.name}_bias", dim), element)
                value = text.binary("add", value, bias, type)
            case ["gate"]:
                up = text.widened(load(f"{self.name}_up", self.memory), element)
                value = text.binary("mul", self._silu(value, type), up, type)
            case ["other"]:
                other = text.widened(load(f"{self.name}_other", self.memory[::-1]), element)
                value = text.binary("add", value, other, type)
            case ["exp"]:
                value = text.let(f"math.exp {value} : {type}")
            case _:
                pass
        narrows = self.slab is not None and self.slab.element.stored != type
        return text.narrowed(value, element) if narrows else value

    def _silu(self, value: str, type: str) -> str:
        text = self.text
        negated = text.let(f"arith.negf {value} : {type}")
        power = text.let(f"math.exp {negated} : {type}")
        below = text.binary("add", power, text.constant(1, type), type)
        return text.binary("div", value, below, type)

    def stage(self, place: str) -> None:
        """Write the operand's stage if `place` is the place of its slab."""
        slab, tiles, text = self.slab, self.tiles, self.text
        if slab is None or slab.place != place:
            return
        self.slab_name = f"%{self.name}s"
        axes = {dim: text.fresh(dim) for dim in slab.dims}
        starts = dict(tiles.starts)
        if place == "launch":
            starts["k"] = tiles.steps.whole[0]
        at = {dim: f"{starts[dim]} + {axis}" for dim, axis in axes.items()}
        transport = f" transport({slab.transport})" if slab.transport else ""
        names = ", ".join(axes.values())
        header = f"{self.slab_name} = tile.stage ({names}) in {list(slab.extents)}"
        with text.region(f"{header}{slab.ring.text}{transport}", f" : {slab.type}"):
            value = self._loaded(at)
            masks = [f"{tiles.size('k') - 1} - ({at['k']})"] if slab.is_masked else []
            text.line(f"loop.yield {value}{where(masks)} : {slab.element.stored}")

    def read(self, local: Mapping[str, str]) -> str:
        """
        Write the read of the element at `local` indices of the tile. Return it in the computed
        type.
        """
        slab, tiles = self.slab, self.tiles
        if slab is None:
            return self._loaded({dim: f"{tiles.starts[dim]} + {local[dim]}" for dim in self.dims})
        at = dict(local)
        if slab.place == "launch":
            at["k"] = f"{tiles.steps.whole[2]} + {local['k']}"
        subscripts = ", ".join(at[dim] for dim in slab.dims)
        value = self.text.let(f"loop.load {self.slab_name}[{subscripts}] : {slab.type}")
        return self.text.widened(value, slab.element)

    def values(self, given: Mapping[str, Array]) -> Array:
        """Return the reference values of the operand, [batch, *dims], in float64 or integers."""

        def ordered(array: Array, order: str) -> Array:
            return array if order == self.dims else np.swapaxes(array, -1, -2)

        value = ordered(given[f"%{self.name}"], self.memory)
        if self.batch == "grouped":
            value = np.repeat(value, 2, 0)[: self.tiles.size("g")]
        match self.prologue.split():
            case ["scale"]:
                return value * 2
            case ["bias", dim]:
                bias = given[f"%{self.name}_bias"]
                return value + (bias if self.dims.index(dim) else bias[:, None])
            case ["gate"]:
                return (
                    value / (1 + np.exp(-value)) * ordered(given[f"%{self.name}_up"], self.memory)
                )
            case ["other"]:
                return value + ordered(given[f"%{self.name}_other"], self.memory[::-1])
            case ["exp"]:
                return np.exp(value)
            case _:
                return value
