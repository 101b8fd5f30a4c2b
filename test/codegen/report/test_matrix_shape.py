# SPDX-License-Identifier: Apache-2.0
"""Sizes of matrix instructions, read from opcodes of SASS and PTX."""

import pytest

from tilewright.codegen.report.matrix_shape import MatrixShape, shape_in_ptx, shape_in_sass

HALF = MatrixShape(16, 8, 16, 16)
TF32 = MatrixShape(16, 8, 8, 32)
GROUP = MatrixShape(64, 128, 16, 16, warps=4)


@pytest.mark.parametrize(
    ("opcode", "shape"),
    [
        ("HMMA.16816.F32.BF16", HALF),
        ("HMMA.16816.F32", HALF),
        ("HMMA.16816.F16", HALF._replace(sum_bits=16)),
        ("HMMA.1688.F32", HALF._replace(k=8)),
        ("HMMA.1688.F32.TF32", TF32),
        ("HMMA.1684.F32.TF32", TF32._replace(k=4)),
        ("HGMMA.64x128x16.F32.BF16", GROUP),
        ("HGMMA.64x128x8.F32.TF32", GROUP._replace(k=8, bits=32)),
        ("IMMA.16832.S8.S8", None),
        ("HFMA2.MMA", None),
        ("LDSM.16.M88.4", None),
    ],
)
def test_sass(opcode: str, shape: MatrixShape | None):
    assert shape_in_sass(opcode) == shape


@pytest.mark.parametrize(
    ("opcode", "shape"),
    [
        ("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", HALF),
        ("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", HALF._replace(sum_bits=16)),
        ("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", TF32),
        ("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16", GROUP),
        ("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", None),
        ("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", None),
    ],
)
def test_ptx(opcode: str, shape: MatrixShape | None):
    assert shape_in_ptx(opcode) == shape


@pytest.mark.parametrize(
    ("shape", "flops", "mma_count", "registers"),
    [
        (HALF, 128, 1, 4),  # 2 * 16 * 8 * 16 / 32
        (TF32, 64, 1, 4),  # half the products at half the rate
        (HALF._replace(k=8, sum_bits=16), 64, 0.5, 2),
        (GROUP, 2048, 16, 64),  # each warp: 16 x 128
    ],
)
def test_shares_of_a_thread_and_of_a_warp(
    shape: MatrixShape, flops: float, mma_count: float, registers: int
):
    assert (shape.flops, shape.mma_count, shape.sum_registers) == (flops, mma_count, registers)
