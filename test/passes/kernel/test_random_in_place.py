# SPDX-License-Identifier: Apache-2.0
"""
Random plans of kernels that may write in place of some of their inputs keep their results.

The interpreter also writes in the place of the input, and reports races as errors.
"""

from collections.abc import Sequence

import numpy as np
from draws import drawn
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from tilewright.interpreters import interpret
from tilewright.passes.driver.lowering import context
from tilewright.passes.kernel.plan_buffers import PlanBuffersPass

TYPE = "memref<7x5xf32>"

# name: number of outputs, and the body of each of 35 threads with %x and %y
BODIES = {
    "sum": (
        1,
        """
          %0 = loop.load %x[%i, %j] : TYPE
          %1 = loop.load %y[%i, %j] : TYPE
          %2 = arith.addf %0, %1 : f32
          loop.store %2, %out[%i, %j] : TYPE""",
    ),
    "turned": (
        1,
        """
          %0 = loop.load %x[%i, 4 - %j] : TYPE
          %1 = loop.load %y[%i, %j] : TYPE
          %2 = arith.subf %0, %1 : f32
          loop.store %2, %out[%i, %j] : TYPE""",
    ),
    "both": (
        2,
        """
          %0 = loop.load %x[%i, %j] : TYPE
          loop.store %0, %out[%i, %j] : TYPE
          %1 = loop.load %y[%i, %j] : TYPE
          %2 = arith.addf %1, %1 : f32
          loop.store %2, %more[%i, %j] : TYPE""",
    ),
    "late": (
        2,
        """
          %0 = loop.load %x[%i, %j] : TYPE
          %1 = loop.load %y[%i, %j] : TYPE
          %2 = arith.mulf %0, %1 : f32
          loop.store %2, %out[%i, %j] : TYPE
          %3 = loop.load %x[%i, %j] : TYPE
          loop.store %3, %more[%i, %j] : TYPE""",
    ),
}


def kernel_text(name: str) -> str:
    """Return a kernel of `BODIES`."""
    count, body = BODIES[name]
    outputs = "%out: TYPE, %more: TYPE" if count == 2 else "%out: TYPE"
    return f"""
      kernel.func grid 5 block 7 @{name}(%x: TYPE, %y: TYPE) -> ({outputs}) {{
        %b = kernel.block_id
        %t = kernel.thread_id
        %i = kernel.index [(%b * 7 + %t) floordiv 5]
        %j = kernel.index [(%b * 7 + %t) mod 5]
        {body}
      }}"""


Step = tuple[str, int, int]
"""A kernel, and the two buffers that it reads, counted back from the newest."""

STEPS = st.lists(
    st.tuples(st.sampled_from(list(BODIES)), st.integers(0, 3), st.integers(0, 3)),
    min_size=3,
    max_size=9,
)


def module_of(steps: Sequence[Step]) -> ModuleOp:
    """Return a plan of these steps, whose result is the newest buffer."""
    names, lines = ["x"], list[str]()
    for number, (kernel, back, further) in enumerate(steps):
        read = [f"%{names[max(0, len(names) - 1 - n)]}" for n in (back, further)]
        written = [f"v{number}_{n}" for n in range(BODIES[kernel][0])]
        lines += [f"%{name} = memref.alloc() : TYPE" for name in written]
        types = ", ".join(["TYPE"] * len(written))
        outputs = ", ".join(f"%{name}" for name in written)
        lines.append(f"loop.launch @{kernel}({', '.join(read)}) -> ({outputs})")
        lines[-1] += f" : (TYPE, TYPE) -> ({types})"
        names += written
    body = "\n".join([*lines, f"func.return %{names[-1]} : TYPE"])
    text = f"func.func @main(%x: TYPE) -> TYPE {{\n{body}\n}}" + "".join(map(kernel_text, BODIES))
    return Parser(context(), text.replace("TYPE", TYPE)).parse_module()


def test_plans_compute_the_same() -> None:
    in_place = list[bool]()

    @settings(max_examples=drawn(80), deadline=None, derandomize=True)
    @given(STEPS)
    def check(steps: list[Step]) -> None:
        module = module_of(steps)
        plan = module.clone()
        PlanBuffersPass().apply(context(), plan)
        plan.verify()
        x = np.random.default_rng(0).standard_normal((7, 5)).astype(np.float32)
        for before, after in zip(interpret(module, x), interpret(plan, x), strict=True):
            np.testing.assert_array_equal(before, after)
        in_place.append("plan.in_place" in str(plan))

    check()
    assert sum(in_place) >= drawn(15)
