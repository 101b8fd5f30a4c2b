# SPDX-License-Identifier: Apache-2.0
"""Inputs prepared for kernels: their layout, and the alignment of their addresses."""

import numpy as np
import pytest
from needs import needs_nvrtc
from xdsl.parser import Parser

from tilewright.codegen.host_function import plan_of
from tilewright.codegen.loading import aligned_bytes, is_aligned, loaded_array
from tilewright.codegen.simulator_backend import SimulatorBackend
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import context, lower

# One kernel needs a larger alignment of %y than the other; no kernel needs an alignment of %z.
PROGRAM = """
func.func @main(%x: memref<6xf32>, %y: memref<6xf32>, %z: memref<6xf32>) -> memref<6xf32> {
  %a = memref.alloc() : memref<6xf32>
  loop.launch @one(%x, %y) -> (%a) : (memref<6xf32>, memref<6xf32>) -> (memref<6xf32>)
  %b = memref.alloc() : memref<6xf32>
  loop.launch @other(%a, %y) -> (%b) : (memref<6xf32>, memref<6xf32>) -> (memref<6xf32>)
  func.return %b : memref<6xf32>
}
""" + "".join(
    f"""
kernel.func grid 1 block 6 @{name}(%x: memref<6xf32>, %y: memref<6xf32> {{plan.align = {align}}})
    -> (%out: memref<6xf32>) {{
  %t = kernel.thread_id
  %0 = loop.load %x[%t] : memref<6xf32>
  %1 = loop.load %y[%t] : memref<6xf32>
  %2 = arith.addf %0, %1 : f32
  loop.store %2, %out[%t] : memref<6xf32>
}}"""
    for name, align in (("one", 8), ("other", 64))
)


def off_by(bytes: int, count: int = 6) -> np.ndarray:
    """Return floats that lie `bytes` past a multiple of 256."""
    memory = aligned_bytes(256 + 4 * count, 256)[bytes : bytes + 4 * count]
    array = memory.view(np.float32)
    array[:] = np.arange(count)
    return array


def test_aligned_arrays_are_not_copied() -> None:
    array = off_by(16)
    for alignment in (1, 4, 8, 16):
        assert is_aligned(array, alignment)
        assert np.may_share_memory(loaded_array(array, None, alignment), array)


@pytest.mark.parametrize("alignment", [32, 64, 128, 256])
def test_unaligned_arrays_are_copied(alignment: int) -> None:
    array = off_by(16)
    assert not is_aligned(array, alignment)
    loaded = loaded_array(array, None, alignment)
    assert is_aligned(loaded, alignment)
    assert not np.may_share_memory(loaded, array)
    np.testing.assert_array_equal(loaded, array)


def test_strided_and_permuted_arrays_become_contiguous() -> None:
    array = off_by(0, 24).reshape(4, 6)
    for given, axes, expected in (
        (array[:, ::2], None, array[:, ::2]),
        (array, (1, 0), array.T),
        (array[1:2, 1:], None, array[1:2, 1:]),
        (array[0, 0], None, array[0, 0]),
        (array[:0], (1, 0), array[:0].T),
    ):
        loaded = loaded_array(np.asarray(given), axes, 64)
        assert loaded.flags.c_contiguous
        assert is_aligned(loaded, 64)
        np.testing.assert_array_equal(loaded, expected)


def test_a_plan_has_the_alignments_that_kernels_need() -> None:
    plan = plan_of(lower(Parser(context(), PROGRAM).parse_module(), Level.CUDA))
    assert plan.alignments == (4, 64, 1)


@needs_nvrtc
def test_kernels_run_on_unaligned_inputs() -> None:
    plan = plan_of(lower(Parser(context(), PROGRAM).parse_module(), Level.CUDA))
    given = [off_by(4), off_by(20), off_by(4)]
    execution = SimulatorBackend("sm_90a").run(plan, given)
    assert execution.problems == []
    np.testing.assert_array_equal(execution.results[0], np.arange(6) * 3)
