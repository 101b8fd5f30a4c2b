# SPDX-License-Identifier: Apache-2.0
"""
Random kernels compute the same after `plan-shared-memory` has overlapped their arrays.

The interpreter finds races.
"""

from collections.abc import Iterator, Sequence
from itertools import count

import numpy as np
from draws import drawn
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.parser import Parser

from tilewright.dialects import kernel
from tilewright.dialects.kernel.shared import share_bytes
from tilewright.interpreters import interpret
from tilewright.interpreters.errors import InterpreterError
from tilewright.passes.driver.lowering import context
from tilewright.passes.kernel.drop_redundant_barriers import DropRedundantBarriersPass
from tilewright.passes.kernel.plan_shared_memory import PlanSharedMemoryPass

OUT = "memref<2x99x40xf32>"
SIZES = {"a": 640, "b": 320, "c": 1280, "d": 40}

STATEMENT = st.tuples(
    st.sampled_from(["use", "use apart", "use apart", "use apart", "store", "load", "barrier"]),
    st.sampled_from([*SIZES]),
)
PHASE = st.tuples(st.booleans(), st.lists(STATEMENT, min_size=1, max_size=3))


PARTS = {
    "use": ["store", "barrier", "load"],
    "use apart": ["barrier", "store", "barrier", "load"],
}


def lines(phases: Sequence[tuple[bool, Sequence[tuple[str, str]]]]) -> Iterator[str]:
    """
    Yield the text of the phases, each once or in a loop. Using an array is a store and then a load.
    """
    number = count()
    for in_loop, body in phases:
        yield f"scf.for %k{next(number)} = %c0 to %c2 step %c1 {{" if in_loop else ""
        for what, array in body:
            for part in PARTS.get(what, [what]):
                yield from statement(part, array, next(number))
        yield "}" if in_loop else ""


def statement(what: str, array: str, number: int) -> list[str]:
    """Return the lines of a statement. Each store has its own value, and each load its own row."""
    memref = f"%{array}_array"
    type = f"memref<{SIZES[array]}xf32, 3>"
    match what:
        case "store":
            constant = f"%v{number} = arith.constant {number}.0 : f32"
            return [constant, f"loop.store %v{number}, {memref}[%t] : {type}"]
        case "load":
            load = f"%v{number} = loop.load {memref}[39 - %t] : {type}"
            return [load, f"loop.store %v{number}, %out[%b, {number}, %t] : {OUT}"]
        case _:
            return ["kernel.barrier"]


def kernel_text(phases: Sequence[tuple[bool, Sequence[tuple[str, str]]]]) -> str:
    """Return a kernel of two blocks of 40 threads."""
    text = "\n".join(lines(phases))
    arrays = "\n".join(
        f"%{name}_array = kernel.shared : memref<{size}xf32, 3>" for name, size in SIZES.items()
    )
    return f"""
      kernel.func grid 2 block 40 @k(%x: memref<40xf32>) -> (%out: {OUT}) {{
        %b = kernel.block_id
        %t = kernel.thread_id
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c2 = arith.constant 2 : index
        %v = loop.load %x[%t] : memref<40xf32>
        kernel.unroll %row in 99 {{
          loop.store %v, %out[%b, %row, %t] : {OUT}
        }}
        {arrays}
        {text}
      }}"""


def test_needed_values_are_not_overwritten() -> None:
    shared = list[int]()

    @settings(max_examples=drawn(600), deadline=None, derandomize=True)
    @given(st.lists(PHASE, min_size=2, max_size=5))
    def check(phases: list[tuple[bool, list[tuple[str, str]]]]) -> None:
        module = Parser(context(), kernel_text(phases)).parse_module()
        x = np.arange(40, dtype=np.float32)
        try:
            before = interpret(module, x, function="k")
        except InterpreterError:  # a race, or unwritten memory
            return
        PlanSharedMemoryPass().apply(context(), module)
        np.testing.assert_array_equal(before, interpret(module, x, function="k"))
        DropRedundantBarriersPass().apply(context(), module)
        np.testing.assert_array_equal(before, interpret(module, x, function="k"))
        arrays = [op.memref for op in module.walk() if isinstance(op, kernel.SharedOp)]
        shared.append(sum(share_bytes(a, b) for a in arrays for b in arrays if a is not b))

    check()
    assert len(shared) >= drawn(40)
    assert sum(number > 0 for number in shared) >= drawn(15)
