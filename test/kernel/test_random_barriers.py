# SPDX-License-Identifier: Apache-2.0
"""
Random kernels with barriers: if threads do not race, they do not without the barriers that
`drop-redundant-barriers` drops either, and compute the same. The interpreter finds races.
"""

from collections.abc import Iterator, Sequence
from itertools import count
from typing import NamedTuple

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.parser import Parser

from tilewright.interpreters import interpret
from tilewright.interpreters.errors import InterpreterError
from tilewright.passes.kernel.drop_redundant_barriers import DropRedundantBarriersPass
from tilewright.passes.lowering import context

ARRAY = "memref<40xf32, 3>"
BARRIER = "kernel.barrier"


class Nest(NamedTuple):
    """A loop, or a branch that threads of a block take together, and what it does."""

    head: str
    body: Sequence["str | Nest"]


STATEMENTS = st.sampled_from([BARRIER] * 5 + ["store a", "store b", "load a", "load b"])
HEADS = st.sampled_from(
    ["scf.for %K = %c0 to %c2 step %c1", "scf.for %K = %c0 to %b step %c1", "scf.if %second"]
)
BODIES = st.recursive(
    st.lists(STATEMENTS, min_size=1, max_size=6),
    lambda inner: st.lists(STATEMENTS | st.builds(Nest, HEADS, inner), min_size=1, max_size=6),
    max_leaves=3,
)


def lines(body: Sequence[str | Nest], numbers: Iterator[int]) -> Iterator[str]:
    """The text. Each store has a value of its own, and each load a row of the output."""
    for statement in body:
        number = next(numbers)
        match statement:
            case Nest(head, inner):
                yield head.replace("%K", f"%k{number}") + " {"
                yield from lines(inner, numbers)
                yield "}"
            case "store a" | "store b":
                yield f"%v{number} = arith.constant {number}.0 : f32"
                yield f"loop.store %v{number}, %{statement[-1]}_array[%t] : {ARRAY}"
            case "load a" | "load b":
                yield f"%v{number} = loop.load %{statement[-1]}_array[39 - %t] : {ARRAY}"
                yield f"loop.store %v{number}, %out[%b, {number}, %t] : memref<2x80x40xf32>"
            case _:
                yield statement


def kernel_text(body: Sequence[str | Nest]) -> str:
    """Two blocks of 40 threads, each with two arrays that hold something at first."""
    text = "\n".join(lines(body, count()))
    return f"""
      kernel.func grid 2 block 40 @k(%x: memref<40xf32>) -> (%out: memref<2x80x40xf32>) {{
        %b = kernel.block_id
        %t = kernel.thread_id
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c2 = arith.constant 2 : index
        %second = loop.predicate [%b - 1] : i1
        %rows = arith.constant 80 : index
        %v = loop.load %x[%t] : memref<40xf32>
        scf.for %row = %c0 to %rows step %c1 {{
          loop.store %v, %out[%b, %row, %t] : memref<2x80x40xf32>
        }}
        %a_array = kernel.shared : {ARRAY}
        %b_array = kernel.shared : {ARRAY}
        loop.store %v, %a_array[%t] : {ARRAY}
        loop.store %v, %b_array[%t] : {ARRAY}
        kernel.barrier
        {text}
      }}"""


def test_no_race_comes_of_it() -> None:
    dropped = list[int]()

    @settings(max_examples=150, deadline=None, derandomize=True)
    @given(BODIES)
    def check(body: list[str | Nest]) -> None:
        module = Parser(context(), kernel_text(body)).parse_module()
        x = np.arange(40, dtype=np.float32)
        try:
            before = interpret(module, x, function="k")
        except InterpreterError:  # a race
            return
        after = module.clone()
        DropRedundantBarriersPass().apply(context(), after)
        np.testing.assert_array_equal(before, interpret(after, x, function="k"))
        dropped.append(str(module).count(BARRIER) - str(after).count(BARRIER))

    check()
    kept_some = sum(number == 0 for number in dropped)
    assert len(dropped) - kept_some >= 100
    assert kept_some >= 5
