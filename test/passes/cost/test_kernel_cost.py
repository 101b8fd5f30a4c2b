# SPDX-License-Identifier: Apache-2.0
"""Costs of copies, rings and bounded loops, compared with numbers computed by hand."""

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import kernel, loop
from tilewright.passes.cost.kernel_cost import kernel_cost
from tilewright.passes.cost.launch_cost import KernelCost
from tilewright.passes.cost.live_registers import ALLOWANCE
from tilewright.passes.driver.lowering import context
from tilewright.passes.kernel.convert_tile_to_kernel import ConvertTileToKernelPass

Parse = Callable[[str], ModuleOp]


def cost(parse: Parse, body: str, *, x: str = "128xf32", out: str = "128xf32") -> KernelCost:
    """Return the cost of a kernel of four warps."""
    module = parse(f"""
      kernel.func grid 1 block 128 @k(%x: memref<{x}>) -> (%out: memref<{out}>) {{
        %t = kernel.thread_id
        {body}
      }}""")
    op = module.body.block.first_op
    assert isinstance(op, kernel.FuncOp)
    return kernel_cost(op)


REGISTERS = "%r = kernel.registers : memref<4xf32, 5>\n"


def test_a_vector_counts_all_of_its_elements(parse: Parse):
    body = f"""{REGISTERS}
      kernel.copy %x[%t * 4] to %r[0] width 4 : memref<512xf32>, memref<4xf32, 5>
      kernel.copy %r[0] to %out[%t * 4] width 4 : memref<4xf32, 5>, memref<512xf32>"""
    found = cost(parse, body, x="512xf32", out="512xf32")
    assert found.accessed_bytes == found.global_bytes == 2 * 4 * 512
    # four warps load and store 512 bytes each
    assert found.sectors == found.ideal_sectors == 2 * 4 * 16
    assert found.wavefronts == 0


@pytest.mark.parametrize(("type", "registers"), [("f32", 8), ("f16", 4)])
def test_a_vector_is_packed_into_registers(parse: Parse, type: str, registers: int):
    array = f"memref<8x{type}, 5>"
    body = f"""%r = kernel.registers : {array}
      kernel.copy %x[0] to %r[0] width 4 : memref<128x{type}>, {array}
      kernel.copy %r[0] to %out[0] width 4 : {array}, memref<128x{type}>"""
    found = cost(parse, body, x=f"128x{type}", out=f"128x{type}")
    assert found.registers == ALLOWANCE + registers


def test_a_masked_vector_counts_for_the_share_within_its_mask(parse: Parse):
    mask = "where [252 - %t * 4]"
    body = f"""{REGISTERS}
      kernel.copy %x[%t * 4] to %r[0] width 4 {mask} : memref<256xf32>, memref<4xf32, 5>
      kernel.copy %r[0] to %out[%t * 4] width 4 {mask} : memref<4xf32, 5>, memref<256xf32>"""
    found = cost(parse, body, x="256xf32", out="256xf32")
    assert found.accessed_bytes == pytest.approx(2 * 4 * 256, rel=0.01)
    assert found.global_bytes == 2 * 4 * 256


# A warp reads 16 bytes a lane at the start of rows of 128 bytes, 8 lanes at a time: the layout, and
# the wavefronts of 8 lanes.
LAYOUTS = [("", 8), ("#tile.layout<pad [0, 4]>, ", 1), ("#tile.layout<swizzle 128>, ", 1)]


@pytest.mark.parametrize(("layout", "wavefronts"), LAYOUTS)
def test_padding_and_swizzles_keep_vectors_apart(parse: Parse, layout: str, wavefronts: int):
    slab = f"memref<128x32xf32, {layout}3>"
    body = f"""{REGISTERS}
      %s = kernel.shared : {slab}
      kernel.copy %s[%t, 0] to %r[0] width 4 : {slab}, memref<4xf32, 5>"""
    found = cost(parse, body)
    assert found.wavefronts == 4 * 4 * wavefronts
    assert found.ideal_wavefronts == 4 * 4
    assert found.shared_bytes == 4 * 128 * (36 if "pad" in layout else 32)


# 8 rows of 16 bytes of a matrix, 128 bytes apart: the layout, the number of matrices, and the
# wavefronts of each.
MATRICES = [("", 4, 8), ("", 2, 8), ("#tile.layout<pad [0, 8]>, ", 4, 1)]


@pytest.mark.parametrize(("layout", "count", "wavefronts"), MATRICES)
def test_rows_of_matrices_may_conflict(parse: Parse, layout: str, count: int, wavefronts: int):
    slab = f"memref<32x64xf16, {layout}3>"
    body = f"""%r = kernel.registers : memref<8xf16, 5>
      %s = kernel.shared : {slab}
      kernel.load_matrix %s[%t mod 32, 0] to %r[0] count {count} : {slab}, memref<8xf16, 5>"""
    found = cost(parse, body)
    assert found.wavefronts == 4 * count * wavefronts
    assert found.ideal_wavefronts == 4 * count


