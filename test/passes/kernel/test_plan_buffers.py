# SPDX-License-Identifier: Apache-2.0
"""Buffers of random plans: live buffers do not overlap, and results are unchanged."""

from collections.abc import Sequence

import numpy as np
from draws import drawn
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects import func, memref
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.parser import Parser

from tilewright.dialects import loop
from tilewright.dialects.buffer_plan import ALIGNMENT, slot_of
from tilewright.interpreters import interpret
from tilewright.passes.driver.lowering import context
from tilewright.passes.kernel.plan_buffers import PlanBuffersPass
from tilewright.passes.kernel.slots import Lifetime, assign_offsets

SIZES = [1, 31, 64, 65, 200]

Step = tuple[int, int, int]
"""A launch: two buffers that it reads, counted back from the newest, and the size it writes."""

STEPS = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 6), st.sampled_from(SIZES)), min_size=1, max_size=10
)


def launches(steps: Sequence[Step], results: Sequence[int]) -> ModuleOp:
    """Return a plan that sums two buffers at each step, wrapping around in each."""
    names, sizes, body = ["x"], [SIZES[-1]], list[str]()
    kernels: dict[tuple[int, int, int], str] = {}
    for number, (back, further, size) in enumerate(steps):
        a, b = (max(0, len(names) - 1 - n) for n in (back, further))
        shape = (sizes[a], sizes[b], size)
        kernels.setdefault(shape, f"sum_{sizes[a]}_{sizes[b]}_{size}")
        types = [f"memref<{n}xf32>" for n in shape]
        body.append(f"%v{number} = memref.alloc() : {types[2]}")
        body.append(
            f"loop.launch @{kernels[shape]}(%{names[a]}, %{names[b]}) -> (%v{number})"
            f" : ({types[0]}, {types[1]}) -> ({types[2]})"
        )
        names.append(f"v{number}")
        sizes.append(size)
    returned = sorted({len(names) - 1, *(result % len(names) for result in results)})
    types = ", ".join(f"memref<{sizes[n]}xf32>" for n in returned)
    body.append(f"func.return {', '.join(f'%{names[n]}' for n in returned)} : {types}")
    main = f"func.func @main(%x: memref<{sizes[0]}xf32>) -> ({types}) {{ {' '.join(body)} }}"
    return Parser(context(), main + "".join(map(_sum, kernels))).parse_module()


def _sum(shape: tuple[int, int, int]) -> str:
    a, b, size = shape
    return f"""
    loop.kernel @sum_{a}_{b}_{size}(%a: memref<{a}xf32>, %b: memref<{b}xf32>)
        -> (%out: memref<{size}xf32>) {{
      loop.for %i in {size} {{
        %0 = loop.load %a[%i mod {a}] : memref<{a}xf32>
        %1 = loop.load %b[%i mod {b}] : memref<{b}xf32>
        %2 = arith.addf %0, %1 : f32
        loop.store %2, %out[%i] : memref<{size}xf32>
      }}
    }}"""


def planned(module: ModuleOp) -> ModuleOp:
    """Return a copy with planned buffers."""
    copy = module.clone()
    PlanBuffersPass().apply(context(), copy)
    copy.verify()
    return copy


def main_of(module: ModuleOp) -> func.FuncOp:
    """Return the host function."""
    first = module.body.block.first_op
    assert isinstance(first, func.FuncOp)
    return first


@settings(max_examples=drawn(100), deadline=None, derandomize=True)
@given(STEPS, st.lists(st.integers(0, 10), max_size=2))
def test_plans_are_safe_and_small(steps: list[Step], results: list[int]) -> None:
    module = launches(steps, results)
    plan = planned(module)
    main = main_of(plan)
    x = np.arange(SIZES[-1], dtype=np.float32)
    # The interpreter refuses to read overwritten buffers.
    for before, after in zip(interpret(module, x), interpret(plan, x), strict=True):
        np.testing.assert_array_equal(before, after)

    contents: dict[int, object] = {}
    returned = main.body.block.last_op
    assert returned is not None
    for op in main.body.block.ops:  # contents of each byte of the slab, launch by launch
        if not isinstance(op, loop.LaunchOp):
            continue
        for value in op.inputs:
            assert all(contents[byte] is value for byte in _bytes(value.owner))
        for value in op.outputs:
            contents.update(dict.fromkeys(_bytes(value.owner), value))
    slots = [slot for op in main.body.block.ops if (slot := _slot(op)) is not None]
    assert not any(_slot(value.owner) for value in returned.operands)
    total = sum(-(-len(slot) // ALIGNMENT) * ALIGNMENT for slot in slots)
    peak = max((-(-slot.stop // ALIGNMENT) * ALIGNMENT for slot in slots), default=0)
    assert peak <= total
    if slots:
        assert main.attributes["plan.peak_bytes"] == IntegerAttr(peak, 64)
        assert main.attributes["plan.sum_bytes"] == IntegerAttr(total, 64)


def _slot(op: object) -> range | None:
    return slot_of(op) if isinstance(op, memref.AllocOp) else None


def _bytes(op: object) -> range:
    return _slot(op) or range(0)


LIFETIMES = st.tuples(st.integers(0, 12), st.integers(0, 6), st.integers(0, 4000))


@settings(max_examples=drawn(200), deadline=None, derandomize=True)
@given(st.lists(LIFETIMES, max_size=12))
def test_offsets(drawn: list[tuple[int, int, int]]) -> None:
    """Live buffers do not overlap; the total is at least the live size, and at most the sum."""
    alive = {n: Lifetime(first, first + more) for n, (first, more, _) in enumerate(drawn)}
    sizes = {n: size for n, (_, _, size) in enumerate(drawn)}
    offsets = assign_offsets(alive, sizes)
    assert list(offsets) == list(alive)
    room = {n: -(-size // ALIGNMENT) * ALIGNMENT for n, size in sizes.items()}
    for one in alive:
        assert offsets[one] % ALIGNMENT == 0
        for other in range(one):
            if alive[one].meets(alive[other]) and sizes[one] and sizes[other]:
                end = offsets[other] + room[other]
                assert offsets[one] >= end or offsets[other] >= offsets[one] + room[one]
    peak = max((offsets[n] + room[n] for n in alive), default=0)
    steps = {lifetime.first for lifetime in alive.values()}
    at_once = [sum(room[n] for n in alive if alive[n].meets(Lifetime(s, s))) for s in steps]
    assert max(at_once, default=0) <= peak <= sum(room.values())


def test_a_chain_takes_two_places() -> None:
    main = main_of(planned(launches([(0, 0, 64)] * 7, [])))
    assert main.attributes["plan.peak_bytes"] == IntegerAttr(2 * 256, 64)
    assert main.attributes["plan.sum_bytes"] == IntegerAttr(6 * 256, 64)
