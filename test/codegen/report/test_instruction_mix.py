# SPDX-License-Identifier: Apache-2.0
"""Instruction mixes of handwritten kernels."""

import pytest
from machine_code import GENERATIONS, resources_of, sass_of

from tilewright.codegen.report.instruction import Category
from tilewright.codegen.report.instruction_mix import InstructionMix, instruction_mix
from tilewright.codegen.report.loops import main_loop, reachable
from tilewright.codegen.report.matrix_shape import MatrixShape


def _loop_mix(file: str, kernel: str, target: str = "sm_90a") -> InstructionMix:
    code = sass_of(file, target)[kernel]
    loop = main_loop(code)
    assert loop is not None
    return instruction_mix(code, loop.body)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("target", GENERATIONS)
def test_a_register_tiled_product_is_nine_tenths_multiply_adds(target: str):
    mix = _loop_mix("sgemm.cu", "sgemm", target)
    assert mix.count(Category.FFMA) == 8 * 8 * 16
    assert 0.89 <= mix.share(Category.FFMA) <= 0.93
    assert mix.accesses == {
        (Category.LDG, 128): 4,
        (Category.LDS, 128): 64,
        (Category.STS, 128): 4,
    }
    assert not resources_of("sgemm.cu", target)["sgemm"].spills


def test_scalar_and_vector_accesses():
    scalar, vector = (_loop_mix("copies.cu", name) for name in ("scalar_copy", "vector_copy"))
    assert scalar.accesses == {(Category.LDG, 32): 1, (Category.STG, 32): 1}
    assert vector.accesses == {(Category.LDG, 128): 1, (Category.STG, 128): 1}
    assert (scalar.bytes(Category.LDG), vector.bytes(Category.LDG, Category.STG)) == (4, 32)


def test_asynchronous_copies():
    code = sass_of("copies.cu")["async_copy"]
    mix = instruction_mix(code, reachable(code))
    assert mix.accesses[Category.LDGSTS, 128] == 1
    assert mix.count(Category.LDG) == 0


def test_spills_are_loads_and_stores_of_local_memory():
    mix = _loop_mix("odd.cu", "spilling")
    assert mix.count(Category.LDL) > 0
    assert mix.count(Category.STL) > 0


def test_an_empty_mix():
    mix = instruction_mix(sass_of("sgemm.cu")["sgemm"], [])
    assert (mix.total, mix.share(Category.FFMA), mix.accesses) == (0, 0.0, {})


@pytest.mark.one_in(3)
@pytest.mark.parametrize("target", GENERATIONS)
def test_a_product_on_tensor_cores(target: str):
    """A warp's 64 x 32 products of 64: 4 * 4 * 4 `mma.sync`, and 4 + 2 `ldmatrix` for each 16."""
    mix = _loop_mix("tensor.cu", "mma_bf16", target)
    assert mix.count(Category.HMMA) == 64
    assert mix.matrices == {MatrixShape(16, 8, 16, 16): 64}
    assert mix.accesses[Category.LDSM, 128] == 24
    assert mix.count(Category.LDS, Category.FFMA) == 0


@pytest.mark.one_in(3)
@pytest.mark.parametrize("target", GENERATIONS)
def test_tf32_and_transposed_matrices(target: str):
    mix = _loop_mix("tensor.cu", "mma_tf32", target)
    assert mix.matrices == {MatrixShape(16, 8, 8, 32): 1}
    assert mix.accesses[Category.LDSM, 128] == 2
