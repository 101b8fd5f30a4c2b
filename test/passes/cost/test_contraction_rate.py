# SPDX-License-Identifier: Apache-2.0
"""Multiply-adds per second of contractions."""

import pytest
from xdsl.dialects.builtin import bf16, f16, f32
from xdsl.ir import Attribute

from tilewright.dialects.target import TARGETS, target
from tilewright.passes.cost.contraction_rate import multiply_adds_per_second


# Dense bf16 operations per second with float32 sums, by NVIDIA's data sheets. The rate of sm_90a is
# that of `mma.sync`, two thirds of the data sheet's 989 TFLOP/s (`wgmma`) at a higher clock.
@pytest.mark.parametrize(
    ("name", "operations"),
    [
        ("sm_80", 312e12),
        ("sm_86", 155e12),
        ("sm_89", 362e12),
        ("sm_90a", 714e12),
        ("sm_120", 210e12),
    ],
)
def test_tensor_cores(name: str, operations: float):
    for half in (bf16, f16):
        rate = multiply_adds_per_second(half, target(name))
        assert 2 * rate == pytest.approx(operations, rel=0.02)


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("factors", [f32, None])
def test_float32_lanes(name: str, factors: Attribute | None):
    chip = target(name)
    assert multiply_adds_per_second(factors, chip) == chip.flops / 2
    assert multiply_adds_per_second(bf16, chip) > chip.flops / 2