def test_a_multiplication_does_two_flops_for_each_product(parse: Parse):
    body = """%a = kernel.registers : memref<8xf16, 5>
      %b = kernel.registers : memref<4xf16, 5>
      %d = kernel.registers : memref<4xf32, 5>
      kernel.matrix_multiply m16n8k16_f16 %a[0], %b[0], %d[0]
        : memref<8xf16, 5>, memref<4xf16, 5>, memref<4xf32, 5>"""
    found = cost(parse, body)
    assert found.flops == 4 * 2 * 16 * 8 * 16
    assert found.registers == ALLOWANCE + 4 + 2 + 4


def test_cp_async_reads_where_the_mask_holds_and_writes_everywhere(parse: Parse):
    slab = "memref<2x512xf32, #tile.layout<slots>, 3>"
    body = f"""%s = kernel.shared : {slab}
      %c0 = arith.constant 0 : index
      %ring = kernel.ring bytes 2048 : !kernel.ring<2, cp_async>
      kernel.copy_async %x[%t * 4] to %s[0, %t * 4] width 4 where [63 - %t]
        : memref<256xf32>, {slab}
      kernel.ring_commit %ring, %c0 : !kernel.ring<2, cp_async>
      kernel.ring_wait %ring, %c0 pending 0 : !kernel.ring<2, cp_async>"""
    found = cost(parse, body, x="256xf32")
    assert found.accessed_bytes == found.global_bytes == 4 * 256
    assert found.sectors == found.ideal_sectors == 32
    assert found.wavefronts == found.ideal_wavefronts == 4 * 4
    assert found.shared_bytes == 2 * 2048
    assert found.barriers == 1


def test_a_box_counts_once_for_the_block_and_only_within_the_array(parse: Parse):
    slab = "memref<4x8x32xf32, #tile.layout<slots>, 3>"
    ring = "!kernel.ring<4, tma>"
    body = f"""%s = kernel.shared : {slab}
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = arith.constant 3 : index
      %ring = kernel.ring bytes 1024 : {ring}
      scf.for %k = %c0 to %n step %c1 {{
        kernel.ring_acquire %ring, %k : {ring}
        kernel.tma_copy %x[%k * 8, 0] box [8, 32] to %s[%k] on %ring, %k
          : memref<24x28xf32>, {slab}, {ring}
        kernel.ring_commit %ring, %k : {ring}
        kernel.ring_wait %ring, %k pending 0 : {ring}
        kernel.ring_release %ring, %k : {ring}
      }}"""
    found = cost(parse, body, x="24x28xf32")
    assert found.accessed_bytes == found.global_bytes == 4 * 24 * 28
    assert found.sectors == 24 * 4  # rows of 112 bytes
    assert found.ideal_sectors == 3 * 28
    assert found.shared_bytes == 4 * (1024 + 2 * 8)  # and two mbarriers for each slot
    assert found.barriers == 0


def test_a_fused_multiply_add_does_two_flops(parse: Parse):
    body = """%0 = loop.load %x[%t] : memref<128xf32>
      %1 = math.fma %0, %0, %0 : f32
      loop.store %1, %out[%t] : memref<128xf32>"""
    assert cost(parse, body).flops == 2 * 128


BOUNDED = """
  loop.kernel @k(%x: memref<3xf32>) -> (%out: memref<4x4x32xf32>) {
    tile.launch (%bm = block 4 m, %bn = block 4 n, %t = thread 32 n) {
      %sum = loop.reduce %ko in 3 below [3 + %bm * 3 - %bn * 3] with add {
        %0 = loop.load %x[%ko] : memref<3xf32>
        loop.yield %0 : f32
      } : f32
      loop.store %sum, %out[%bm, %bn, %t] : memref<4x4x32xf32>
    }
  }"""


WINDOW = BOUNDED.replace("3xf32", "40xf32").replace(
    "in 3 below [3 + %bm * 3 - %bn * 3]", "in 40 from [%bm * 10 - 5] below [%bm * 10 + 10]"
)


LATER = WINDOW.replace("%bm * 10 - 5", "%bm * 10 - 5, %bm * 10 - 9")
EMPTY = WINDOW.replace("%bm * 10 - 5", "39").replace("%bm * 10 + 10", "%bm + 1")


@pytest.mark.parametrize(
    ("text", "steps"),
    [(BOUNDED, 10 * 3), *((text, 4 * (10 + 3 * 15)) for text in (WINDOW, LATER)), (EMPTY, 0)],
)
def test_a_bounded_loop_counts_for_the_steps_within(parse: Parse, text: str, steps: int):
    """
    10 of 4 by 4 blocks do their steps, or each block does its window: the cost is close to this.
    """
    module = parse(text)
    (nest,) = module.ops
    assert isinstance(nest, loop.KernelOp)
    loads_and_stores = 4 * 32 * (steps + 16)
    assert kernel_cost(nest).flops == pytest.approx(32 * steps, rel=0.08)
    assert kernel_cost(nest).accessed_bytes == pytest.approx(loads_and_stores, rel=0.08)
    before = kernel_cost(nest).accessed_bytes
    ConvertTileToKernelPass().apply(context(), module)
    (func,) = module.ops
    assert isinstance(func, kernel.FuncOp)
    assert kernel_cost(func).accessed_bytes == pytest.approx(before)
