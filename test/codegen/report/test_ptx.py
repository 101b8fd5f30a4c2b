# SPDX-License-Identifier: Apache-2.0
"""PTX instructions in the categories of machine code."""

import pytest
from machine_code import ptx_of, sass_of

from tilewright.codegen.report.instruction import Category, Instruction
from tilewright.codegen.report.instruction_mix import instruction_mix
from tilewright.codegen.report.loops import main_loop
from tilewright.codegen.report.ptx import parse_ptx

MMA = "mma.sync.aligned.m16n8k16.row.col"


def _only(statement: str) -> Instruction:
    (code,) = parse_ptx(f".visible .entry k(\n)\n{{\n{statement}\n}}\n").values()
    (instruction,) = code.instructions
    return instruction


@pytest.mark.parametrize(
    ("statement", "category", "bits"),
    [
        ("fma.rn.f32 %f1, %f2, %f3, %f1;", Category.FFMA, 0),
        ("@%p1 add.f32 %f1, %f2, %f3;", Category.FLOAT, 0),
        ("fma.rn.f64 %fd1, %fd2, %fd3, %fd1;", Category.DOUBLE, 0),
        (f"{MMA}.f32.bf16.bf16.f32 {{%f1}}, {{%r1}}, {{%r2}}, {{%f1}};", Category.HMMA, 0),
        (f"{MMA}.s32.s8.s8.s32 {{%r1}}, {{%r2}}, {{%r3}}, {{%r1}};", Category.MATRIX, 0),
        ("wgmma.fence.sync.aligned;", Category.MATRIX, 0),
        ("rsqrt.approx.ftz.f32 %f1, %f2;", Category.SPECIAL, 0),
        ("cvt.rn.f16.f32 %h1, %f2;", Category.CONVERT, 0),
        ("ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];", Category.LDG, 128),
        ("ld.global.nc.u16 %rs1, [%rd1];", Category.LDG, 16),
        ("st.global.v2.f32 [%rd1], {%f1, %f2};", Category.STG, 64),
        ("ld.shared.f32 %f1, [%r1];", Category.LDS, 32),
        ("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1,%r2,%r3,%r4}, [%r5];", Category.LDSM, 128),
        ("ldmatrix.sync.aligned.m8n8.x1.trans.shared::cta.b16 {%r1}, [%r5];", Category.LDSM, 32),
        (
            "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1,%f2,%f3,%f4},"
            " {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f1,%f2,%f3,%f4};",
            Category.HMMA,
            0,
        ),
        ("cvt.rna.tf32.f32 %r1, %f2;", Category.CONVERT, 0),
        ("cp.async.cg.shared.global [%r1], [%rd2], 16;", Category.LDGSTS, 128),
        ("cp.async.commit_group;", Category.BARRIER, 0),
        ("ld.param.u64 %rd1, [k_param_0];", Category.CONSTANT, 0),
        ("mov.u32 %r1, %tid.x;", Category.CONSTANT, 0),
        ("mov.u32 %r1, %r2;", Category.INTEGER, 0),
        ("atom.global.add.f32 %f1, [%rd1], %f2;", Category.ATOMIC, 0),
        ("shfl.sync.bfly.b32 %r1|%p1, %r2, 16, 31, -1;", Category.SHUFFLE, 0),
        ("bar.sync 0;", Category.BARRIER, 0),
        ("setp.lt.f32 %p1, %f1, %f2;", Category.FLOAT, 0),
        ("setp.lt.s32 %p1, %r1, %r2;", Category.INTEGER, 0),
        ("frobnicate.b32 %r1;", Category.OTHER, 0),
    ],
)
def test_categories_and_widths(statement: str, category: Category, bits: int):
    found = _only(statement)
    assert (found.category, found.bits) == (category, bits)


def test_directives_and_comments_are_no_instructions():
    body = ".reg .b32 %r<3>;\n.loc 1 7 3\n// a comment;\nret; // bye;"
    assert _only(body).opcode == "ret"
    assert _only(body).line == 7


@pytest.mark.parametrize("kernel", ["nested", "waiting"])
def test_the_main_loop_is_that_of_the_machine_code(kernel: str):
    ptx, sass = ptx_of("odd.cu")[kernel], sass_of("odd.cu")[kernel]
    in_ptx, in_sass = main_loop(ptx), main_loop(sass)
    assert in_ptx is not None
    assert in_sass is not None
    mixes = [instruction_mix(ptx, in_ptx.body), instruction_mix(sass, in_sass.body)]
    assert mixes[0].accesses == mixes[1].accesses
    assert mixes[0].count(Category.FFMA) == mixes[1].count(Category.FFMA) == 1
