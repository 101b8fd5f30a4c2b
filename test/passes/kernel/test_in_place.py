# SPDX-License-Identifier: Apache-2.0
"""Proofs that a kernel may write in place: random accesses, compared with all touched elements."""

from collections.abc import Sequence
from itertools import product

from draws import drawn
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.parser import Parser

from tilewright.dialects import kernel
from tilewright.passes.driver.lowering import context
from tilewright.passes.kernel.in_place import reason_not_in_place

Access = tuple[bool, tuple[str, ...]]
"""True for a store, and the subscripts of the access."""

TERMS = ["%b", "%t", "%k", "%b * 4", "%t * 2", "%k * 3", "%k * 12", "%b * 12", "%t * 3"]
SHARED = ["%b * 4 + %t", "%t * 2 + %k", "%b * 3 + %k", "%b * 12 + %t * 3 + %k", "%t"]
LINES = [
    ("{} floordiv 5", "{} mod 5"),
    ("{} floordiv 8", "{} floordiv 4 mod 2", "{} mod 4"),
    ("{} floordiv 6", "{} mod 3"),
    ("{} mod 7", "{} floordiv 7"),
]

sums = st.one_of(
    st.sampled_from([*TERMS, *SHARED]),
    st.lists(st.sampled_from(TERMS), min_size=2, max_size=3, unique=True).map(" + ".join),
)


@st.composite
def subscripts(draw: st.DrawFn) -> tuple[str, ...]:
    """Draw one or two sums, or the parts of one."""
    first = draw(sums)
    if draw(st.booleans()):
        line: tuple[str, ...] = draw(st.sampled_from(LINES))
        return tuple(part.format(f"({first})") for part in line)
    return (first, draw(sums)) if draw(st.booleans()) else (first,)


constants = st.sampled_from([0, 0, 0, 0, 1, 2, 4, 12])


@st.composite
def accesses(draw: st.DrawFn) -> list[Access]:
    """Draw loads and stores in order, mostly with the same subscripts up to constants."""
    base = draw(subscripts())
    is_other = draw(st.sampled_from([False] * 5 + [True]))
    other = tuple(draw(sums) for _ in base) if is_other else base
    found: list[Access] = []
    for is_store in draw(st.sampled_from([(0, 1), (0, 1), (0, 0, 1, 1), (0, 1, 0, 1), (0, 1, 0)])):
        exprs = other if found and not is_store else base
        shift = [draw(constants) for _ in base] if draw(st.booleans()) else [0] * len(base)
        found.append((bool(is_store), tuple(f"{e} + {c}" for e, c in zip(exprs, shift))))
    return found


def text_of(grid: int, block: int, steps: int, ops: Sequence[Access]) -> str:
    """Return a kernel of these accesses, in a loop of `steps` steps."""
    type = f"memref<{'x'.join(['99'] * len(ops[0][1]))}xf32>"
    lines = [
        f"loop.store %one, %out[{', '.join(e)}] : {type}"
        if is_store
        else f"%{n} = loop.load %x[{', '.join(e)}] : {type}"
        for n, (is_store, e) in enumerate(ops)
    ]
    body = "\n".join(lines)
    return f"""
      kernel.func grid {grid} block {block} @k(%x: {type}) -> (%out: {type}) {{
        %b = kernel.block_id
        %t = kernel.thread_id
        %one = arith.constant 1.0 : f32
        %low = arith.constant 0 : index
        %high = arith.constant {steps} : index
        %step = arith.constant 1 : index
        scf.for %k = %low to %high step %step {{
          {body}
        }}
      }}"""


def is_safe(grid: int, block: int, steps: int, ops: Sequence[Access]) -> bool:
    """True if no step loads an element that another step stores, or that it has stored before."""
    codes = [
        [compile(_python(e), "expression", "eval") for e in subscripts] for _, subscripts in ops
    ]
    loads: dict[tuple[int, ...], set[tuple[object, int]]] = {}
    stores: dict[tuple[int, ...], set[tuple[object, int]]] = {}
    for b, t, k in product(range(grid), range(block), range(steps)):
        for place, (is_store, _) in enumerate(ops):
            element = tuple(eval(code, {"b": b, "t": t, "k": k}) for code in codes[place])
            touched = stores if is_store else loads
            touched.setdefault(element, set()).add(((b, t, k), place))
    return not any(
        step != other or place > written
        for element, readers in loads.items()
        for step, place in readers
        for other, written in stores.get(element, ())
    )


def _python(expr: str) -> str:
    return expr.replace("%", "").replace("floordiv", "//").replace("mod", "%")


EXTENTS = st.sampled_from([1, 2, 3, 4])


def test_proofs_are_right() -> None:
    proven: list[bool] = []

    @settings(max_examples=drawn(300), deadline=None, derandomize=True)
    @given(EXTENTS, EXTENTS, EXTENTS, accesses())
    def check(grid: int, block: int, steps: int, ops: list[Access]) -> None:
        module = Parser(context(), text_of(grid, block, steps, ops)).parse_module()
        function = module.body.block.first_op
        assert isinstance(function, kernel.FuncOp)
        reason = reason_not_in_place(function, function.inputs[0], function.outputs[0])
        assert reason is not None or is_safe(grid, block, steps, ops)
        proven.append(reason is None)

    check()
    assert sum(proven) >= drawn(10)
