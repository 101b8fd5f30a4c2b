# SPDX-License-Identifier: Apache-2.0
"""A grouped mask is true at the same threads and steps as before."""

from hypothesis import event, given
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from tilewright.dialects import loop
from tilewright.dialects.kernel.registers import UnrollOp
from tilewright.passes.driver.lowering import context
from tilewright.passes.kernel.group_masks import GroupMasksPass

_THREADS = 8

_KERNEL = """
kernel.func grid 1 block 8 @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {{
  %t = kernel.thread_id
  kernel.unroll %v in {extent} {{
    %p = loop.predicate [%t * {row} + %v * {step} + {constant}] : i1
  }}
}}
"""


def _holds(module: ModuleOp, extent: int) -> list[bool]:
    """Return the predicate at every thread and step."""
    (predicate,) = (op for op in module.walk() if isinstance(op, loop.PredicateOp))
    is_step = [isinstance(value.owner.parent_op(), UnrollOp) for value in predicate.indices]
    return [
        all(r >= 0 for r in predicate.map.data.eval([v if step else t for step in is_step], []))
        for t in range(_THREADS)
        for v in range(extent)
    ]


@given(
    extent=st.integers(2, 6),
    row=st.integers(-3, 3),
    constant=st.integers(-6, 6),
    step=st.sampled_from([-1, 1]),
    off=st.sampled_from([0, 0, 0, 1]),
)
def test_a_grouped_mask_is_the_same_mask(extent: int, row: int, constant: int, step: int, off: int):
    whole = constant * extent - (step < 0)
    text = _KERNEL.format(extent=extent, row=row * extent, step=step, constant=whole + off)
    module = Parser(context(), text).parse_module()
    before, printed = _holds(module, extent), str(module)
    GroupMasksPass().apply(context(), module)
    event("grouped" if str(module) != printed else "unchanged")
    assert _holds(module, extent) == before
