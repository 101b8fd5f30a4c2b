# SPDX-License-Identifier: Apache-2.0
"""Flow of register values: which values decide what threads do."""

import pytest

from tilewright.codegen.simulator.instruction_flow import decides, is_stored
from tilewright.codegen.simulator.operands import Register
from tilewright.codegen.simulator.ptx import parse

KERNEL = """
.visible .entry k()
{{
  .reg .b32 %r<9>;
  .reg .f32 %f<9>;
  ld.volatile.shared.u32 %r1, [%r0];
  {use}
  ret;
}}
"""
MULTIPLY = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1, %f2, %f3, %f4},"


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        ("add.u32 %r2, %r1, 1;", False),
        (f"{MULTIPLY} {{%r2, %r2, %r1, %r2}}, {{%r2, %r2}}, {{%f1, %f2, %f3, %f4}};", True),
        (f"{MULTIPLY} {{%r2, %r2, %r2, %r2}}, {{%r2, %r2}}, {{%f1, %f2, %f3, %r1}};", True),
        (f"{MULTIPLY} {{%r2, %r2, %r2, %r2}}, {{%r2, %r2}}, {{%f1, %f2, %f3, %f4}};", False),
        ("shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;", True),
        ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1]; st.u32 [%r0], %r2;", False),
    ],
)
def test_values_that_reach_other_lanes(use: str, expected: bool):
    """A multiplication hands its operands to other lanes; an address hands on nothing."""
    kernel = parse(KERNEL.format(use=use), "k")
    assert is_stored(kernel, Register("%r1")) == expected
    assert decides(kernel, Register("%r1")) == expected
